package conn

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.lsp.dev/jsonrpc2"

	"mapd/rpc/wire"
)

// The causes of a request's context, read with context.Cause.
var (
	// ErrCancelled: the peer sent $/cancelRequest.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrDisconnected: the peer is gone.
	ErrDisconnected = errors.New("the client has disconnected")
	// ErrClosed: this side closed the connection.
	ErrClosed = errors.New("the connection is closed")
)

// Reply is the success of a call. Beside an error only its Queued and Withdraw
// count: they are about the frame of the error.
type Reply struct {
	// Result is encoded JSON, which must not change any more; empty stands for null.
	Result []byte
	// Rest goes on where Result ends: parts that need not be copied together,
	// such as ones that many replies share. They must not change any more.
	Rest [][]byte
	// Queued is called just before the frame is queued: what must be on record
	// when the peer reads the reply is recorded here. May be nil.
	Queued func()
	// Withdraw is called, after Queued or instead of it, if and only if the frame
	// did not leave completely. May be nil.
	Withdraw func()
	// Placed is called once the frame was queued: what is queued from then on comes
	// behind it. May be nil; an error has none.
	Placed func()
	// After follows the reply with nothing between, and is dropped with it.
	After []Notification
}

// size is the number of bytes of the result.
func (r *Reply) size() int {
	n := len(r.Result)
	for _, b := range r.Rest {
		n += len(b)
	}
	return n
}

// Notification is a message of the daemon that has no answer.
type Notification struct {
	Method string
	Params []byte // encoded JSON
	// Withdraw is called if and only if the frame does not leave completely; may
	// be nil.
	Withdraw func()
}

// Method is how a method of the peer is served.
type Method struct {
	// Notification marks a method that is sent without an id. It always runs on
	// the read loop, in wire order; what Serve returns is only logged.
	Notification bool
	// Serial makes a call run on the read loop, in wire order: no later message
	// is read before it returns, and it cannot be cancelled by the peer.
	Serial bool
	// Serve answers. params is encoded JSON, nil if absent; for a notification or
	// Serial it is borrowed until Serve returns, else it belongs to Serve. ctx
	// ends when the peer cancels the request or is gone.
	Serve func(ctx context.Context, params []byte) (Reply, error)
	// Unserved is told of a call for which Serve is not run: it is refused as busy
	// or after Finish, or it was cancelled or its peer left before its turn. params
	// is borrowed until Unserved returns. May be nil.
	Unserved func(params []byte)
}

// Options configure a Conn.
type Options struct {
	Limits Limits
	// Budget is shared by the connections of a daemon; nil is no bound.
	Budget *Budget
	// Backlog is told what waits for the peer; nil is nobody.
	Backlog *Backlog
	// Lookup finds a method, before its params are looked at. Its error answers
	// the call; for a notification it is logged. Required. Called by one
	// goroutine at a time.
	Lookup func(method string) (Method, *wire.Error)
	// Error turns an error of Serve into what the peer gets. Without it, or when
	// it returns nil, an error that is not a *wire.Error is internal.
	Error func(error) *wire.Error
	// Log gets what the peer does wrong, and panics. nil discards.
	Log *slog.Logger
}

// Conn is one connection being served.
type Conn struct {
	opt    Options
	limits Limits
	log    *slog.Logger
	rwc    io.ReadWriteCloser
	raw    syscall.RawConn // nil unless rwc is a socket
	engine jsonrpc2.Conn
	out    *queue

	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc

	closing sync.WaitGroup // goroutines of Finish
	once    sync.Once      // guards rwc.Close
	slots   chan struct{}  // one element for each running call

	serial   serialWatch
	framing  atomic.Uint32 // of the peer's first frame
	counters counters

	mu       sync.Mutex
	idle     sync.Cond          // on mu: active is 0
	inFlight map[idKey]*request // calls that are not answered yet
	bytes    int64              // frames of the calls in flight
	held     int64              // finished elements of running batches
	batches  int                // running batches
	active   int                // calls and batches the engine has not handed back
	outcomes map[context.Context]outcome
	asked    map[idKey]chan<- error // our own calls that the peer has not answered yet
	asks     int64                  // our own calls so far
	ended    bool                   // aborted or at the end of input: Finish has nothing to do
	refusal  *wire.Error            // set by Finish: new calls get it
	reason   error                  // why the connection ended, nil for a clean end
}

type counters struct {
	received, malformed, busy, panics atomic.Int64
}

// Stats is a view of a connection for status.
type Stats struct {
	InFlight      int   // calls running or waiting as elements of a batch
	InFlightBytes int64 // bytes of their frames
	QueuedBytes   int64 // bytes that wait for the peer, overhead included
	Received      int64 // frames read
	Sent          int64 // frames that left
	Malformed     int64 // frames or elements answered with -32700 or -32600
	Busy          int64 // calls refused with server_busy
	Panics        int64 // handlers that panicked
}

// New serves rwc until the peer or this side ends the connection, or ctx does.
// Closing rwc must end a Read and a Write in progress, as it does for sockets.
// The connection owns rwc.
func New(ctx context.Context, rwc io.ReadWriteCloser, opt Options) *Conn {
	c := &Conn{
		opt:      opt,
		limits:   opt.Limits.withDefaults(),
		log:      opt.Log,
		rwc:      rwc,
		raw:      rawSocket(rwc),
		inFlight: map[idKey]*request{},
		outcomes: map[context.Context]outcome{},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.idle.L = &c.mu
	c.serial.c = c
	c.slots = make(chan struct{}, c.limits.InFlight)
	c.out = newQueue(rwc, c.raw, c.limits, opt.Backlog, c.abort)
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	stream := newStream(c)
	c.engine = jsonrpc2.NewConn(stream)
	stop := context.AfterFunc(ctx, func() { c.abort(ErrClosed) })
	stream.atEnd = func() { stop() }
	c.engine.Go(c.ctx, stream.handle)
	return c
}

// rawSocket returns the descriptor of a socket: only there a write that does not
// wait and a hang-up that is not an end of input can be had.
func rawSocket(rwc io.ReadWriteCloser) syscall.RawConn {
	if _, ok := rwc.(net.Conn); !ok {
		return nil
	}
	socket, ok := rwc.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// Notify queues a notification. It never waits for the peer; an error says that
// the connection is over.
func (c *Conn) Notify(n Notification) error {
	err := c.out.put(c.notification(n))
	if err != nil {
		c.hook(n.Withdraw)
	}
	return err
}

// Close ends the connection at once and waits until nothing of it is left: the
// contexts of its requests end, what is queued is withdrawn. Not to be called
// from a handler of the connection, which it would wait for; see Finish.
func (c *Conn) Close() error {
	c.abort(ErrClosed)
	<-c.Done()
	return nil
}

// Finish lets the running calls end, sends what is queued, and closes. New calls
// are refused with reason, or as shutting_down if it is nil; a reason is also
// sent on its own, with a null id, so that an idle peer learns it. Finish does
// not wait: see Done.
func (c *Conn) Finish(reason *wire.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended || c.refusal != nil {
		return
	}
	c.refusal = reason
	if reason == nil {
		c.refusal = wire.Errorf(wire.ShuttingDown, "the daemon is shutting down: connect again")
	}
	c.closing.Go(func() {
		c.waitIdle()
		if reason != nil {
			c.sendError(nil, reason)
		}
		c.out.flush()
		c.abort(ErrClosed)
	})
}

// Done is closed when nothing of the connection is left.
func (c *Conn) Done() <-chan struct{} { return c.engine.Done() }

// Err returns why the connection ended, nil while it lives and after a clean
// end of either side.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason
}

// Stats returns the counters of the connection.
func (c *Conn) Stats() Stats {
	queued, sent := c.out.backlog()
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{
		InFlight:      len(c.inFlight),
		InFlightBytes: c.bytes,
		QueuedBytes:   queued,
		Received:      c.counters.received.Load(),
		Sent:          sent,
		Malformed:     c.counters.malformed.Load(),
		Busy:          c.counters.busy.Load(),
		Panics:        c.counters.panics.Load(),
	}
}

// abort ends the connection without waiting for anything. The first reason
// counts.
func (c *Conn) abort(reason error) {
	c.mu.Lock()
	first := !c.ended
	c.ended = true
	if first && reason != ErrClosed && reason != ErrDisconnected {
		c.reason = reason
	}
	c.mu.Unlock()
	if first && c.Err() != nil {
		c.log.Warn("connection ended", "why", reason)
	}
	c.cancel(reason)
	c.out.close(reason)
	c.hangUp()
}

// hangUp ends the input, and a write in progress. What has already arrived on a
// socket can still be read: the read loop goes through it, so that
// Method.Unserved is told of every call, before the peer sees the end.
func (c *Conn) hangUp() {
	socket, ok := c.rwc.(interface {
		CloseRead() error
		SetWriteDeadline(time.Time) error
	})
	if !ok || c.raw == nil || errors.Join(socket.SetWriteDeadline(time.Unix(1, 0)), socket.CloseRead()) != nil {
		c.closeSocket()
	}
}

func (c *Conn) closeSocket() { c.once.Do(func() { c.rwc.Close() }) }

// Abandoned ends the connection if the peer has closed its socket, and reports
// whether it did, or had ended before. It notices sooner than the read loop what
// lies behind unread input.
func (c *Conn) Abandoned() bool {
	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()
	if ended || c.raw == nil {
		return ended
	}
	gone := false
	_ = c.raw.Control(func(fd uintptr) { gone = isHungUp(fd) })
	if gone {
		c.abort(ErrDisconnected)
	}
	return gone
}

// running reports whether the engine has a call left.
func (c *Conn) running() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active > 0
}

// waitIdle waits until the engine has no call left whose reply is not queued.
func (c *Conn) waitIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.active > 0 {
		c.idle.Wait()
	}
}

// begin counts a call or batch that the engine was given.
func (c *Conn) begin() {
	c.mu.Lock()
	c.active++
	c.mu.Unlock()
}

// handedBack is called once the reply of a call or batch is queued or dropped.
func (c *Conn) handedBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.active--; c.active == 0 {
		c.idle.Broadcast()
	}
}
