package watch

import "sync"

// Batch is what happened since the last one.
type Batch struct {
	// Dirty holds the paths at which something happened, and whether the name
	// was gone at any moment: a directory that was removed and made again may
	// have the same inode, but it has no watch.
	Dirty map[string]bool
	// Lost says that events are missing, or that the stream ended.
	Lost bool
}

// Collector gathers the events of a stream. It ends with the stream.
type Collector struct {
	limit int
	ready chan struct{} // holds one token when there is something to take

	mu    sync.Mutex // guards batch
	batch Batch
	ended chan struct{}
}

// Collect starts a Collector. Past limit distinct paths between two calls of
// Take the batch is Lost. The goroutine ends when the stream is closed.
func Collect(s Stream, limit int) *Collector {
	c := &Collector{limit: limit, ready: make(chan struct{}, 1), ended: make(chan struct{})}
	go func() {
		defer close(c.ended)
		for e := range s.Events() {
			c.note(e)
		}
		c.note(Event{})
	}()
	return c
}

func (c *Collector) note(e Event) {
	c.mu.Lock()
	_, known := c.batch.Dirty[e.Path]
	switch {
	case c.batch.Lost:
	case e.Path == "" || !known && len(c.batch.Dirty) >= c.limit:
		c.batch = Batch{Lost: true}
	default:
		if c.batch.Dirty == nil {
			c.batch.Dirty = map[string]bool{}
		}
		c.batch.Dirty[e.Path] = c.batch.Dirty[e.Path] || e.Gone
	}
	c.mu.Unlock()
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// Ready returns a channel that has a value when there is something to take.
func (c *Collector) Ready() <-chan struct{} { return c.ready }

// Take returns what happened since the last call, possibly nothing.
func (c *Collector) Take() Batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.batch
	c.batch = Batch{}
	return b
}

// Wait waits until the stream was closed and its last event noted.
func (c *Collector) Wait() { <-c.ended }
