package rpc

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// delivery is lines of a version that a reply shows. partial are those of them
// that are cut, or shown with bytes replaced.
type delivery struct {
	version        *workspace.Version
	lines, partial []hashline.Range
	// queued and withdrawn, if not nil, follow what becomes of the reply.
	queued, withdrawn func()
}

// recorded adds to a reply that its deliveries are in the ledger when its frame
// is queued, and are taken back if the frame never left.
func (s *Session) recorded(reply conn.Reply, deliveries ...delivery) conn.Reply {
	var mu sync.Mutex // guards receipts: Withdraw may come from the writer
	var receipts []*recovery.Receipt
	queued, withdraw := reply.Queued, reply.Withdraw
	reply.Queued = func() {
		mu.Lock()
		defer mu.Unlock()
		for _, d := range deliveries {
			s.server.places.note(d.version)
			receipts = append(receipts, s.ledger.Record(recovery.Delivery{
				Path: d.version.File(), Snapshot: d.version.Snapshot(), Digest: d.version.Digest(),
				Lines: d.lines, Partial: d.partial, Pin: d.version.Pin,
			}))
			if d.queued != nil {
				d.queued()
			}
			if s.pusher != nil {
				s.pusher.look(d.version.File())
			}
		}
		if queued != nil {
			queued()
		}
	}
	reply.Withdraw = func() {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range receipts {
			r.Withdraw()
		}
		receipts = nil
		for _, d := range deliveries {
			if d.withdrawn != nil {
				d.withdrawn()
			}
		}
		if withdraw != nil {
			withdraw()
		}
	}
	return reply
}

// mapKey names a line map: the snapshots of both versions.
type mapKey struct{ from, to string }

// versions gives the rules of recovery the versions of one file, of which live
// is the one that was just read; nil if the file is gone.
type versions struct {
	server *Server
	file   string // Version.File
	live   *workspace.Version
}

func (s *Server) versions(v *workspace.Version) versions { return versions{s, v.File(), v} }

// Text returns the text of a version that is still kept.
func (t versions) Text(snapshot string) (*hashline.Text, bool) {
	if t.live != nil && snapshot == t.live.Snapshot() {
		return t.live.Text(), true
	}
	v, ok := t.server.cache.Snapshot(snapshot)
	if !ok || v.Binary() {
		return nil, false
	}
	return v.Text(), true
}

// Map returns which lines of a version are which lines of the live one.
func (t versions) Map(snapshot string) (*hashline.LineMap, bool) {
	return t.between(snapshot, t.live.Snapshot())
}

// between returns which lines of one version are which lines of another.
func (t versions) between(from, to string) (*hashline.LineMap, bool) {
	key := mapKey{from, to}
	if m, ok := t.server.maps.Get(key); ok {
		return m, true
	}
	m, ok := t.server.lineage.Map(t.file, from, to, t.Text)
	if ok {
		// At most a span for each line of either side; far fewer in real changes.
		t.server.maps.Put(key, m, int64(m.Lines()+m.NewLines()))
	}
	return m, ok
}

// scene returns what the session was shown of a file, beside its live version.
func (s *Session) scene(v *workspace.Version) *recovery.Scene {
	return &recovery.Scene{
		Held: s.ledger.File(v.File()).Held, Live: v.Text(), Texts: s.server.versions(v), Width: s.width,
	}
}

// serveLedger answers mapd/ledger: what the session was shown, and what became
// of it.
func (s *Session) serveLedger(ctx context.Context, p wire.LedgerParams) (conn.Reply, error) {
	files := s.ledger.Files()
	if p.Path != "" || p.URI != "" {
		path, err := s.heldPath(ctx, p)
		if err != nil {
			return conn.Reply{}, err
		}
		files = []recovery.File{s.ledger.File(path)}
	}
	news := s.news(ctx)
	result := wire.LedgerResult{Files: []wire.LedgerFile{}, Stale: news.stale}
	for _, f := range files {
		if len(f.Held) > 0 {
			result.Files = append(result.Files, s.ledgerFile(ctx, f))
		}
	}
	slices.SortFunc(result.Files, func(a, b wire.LedgerFile) int { return cmp.Compare(a.Path, b.Path) })
	encoded, err := encode(result)
	return news.told(conn.Reply{Result: encoded}), err
}

// ledgerFile surveys what the session holds of one file. A file that cannot be
// read any more has no snapshot, and all that was delivered of it is stale.
func (s *Session) ledgerFile(ctx context.Context, f recovery.File) wire.LedgerFile {
	folders := *s.folders.Load()
	path := s.server.places.of(f.Path)
	out := wire.LedgerFile{Path: wireText(folders.Rel(path)), Ranges: []hashline.Range{}, Stale: []hashline.Range{}}
	change := recovery.Change{File: f, Snapshot: recovery.Gone, Map: versions{s.server, f.Path, nil}.between}
	if v, err := s.open(ctx, path); err == nil && !v.Binary() {
		at := s.server.versions(v)
		change.Snapshot, change.Map = v.Snapshot(), at.between
		out.Snapshot = v.Snapshot()
	}
	survey := change.Survey()
	out.Ranges = append(out.Ranges, survey.Ranges...)
	out.Stale = append(out.Stale, survey.Stale...)
	return out
}

// heldPath returns the name in the ledger of a file that may be gone: then it is
// looked for under its path.
func (s *Session) heldPath(ctx context.Context, p wire.LedgerParams) (string, error) {
	name, err := fileName(p.Path, p.URI)
	if err != nil {
		return "", err
	}
	if v, err := s.open(ctx, name); err == nil {
		return v.File(), nil
	}
	folders := *s.folders.Load()
	for _, f := range s.ledger.Files() {
		if path := s.server.places.of(f.Path); path == name || folders.Rel(path) == name {
			return f.Path, nil
		}
	}
	return name, nil // nothing was delivered of it
}

// forget answers mapd/forget: the session no longer holds a file, or anything.
func (s *Session) forget(ctx context.Context, p wire.LedgerParams) (struct{}, error) {
	path := ""
	if p.Path != "" || p.URI != "" {
		var err error
		if path, err = s.heldPath(ctx, p); err != nil {
			return struct{}{}, err
		}
	}
	s.ledger.Forget(path)
	return struct{}{}, nil
}
