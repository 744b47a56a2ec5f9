package view

import (
	"container/list"
	"sync"

	"mapd/hashline"
)

// Key names a view of some content: everything that a Plan and its text depend
// on.
type Key struct {
	Digest hashline.Digest
	Spans  string // as SpansKey returns it
	Budget Budget
	Style  Style
	Ranged bool
}

// SpansKey returns spans in a comparable form.
func SpansKey(spans []Span) string { return string(appendSpans(nil, spans)) }

// Cache keeps what was made for the views used last, up to a number of bytes.
// A view is a pure function of its Key, so nothing in it ever goes stale. It is
// safe for concurrent use; its values must not be modified.
type Cache[V any] struct {
	limit int64

	mu    sync.Mutex // guards what follows
	size  int64
	order *list.List // of *entry[V], the one used last in front
	byKey map[Key]*list.Element
}

type entry[V any] struct {
	key   Key
	value V
	size  int64
}

// NewCache returns a Cache of at most limit bytes.
func NewCache[V any](limit int64) *Cache[V] {
	return &Cache[V]{limit: limit, order: list.New(), byKey: map[Key]*list.Element{}}
}

// Get returns the value of a view, if it is kept.
func (c *Cache[V]) Get(k Key) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[V]).value, true
}

// Put keeps a value of size bytes, instead of those that were not used for the
// longest time. A value larger than a quarter of the limit is not kept.
func (c *Cache[V]) Put(k Key, value V, size int64) {
	size += int64(len(k.Spans)) + 256 // the entry itself
	if size > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		c.removeLocked(e)
	}
	c.byKey[k] = c.order.PushFront(&entry[V]{k, value, size})
	c.size += size
	for c.size > c.limit {
		c.removeLocked(c.order.Back())
	}
}

func (c *Cache[V]) removeLocked(e *list.Element) {
	removed := c.order.Remove(e).(*entry[V])
	delete(c.byKey, removed.key)
	c.size -= removed.size
}

// Size returns the bytes kept.
func (c *Cache[V]) Size() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
