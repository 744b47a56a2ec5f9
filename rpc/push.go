package rpc

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// pushEvery is how often files of which no workspace reports changes are looked
// at.
const pushEvery = 200 * time.Millisecond

// maxChanges is how many lists of changed paths a pusher keeps apart; past it it
// looks at all that the session holds.
const maxChanges = 1000

// pusher tells one client of lines that it was shown and that went stale, without
// being asked. What workspaces report only says where to look; what is told is
// proven by the bytes of that moment.
type pusher struct {
	session *Session
	conn    *conn.Conn
	wake    chan struct{}        // holds a token when there is something to look at
	marked  map[string]mark      // what the client has, by file; only for run
	empty   map[string]time.Time // since when files are empty or gone; only for run

	mu      sync.Mutex // guards what follows
	changed [][]string // absolute paths, as workspaces reported them
	files   map[string]bool
	all     bool
}

// mark is the diagnostics of a file that a client has.
type mark struct {
	snapshot string // of the version that they are about
	params   string // as they were sent, or would have been
	any      bool   // there is one
}

// pushers are those of all sessions. The zero value is ready for use.
type pushers struct {
	mu  sync.Mutex // guards all
	all map[*pusher]struct{}
}

// changed passes on what a workspace reports. It returns at once.
func (ps *pushers) changed(root string, paths []string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.all) == 0 {
		return
	}
	full := make([]string, len(paths))
	for i, path := range paths {
		full[i] = strings.TrimSuffix(root, "/") + "/" + path
	}
	for p := range ps.all {
		p.note(full)
	}
}

func (ps *pushers) add(p *pusher) (remove func()) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.all == nil {
		ps.all = map[*pusher]struct{}{}
	}
	ps.all[p] = struct{}{}
	return func() {
		ps.mu.Lock()
		defer ps.mu.Unlock()
		delete(ps.all, p)
	}
}

// newPusher returns a pusher that is not told of changes before it runs. It begins
// with all that the session holds: it may have held it before it was attached.
func newPusher(s *Session, c *conn.Conn) *pusher {
	return &pusher{session: s, conn: c, wake: make(chan struct{}, 1), marked: map[string]mark{}, empty: map[string]time.Time{}, files: map[string]bool{}, all: true}
}

// note makes the pusher look at the files at these paths.
func (p *pusher) note(paths []string) {
	p.mu.Lock()
	if len(p.changed) >= maxChanges {
		p.changed, p.all = nil, true
	} else {
		p.changed = append(p.changed, paths)
	}
	p.mu.Unlock()
	p.signal()
}

// look makes the pusher look at a file, by its name in the ledger: lines of it
// were delivered, and it may have changed between its reading and now.
func (p *pusher) look(file string) {
	p.mu.Lock()
	p.files[file] = true
	p.mu.Unlock()
	p.signal()
}

func (p *pusher) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run tells the client until ctx or its connection ends.
func (p *pusher) run(ctx context.Context) {
	defer p.session.server.pushers.add(p)()
	p.signal()
	poll := time.NewTicker(pushEvery)
	defer poll.Stop()
	for {
		var files []recovery.File
		polled := false // then the stamp decides whether to read
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			files, polled = p.unwatched(), true
		case <-p.wake:
			if !p.settle(ctx) {
				return
			}
			files, polled = p.take()
		}
		for _, f := range files {
			if polled && p.quiet(ctx, f) {
				continue
			}
			if ctx.Err() != nil || p.tell(ctx, f) != nil {
				return // the connection is over
			}
		}
	}
}

// settle lets further changes come: until there were none for a moment, at most
// for the window in which changes are told together. It returns false when ctx
// ends.
func (p *pusher) settle(ctx context.Context) bool {
	window := p.session.server.opt.Limits.Coalesce
	end := time.NewTimer(window)
	defer end.Stop()
	for {
		quiet := time.NewTimer(window / 25)
		select {
		case <-ctx.Done():
			quiet.Stop()
			return false
		case <-end.C:
			quiet.Stop()
			return true
		case <-quiet.C:
			return true
		case <-p.wake:
			quiet.Stop()
		}
	}
}

// take returns the files that the session holds and that are to be looked at, and
// whether these are just all.
func (p *pusher) take() (files []recovery.File, everything bool) {
	p.mu.Lock()
	changed, names, all := p.changed, p.files, p.all
	p.changed, p.files, p.all = nil, map[string]bool{}, false
	p.mu.Unlock()
	paths := map[string]bool{}
	for _, some := range changed {
		for _, path := range some {
			paths[path] = true
		}
	}
	s := p.session
	if all {
		return s.ledger.Files(), true
	}
	for file, path := range s.server.places.moved() {
		if paths[path] {
			names[file] = true
		}
	}
	maps.Copy(names, paths)
	for name := range names {
		if f := s.ledger.File(name); len(f.Held) > 0 {
			files = append(files, f)
		}
	}
	for file := range p.marked { // forgotten since
		if f := s.ledger.File(file); len(f.Held) == 0 {
			files = append(files, f)
		}
	}
	return files, false
}

// unwatched returns the files that the session was shown last and that no
// workspace watches: ignored ones, those of bare or degraded folders.
func (p *pusher) unwatched() []recovery.File {
	watching := p.session.watching()
	var out []recovery.File
	for _, f := range p.session.ledger.Recent(staleFiles) {
		if !watching(p.session.server.places.of(f.Path)) {
			out = append(out, f)
		}
	}
	return out
}

// watching returns which files have workspaces of the session that report their
// changes.
func (s *Session) watching() func(path string) bool {
	indexes := map[string]*workspace.Index{}
	s.set.mu.Lock()
	for path, held := range s.set.held {
		if ws, _ := held.state(); ws != nil {
			indexes[strings.TrimSuffix(path, "/")+"/"] = ws.Index()
		}
	}
	s.set.mu.Unlock()
	return func(path string) bool {
		for root, ix := range indexes {
			rel, inside := strings.CutPrefix(path, root)
			if !inside || ix.Generation == 0 || ix.Why != "" {
				continue
			}
			if _, known := ix.Lookup(rel); known {
				return true
			}
		}
		return false
	}
}

// tell tells the client what became of what it holds of a file. Three things are
// not told, and looked at again: what an edit that is still on its way did, as it
// may be the session's own; what is compared with a state of the ledger that has
// passed; and that all is gone, as long as it may come back at once.
func (p *pusher) tell(ctx context.Context, f recovery.File) error {
	s := p.session
	v, err := s.open(ctx, s.server.places.of(f.Path))
	snapshot := recovery.Gone
	switch {
	case err == nil:
		snapshot = v.Snapshot()
	case !errors.Is(err, workspace.ErrNotFound):
		return nil // not a statement about its lines
	}
	if s.server.editing.on(f.Path) || p.between(f, v) {
		p.look(f.Path)
		return nil
	}
	n := news{session: s}
	var notes []conn.Notification
	if s.stale == wire.StalePush && !f.Knows(snapshot) {
		takeBack, ok := s.ledger.TellIf(f, n.compare(f, v))
		if !ok {
			p.look(f.Path)
			return nil
		}
		notes = n.notifications()
		for i := range notes { // a named session learns it on its next connection
			notes[i].Withdraw = takeBack
		}
	}
	if s.diagnosing {
		notes = append(notes, p.diagnose(f, v)...)
	}
	for _, note := range notes {
		if err := p.conn.Notify(note); err != nil {
			return err
		}
	}
	return nil
}

// between reports whether a file may be in the middle of being saved: many
// programs empty or remove it first. That its lines are gone would be true for
// this moment, and wrong for good right after it.
func (p *pusher) between(f recovery.File, v *workspace.Version) bool {
	if v != nil && v.Size() > 0 || len(f.Held) == 0 {
		delete(p.empty, f.Path)
		return false
	}
	since, known := p.empty[f.Path]
	if !known {
		since = time.Now()
		p.empty[f.Path] = since
	}
	return time.Since(since) < savePatience
}

// savePatience is how long a file may be empty or gone before its lines count as
// gone.
const savePatience = 300 * time.Millisecond

// quiet reports whether the client knows all about a file, as far as the stamp
// of the file tells.
func (p *pusher) quiet(ctx context.Context, f recovery.File) bool {
	s := p.session
	snapshot, err := s.server.cache.Glance(ctx, *s.folders.Load(), s.server.places.of(f.Path))
	if errors.Is(err, workspace.ErrNotFound) {
		snapshot, err = recovery.Gone, nil
	}
	if err != nil || s.stale == wire.StalePush && !f.Knows(snapshot) {
		return err != nil // then it is not a statement about its lines
	}
	return !s.diagnosing || p.marked[f.Path].snapshot == snapshot
}

// diagnose returns the diagnostics of a file if they are not those that the
// client has. v is nil if the file is gone.
func (p *pusher) diagnose(f recovery.File, v *workspace.Version) []conn.Notification {
	s := p.session
	place := s.server.places.of(f.Path)
	in := sight{locator: newLocator(hashline.NewText(nil), s.encoding, false)}
	if v != nil && !v.Binary() {
		in = s.sight(s.documents.Load(), v)
	}
	all := s.diagnostics(f, v, in)
	encoded, err := encode(struct {
		URI         string       `json:"uri"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}{fileURI(place), all})
	if err != nil {
		s.server.log.Error("a notification could not be encoded", "err", err)
		return nil
	}
	now := mark{snapshot: recovery.Gone, params: string(encoded)}
	if v != nil {
		now.snapshot = v.Snapshot()
	}
	was, known := p.marked[f.Path]
	switch {
	case len(all) == 0 && len(f.Held) == 0:
		delete(p.marked, f.Path)
	default:
		now.any = len(all) > 0
		p.marked[f.Path] = now
	}
	if known && was.params == now.params || !was.any && !now.any {
		return nil
	}
	return []conn.Notification{{Method: "textDocument/publishDiagnostics", Params: encoded}}
}
