package conn

import (
	"errors"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"
)

// entryCost is what a queued frame is charged beyond its bytes, so that a flood
// of tiny frames is bounded as well.
const entryCost = 256

// maxVector is how many buffers one write gathers.
const maxVector = 64

// entry is one frame on its way out.
type entry struct {
	bufs     [][]byte
	size     int64  // bytes of bufs, plus entryCost
	withdraw func() // called if the frame does not leave completely; may be nil
}

// newEntry makes an entry of bufs, of which it drops empty ones: some writers
// wait for a reader even for nothing.
func newEntry(withdraw func(), bufs ...[]byte) entry {
	e := entry{bufs: make([][]byte, 0, len(bufs)), size: entryCost, withdraw: withdraw}
	for _, b := range bufs {
		if len(b) > 0 {
			e.bufs = append(e.bufs, b)
			e.size += int64(len(b))
		}
	}
	return e
}

// queue sends frames in order. put never waits for the peer: what the kernel
// does not take at once is written by a goroutine that lives as long as there
// is a backlog.
type queue struct {
	w     io.Writer
	raw   syscall.RawConn // nil unless w is a socket, which is then non-blocking
	limit int64
	total *Backlog // of all connections, may be nil
	stall time.Duration
	fail  func(error) // told why the queue cannot go on, calls close; without mu

	writer sync.WaitGroup // the goroutine of the backlog

	mu      sync.Mutex
	emptied sync.Cond // on mu: the backlog is gone, or err is set
	list    []entry   // the backlog; the first may be partly written
	bytes   int64     // sum of size over list
	writing bool      // the goroutine runs; list is not empty without it
	err     error     // set once: nothing more is accepted
	sent    int64     // frames that left completely
	vector  [][]byte  // scratch of put
}

func newQueue(w io.Writer, raw syscall.RawConn, l Limits, total *Backlog, fail func(error)) *queue {
	q := &queue{w: w, raw: raw, limit: l.Outgoing, total: total, stall: l.Stall, fail: fail}
	q.emptied.L = &q.mu
	return q
}

// put queues entries one behind the other, with nothing between them. On an
// error none was queued and none of their withdraw was called.
func (q *queue) put(entries ...entry) error {
	q.mu.Lock()
	err := q.putLocked(entries)
	q.mu.Unlock()
	if err == errOverflow {
		q.fail(err)
	}
	return err
}

func (q *queue) putLocked(entries []entry) error {
	if q.err != nil {
		return q.err
	}
	if len(q.list) == 0 && q.raw != nil {
		entries = q.direct(entries)
	}
	if len(entries) == 0 {
		return nil
	}
	var size int64
	for _, e := range entries {
		size += e.size
	}
	if q.bytes > 0 && q.bytes+size > q.limit {
		q.err = errOverflow
		q.emptied.Broadcast()
		return errOverflow
	}
	q.bytes += size
	q.total.Add(size)
	q.list = append(q.list, entries...)
	if !q.writing {
		q.writing = true
		q.writer.Go(q.drain)
	}
	return nil
}

// direct gives the kernel what it takes without waiting and returns the rest.
// An error is left to the goroutine of the backlog, which will meet it again.
func (q *queue) direct(entries []entry) []entry {
	q.vector = q.vector[:0]
	for _, e := range entries {
		q.vector = append(q.vector, e.bufs...)
	}
	n := writeNow(q.raw, q.vector[:min(len(q.vector), maxVector)])
	clear(q.vector)
	rest, done := advance(entries, n)
	q.sent += int64(done)
	return rest
}

// advance removes n written bytes from the front of entries and returns what is
// left and how many frames are complete.
func advance(entries []entry, n int) (rest []entry, done int) {
	for len(entries) > 0 {
		e := &entries[0]
		for len(e.bufs) > 0 && n >= len(e.bufs[0]) {
			n -= len(e.bufs[0])
			e.bufs = e.bufs[1:]
		}
		if len(e.bufs) > 0 {
			if n > 0 {
				e.bufs = slices.Clone(e.bufs)
				e.bufs[0] = e.bufs[0][n:]
			}
			return entries, done
		}
		entries = entries[1:]
		done++
	}
	return nil, done
}

// drain writes the backlog until there is none or it fails. It is the only one
// that withdraws queued frames: it alone knows what the kernel took.
func (q *queue) drain() {
	stalled := time.AfterFunc(q.stall, func() { q.fail(errStalled) })
	defer stalled.Stop()
	var vector [][]byte
	for {
		q.mu.Lock()
		if q.err != nil || len(q.list) == 0 {
			break
		}
		vector = vector[:0]
		for _, e := range q.list {
			if vector = append(vector, e.bufs...); len(vector) >= maxVector {
				vector = vector[:maxVector]
				break
			}
		}
		q.mu.Unlock()
		n, err := q.write(vector)
		if n > 0 {
			stalled.Reset(q.stall)
		}
		q.wrote(n)
		if err != nil {
			q.fail(ErrDisconnected)
		}
	}
	abandoned := q.list
	q.total.Add(-q.bytes)
	q.list, q.bytes, q.writing = nil, 0, false
	q.emptied.Broadcast()
	q.mu.Unlock()
	for _, e := range abandoned {
		if e.withdraw != nil {
			e.withdraw()
		}
	}
}

// write waits until the peer takes something.
func (q *queue) write(vector [][]byte) (int, error) {
	if q.raw != nil {
		return writeSome(q.raw, vector)
	}
	b := vector[0]
	return q.w.Write(b[:min(len(b), growthStep)])
}

// wrote takes n bytes off the backlog.
func (q *queue) wrote(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.list
	rest, done := advance(q.list, n)
	for i := range before[:done] {
		q.bytes -= before[i].size
		q.total.Add(-before[i].size)
		before[i] = entry{}
	}
	q.sent += int64(done)
	if q.list = rest; len(rest) == 0 {
		q.emptied.Broadcast()
	}
}

// close makes the queue refuse everything from now on. What it holds is
// withdrawn by drain, which ends when the write in progress does.
func (q *queue) close(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
	q.emptied.Broadcast()
}

// flush waits until the backlog has left or can no longer leave.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) > 0 && q.err == nil {
		q.emptied.Wait()
	}
}

// backlog returns the bytes that wait for the peer and the frames that left.
func (q *queue) backlog() (bytes, sent int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.sent
}

var (
	errOverflow = errors.New("the peer does not read: its outgoing queue is full")
	errStalled  = errors.New("the peer does not read: its outgoing queue makes no progress")
)
