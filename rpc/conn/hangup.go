package conn

import (
	"sync"
	"time"
)

// hangupAfter is how long a handler may hold the read loop before somebody else
// looks whether the peer is still there.
const hangupAfter = 20 * time.Millisecond

// serialWatch lets a connection notice a hang-up although a handler holds its
// read loop. One timer serves any number of short handlers: setting one for each
// would cost more than they do.
type serialWatch struct {
	c *Conn

	mu    sync.Mutex
	since time.Time // when the handler began; zero: there is none
	armed bool      // tick will be called
	stop  func()    // ends the look at the peer; nil: nobody looks
}

// begin and end enclose a handler on the read loop.
func (w *serialWatch) begin() {
	if w.c.raw == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = time.Now()
	if !w.armed {
		w.armed = true
		time.AfterFunc(hangupAfter, w.tick)
	}
}

func (w *serialWatch) end() {
	w.mu.Lock()
	stop := w.stop
	w.stop, w.since = nil, time.Time{}
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

func (w *serialWatch) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	if w.since.IsZero() {
		return
	}
	if left := hangupAfter - time.Since(w.since); left > 0 {
		w.armed = true
		time.AfterFunc(left, w.tick)
		return
	}
	w.stop = w.c.watchHangup()
}

// watchHangup ends the connection when the peer closes its socket while nobody
// reads from it. stop ends the watch and waits for it.
func (c *Conn) watchHangup() (stop func()) {
	deadline, ok := c.rwc.(interface{ SetReadDeadline(time.Time) error })
	if !ok || c.raw == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if awaitHangup(c.raw) {
			c.abort(ErrDisconnected)
		}
	}()
	return func() {
		_ = deadline.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = deadline.SetReadDeadline(time.Time{})
	}
}
