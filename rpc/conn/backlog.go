package conn

import "sync/atomic"

// Backlog sums the bytes that wait for the peers of any number of connections.
// Add never refuses: which connection has to go when there are too many is its
// owner's choice, who is told through Full.
type Backlog struct {
	limit int64
	used  atomic.Int64
	full  chan struct{}
}

// NewBacklog returns a Backlog that is full beyond limit bytes.
func NewBacklog(limit int64) *Backlog {
	return &Backlog{limit: limit, full: make(chan struct{}, 1)}
}

// Add adds n bytes, which may be less than none.
func (b *Backlog) Add(n int64) {
	if b == nil || n == 0 {
		return
	}
	if b.used.Add(n) > b.limit && n > 0 {
		select {
		case b.full <- struct{}{}:
		default: // said already
		}
	}
}

// Reserve adds n bytes, or nothing if the Backlog would be full. Nobody is told.
func (b *Backlog) Reserve(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// Used returns the bytes that wait.
func (b *Backlog) Used() int64 { return b.used.Load() }

// Over reports whether more bytes wait than may.
func (b *Backlog) Over() bool { return b.Used() > b.limit }

// Full gets an element when bytes were added beyond the limit.
func (b *Backlog) Full() <-chan struct{} { return b.full }
