package find

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mapd/workspace"
)

// Root is a folder that is searched.
type Root struct {
	Path      string               // resolved
	Workspace *workspace.Workspace // nil if it is not indexed
	Why       string               // why it is not indexed

	index *workspace.Index
}

// Degraded says why a search may have missed something in a root.
type Degraded struct {
	Root string
	Why  string
}

// poll is how often it is looked whether all outlines are there.
const poll = 5 * time.Millisecond

// settle makes roots reflect every change that the system reported before the
// call, and waits for outlines if the search needs them all. Where that takes
// longer than patience, the root is searched as far as it is known.
func settle(ctx context.Context, roots []Root, patience time.Duration, outlines bool) ([]Root, []Degraded, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	settled := make([]Root, len(roots))
	why := make([]string, len(roots))
	var wg sync.WaitGroup
	for i, root := range roots {
		settled[i] = root
		if root.Workspace == nil {
			settled[i].index, why[i] = &workspace.Index{}, "not indexed: "+root.Why
			continue
		}
		wg.Go(func() { settled[i].index, why[i] = settleOne(limited, root.Workspace, outlines) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var degraded []Degraded
	for i, root := range settled {
		if why[i] != "" {
			degraded = append(degraded, Degraded{root.Path, why[i]})
		}
	}
	return settled, degraded, nil
}

// settleOne returns the index of w and what may be missing in it, "" for
// nothing.
func settleOne(ctx context.Context, w *workspace.Workspace, outlines bool) (ix *workspace.Index, why string) {
	ix, err := w.Settle(ctx)
	switch {
	case errors.Is(err, workspace.ErrClosed):
		return &workspace.Index{}, "not indexed: " + err.Error()
	case err != nil:
		ix = w.Index()
		if ix.Generation == 0 {
			return ix, "indexing: the files are still being looked for"
		}
		return ix, "the last changes are still being looked at"
	}
	why = ix.Why
	if outlines {
		ix = waitForOutlines(ctx, w)
		if n := ix.Pending(); n > 0 {
			why = fmt.Sprintf("indexing: %d of %d files have no outline yet", n, len(ix.Files()))
		}
	}
	return ix, why
}

// waitForOutlines returns the newest index, if possible one that has all
// outlines.
func waitForOutlines(ctx context.Context, w *workspace.Workspace) *workspace.Index {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		ix := w.Index()
		if ix.Pending() == 0 {
			return ix
		}
		w.Hurry()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ix
		}
	}
}
