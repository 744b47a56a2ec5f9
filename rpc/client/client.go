package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"mapd/rpc/socket"
	"mapd/rpc/wire"
)

// ErrConnectionLost is wrapped by the errors of calls whose connection ended
// before their reply came.
var ErrConnectionLost = errors.New("the connection to the daemon is lost")

// maxFrame is the largest frame a client takes: the daemon's own limit and room
// for the envelope.
const maxFrame = 64<<20 + 4<<10

// readAhead is how much is read with the header of a frame. The rest of a larger
// frame is read to where it stays.
const readAhead = 4 << 10

// Client is one session with the daemon. It may be used concurrently.
type Client struct {
	opt Options

	mu   sync.Mutex // guards link, which Initialize may replace
	link *link
}

func newClient(connection *net.UnixConn, opt Options) *Client {
	return &Client{opt: opt, link: newLink(connection, opt.Notify)}
}

func (c *Client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// Initialize opens the session. A daemon that is about to end is given up for
// the next one, if Options.Start allows to start it. It returns a *wire.Error
// with build_mismatch if the daemon is of another build and Options.AnyBuild is
// not set.
func (c *Client) Initialize(ctx context.Context, params wire.InitializeParams) (*wire.InitializeResult, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	for {
		var result wire.InitializeResult
		err := c.Call(ctx, "initialize", params, &result)
		if err == nil {
			return &result, c.checkBuild(&result)
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("the daemon on %s does not answer: %w; end it, its pid is in %[1]s.lock, and try again", c.opt.Socket, err)
		}
		if !c.opt.Start || ctx.Err() != nil || !ending(err) {
			return nil, err
		}
		if err := c.redial(ctx); err != nil {
			return nil, err
		}
	}
}

// ending reports whether err is what a daemon on its way out causes.
func ending(err error) bool {
	return errors.Is(err, ErrConnectionLost) || errors.Is(err, &wire.Error{Code: wire.ShuttingDown})
}

func (c *Client) redial(ctx context.Context) error {
	c.current().close(ErrConnectionLost)
	connection, err := dial(ctx, c.opt)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.link = newLink(connection, c.opt.Notify)
	return nil
}

func (c *Client) checkBuild(result *wire.InitializeResult) error {
	if c.opt.AnyBuild {
		return nil
	}
	ours, err := socket.Build()
	if err != nil {
		return err
	}
	theirs := result.Capabilities.Experimental.Mapd.Build
	if theirs == ours {
		return nil
	}
	return wire.Errorf(wire.BuildMismatch,
		"the daemon on %s is build %s, this program is build %s: run 'mapd stop' and try again, or unset MAPD_SOCKET to have a daemon for each build",
		c.opt.Socket, theirs, ours).With("daemon", theirs).With("client", ours)
}

// Call asks and decodes the result into result, which may be nil. params is
// encoded as JSON; nil sends none. An error reply is returned as a *wire.Error,
// the end of the connection as an error that wraps ErrConnectionLost.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	raw, err := c.CallRaw(ctx, method, params)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("decode the result of %s: %w", method, err)
	}
	return nil
}

// CallRaw is Call for those who want the encoded result, which is theirs.
func (c *Client) CallRaw(ctx context.Context, method string, params any) ([]byte, error) {
	encoded, err := encodeParams(method, params)
	if err != nil {
		return nil, err
	}
	return c.current().call(ctx, method, encoded)
}

// Notify sends a notification.
func (c *Client) Notify(method string, params any) error {
	encoded, err := encodeParams(method, params)
	if err != nil {
		return err
	}
	return c.current().send(message(0, method, encoded))
}

func encodeParams(method string, params any) ([]byte, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return p, nil
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode the params of %s: %w", method, err)
	}
	return encoded, nil
}

// Close ends the session and waits until nothing of it is left.
func (c *Client) Close() error {
	c.current().close(net.ErrClosed)
	return nil
}

// Done is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.current().done }

// link is one connection.
type link struct {
	socket *net.UnixConn
	notify func(string, []byte)
	done   chan struct{} // closed when the reader has ended

	writing sync.Mutex // one frame at a time

	mu      sync.Mutex
	seq     int64
	waiting map[int64]chan<- answer
	err     error // why the link ended, nil while it lives
}

// answer is what a call comes to.
type answer struct {
	result []byte
	err    error
}

func newLink(socket *net.UnixConn, notify func(string, []byte)) *link {
	l := &link{socket: socket, notify: notify, done: make(chan struct{}), waiting: map[int64]chan<- answer{}}
	go l.read()
	return l
}

func (l *link) call(ctx context.Context, method string, params []byte) ([]byte, error) {
	reply := make(chan answer, 1)
	l.mu.Lock()
	if l.err != nil {
		defer l.mu.Unlock()
		return nil, l.err
	}
	l.seq++
	id := l.seq
	l.waiting[id] = reply
	l.mu.Unlock()
	if err := l.sendCall(ctx, message(id, method, params)); err != nil {
		l.forget(id)
		return nil, err
	}
	select {
	case a := <-reply:
		return a.result, a.err
	case <-ctx.Done():
	}
	l.forget(id)
	select {
	case a := <-reply: // it came first
		return a.result, a.err
	default:
	}
	cancel := strconv.AppendInt([]byte(`{"id":`), id, 10)
	// The daemon is told, but whether it can be told does not matter any more.
	_ = l.send(message(0, "$/cancelRequest", append(cancel, '}')))
	return nil, context.Cause(ctx)
}

func (l *link) forget(id int64) {
	l.mu.Lock()
	delete(l.waiting, id)
	l.mu.Unlock()
}

// sendCall is send for as long as ctx lives. A frame that is cut in the middle
// ends the link.
func (l *link) sendCall(ctx context.Context, frame net.Buffers) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.socket.SetWriteDeadline(time.Unix(1, 0)) })
	err := l.send(frame)
	if !stop() {
		if err == nil {
			_ = l.socket.SetWriteDeadline(time.Time{})
			return nil
		}
		return context.Cause(ctx)
	}
	return err
}

func (l *link) send(frame net.Buffers) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if _, err := frame.WriteTo(l.socket); err != nil {
		l.end(fmt.Errorf("%w: %w", ErrConnectionLost, err))
		return l.failure()
	}
	return nil
}

func (l *link) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// end answers everybody who waits. The first reason counts.
func (l *link) end(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
	}
	err = l.err
	waiting := l.waiting
	l.waiting = map[int64]chan<- answer{}
	l.mu.Unlock()
	for _, reply := range waiting {
		reply <- answer{err: err}
	}
	l.socket.Close()
}

func (l *link) close(err error) {
	l.end(err)
	<-l.done
}

// read delivers what the daemon sends until the link ends.
func (l *link) read() {
	defer close(l.done)
	in := bufio.NewReaderSize(l.socket, readAhead)
	for {
		frame, err := readFrame(in)
		if err != nil {
			l.end(lost(err))
			return
		}
		if id, result, ok := slice(frame); ok {
			l.deliver(id, answer{result: result})
			continue
		}
		if err := l.general(frame); err != nil {
			l.end(err)
			return
		}
	}
}

func lost(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: the daemon has closed it", ErrConnectionLost)
	}
	return fmt.Errorf("%w: %w", ErrConnectionLost, err)
}

func (l *link) deliver(id int64, a answer) {
	l.mu.Lock()
	reply := l.waiting[id]
	delete(l.waiting, id)
	l.mu.Unlock()
	if reply != nil { // else its caller has given up
		reply <- a
	}
}

// general handles what slice does not: errors, notifications, and what is no
// message at all.
func (l *link) general(frame []byte) error {
	var m struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params json.RawMessage   `json:"params"`
		Result json.RawMessage   `json:"result"`
		Error  *wire.ErrorObject `json:"error"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return fmt.Errorf("%w: the daemon sent no message: %w", ErrConnectionLost, err)
	}
	if m.Method != "" {
		if l.notify != nil && m.ID == nil {
			l.notify(m.Method, m.Params)
		}
		return nil
	}
	a := answer{result: m.Result}
	if m.Error != nil {
		a.err = parseError(m.Error)
	}
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	if err == nil {
		l.deliver(id, a)
		return nil
	}
	// An error for no request is the daemon's last word.
	if a.err == nil {
		return fmt.Errorf("%w: the daemon sent a reply without an id", ErrConnectionLost)
	}
	return a.err
}

// The fixed spelling of a successful reply.
var (
	replyStart  = []byte(`{"jsonrpc":"2.0","id":`)
	resultStart = []byte(`,"result":`)
)

// slice cuts a successful reply into its id and its result.
func slice(frame []byte) (id int64, result []byte, ok bool) {
	rest, found := bytes.CutPrefix(frame, replyStart)
	if !found {
		return 0, nil, false
	}
	digits := 0
	for digits < len(rest) && '0' <= rest[digits] && rest[digits] <= '9' {
		id = id*10 + int64(rest[digits]-'0')
		digits++
	}
	result, found = bytes.CutPrefix(rest[digits:], resultStart)
	if !found || digits == 0 || digits > 18 || len(result) < 2 || result[len(result)-1] != '}' {
		return 0, nil, false
	}
	return id, result[:len(result)-1], true
}

// parseError turns an error object back into what the daemon meant.
func parseError(object *wire.ErrorObject) *wire.Error {
	e := &wire.Error{Code: wire.Internal, Message: object.Message}
	var data map[string]json.RawMessage
	if json.Unmarshal(object.Data, &data) != nil {
		return e
	}
	var code wire.Code
	if json.Unmarshal(data["code"], &code) == nil && code.Number() != 0 {
		e.Code = code
	}
	delete(data, "code")
	delete(data, "retryable")
	for name, value := range data {
		if e.Fields == nil {
			e.Fields = make(map[string]any, len(data))
		}
		e.Fields[name] = value
	}
	return e
}

// message returns a framed call in parts, or a notification if id is 0. params
// is not copied.
func message(id int64, method string, params []byte) net.Buffers {
	const room = 96 // what is fixed, and two numbers
	body := append(make([]byte, 0, room+len(method)), `{"jsonrpc":"2.0",`...)
	if id != 0 {
		body = append(strconv.AppendInt(append(body, `"id":`...), id, 10), ',')
	}
	body = strconv.AppendQuote(append(body, `"method":`...), method)
	if params != nil {
		body = append(body, `,"params":`...)
	}
	size := len(body) + len(params) + len("}")
	head := strconv.AppendInt(append(make([]byte, 0, room+len(body)), "Content-Length: "...), int64(size), 10)
	head = append(append(head, "\r\n\r\n"...), body...)
	if len(params) < smallParams {
		return net.Buffers{append(append(head, params...), '}')}
	}
	return net.Buffers{head, params, []byte{'}'}}
}

// smallParams are copied rather than written from where they are.
const smallParams = 4 << 10

// readFrame reads one frame into a buffer of its own. A daemon that refuses a
// connection says why before it knows the framing of its peer: in a bare line.
func readFrame(in *bufio.Reader) ([]byte, error) {
	if first, err := in.Peek(1); err == nil && first[0] == '{' {
		line, err := in.ReadSlice('\n')
		return bytes.Clone(line), err
	}
	length := -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil || n < 1 || n > maxFrame {
				return nil, fmt.Errorf("bad frame length %q", value)
			}
			length = n
		}
	}
	if length < 0 {
		return nil, errors.New("a frame without a length")
	}
	frame := make([]byte, length)
	if _, err := io.ReadFull(in, frame); err != nil {
		return nil, err
	}
	return frame, nil
}
