// Package lru keeps what was made and may be made again: values of pure
// functions, bounded by their bytes, the least recently used dropped first.
// Nothing in it ever goes stale, so nothing is ever invalidated.
package lru

import (
	"container/list"
	"sync"
)

// Cache keeps values under comparable keys, up to a number of bytes. It is safe
// for concurrent use; its values must not be modified.
type Cache[K comparable, V any] struct {
	limit int64

	mu    sync.Mutex // guards what follows
	size  int64
	order *list.List // of *entry[K, V], the one used last in front
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New returns a Cache of at most limit bytes.
func New[K comparable, V any](limit int64) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, order: list.New(), byKey: map[K]*list.Element{}}
}

// Get returns the value of k, if it is kept.
func (c *Cache[K, V]) Get(k K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// entryBytes is charged for an entry beside the size of its value.
const entryBytes = 256

// Put keeps a value of size bytes, instead of those that were not used for the
// longest time. A value larger than a quarter of the limit is not kept.
func (c *Cache[K, V]) Put(k K, value V, size int64) {
	size += entryBytes
	if size > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[k]; ok {
		c.removeLocked(e)
	}
	c.byKey[k] = c.order.PushFront(&entry[K, V]{k, value, size})
	c.size += size
	for c.size > c.limit {
		c.removeLocked(c.order.Back())
	}
}

func (c *Cache[K, V]) removeLocked(e *list.Element) {
	removed := c.order.Remove(e).(*entry[K, V])
	delete(c.byKey, removed.key)
	c.size -= removed.size
}

// Bytes returns the bytes kept.
func (c *Cache[K, V]) Bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size
}
