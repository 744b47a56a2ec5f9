package conn

import (
	"bytes"
	"cmp"
	"context"
	"sync"

	"go.lsp.dev/jsonrpc2"

	"mapd/rpc/wire"
)

// element is one call of a batch.
type element struct {
	envelope envelope
	method   Method
	request  *request // nil if out is decided
	out      outcome
}

// serveBatch answers a batch in the order of its calls. Notifications and Serial
// methods run first, on the read loop; the other calls share the slots of the
// connection and wait for them.
func (s *stream) serveBatch(ctx context.Context, f *frame, data []byte) []outcome {
	c := s.c
	busy := c.enterBatch(int64(len(data)))
	if busy == nil {
		defer c.leaveBatch(int64(len(data)))
	}
	reserved, owned, refused := s.keep(data)
	defer c.opt.Budget.release(reserved)
	busy = cmp.Or(busy, refused)
	calls := make([]element, 0, len(f.elements))
	waiting := false
	for _, e := range f.elements {
		switch e.kind {
		case kindNotification:
			c.serveNotification(&e)
		case kindResponse:
			c.answered(&e)
		}
		if e.kind == kindNotification || e.kind == kindResponse {
			continue
		}
		call := c.prepare(e, busy, owned)
		waiting = waiting || call.request != nil
		calls = append(calls, call)
	}
	if waiting {
		jsonrpc2.Async(ctx)
		c.runBatch(calls)
	}
	replies := make([]outcome, len(calls))
	var held int64
	for i := range calls {
		replies[i] = calls[i].out
		held += int64(replies[i].reply.size())
	}
	c.unhold(held)
	return replies
}

// prepare decides what can be decided on the read loop. The frame of e is
// borrowed unless owned is set.
func (c *Conn) prepare(e envelope, busy *wire.Error, owned bool) element {
	e.rawID = bytes.Clone(e.rawID)
	call := element{envelope: e, out: outcome{rawID: e.rawID}}
	if e.kind == kindInvalid {
		c.counters.malformed.Add(1)
		call.out.err = wire.Errorf(wire.InvalidRequest, "%s", e.problem)
		return call
	}
	call.method, call.out.err = c.lookup(&e)
	if call.out.err != nil {
		return call
	}
	if !call.method.Serial && busy != nil {
		call.out.err = busy
		c.unserved(call.method, e.params)
		return call
	}
	call.request, call.out.err = c.admit(&e, admission{})
	if call.out.err != nil {
		return call
	}
	if call.method.Serial {
		call.out = c.hold(c.runSerial(call.request, call.method, e.params))
		call.request = nil
		return call
	}
	if !owned {
		call.envelope.params = bytes.Clone(e.params)
	}
	return call
}

// enterBatch accounts for a batch, or says why it has to be refused.
func (c *Conn) enterBatch(size int64) *wire.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.batches >= c.limits.InFlight {
		return c.busy("%d batches are in flight, the limit", c.batches)
	}
	if c.bytes > 0 && c.bytes+size > c.limits.InFlightBytes {
		return c.busy("%d bytes of requests are in flight, the limit is %d", c.bytes, c.limits.InFlightBytes)
	}
	c.batches++
	c.bytes += size
	return nil
}

func (c *Conn) leaveBatch(size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches--
	c.bytes -= size
}

// runBatch runs the calls that are not decided, as many at once as there are
// slots, and waits for them.
func (c *Conn) runBatch(calls []element) {
	var running sync.WaitGroup
	for i := range calls {
		call := &calls[i]
		if call.request == nil {
			continue
		}
		select {
		case c.slots <- struct{}{}:
			call.request.slot = true
		case <-call.request.Done():
			// run answers it without calling the handler.
		}
		running.Go(func() { call.out = c.hold(c.run(call.request, call.method, call.envelope.params)) })
	}
	running.Wait()
}

// hold accounts for a finished element that waits for its siblings. Past the
// budget its reply is dropped.
func (c *Conn) hold(o outcome) outcome {
	size := int64(o.reply.size())
	c.mu.Lock()
	fits := size == 0 || c.held+size <= min(c.limits.Outgoing, int64(c.limits.Frame))
	if fits {
		c.held += size
	}
	c.mu.Unlock()
	if !fits {
		c.refuse(&o, wire.Errorf(wire.ServerBusy, "the replies of the batch have more than %d bytes: send smaller batches", c.limits.Frame))
	}
	return o
}

func (c *Conn) unhold(size int64) {
	c.mu.Lock()
	c.held -= size
	c.mu.Unlock()
}
