package workspace

import (
	"context"
	"crypto/rand"
	"runtime"
	"sync"
	"sync/atomic"

	"mapd/workspace/watch"
)

// Cache is what a daemon knows about files: versions by digest, outlines by
// digest and language, and the budget that all reads share. It is safe for
// concurrent use.
type Cache struct {
	limits   Limits
	epoch    string
	key      [16]byte // of snapshotID
	source   source
	buffers  buffers
	budget   budget
	open     chan struct{} // one element for each file that is read
	history  *history
	outlines *outlines
	counters counters

	settings  *settings
	shelf     Shelf
	outlining chan struct{} // one element for each outline that is made for an index
	bodies    atomic.Int64  // bytes that scans have left for outliners
	pressed   atomic.Bool   // memory is short

	glances    glances
	identities identities
	queues     queues
	watches    *watch.Budget
	watch      watch.Source
	leftovers  leftovers

	ctx    context.Context // ends when Close starts
	cancel context.CancelFunc

	gate    sync.RWMutex // closed is only set with the write lock
	closed  bool
	active  sync.WaitGroup // calls between enter and leave
	closing sync.Once      // guards the end of source
}

type counters struct {
	reads, hits, unstable, conflicts, plain, unsaved atomic.Int64
}

// Stats is what a Cache counts, for status.
type Stats struct {
	Reads        int64 // since the start
	Hits         int64 // reads whose bytes were known at that path
	Unstable     int64 // reads of files that never held still
	Versions     int   // in the history
	Contents     int   // distinct ones in the history
	Pinned       int   // versions with a pin
	Evicted      int64 // versions that left the history
	HistoryBytes int64
	Outlines     int   // kept
	OutlinesMade int64 // since the start
	OutlineJobs  int   // being made now
	OutlineBytes int64
	WatchStreams int   // workspaces that are watched
	Watches      int   // directories that are watched
	Conflicts    int64 // writes undone because another program changed the file
	Plain        int64 // replacements where the file system cannot exchange
	Unsaved      int64 // times that the names of a workspace could not be saved
}

// NewCache returns a Cache. Its owner calls Close.
func NewCache(opt Options) *Cache {
	c := &Cache{limits: opt.Limits.orDefault(), epoch: opt.Epoch, source: opt.source}
	if c.epoch == "" {
		c.epoch = newEpoch()
	}
	if c.source == nil {
		c.source = newSystem()
	}
	rand.Read(c.key[:])
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.settings = newSettings(opt, c.limits)
	c.budget = newBudget(c.limits.ReadBytes)
	c.open = make(chan struct{}, c.limits.OpenFiles)
	c.history = newHistory(c.limits.HistoryBytes)
	c.outlines = newOutlines(c.ctx, opt, c.limits)
	c.outlining, c.shelf = make(chan struct{}, runtime.GOMAXPROCS(0)), opt.Shelf
	c.watches, c.watch = watch.NewBudget(c.limits.WatchStreams, c.limits.Watches), opt.Watch
	if c.watch == nil {
		c.watch = watch.System
	}
	c.leftovers = leftovers{epoch: c.epoch, journal: opt.Journal}
	if opt.Journal != "" {
		c.sweepDead()
	}
	return c
}

// Close ends all work in flight, which fails with ErrClosed, and waits for it.
// It is idempotent and returns nil.
func (c *Cache) Close() error {
	c.gate.Lock()
	c.closed = true
	c.gate.Unlock()
	c.cancel()
	c.active.Wait()
	c.outlines.close()
	c.closing.Do(func() {
		c.leftovers.close()
		c.source.close()
	})
	return nil
}

// Press tells that memory is short, or that it is not any more. Each time that
// it is, half of the outlines and of the versions without a pin go; and as long
// as it is, indexes keep no further names: who needs some gets them from the
// store or has them made again.
func (c *Cache) Press(short bool) {
	c.pressed.Store(short)
	if short {
		c.outlines.halve()
		c.history.halve()
	}
}

// enter announces a call that uses files. Every enter that succeeds is
// followed by leave.
func (c *Cache) enter() error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	if c.closed {
		return ErrClosed
	}
	c.active.Add(1)
	return nil
}

func (c *Cache) leave() { c.active.Done() }

// takeOpen waits for the right to hold a file open, so that a storm of reads
// never uses up the descriptors of the process; giveOpen follows. Who has it
// takes no other.
func (c *Cache) takeOpen(ctx context.Context) error {
	select {
	case c.open <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return ErrClosed
	}
}

func (c *Cache) giveOpen() { <-c.open }

// Limits returns the limits in force.
func (c *Cache) Limits() Limits { return c.limits }

// Epoch returns the first half of every snapshot string.
func (c *Cache) Epoch() string { return c.epoch }

// Stats returns the counters of this moment.
func (c *Cache) Stats() Stats {
	s := Stats{
		Reads: c.counters.reads.Load(), Hits: c.counters.hits.Load(), Unstable: c.counters.unstable.Load(),
		Conflicts: c.counters.conflicts.Load(), Plain: c.counters.plain.Load(), Unsaved: c.counters.unsaved.Load(),
	}
	h := c.history
	h.mu.Lock()
	s.Versions, s.Contents, s.Pinned = len(h.entries), len(h.contents), h.pinned.Len()
	s.Evicted, s.HistoryBytes = h.evicted, h.bytes
	h.mu.Unlock()
	o := c.outlines
	o.mu.Lock()
	s.Outlines, s.OutlinesMade, s.OutlineJobs, s.OutlineBytes = len(o.entries), o.made, len(o.running), o.bytes
	o.mu.Unlock()
	s.WatchStreams, s.Watches = c.watches.Used()
	return s
}
