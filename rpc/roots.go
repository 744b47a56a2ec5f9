package rpc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mapd/rpc/wire"
	"mapd/workspace"
)

// roots keeps the workspaces of the directories that sessions have as folders:
// one for each directory, however many sessions have it. A directory inside
// another one has a workspace of its own, because what the outer one leaves out,
// such as a repository in it, is what somebody may have asked for; outlines are
// shared by digest all the same.
//
// A root is kept for some time after its last session, and goes earlier when
// others need its watches.
type roots struct {
	server *Server

	mu      sync.Mutex // guards what follows, and the fields of each root
	all     map[string]*root
	live    int // of these, that have a workspace or will have one
	closed  bool
	running sync.WaitGroup // what opens and closes workspaces
	closing chan struct{}  // closed by close
}

// root is a directory that sessions have as a folder.
type root struct {
	path   string
	users  int           // sessions that have it
	asked  chan struct{} // closed when somebody waits for the workspace
	ask    sync.Once     // guards asked
	opened chan struct{} // closed when ws or err is set
	ws     *workspace.Workspace
	err    error       // why it is not indexed
	large  bool        // somebody asked for it although it is large
	live   bool        // it counts in roots.live
	unused time.Time   // since when, if users is 0
	unload *time.Timer // runs while users is 0
}

func newRoots(s *Server) *roots {
	return &roots{server: s, all: map[string]*root{}, closing: make(chan struct{})}
}

// hold makes the root at a resolved path stay until release is called, and
// begins to index it unless it is there. It returns at once.
func (rs *roots) hold(path string, large bool) (r *root, release func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r = rs.all[path]
	if r == nil || r.err != nil { // what was refused then may work now
		r = &root{path: path, large: large, asked: make(chan struct{}), opened: make(chan struct{})}
		if old := rs.all[path]; old != nil {
			old.stopLocked()
		}
		rs.all[path] = r
		r.users = 1 // before room is made for it
		rs.startLocked(r)
	} else {
		r.users++
		r.stopLocked()
	}
	var once sync.Once
	return r, func() { once.Do(func() { rs.release(r) }) }
}

// stopLocked stops the timer of a root.
func (r *root) stopLocked() {
	if r.unload != nil {
		r.unload.Stop()
	}
}

// startLocked opens the workspace of a root beside everything else.
func (rs *roots) startLocked(r *root) {
	switch most := rs.server.opt.Limits.Roots; {
	case rs.closed:
		r.err = workspace.ErrClosed
	case rs.live >= most && !rs.unloadLocked():
		r.err = fmt.Errorf("%d folders are indexed, the limit; search in fewer", most)
	}
	if r.err != nil {
		close(r.opened)
		return
	}
	r.live = true
	rs.live++
	rs.running.Go(func() {
		rs.calm(r)
		rs.makeRoom()
		ws, err := rs.server.cache.Open(r.path, workspace.WorkspaceOptions{
			Cookies: rs.server.opt.Cookies, Large: r.large, Yield: rs.server.yield,
			Changed: func(_ *workspace.Index, paths []string) { rs.server.pushers.changed(r.path, paths) },
		})
		if err != nil {
			rs.server.log.Info("a folder is not indexed", "why", reason(err))
		}
		rs.mu.Lock()
		defer rs.mu.Unlock()
		r.ws, r.err = ws, err
		if err != nil {
			rs.endLocked(r)
		}
		close(r.opened)
	})
}

// openDelay is how long there must have been no request before a root that nobody
// waits for is opened, and openPatience how long that may take: a client that only
// wants to read a file finds all processors free.
const (
	openDelay    = 25 * time.Millisecond
	openPatience = time.Second
)

// calm waits for a moment to open a root.
func (rs *roots) calm(r *root) {
	for start := time.Now(); time.Since(start) < openPatience; {
		select {
		case <-time.After(openDelay):
			if rs.server.busy.Load() == 0 {
				return
			}
		case <-r.asked:
			return
		case <-rs.closing:
			return
		}
	}
}

// reason is an error for people, the cause alone where it is known.
func reason(err error) string {
	if errors.Is(err, workspace.ErrLargeRoot) {
		return workspace.ErrLargeRoot.Error()
	}
	return err.Error()
}

// release takes back one hold.
func (rs *roots) release(r *root) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if r.users--; r.users > 0 {
		return
	}
	r.unused = time.Now()
	if rs.all[r.path] != r { // replaced meanwhile
		rs.dropLocked(r)
		return
	}
	if rs.closed {
		return
	}
	if rs.degradedLocked() {
		rs.running.Go(rs.makeRoom)
	}
	r.unload = time.AfterFunc(rs.server.opt.Limits.RootIdle, func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if r.users == 0 && rs.all[r.path] == r {
			rs.dropLocked(r)
		}
	})
}

// dropLocked forgets a root that nobody has and closes its workspace.
func (rs *roots) dropLocked(r *root) {
	rs.forgetLocked(r)
	if rs.closed {
		return // close does it
	}
	rs.running.Go(func() { r.close() })
}

func (rs *roots) forgetLocked(r *root) {
	if rs.all[r.path] != r {
		return
	}
	delete(rs.all, r.path)
	r.stopLocked()
	rs.endLocked(r)
}

// endLocked takes a root out of the count of those that are indexed.
func (rs *roots) endLocked(r *root) {
	if r.live {
		r.live = false
		rs.live--
	}
}

// unloadLocked unloads the root that was not used for the longest time. It
// reports whether there is one.
func (rs *roots) unloadLocked() bool {
	oldest := rs.oldestLocked()
	if oldest != nil {
		rs.dropLocked(oldest)
	}
	return oldest != nil
}

func (rs *roots) oldestLocked() (oldest *root) {
	for _, r := range rs.all {
		if r.users == 0 && (oldest == nil || r.unused.Before(oldest.unused)) {
			oldest = r
		}
	}
	return oldest
}

// close ends the workspace of a root and waits for it.
func (r *root) close() {
	<-r.opened
	if r.ws != nil {
		r.ws.Close()
	}
}

// degradedLocked reports whether a root that somebody has is degraded: it may
// have found no watches.
func (rs *roots) degradedLocked() bool {
	for _, r := range rs.all {
		if ws, _ := r.state(); r.users > 0 && ws != nil && ws.Index().Why != "" {
			return true
		}
	}
	return false
}

// makeRoom unloads the root that was not used for the longest time when no more
// can be watched: it gives its watches to the root that comes.
func (rs *roots) makeRoom() {
	if rs.server.cache.Stats().WatchStreams < rs.server.cache.Limits().WatchStreams {
		return
	}
	rs.mu.Lock()
	oldest := rs.oldestLocked()
	if oldest == nil || rs.closed {
		rs.mu.Unlock()
		return
	}
	rs.forgetLocked(oldest)
	rs.mu.Unlock()
	oldest.close()
}

// status describes the roots of this moment, in no order.
func (rs *roots) status() []wire.WorkspaceStatus {
	users := map[*root]int{}
	rs.mu.Lock()
	for _, r := range rs.all {
		users[r] = r.users
	}
	rs.mu.Unlock()
	out := make([]wire.WorkspaceStatus, 0, len(users))
	for r, n := range users {
		out = append(out, r.status(n))
	}
	return out
}

// close ends all workspaces and waits for them.
func (rs *roots) close() {
	rs.mu.Lock()
	if !rs.closed {
		close(rs.closing)
	}
	rs.closed = true
	all := make([]*root, 0, len(rs.all))
	for _, r := range rs.all {
		r.stopLocked()
		all = append(all, r)
	}
	rs.mu.Unlock()
	for _, r := range all {
		r.close()
	}
	rs.running.Wait()
}

// workspace has the root opened now, and returns its workspace or why there is
// none.
func (r *root) workspace(ctx context.Context) (*workspace.Workspace, error) {
	r.ask.Do(func() { close(r.asked) })
	select {
	case <-r.opened:
		return r.ws, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// state returns the workspace if it is open, and why not if it never will be.
func (r *root) state() (*workspace.Workspace, error) {
	select {
	case <-r.opened:
		return r.ws, r.err
	default:
		return nil, nil
	}
}

// status describes the root, which so many sessions have.
func (r *root) status(users int) wire.WorkspaceStatus {
	out := wire.WorkspaceStatus{Root: wireText(r.path), State: string(workspace.Indexing), Sessions: users}
	ws, err := r.state()
	switch {
	case err != nil:
		out.State, out.Why = string(workspace.Degraded), "not indexed: "+reason(err)
		return out
	case ws == nil:
		return out
	}
	ix := ws.Index()
	out.State, out.Why = string(ix.State()), wireText(ix.Why)
	counts := ix.Counts()
	out.Files, out.Indexed = len(ix.Files()), len(ix.Files())-int(counts.Pending)
	out.Symbols, out.Lines, out.NameBytes, out.Source = counts.Symbols, counts.Lines, counts.Bytes, counts.Source
	out.Generation, out.Version, out.Watches = ix.Generation, ix.Version, ix.Watched
	for why, n := range ix.Skipped {
		if out.SkippedWhy == nil {
			out.SkippedWhy = map[string]int{}
		}
		out.SkippedWhy[string(why)] = n
		out.Skipped += n
	}
	sweep, audit := ws.Periods()
	out.SweepMs, out.AuditMs = sweep.Milliseconds(), audit.Milliseconds()
	return out
}

// refused reports whether the root was not indexed when that was tried.
func (r *root) refused() bool {
	_, err := r.state()
	return err != nil
}
