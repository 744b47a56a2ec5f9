package workspace

import (
	"context"
	"sync"
)

// queues let one writer at a time have a file; the others wait in order. The
// key is a resolved path, or an inode for files that are written in place
// under several names.
type queues struct {
	mu  sync.Mutex // guards all below
	all map[string]*queue
}

type queue struct {
	turn  chan struct{} // holds a token while nobody has the file
	users int           // who has it and who waits; at 0 the queue goes
}

// enter waits for the turn of key's file and returns what ends it.
func (q *queues) enter(ctx, closing context.Context, key string) (leave func(), err error) {
	q.mu.Lock()
	w := q.all[key]
	if w == nil {
		w = &queue{turn: make(chan struct{}, 1)}
		w.turn <- struct{}{}
		if q.all == nil {
			q.all = map[string]*queue{}
		}
		q.all[key] = w
	}
	w.users++
	q.mu.Unlock()

	gone := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(q.all, key)
		}
	}
	select {
	case <-w.turn:
		return func() { w.turn <- struct{}{}; gone() }, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-closing.Done():
		err = ErrClosed
	}
	gone()
	return nil, err
}
