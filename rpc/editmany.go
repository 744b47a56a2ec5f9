package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// serveEditMany answers mapd/editMany: all files are checked before the first
// is written, and if one fails then, the others are put back.
func (s *Session) serveEditMany(ctx context.Context, p wire.EditManyParams) (conn.Reply, error) {
	return s.edits.once(p.RequestID, p, func() (conn.Reply, error) {
		return s.claimed(func(c *claim) (conn.Reply, error) { return s.editMany(ctx, p, c) })
	})
}

func (s *Session) editMany(ctx context.Context, p wire.EditManyParams, c *claim) (conn.Reply, error) {
	if len(p.Files) == 0 || len(p.Files) > wire.MaxEdits {
		return conn.Reply{}, wire.Errorf(wire.InvalidParams, "files has %d entries; it must have 1 to %d; %s", len(p.Files), wire.MaxEdits, nothingWritten)
	}
	b := &batch{session: s, claim: c, paths: make([]string, len(p.Files)), errs: make([]error, len(p.Files))}
	b.check(ctx, p)
	if b.failed() || p.DryRun {
		return b.reply(ctx, p.DryRun)
	}
	b.write(ctx, p)
	return b.reply(ctx, false)
}

// batch is the edits of one mapd/editMany on their way. Its slices are by file.
type batch struct {
	session *Session
	claim   *claim
	paths   []string
	errs    []error
	results []*wire.EditResult
	edits   []*editing
	shown   []delivery
	size    int      // bytes of the results, as far as they depend on the edits
	stuck   []string // files that could not be put back
}

func (b *batch) failed() bool {
	for _, err := range b.errs {
		if err != nil {
			return true
		}
	}
	return false
}

// check runs every edit and writes nothing.
func (b *batch) check(ctx context.Context, p wire.EditManyParams) {
	named := map[string]int{}
	for i, file := range p.Files {
		b.paths[i] = orDefault(file.Path, file.URI)
		file.DryRun = true
		req, err := parseEdit(file)
		if err == nil && file.RequestID != "" {
			err = wire.Errorf(wire.InvalidParams, "requestId belongs to the whole of mapd/editMany")
		}
		e := &editing{session: b.session, req: req, claim: b.claim, others: b.size}
		var result *wire.EditResult
		var shown []delivery
		if err == nil {
			result, shown, err = e.perform(ctx)
		}
		if err == nil {
			b.size += e.does.size
			first, twice := named[e.path]
			if named[e.path] = i; twice {
				err = wire.Errorf(wire.InvalidParams, "files[%d] and files[%d] are the same file; give its edits together", first, i)
			}
		}
		b.errs[i] = err
		b.results = append(b.results, result)
		b.edits = append(b.edits, e)
		b.shown = append(b.shown, shown...)
	}
}

// write makes the edits that were checked, in order, and puts back what it has
// done when one fails.
func (b *batch) write(ctx context.Context, p wire.EditManyParams) {
	b.shown = nil
	for i, e := range b.edits {
		e.req.dryRun = p.Files[i].DryRun
		result, shown, err := e.perform(ctx)
		if err != nil {
			b.errs[i] = err
			b.shown = shown
			b.putBack(i)
			return
		}
		b.results[i] = result
		b.shown = append(b.shown, shown...)
	}
}

// putBack undoes the edits before the i-th. What another program has written
// over since is left as it is and said.
func (b *batch) putBack(i int) {
	// The request may have been cancelled; half an edit is worse than a late end.
	ctx := context.Background()
	for ; i > 0; i-- {
		w := b.edits[i-1].written
		if w == nil {
			continue
		}
		if err := b.session.undo(ctx, w); err != nil {
			b.stuck = append(b.stuck, b.results[i-1].Path)
			b.session.server.log.Error("an edit could not be put back", "path", w.After.Path(), "err", err)
		}
	}
}

// undo gives a file the bytes that it had before an edit, if it still has those
// of the edit.
func (s *Session) undo(ctx context.Context, w *workspace.WriteResult) error {
	folders := *s.folders.Load()
	if w.Before == nil {
		return s.server.cache.Uncreate(ctx, folders, *w)
	}
	_, err := s.server.cache.Write(ctx, folders, w.After.Path(), workspace.WriteOptions{NoSync: !s.server.opt.Sync},
		func(live *workspace.Version) ([]byte, error) {
			if live.Digest() != w.After.Digest() {
				return nil, errors.New("another program has changed it since")
			}
			return w.Before.Bytes(), nil
		})
	return err
}

// reply makes the result, or the rejection.
func (b *batch) reply(ctx context.Context, dryRun bool) (conn.Reply, error) {
	s := b.session
	if b.failed() {
		return s.recorded(conn.Reply{}, b.shown...), b.rejection()
	}
	out := wire.EditManyResult{Applied: !dryRun, DryRun: dryRun}
	var written []*workspace.WriteResult
	for i, r := range b.results {
		out.Files = append(out.Files, *r)
		written = append(written, b.edits[i].written)
	}
	news := s.newsAfter(ctx, written...)
	out.Stale = news.stale
	encoded, err := encode(out)
	return news.told(s.recorded(conn.Reply{Result: encoded}, b.shown...)), err
}

// rejection says of each file whether its edit could be made. Its code is that
// of the first that could not, or stale_anchors if one is stale.
func (b *batch) rejection() error {
	var first *wire.Error
	outcomes := make([]wire.EditOutcome, len(b.errs))
	count := 0
	for i, err := range b.errs {
		outcomes[i].Path = wireText(b.paths[i])
		if err == nil {
			outcomes[i].OK = true
			continue
		}
		count++
		wired := toWire(err)
		outcomes[i].Error = wired.Object()
		if first == nil || wired.Code == wire.StaleAnchors && first.Code != wire.StaleAnchors {
			first = wired
		}
	}
	what := nothingWritten
	if len(b.stuck) > 0 {
		what = fmt.Sprintf("the edits of %q could not be put back, because another program has changed those files since; all others were", b.stuck)
	}
	out := wire.Errorf(first.Code, "%d of %d edits cannot be made: %s; %s", count, len(b.errs), strings.TrimSuffix(first.Message, "; "+nothingWritten), what)
	return out.With("applied", false).With("files", outcomes)
}
