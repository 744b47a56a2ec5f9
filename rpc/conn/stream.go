package conn

import (
	"context"
	"errors"
	"io"
	"time"

	"go.lsp.dev/jsonrpc2"

	"mapd/rpc/wire"
)

// stream is the jsonrpc2.Stream of a connection. It gives the engine only what
// the engine serves well: envelopes that are known to be right, without their
// params, and a batch as one call. What the engine read last is in current; the
// handler picks it up before the engine reads again.
type stream struct {
	c       *Conn
	frames  frameReader
	parser  parser
	current frame
	data    []byte // the frame of current, borrowed from frames
	scratch []byte // the envelope the engine gets
	atEnd   func()
}

// batchEnvelope stands for a whole batch.
const batchEnvelope = `{"jsonrpc":"2.0","id":"$/batch","method":"$/batch"}`

func newStream(c *Conn) *stream {
	return &stream{
		c:      c,
		frames: frameReader{r: c.rwc, limits: c.limits, budget: c.opt.Budget},
		parser: parser{limits: c.limits},
	}
}

// ReadFrame returns the envelope of the next message that needs the engine. It
// answers everything else itself. At the end it returns once every call has been
// answered, so that the engine never has to drop a reply.
func (s *stream) ReadFrame(context.Context) ([]byte, int64, error) {
	for {
		data, err := s.frames.next()
		if err != nil {
			s.end(err)
			return nil, 0, io.EOF
		}
		s.c.counters.received.Add(1)
		s.c.framing.Store(uint32(s.frames.framing))
		f, err := s.parser.parse(data)
		if err != nil {
			s.c.reject(nil, wire.ParseError, err.Error())
			continue
		}
		if envelope := s.admissible(&f); envelope != nil {
			s.current, s.data = f, data
			return envelope, int64(len(data)), nil
		}
	}
}

// admissible returns what the engine shall see of f, nil for nothing.
func (s *stream) admissible(f *frame) []byte {
	e := &f.single
	switch {
	case f.batch && f.count == 0:
		s.c.reject(nil, wire.InvalidRequest, "the batch is empty")
	case f.batch && f.count > s.c.limits.Batch:
		err := wire.Errorf(wire.InvalidRequest, "a batch of %d is over the limit of %d", f.count, s.c.limits.Batch)
		s.c.counters.malformed.Add(1)
		s.c.sendError(nil, err.With("limit", s.c.limits.Batch))
	case f.batch:
		s.c.begin()
		return []byte(batchEnvelope)
	case e.kind == kindInvalid:
		s.c.reject(e.rawID, wire.InvalidRequest, e.problem)
	case e.kind == kindResponse:
		s.c.answered(e)
	default:
		return s.envelope(e)
	}
	return nil
}

// envelope encodes e without its params: a large payload is scanned once, not
// twice.
func (s *stream) envelope(e *envelope) []byte {
	b := append(s.scratch[:0], `{"jsonrpc":"2.0","method":`...)
	b = append(b, e.quoted...)
	if e.kind == kindCall {
		s.c.begin()
		b = append(b, `,"id":`...)
		b = append(b, e.rawID...)
	}
	s.scratch = append(b, '}')
	return s.scratch
}

// end winds the connection up after the last frame: it waits for the calls that
// still run, unless the peer is gone, and for their replies to leave.
func (s *stream) end(err error) {
	c := s.c
	defer s.frames.reserve(0)
	var lost *framingError
	switch {
	case c.ctx.Err() != nil: // the input was ended from here
	case errors.As(err, &lost) || err == io.ErrUnexpectedEOF:
		code, problem := wire.ParseError, "the input ends inside a message"
		if lost != nil {
			code, problem = lost.code, lost.problem
		}
		c.framing.Store(uint32(s.frames.framing))
		c.reject(nil, code, problem)
	case err != io.EOF:
		c.abort(ErrDisconnected)
	}
	if c.running() {
		stop := c.watchHangup()
		c.waitIdle()
		stop()
	}
	c.out.flush()
	if lost != nil {
		s.linger()
	}
	c.abort(ErrClosed)
	c.closing.Wait()
	c.out.writer.Wait()
	s.atEnd()
}

// linger ends our direction and discards input until the peer ends its own: a
// socket closed with unread input would break the peer's write and could cost
// it the error.
func (s *stream) linger() {
	socket, ok := s.c.rwc.(interface {
		CloseWrite() error
		SetReadDeadline(time.Time) error
	})
	if !ok || s.c.ctx.Err() != nil {
		return
	}
	if socket.CloseWrite() != nil || socket.SetReadDeadline(time.Now().Add(s.c.limits.Linger)) != nil {
		return
	}
	_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{s.c.rwc}, make([]byte, growthStep))
}

// Write sends the reply of the call that ctx belongs to. It never fails: an
// error would make the engine drop the replies of other calls, and those must
// come here to be withdrawn.
func (s *stream) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	c := s.c
	c.mu.Lock()
	o, found := c.outcomes[ctx]
	delete(c.outcomes, ctx)
	c.mu.Unlock()
	if !found {
		c.sendStray(msg)
		return 0, nil
	}
	defer c.handedBack()
	c.send(o)
	return 0, nil
}

// sendStray sends a message that the engine made up. It makes none for what
// stream lets through; should it, the peer is told in our own terms.
func (c *Conn) sendStray(msg jsonrpc2.Message) {
	c.log.Error("the JSON-RPC engine answered by itself", "message", clip(string(jsonrpc2.AppendMessage(nil, msg))))
	c.sendError(nil, wire.Errorf(wire.Internal, "a request was lost inside the daemon"))
	c.handedBack()
}

// Read is not used by the engine, which prefers ReadFrame, and could not return
// the params.
func (s *stream) Read(context.Context) (jsonrpc2.Message, int64, error) {
	return nil, 0, errors.ErrUnsupported
}

// WriteFrame completes the engine's interface for streams with raw frames. It
// would be used for the reply of a batch, which the engine never gets to see.
func (s *stream) WriteFrame(_ context.Context, data []byte) (int64, error) {
	if err := s.c.out.put(s.c.frame(nil, data)); err != nil {
		return 0, err
	}
	return int64(len(data)), nil
}

// Close is called by the engine when it has ended.
func (s *stream) Close() error {
	s.c.closeSocket()
	return nil
}
