package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mapd/workspace/ignore"
	"mapd/workspace/watch"
)

// WorkspaceOptions configure a Workspace. The zero value of a field means its
// default.
type WorkspaceOptions struct {
	// Watch starts generations of watches, within the limits of the Cache; default
	// is the source of the Cache.
	Watch watch.Source
	// Cookies is a directory of the daemon, outside of all workspaces, in which
	// the workspace makes a directory for files whose events tell it that all
	// earlier events have arrived. Empty: Settle scans the tree.
	Cookies string
	// Env is where git's configuration is; nil means that of this process.
	Env *ignore.Env
	// Sweep and Audit, if not 0, stand for those of the limits of the Cache.
	Sweep, Audit time.Duration
	// Large allows the home directory and / as roots.
	Large bool
	// Yield is called between two steps of work that nobody waits for, and returns
	// when the next one may begin; nil means at once.
	Yield func(ctx context.Context)
	// Changed is called after an index was published, with the paths, relative
	// to the root, of files that are new, changed or gone since the one before.
	// It must return at once.
	Changed func(ix *Index, paths []string)
}

// ErrLargeRoot says that a root is too much to be indexed by accident.
var ErrLargeRoot = errors.New("the home directory and / are only indexed when that is asked for; choose a project's directory")

// Workspace keeps the index of one root equal to what a fresh one would be.
//
// One goroutine publishes indexes, one makes outlines. Events of the file
// system are hints for them: whatever is lost costs time until the next sweep,
// and the index says so by being degraded. Answers about single files do not
// come from here but from Cache.Read.
type Workspace struct {
	cache   *Cache
	root    string
	folders Folders
	opt     WorkspaceOptions
	env     ignore.Env
	cookies string // directory of its own; "" if there is none
	set     atomic.Pointer[inForce]

	tally      *tally
	remembered remembered
	bodies     atomic.Int64 // bytes that the scan has left for the outliner

	index   atomic.Pointer[Index]
	wake    chan struct{} // holds a token when a waiter needs a scan
	work    chan struct{} // holds a token when outlines may be missing
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	yielded atomic.Int64 // when others went first, in nanoseconds
	hurry   atomic.Bool  // somebody waits for all outlines

	mu      sync.Mutex         // guards all below
	waiters map[string]*waiter // of Settle, by the path of their cookie
	cookie  uint64             // the last one made
	wanted  []string           // paths whose outlines come first
}

// waiter is one call of Settle.
type waiter struct {
	done chan struct{} // closed when an index was published that it may see
	scan bool          // its cookie could not be made
}

// Open starts to index a root, which must be an absolute path of a directory.
// It returns at once; the index fills in the background. The owner calls Close.
func (c *Cache) Open(root string, opt WorkspaceOptions) (*Workspace, error) {
	f, err := c.Folders(root)
	if err != nil {
		return nil, err
	}
	w := &Workspace{
		cache: c, root: f.roots[0], folders: f, opt: opt, env: ignore.SystemEnv(),
		wake: make(chan struct{}, 1), work: make(chan struct{}, 1), waiters: map[string]*waiter{},
		tally: &tally{},
	}
	if opt.Env != nil {
		w.env = *opt.Env
	}
	if w.opt.Watch == nil {
		w.opt.Watch = c.watch
	}
	w.opt.Watch = c.watches.Limit(w.opt.Watch)
	if w.opt.Sweep <= 0 {
		w.opt.Sweep = c.limits.Sweep
	}
	if w.opt.Audit <= 0 {
		w.opt.Audit = c.limits.Audit
	}
	if home, err := filepath.EvalSymlinks(w.env.Home); !opt.Large && (w.root == "/" || err == nil && home == w.root) {
		return nil, fmt.Errorf("index %s: %w", show(root), ErrLargeRoot)
	}
	if opt.Cookies != "" {
		w.makeCookies()
	}
	w.index.Store(&Index{})
	w.set.Store(c.settings.plain)
	w.ctx, w.cancel = context.WithCancel(c.ctx)
	for _, run := range []func(){w.publish, w.makeOutlines} {
		if err := c.enter(); err != nil {
			w.Close()
			return nil, fmt.Errorf("index %s: %w", show(root), err)
		}
		w.running.Go(func() {
			defer c.leave() // Close of the Cache waits for it too
			run()
		})
	}
	return w, nil
}

// makeCookies makes the directory of the cookies. Without it Settle scans.
func (w *Workspace) makeCookies() {
	if os.MkdirAll(w.opt.Cookies, 0o700) != nil {
		return
	}
	dir, err := os.MkdirTemp(w.opt.Cookies, cookiesPrefix)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // events name it so
	}
	if err == nil {
		w.cookies = dir
	}
}

// cookiesPrefix begins the names of the directories of cookies, one for each
// workspace.
const cookiesPrefix = "workspace-"

// RemoveCookies removes what workspaces of a daemon that was killed have left in
// its directory of cookies, and that directory itself if nothing else is in it.
func RemoveCookies(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // there is none
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), cookiesPrefix) {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir)
}

// Close ends the workspace and waits until all of it has ended. It is
// idempotent and returns nil.
func (w *Workspace) Close() error {
	w.cancel()
	w.running.Wait()
	w.giveBack(w.bodies.Load())
	if w.cookies != "" {
		os.RemoveAll(w.cookies)
	}
	return nil
}

// excluded returns the directory that holds all cookies: it belongs to no
// workspace, not even to one of a directory that it lies in.
func (w *Workspace) excluded() string {
	if w.cookies == "" {
		return ""
	}
	return filepath.Dir(w.cookies)
}

// yield lets others go first, unless somebody waits for this workspace. It does
// so again only after some work, so that others never take more than about half
// of the time.
func (w *Workspace) yield() {
	if w.opt.Yield == nil || time.Since(time.Unix(0, w.yielded.Load())) < workBetweenYields {
		return
	}
	w.mu.Lock()
	waited := len(w.waiters) > 0
	w.mu.Unlock()
	if !waited {
		w.opt.Yield(w.ctx)
		w.yielded.Store(time.Now().UnixNano())
	}
}

// workBetweenYields is how long a workspace works before it lets others go first
// again.
const workBetweenYields = time.Millisecond

// Done is closed when the workspace was closed.
func (w *Workspace) Done() <-chan struct{} { return w.ctx.Done() }

// Root returns the resolved root.
func (w *Workspace) Root() string { return w.root }

// Periods returns how often, at most, the tree is scanned while changes are not reported,
// and how often all files are read again although nothing was reported.
func (w *Workspace) Periods() (sweep, audit time.Duration) { return w.opt.Sweep, w.opt.Audit }

// Index returns the newest index, which may lag behind the files. It is never
// nil.
func (w *Workspace) Index() *Index { return w.index.Load() }

// Settle returns an index that reflects every change that the system reported
// before the call, or one that is degraded and says why; that one reflects a
// scan which began after the call.
func (w *Workspace) Settle(ctx context.Context) (*Index, error) {
	wait, path := w.enqueue()
	defer w.dequeue(path)
	late := time.NewTimer(cookiePatience)
	defer late.Stop()
	for {
		select {
		case <-wait.done:
			return w.Index(), nil
		case <-late.C:
			w.askScan(wait)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.ctx.Done():
			return nil, ErrClosed
		}
	}
}

// cookiePatience is how long the event of a cookie may take before the tree is
// scanned instead: the event is behind all others, or it was lost.
const cookiePatience = 2 * time.Second

// askScan makes the publisher scan the tree for a waiter.
func (w *Workspace) askScan(wait *waiter) {
	w.mu.Lock()
	wait.scan = true
	w.mu.Unlock()
	signal(w.wake)
}

// enqueue registers a waiter and then makes its cookie. In that order a scan
// that begins later knows it, and an event that comes later finds it.
func (w *Workspace) enqueue() (*waiter, string) {
	wait := &waiter{done: make(chan struct{})}
	w.mu.Lock()
	w.cookie++
	path := filepath.Join(w.cookies, fmt.Sprint("cookie-", w.cookie))
	w.waiters[path] = wait
	w.mu.Unlock()
	err := errors.ErrUnsupported
	if w.cookies != "" {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		w.askScan(wait)
	}
	signal(w.wake)
	return wait, path
}

func (w *Workspace) dequeue(path string) {
	w.mu.Lock()
	delete(w.waiters, path)
	w.mu.Unlock()
	if w.cookies != "" {
		os.Remove(path)
	}
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Want makes the outlines of the files at paths, relative to the root, come
// before others.
func (w *Workspace) Want(paths ...string) {
	const most = 1000
	w.mu.Lock()
	w.wanted = append(w.wanted, paths...)
	if extra := len(w.wanted) - most; extra > 0 {
		w.wanted = w.wanted[extra:]
	}
	w.mu.Unlock()
	signal(w.work)
}

// Hurry makes outlines now that would wait because their files change often. Who
// waits until none is pending calls it again while that goes on.
func (w *Workspace) Hurry() {
	w.hurry.Store(true)
	signal(w.work)
}

// allWaiters returns the waiters of this moment, those only that need a scan
// if scan is set.
func (w *Workspace) allWaiters(scan bool) []*waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*waiter
	for _, wait := range w.waiters {
		if !scan || wait.scan {
			out = append(out, wait)
		}
	}
	return out
}

// satisfied returns the waiter of a cookie, or nil.
func (w *Workspace) satisfied(path string) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiters[path]
}

// finishWaiters lets waiters go. Only the publisher calls it; a waiter may be let go
// by its cookie and by a scan.
func finishWaiters(waiters []*waiter) {
	for _, wait := range waiters {
		select {
		case <-wait.done:
		default:
			close(wait.done)
		}
	}
}
