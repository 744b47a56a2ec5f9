package conn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"go.lsp.dev/jsonrpc2"

	"mapd/rpc/wire"
)

// cancelMethod is served here: it is about this connection's requests.
const cancelMethod = "$/cancelRequest"

// handle is the engine's handler. It runs on the read loop until it calls
// jsonrpc2.Async; only up to there may it use the stream's current frame.
func (s *stream) handle(ctx context.Context, _ *jsonrpc2.Request) (any, error) {
	f, data := s.current, s.data
	s.current, s.data = frame{}, nil
	c := s.c
	switch {
	case f.batch:
		return c.finish(ctx, outcome{batch: s.serveBatch(ctx, &f, data)})
	case f.single.kind == kindNotification:
		c.serveNotification(&f.single)
		return nil, nil
	default:
		return c.finish(ctx, s.serveCall(ctx, &f.single, data))
	}
}

// finish leaves o for Write and returns what the engine takes for the answer.
func (c *Conn) finish(ctx context.Context, o outcome) (any, error) {
	c.mu.Lock()
	c.outcomes[ctx] = o
	c.mu.Unlock()
	if o.err != nil {
		return nil, jsonrpc2.NewError(jsonrpc2.Code(o.err.Code.Number()), o.err.Message)
	}
	return nil, nil
}

// serveCall answers one call that is not part of a batch.
func (s *stream) serveCall(ctx context.Context, e *envelope, data []byte) outcome {
	c := s.c
	e.rawID = bytes.Clone(e.rawID)
	method, failed := c.lookup(e)
	if failed != nil {
		return outcome{rawID: e.rawID, err: failed}
	}
	if method.Serial {
		r, refused := c.admit(e, admission{})
		if refused != nil {
			return outcome{rawID: e.rawID, err: refused}
		}
		return c.runSerial(r, method, e.params)
	}
	r, refused := c.admit(e, admission{slot: true, bytes: int64(len(data))})
	if refused != nil {
		if refused.Code == wire.ServerBusy {
			c.unserved(method, e.params)
		}
		return outcome{rawID: e.rawID, err: refused}
	}
	params, refused := s.own(r, e.params, data)
	if refused != nil {
		c.release(r)
		c.unserved(method, e.params)
		return outcome{rawID: e.rawID, err: refused}
	}
	if c.ctx.Err() == nil { // else it is not run
		jsonrpc2.Async(ctx)
	}
	return c.run(r, method, params)
}

// own returns params, which lie in the borrowed frame data, for keeps.
func (s *stream) own(r *request, params, data []byte) ([]byte, *wire.Error) {
	reserved, owned, refused := s.keep(data)
	r.reserved = reserved
	if refused != nil || owned {
		return params, refused
	}
	return bytes.Clone(params), nil
}

// keep makes the borrowed frame data the property of its calls: the buffer
// itself, if owned is set, else copies of its parts. Either way it takes reserved
// of the budget.
func (s *stream) keep(data []byte) (reserved int64, owned bool, refused *wire.Error) {
	if len(data) <= keptBuffer {
		return 0, false, nil
	}
	if reserved, owned = s.frames.handOver(); owned {
		return reserved, true, nil
	}
	if size := int64(len(data)); s.c.opt.Budget.reserve(size) {
		return size, false, nil
	}
	return 0, false, s.c.busy("too many large requests are in flight")
}

// lookup finds the method of a call.
func (c *Conn) lookup(e *envelope) (Method, *wire.Error) {
	c.mu.Lock()
	refusal := c.refusal
	c.mu.Unlock()
	if refusal != nil {
		if method, failed := c.find(e.method); failed == nil {
			c.unserved(method, e.params)
		}
		return Method{}, refusal
	}
	if e.method == cancelMethod {
		return Method{}, misused(cancelMethod)
	}
	method, failed := c.find(e.method)
	if failed == nil && method.Notification {
		failed = misused(e.method)
	}
	return method, failed
}

// misused answers a call of a notification. One whose name starts with $/ is no
// method there, as LSP has it.
func misused(notification string) *wire.Error {
	code := wire.InvalidRequest
	if strings.HasPrefix(notification, "$/") {
		code = wire.UnknownMethod
	}
	return wire.Errorf(code, "%s is a notification: send it without an id", notification)
}

// find is Options.Lookup. A panic is the error of this request.
func (c *Conn) find(name string) (method Method, failed *wire.Error) {
	defer c.recovered(func(err *wire.Error) { method, failed = Method{}, err })
	return c.opt.Lookup(name)
}

// unserved tells of a call that is not run.
func (c *Conn) unserved(method Method, params []byte) {
	if method.Unserved != nil {
		defer c.recovered(func(*wire.Error) {})
		method.Unserved(params)
	}
}

// recovered is deferred: it reports a panic and hands on an error for it.
func (c *Conn) recovered(failed func(*wire.Error)) {
	if v := recover(); v != nil {
		c.counters.panics.Add(1)
		c.log.Error("panic", "value", v, "stack", string(debug.Stack()))
		failed(wire.Errorf(wire.Internal, "the daemon failed on this request: %v", v))
	}
}

// run calls the handler of a registered call and releases the call.
func (c *Conn) run(r *request, method Method, params []byte) outcome {
	o := outcome{rawID: r.rawID}
	// The end of the connection reaches its requests one by one.
	err := cmp.Or(context.Cause(c.ctx), context.Cause(r))
	if err == nil {
		o.reply, err = c.call(r, method, params)
	} else {
		c.unserved(method, params)
	}
	if err != nil {
		o.err = c.wireError(r, err)
		o.reply = Reply{Queued: o.reply.Queued, Withdraw: o.reply.Withdraw}
	}
	c.release(r)
	return o
}

// runSerial is run on the read loop.
func (c *Conn) runSerial(r *request, method Method, params []byte) outcome {
	c.serial.begin()
	defer c.serial.end()
	return c.run(r, method, params)
}

// call runs a handler and turns a panic into an error.
func (c *Conn) call(ctx context.Context, method Method, params []byte) (reply Reply, err error) {
	defer c.recovered(func(e *wire.Error) { reply, err = Reply{}, e })
	return method.Serve(ctx, params)
}

// wireError maps the error of a handler. A request that the peer cancelled ends
// as cancelled, unless its handler got to a verdict of its own.
func (c *Conn) wireError(r *request, err error) (wired *wire.Error) {
	defer c.recovered(func(e *wire.Error) { wired = e })
	if !errors.As(err, &wired) && c.opt.Error != nil {
		wired = c.opt.Error(err)
	}
	if context.Cause(r) == ErrCancelled && (wired == nil || wired.Code == wire.Internal || errors.Is(err, context.Canceled) || err == ErrCancelled) {
		return wire.Errorf(wire.Cancelled, "the request was cancelled by the client")
	}
	if wired == nil {
		wired = wire.Errorf(wire.Internal, "%v", err)
	}
	return wired
}

// serveNotification runs on the read loop. Whatever goes wrong is logged only.
func (c *Conn) serveNotification(e *envelope) {
	if e.method == cancelMethod {
		if err := c.serveCancel(e.params); err != nil {
			c.log.Debug("ignored a notification", "method", e.method, "why", err)
		}
		return
	}
	method, failed := c.find(e.method)
	if failed != nil {
		c.log.Debug("ignored a notification", "method", e.method, "why", failed)
		return
	}
	if !method.Notification {
		// Nobody would see the answer: what it showed must not count as shown, and
		// an edit must not go unreported.
		c.log.Warn("ignored a request that has no id", "method", e.method)
		return
	}
	if c.ctx.Err() != nil {
		return // left over from a peer that is gone
	}
	c.serial.begin()
	defer c.serial.end()
	if _, err := c.call(c.ctx, method, e.params); err != nil {
		c.log.Warn("a notification failed", "method", e.method, "why", err)
	}
}

// serveCancel ends the request that params name.
func (c *Conn) serveCancel(params []byte) error {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if len(p.ID) == 0 {
		return errors.New("no id")
	}
	parser := parser{limits: c.limits}
	key, problem := parser.id(p.ID)
	if problem != "" {
		return fmt.Errorf("%s", problem)
	}
	c.cancelRequest(key)
	return nil
}
