package rpc

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/buffers"
	"mapd/rpc/conn"
	"mapd/rpc/lru"
	"mapd/rpc/view"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// Options configure a Server.
type Options struct {
	Limits  Limits
	Cache   *workspace.Cache // the files; the Server does not close it
	Version string           // of the program, for people
	Build   string           // of the executable, compared by clients
	Socket  string           // shown by status; "" for a private server
	Roots   []string         // absolute, resolved folders that sessions may open; none: any
	// Cookies is a directory of the daemon alone, in which workspaces find out
	// whether all events have arrived; made when it is needed. "": they scan.
	Cookies string
	// Store describes what is kept between daemons, for status; may be nil.
	Store func() *wire.StoreStatus
	Sync  bool         // edits reach the disk before they are answered
	Log   *slog.Logger // nil discards
	// Counters adds to a status what is counted outside of the server: events
	// since the start, and levels of this moment. May be nil.
	Counters func(events, levels map[string]int64)
}

// Peer is what is known about the process at the other end of a connection.
type Peer struct {
	PID int // 0 if unknown
}

// Server answers connections. It is safe for concurrent use.
type Server struct {
	opt   Options
	cache *workspace.Cache
	views *lru.Cache[view.Key, *shown]
	// rendering has an element for each view that is made: more of them at once than
	// there are processors would only make those wait whose view is there.
	rendering chan struct{}
	finding   chan struct{} // an element for each search at work; see rendering
	maps      *lru.Cache[mapKey, *hashline.LineMap]
	ledgers   *recovery.Ledgers
	lineage   *recovery.Lineage
	places    places
	editing   inFlight
	pushers   pushers
	roots     *roots
	busy      atomic.Int64               // requests that run
	authors   *lru.Cache[string, string] // snapshot -> who wrote it
	log       *slog.Logger
	metrics   *metrics
	messages  *conn.Budget  // shared by all connections
	replies   *conn.Backlog // of all connections
	texts     *buffers.Pool // of the documents that editors have open
	started   time.Time

	draining chan struct{} // closed by Stop: no new work is taken
	drained  chan struct{} // closed when the last connection is gone after Stop

	mu       sync.Mutex // guards what follows
	peers    map[*peer]struct{}
	named    map[string]*ledgerOwner
	sessions int // sessions ever made: the next id
	arrivals int // connections ever admitted
	stopped  bool
	ends     bool        // the server ends when it is idle
	idle     *time.Timer // runs while there is no connection
}

// authorBytes bounds the memory of who wrote which version.
const authorBytes = 1 << 20

// NewServer returns a Server without connections.
func NewServer(opt Options) *Server {
	s := &Server{
		opt:       opt,
		cache:     opt.Cache,
		views:     lru.New[view.Key, *shown](opt.Limits.ViewBytes),
		maps:      lru.New[mapKey, *hashline.LineMap](opt.Limits.LineMapBytes),
		ledgers:   recovery.NewLedgers(opt.Limits.LedgerBytes),
		lineage:   recovery.NewLineage(),
		authors:   lru.New[string, string](authorBytes),
		log:       opt.Log,
		metrics:   newMetrics(),
		rendering: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		finding:   make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		messages:  conn.NewBudget(opt.Limits.Messages),
		replies:   conn.NewBacklog(opt.Limits.Replies),
		texts:     buffers.NewPool(opt.Limits.AllDocuments),
		started:   time.Now(),
		draining:  make(chan struct{}),
		drained:   make(chan struct{}),
		peers:     map[*peer]struct{}{},
		named:     map[string]*ledgerOwner{},
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.roots = newRoots(s)
	return s
}

// ServeConn serves one connection until it ends or ctx does. It owns rwc. One
// that comes after Stop or finds no place is told why in one line, and gets
// that as a *wire.Error.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser, who Peer) error {
	p, err := s.admit(ctx, rwc, who)
	if err != nil {
		return err
	}
	return s.serve(p, rwc)
}

// serve serves a connection that was admitted until it ends.
func (s *Server) serve(p *peer, rwc io.ReadWriteCloser) error {
	defer p.cancel()
	defer s.remove(p)
	c := p.start(p.ctx, rwc)
	select {
	case <-s.draining:
		c.Finish(nil)
	case <-c.Done():
	}
	<-c.Done()
	p.cancel()
	p.background.Wait()
	return c.Err()
}

// Serve answers the connections that accept returns, until Stop, or the idle
// limit, or the end of ctx; then it returns nil, once every connection has
// ended or the drain limit has passed. A failure of accept before that ends
// Serve with its error. end must make accept return; it is called once.
func (s *Server) Serve(ctx context.Context, accept func() (io.ReadWriteCloser, Peer, error), end func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-ctx.Done():
			s.Stop()
		case <-s.draining:
		}
		end()
	})
	wg.Go(func() { s.boundReplies(ctx) })
	s.startIdle()
	err := s.acceptLoop(ctx, accept, &wg)
	s.Stop()
	s.awaitPeers(s.opt.Limits.Drain)
	cancel()
	wg.Wait()
	return err
}

func (s *Server) acceptLoop(ctx context.Context, accept func() (io.ReadWriteCloser, Peer, error), wg *sync.WaitGroup) error {
	for {
		rwc, who, err := accept()
		switch {
		case err == nil:
			p, refused := s.admit(ctx, rwc, who)
			if refused != nil {
				s.log.Info("connection refused", "pid", who.PID, "err", refused)
				continue
			}
			wg.Go(func() {
				if err := s.serve(p, rwc); err != nil {
					s.log.Info("connection ended", "pid", who.PID, "err", err)
				}
			})
		case isClosed(s.draining):
			return nil
		default:
			return fmt.Errorf("accept: %w", err)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Stop ends the server: running requests end, new ones are refused, and each
// connection is closed when its replies have left. It does not wait.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopLocked()
}

func (s *Server) stopLocked() {
	if s.stopped {
		return
	}
	s.stopped = true
	if s.idle != nil {
		s.idle.Stop()
	}
	close(s.draining)
	if len(s.peers) == 0 {
		close(s.drained)
	}
}

// Close ends the workspaces and waits until nothing is left of them. It comes
// after the end of all connections and before that of the Cache.
func (s *Server) Close() error {
	s.roots.close()
	return nil
}

// yield lets the requests that run go first, for a short while: indexing goes on
// under a load that never ends.
func (s *Server) yield(ctx context.Context) {
	if s.busy.Load() == 0 {
		return
	}
	select {
	case <-time.After(yieldTime):
	case <-ctx.Done():
	}
}

// yieldTime is how long one step of indexing waits for requests.
const yieldTime = time.Millisecond

// Stopping is closed once Stop was called.
func (s *Server) Stopping() <-chan struct{} { return s.draining }

// awaitPeers waits until all connections are gone, at most for limit.
func (s *Server) awaitPeers(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.drained:
	case <-timer.C:
		s.log.Warn("requests still running after the drain limit", "limit", limit)
	}
}

// startIdle arms the idle limit.
func (s *Server) startIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = true
	s.armIdleLocked()
}

// armIdleLocked starts the idle timer if there is no connection.
func (s *Server) armIdleLocked() {
	if !s.ends || s.stopped || len(s.peers) > 0 {
		return
	}
	if s.idle != nil {
		s.idle.Stop()
	}
	s.idle = time.AfterFunc(s.opt.Limits.Idle, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.peers) == 0 { // in one step: whoever comes now is told to start another
			s.log.Info("ending: idle", "limit", s.opt.Limits.Idle)
			s.stopLocked()
		}
	})
}

// allowed reports whether sessions may open root.
func (s *Server) allowed(root string) bool {
	if len(s.opt.Roots) == 0 {
		return true
	}
	for _, r := range s.opt.Roots {
		if root == r || strings.HasPrefix(root, strings.TrimSuffix(r, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// peer is one connection, and its session once it is initialized.
type peer struct {
	server *Server
	who    Peer
	ctx    context.Context
	cancel context.CancelFunc // ends ctx, and the connection at once
	gone   chan struct{}      // closed when the connection has ended
	// background holds what runs beside the requests; the read loop adds to it.
	background sync.WaitGroup
	failures   atomic.Int64 // requests that failed
	arrival    int          // order of arrival
	evicted    bool         // it makes room; guarded by the server's mu

	mu      sync.Mutex // guards what follows
	conn    *conn.Conn
	session *Session
	down    bool // the client has sent shutdown
}

// start begins to serve the connection.
func (p *peer) start(ctx context.Context, rwc io.ReadWriteCloser) *conn.Conn {
	p.mu.Lock() // handlers may run before New returns
	defer p.mu.Unlock()
	p.conn = conn.New(ctx, rwc, conn.Options{
		Limits:  p.server.opt.Limits.Conn,
		Budget:  p.server.messages,
		Backlog: p.server.replies,
		Lookup:  p.lookup,
		Error:   toWire,
		Log:     p.server.log.With("pid", p.who.PID),
	})
	return p.conn
}

// attached returns the session, nil before initialize, and whether the client
// has shut it down.
func (p *peer) attached() (*Session, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.session, p.down
}

func (p *peer) connection() *conn.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conn
}
