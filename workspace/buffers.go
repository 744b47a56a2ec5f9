package workspace

import (
	"context"
	"math/bits"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Buffers of 4 KiB to 16 MiB are kept for reuse, one pool for each power of
// two; larger ones are left to the garbage collector.
const (
	minClass = 12
	maxClass = 24
)

// buffers lends the memory that files are read into. A warm read allocates
// none: its bytes turn out to be known and the buffer goes back.
type buffers struct {
	pools [maxClass - minClass + 1]sync.Pool
}

// A buffer is on loan from buffers.
type buffer struct {
	b    []byte
	pool *sync.Pool // nil if it is not reused
}

// size returns the size of the buffer that get gives for n bytes.
func (p *buffers) size(n int64) int64 {
	if class := classOf(n); class <= maxClass {
		return 1 << class
	}
	return n
}

func classOf(n int64) int { return max(minClass, bits.Len64(uint64(max(n, 1)-1))) }

// get returns a buffer of at least n bytes.
func (p *buffers) get(n int64) *buffer {
	class := classOf(n)
	if class > maxClass {
		return &buffer{b: make([]byte, n)}
	}
	pool := &p.pools[class-minClass]
	if b, _ := pool.Get().(*buffer); b != nil {
		return b
	}
	return &buffer{b: make([]byte, 1<<class), pool: pool}
}

func (b *buffer) release() {
	if b.pool != nil {
		b.pool.Put(b)
	}
}

// take returns the first n bytes for keeps: a copy of the right size, or the
// buffer itself when it is not reused and fits well.
func (b *buffer) take(n int) []byte {
	if b.pool == nil && n >= len(b.b)/8*7 {
		return b.b[:n:n]
	}
	return append(make([]byte, 0, n), b.b[:n]...)
}

// smallRead is the size up to which a read counts as small; smallReads is the
// part of the budget that is kept for small reads, if the budget is large enough
// to have parts.
const (
	smallRead  = 1 << 20
	smallReads = 64 << 20
)

// budget bounds the bytes of all reads in flight; who does not fit waits, in
// order. Small reads have a part of their own: else one session that reads large
// files would make all others wait.
type budget struct {
	small, large *share
}

func newBudget(limit int64) budget {
	if limit < 4*smallReads {
		all := newShare(limit)
		return budget{small: all, large: all}
	}
	return budget{small: newShare(smallReads), large: newShare(limit - smallReads)}
}

// of returns the part that a read of n bytes takes from.
func (b *budget) of(n int64) *share {
	if n <= smallRead {
		return b.small
	}
	return b.large
}

// A share is one part of a budget.
type share struct {
	sem   *semaphore.Weighted
	limit int64
}

func newShare(limit int64) *share {
	return &share{sem: semaphore.NewWeighted(limit), limit: limit}
}

// weight is what n bytes count: what exceeds the whole share runs alone.
func (s *share) weight(n int64) int64 { return min(n, s.limit) }

// take waits until n more bytes fit. It fails when ctx ends, and with
// ErrClosed when the context closing does. Who took gives.
func (s *share) take(ctx, closing context.Context, n int64) error {
	if s.tryTake(n) {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(closing, func() { cancel(ErrClosed) })
	defer stop()
	if s.sem.Acquire(ctx, s.weight(n)) != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (s *share) tryTake(n int64) bool { return s.sem.TryAcquire(s.weight(n)) }
func (s *share) give(n int64)         { s.sem.Release(s.weight(n)) }
