package conn

import "sync/atomic"

// Budget bounds the bytes of large messages that are arriving on, or served by,
// any number of connections. Small ones, up to 256 KiB, are not counted, so that
// who exhausts it harms only others like it.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Used returns the bytes that are taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used.Load()
}

// reserve takes n bytes, or nothing if there are not so many.
func (b *Budget) reserve(n int64) bool {
	if b == nil {
		return true
	}
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *Budget) release(n int64) {
	if b != nil {
		b.used.Add(-n)
	}
}
