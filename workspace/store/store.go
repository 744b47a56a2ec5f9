package store

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"mapd/hashline"
)

// Options configure a Store. The zero value of a field means its default, where
// one is named.
type Options struct {
	// Path is that of the file; its directory is made, for the user alone.
	Path string
	// Limit is how many bytes of the file may be in use; default 256 MiB. Past it
	// the oldest values go.
	Limit int64
	// Queue is how many bytes wait to be written; default 32 MiB. More are
	// dropped.
	Queue int64
	// Wait is how long another process may hold the lock before the store goes
	// on without its file; default 200 ms.
	Wait time.Duration
	// Delay is how long a value may wait for others to be written with; default
	// 500 ms.
	Delay time.Duration
	// Retry is how often a file that cannot be used is tried again; default 1 min.
	Retry time.Duration
	// Log gets what happens to the file; default slog.Default.
	Log *slog.Logger
}

const (
	defaultLimit = 256 << 20
	defaultQueue = 32 << 20
	defaultWait  = 200 * time.Millisecond
	defaultDelay = 500 * time.Millisecond
	defaultRetry = time.Minute
	// batchBytes are written at once, without waiting for more.
	batchBytes = 4 << 20
)

func (o Options) orDefault() Options {
	for _, f := range []struct {
		v *int64
		d int64
	}{{&o.Limit, defaultLimit}, {&o.Queue, defaultQueue}} {
		if *f.v <= 0 {
			*f.v = f.d
		}
	}
	for _, f := range []struct {
		v *time.Duration
		d time.Duration
	}{{&o.Wait, defaultWait}, {&o.Delay, defaultDelay}, {&o.Retry, defaultRetry}} {
		if *f.v <= 0 {
			*f.v = f.d
		}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Key is everything that a value follows from.
type Key struct {
	Digest hashline.Digest // of the bytes of a file
	// Kind is the rest: the language, and the version and options of what made
	// the value.
	Kind string
}

const idBytes = 24

// keyID stands for a Key: its digest, and 64 bits of that of its kind.
type keyID [idBytes]byte

func (k Key) id() (id keyID) {
	copy(id[:], k.Digest[:])
	binary.BigEndian.PutUint64(id[len(k.Digest):], xxh3.HashString(k.Kind))
	return id
}

// State says whether a Store has its file.
type State string

// The states. In all but Ready every Get is a miss.
const (
	Opening  State = "opening"
	Ready    State = "ready"
	Locked   State = "locked"   // another daemon uses the file
	Full     State = "full"     // the disk has no room; what is there is still read
	Unusable State = "unusable" // the file cannot be opened, or was damaged while it was open
	Closed   State = "closed"
)

// Stats describes a Store for status.
type Stats struct {
	Path      string
	State     State
	Why       string // why it is not ready; "" if it is
	Entries   int64
	Bytes     int64 // of the values
	FileBytes int64
	Hits      int64
	Misses    int64
	Damaged   int64 // values and files that were found damaged
	Puts      int64 // values written
	Dropped   int64 // values not written: no file, or too many at once
	Evicted   int64
	Flushes   int64
	FlushTime time.Duration // of all flushes
}

// Store keeps values by Key. It is safe for concurrent use.
type Store struct {
	opt    Options
	opened chan struct{}  // closed when the file was tried for the first time
	wake   chan struct{}  // there are values to be written
	full   chan struct{}  // there are enough of them to be written at once
	broken chan *database // a reader found that it is damaged
	flush  chan chan struct{}
	quit   chan struct{}
	end    sync.Once
	done   sync.WaitGroup

	life sync.RWMutex // guards db; readers hold it while they use it
	db   *database    // nil without a file

	mu      sync.Mutex // guards all below
	queue   map[keyID][]byte
	queued  int64
	writing map[keyID][]byte // what the queue held when the flush that runs began
	stats   Stats
}

// Open returns a Store at once; its file is opened in the background. It never
// fails: without its file a Store holds nothing and says why. The owner calls
// Close.
func Open(opt Options) *Store {
	s := &Store{
		opt: opt.orDefault(), opened: make(chan struct{}), wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		broken: make(chan *database, 1), flush: make(chan chan struct{}), quit: make(chan struct{}),
		queue: map[keyID][]byte{},
		stats: Stats{Path: opt.Path, State: Opening},
	}
	s.done.Go(s.keep)
	return s
}

// Get returns the value of k, which the caller may keep. ok is false if there is
// none, whatever the reason. It waits for the file to be opened, but not long.
func (s *Store) Get(k Key) (value []byte, ok bool) {
	s.awaitOpen()
	id := k.id()
	value, ok, bad, err := s.get(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.stats.Hits++
	} else {
		s.stats.Misses++
	}
	if bad || err != nil {
		s.stats.Damaged++
	}
	return value, ok
}

// openPatience is how long a Get waits for a file that does not open: its file
// system may be gone.
const openPatience = time.Second

func (s *Store) awaitOpen() {
	select {
	case <-s.opened:
		return
	default:
	}
	late := time.NewTimer(openPatience)
	defer late.Stop()
	select {
	case <-s.opened:
	case <-late.C:
	}
}

func (s *Store) get(id keyID) (value []byte, ok, bad bool, err error) {
	s.mu.Lock()
	sealed := s.queue[id]
	if sealed == nil {
		sealed = s.writing[id]
	}
	s.mu.Unlock()
	if sealed != nil {
		value, ok = unseal(id, sealed)
		return value, ok, false, nil
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.db == nil {
		return nil, false, false, nil
	}
	value, ok, bad, err = s.db.get(id)
	if errors.Is(err, ErrDamaged) {
		select {
		case s.broken <- s.db:
		default:
		}
	}
	return value, ok, bad, err
}

// Put stores a value, which it does not keep, some time later. It never waits.
func (s *Store) Put(k Key, value []byte) {
	id := k.id()
	sealed := seal(make([]byte, 0, sealBytes+len(value)), id, value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stats.State != Ready && s.stats.State != Opening || s.queued+int64(len(sealed)) > s.opt.Queue {
		s.stats.Dropped++
		return
	}
	s.queued += int64(len(sealed)) - int64(len(s.queue[id]))
	s.queue[id] = sealed
	signal(s.wake)
	if s.queued >= batchBytes {
		signal(s.full)
	}
}

// Flush returns when all that was put before was written or dropped.
func (s *Store) Flush() {
	done := make(chan struct{})
	select {
	case s.flush <- done:
		<-done
	case <-s.quit:
	}
}

// Close writes what waits to be written, and closes the file. It is idempotent
// and returns nil; afterwards every Get is a miss.
func (s *Store) Close() error {
	s.end.Do(func() { close(s.quit) })
	s.done.Wait()
	return nil
}

// Stats returns the counters of this moment.
func (s *Store) Stats() Stats {
	s.life.RLock()
	defer s.life.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	if s.db != nil {
		out.Entries, out.Bytes, out.FileBytes = s.db.entries.Load(), s.db.bytes.Load(), s.db.size()
	}
	return out
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
