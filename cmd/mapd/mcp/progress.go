package mcp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mapd/rpc/wire"
)

// progressEvery is how often a call that takes long says how far it is.
const progressEvery = 500 * time.Millisecond

// progress tells a client that asked for it how far its call is: 0 at once, the
// indexed part of the session's folders while they are indexed, 1 at the end.
// end waits until nothing more is sent.
func (b *bridge) progress(ctx context.Context, req *sdk.CallToolRequest, tool string) (end func(done bool)) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func(bool) {}
	}
	last := -1.0
	tell := func(part float64, message string) {
		if part <= last {
			return
		}
		last = part
		err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: part, Total: 1, Message: message})
		if err != nil {
			b.opt.Log.Debug("progress not told", "err", err)
		}
	}
	tell(0, tool)
	watching, stop := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	watcher.Go(func() {
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-watching.Done():
				return
			case <-tick.C:
			}
			if part, message, ok := indexing(b.daemon.status(watching)); ok {
				tell(part, message)
			}
		}
	})
	return func(done bool) {
		stop()
		watcher.Wait()
		if done {
			tell(1, tool)
		}
	}
}

// indexing returns how much of the folders is indexed, if that is not all.
func indexing(status *wire.StatusResult, folders []string) (part float64, message string, ok bool) {
	if status == nil {
		return 0, "", false
	}
	var files, indexed int
	for _, w := range status.Workspaces {
		if w.State == "indexing" && slices.Contains(folders, w.Root) {
			files += w.Files
			indexed += w.Indexed
		}
	}
	if files == 0 || indexed >= files {
		return 0, "", false
	}
	return float64(indexed) / float64(files), fmt.Sprintf("indexing: %d of %d files", indexed, files), true
}
