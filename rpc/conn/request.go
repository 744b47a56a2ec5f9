package conn

import (
	"context"
	"time"

	"mapd/rpc/wire"
)

// request is a call in flight. It is the context of its handler.
type request struct {
	context.Context
	cancel   context.CancelCauseFunc
	key      idKey
	rawID    []byte
	method   string
	received time.Time
	bytes    int64
	reserved int64 // of Options.Budget, for the params
	slot     bool  // holds an element of Conn.slots
}

type requestKey struct{}

// Value makes the request reachable from contexts derived from it.
func (r *request) Value(key any) any {
	if _, ok := key.(requestKey); ok {
		return r
	}
	return r.Context.Value(key)
}

// Request describes the call that a context belongs to, for logs.
type Request struct {
	ID       string // as sent, so a string id is quoted
	Method   string
	Received time.Time
}

// FromContext returns the call that ctx belongs to.
func FromContext(ctx context.Context) (Request, bool) {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok {
		return Request{}, false
	}
	return Request{ID: string(r.rawID), Method: r.method, Received: r.received}, true
}

// admission is what a call needs besides a free id.
type admission struct {
	slot  bool  // a free slot, now
	bytes int64 // room for so many bytes
}

// admit registers a call, or says why it is refused.
func (c *Conn) admit(e *envelope, need admission) (*request, *wire.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found := c.inFlight[e.id]; found {
		c.counters.malformed.Add(1)
		return nil, wire.Errorf(wire.InvalidRequest, "the id %s is in flight: use a new id for each request", e.rawID)
	}
	if need.bytes > 0 && c.bytes > 0 && c.bytes+need.bytes > c.limits.InFlightBytes {
		return nil, c.busy("%d bytes of requests are in flight, the limit is %d", c.bytes, c.limits.InFlightBytes)
	}
	if need.slot {
		select {
		case c.slots <- struct{}{}:
		default:
			return nil, c.busy("%d requests are in flight, the limit", c.limits.InFlight)
		}
	}
	r := &request{
		key:      e.id,
		rawID:    e.rawID,
		method:   e.method,
		received: time.Now(),
		bytes:    need.bytes,
		slot:     need.slot,
	}
	r.Context, r.cancel = context.WithCancelCause(c.ctx)
	c.inFlight[r.key] = r
	c.bytes += r.bytes
	return r, nil
}

func (c *Conn) busy(format string, args ...any) *wire.Error {
	c.counters.busy.Add(1)
	return wire.Errorf(wire.ServerBusy, format+": wait for replies, then send it again", args...)
}

// release ends a call, so that its id and its slot are free before the peer can
// see the reply.
func (c *Conn) release(r *request) {
	c.mu.Lock()
	delete(c.inFlight, r.key)
	c.bytes -= r.bytes
	c.mu.Unlock()
	if r.slot {
		<-c.slots
	}
	c.opt.Budget.release(r.reserved)
	r.cancel(nil)
}

// cancelRequest ends the context of a call in flight. Any other id is ignored:
// its reply may be on its way.
func (c *Conn) cancelRequest(key idKey) {
	c.mu.Lock()
	r := c.inFlight[key]
	c.mu.Unlock()
	if r != nil {
		r.cancel(ErrCancelled)
	}
}
