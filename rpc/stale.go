package rpc

import (
	"context"
	"errors"

	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// staleFiles is how many of the files that a session was shown last are looked
// at for one reply.
const staleFiles = 64

// news is what a session has to be told about lines that it holds.
type news struct {
	session *Session
	stale   []wire.Stale
	tell    []told
	own     []told          // by edits of the session
	edited  map[string]bool // files whose state the reply tells by itself
	pushed  []conn.Notification
}

// told is that the session knows what became of its lines of a file.
type told struct {
	file  string
	known recovery.Known
}

// told makes a reply that carries the news: it is not told again.
func (n news) told(reply conn.Reply) conn.Reply {
	reply.After = append(reply.After, n.pushed...)
	if len(n.tell)+len(n.own) == 0 {
		return reply
	}
	queued := reply.Queued
	reply.Queued = func() {
		for _, t := range n.tell {
			n.session.ledger.Tell(t.file, t.known)
		}
		for _, t := range n.own {
			n.session.ledger.Own(t.file, t.known)
		}
		if queued != nil {
			queued()
		}
	}
	return reply
}

// news returns what became of lines that the session holds and was not told of
// yet, for a client that wants it in its replies. Whether a file changed is
// asked of its stamp, so news may come late; that they are true is proven by
// its bytes. fresh are versions that were read for this request.
func (s *Session) news(ctx context.Context, fresh ...*workspace.Version) news {
	if s.stale != wire.StaleAttach {
		return news{session: s}
	}
	n := news{session: s}
	n.gather(ctx, fresh)
	return n
}

// newsAfter is news for the reply to edits of the session, which are no news to
// it. What others changed in those files before is told as of the version that
// the edit was made from; the edit's renumber leads on from there.
func (s *Session) newsAfter(ctx context.Context, edits ...*workspace.WriteResult) news {
	n := news{session: s, edited: map[string]bool{}}
	for _, w := range edits {
		if w == nil || w.Before == nil {
			continue
		}
		file := w.After.File()
		known := n.compare(s.ledger.File(file), w.Before)
		if way, ok := s.server.versions(w.After).between(w.Before.Snapshot(), w.After.Snapshot()); ok {
			known = known.After(w.After.Snapshot(), way)
		}
		n.edited[file] = true
		n.own = append(n.own, told{file, known})
	}
	if s.stale == wire.StaleOff {
		n.stale = nil
	}
	switch s.stale {
	case wire.StaleAttach:
		n.gather(ctx, nil)
	case wire.StalePush:
		n.pushed, n.stale = n.notifications(), nil
	}
	return n
}

// notifications are the stale objects as mapd/stale sends them.
func (n *news) notifications() []conn.Notification {
	var out []conn.Notification
	for _, stale := range n.stale {
		params, err := encode(stale)
		if err != nil {
			n.session.server.log.Error("a notification could not be encoded", "err", err)
			continue
		}
		out = append(out, conn.Notification{Method: wire.NotifyStale, Params: params})
	}
	return out
}

// gather adds what became of the files that the session was shown last.
func (n *news) gather(ctx context.Context, fresh []*workspace.Version) {
	s := n.session
	folders := *s.folders.Load()
	for _, f := range s.ledger.Recent(staleFiles) {
		if ctx.Err() != nil {
			break
		}
		if n.edited[f.Path] {
			continue
		}
		snapshot, err := s.glance(ctx, folders, f.Path, fresh)
		switch {
		case errors.Is(err, workspace.ErrNotFound):
			snapshot = recovery.Gone
		case err != nil:
			continue // not a statement about its lines
		}
		if f.Knows(snapshot) {
			continue
		}
		n.add(ctx, f, snapshot)
	}
}

// glance returns the snapshot of a file as its stamp tells, or exactly where it
// was just read.
func (s *Session) glance(ctx context.Context, folders workspace.Folders, file string, fresh []*workspace.Version) (string, error) {
	for _, v := range fresh {
		if v != nil && v.File() == file {
			return v.Snapshot(), nil
		}
	}
	return s.server.cache.Glance(ctx, folders, s.server.places.of(file))
}

// add adds what became of one file, whose live snapshot is given; it may be
// recovery.Gone.
func (n *news) add(ctx context.Context, f recovery.File, snapshot string) {
	s := n.session
	if snapshot == recovery.Gone {
		n.tell = append(n.tell, told{f.Path, n.compare(f, nil)})
		return
	}
	v, ok := s.server.cache.Snapshot(snapshot)
	if !ok {
		var err error
		if v, err = s.open(ctx, s.server.places.of(f.Path)); err != nil {
			return
		}
	}
	n.tell = append(n.tell, told{f.Path, n.compare(f, v)})
}

// compare adds what became of the lines that the session holds of a file in
// version v, nil if the file is gone, and returns what it knows once it is told.
func (n *news) compare(f recovery.File, v *workspace.Version) recovery.Known {
	s := n.session
	change := recovery.Change{File: f, Snapshot: recovery.Gone, Map: versions{s.server, f.Path, v}.between}
	if v != nil {
		change.Snapshot, change.Binary = v.Snapshot(), v.Binary()
	}
	news := change.News()
	folders := *s.folders.Load()
	for _, stale := range news.Stale {
		out := wire.Stale{Path: wireText(folders.Rel(s.server.places.of(stale.Path))), From: stale.From, To: stale.To}
		if stale.To != nil {
			out.By, _ = s.server.authors.Get(*stale.To)
		}
		for _, r := range stale.Ranges {
			out.Ranges = append(out.Ranges, wire.StaleRange{Served: r.Served, Status: string(r.Status), Now: r.Now})
		}
		n.stale = append(n.stale, out)
	}
	return news.Known
}
