package conn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mapd/rpc/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; nothing waits that long when it works.
const patience = 20 * time.Second

// socketPair returns two connected unix sockets.
func socketPair(t testing.TB) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := func(fd int) *net.UnixConn {
		file := os.NewFile(uintptr(fd), "socket")
		defer file.Close()
		c, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.UnixConn)
	}
	return open(fds[0]), open(fds[1])
}

// methods is a Lookup over a map. A method that is missing is unknown.
type methods map[string]Method

func (m methods) lookup(name string) (Method, *wire.Error) {
	method, ok := m[name]
	if !ok {
		return Method{}, wire.Errorf(wire.UnknownMethod, "unknown method %q", name)
	}
	return method, nil
}

// echo answers with its params.
var echo = Method{Serve: func(_ context.Context, params []byte) (Reply, error) {
	return Reply{Result: params}, nil
}}

// peer is the other end of a connection under test.
type peer struct {
	t    testing.TB
	raw  *net.UnixConn
	in   *bufio.Reader
	conn *Conn
}

// gate is a method that waits: for the test to let it go, or for its context.
type gate struct {
	entered chan string // gets the params of each call
	let     chan struct{}
	ended   chan error // gets the cause of each context that ended first
}

func newGate() *gate {
	return &gate{entered: make(chan string, 2000), let: make(chan struct{}), ended: make(chan error, 2000)}
}

func (g *gate) method() Method {
	return Method{Serve: func(ctx context.Context, params []byte) (Reply, error) {
		g.entered <- string(params)
		select {
		case <-g.let:
			return Reply{Result: params}, nil
		case <-ctx.Done():
			g.ended <- context.Cause(ctx)
			return Reply{}, ctx.Err()
		}
	}}
}

// serial returns m as a method of the read loop.
func serial(m Method) Method {
	m.Serial = true
	return m
}

// notification returns a notification of f.
func notification(f func(params []byte) error) Method {
	return Method{Notification: true, Serve: func(_ context.Context, params []byte) (Reply, error) {
		return Reply{}, f(params)
	}}
}

// receive waits for a value, but not for ever.
func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

// start serves methods on a socket pair.
func start(t testing.TB, m methods, change ...func(*Options)) *peer {
	t.Helper()
	a, b := socketPair(t)
	opt := Options{Lookup: m.lookup}
	for _, f := range change {
		f(&opt)
	}
	p := &peer{t: t, raw: b, in: bufio.NewReaderSize(b, 1<<16), conn: New(context.Background(), a, opt)}
	if err := b.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	return p
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.raw, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// call sends a request on a line of its own.
func (p *peer) call(id int, method, params string) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
}

// message is any message of the connection under test.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Code      string `json:"code"`
			Retryable bool   `json:"retryable"`
		} `json:"data"`
	} `json:"error"`
}

// code returns the code of the error, 0 for a success.
func (m message) code() int {
	if m.Error == nil {
		return 0
	}
	return m.Error.Code
}

// line reads one line.
func (p *peer) line() []byte {
	p.t.Helper()
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("read: %v after %q", err, line)
	}
	return line
}

func (p *peer) read() message {
	p.t.Helper()
	var m message
	line := p.line()
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" {
		p.t.Fatalf("bad message %.300q: %v", line, err)
	}
	if m.Error != nil && (m.Error.Code == 0 || m.Error.Data.Code == "" || m.Error.Message == "") {
		p.t.Fatalf("error without code: %s", line)
	}
	return m
}

// expect reads a message and compares id and error code, 0 for success.
func (p *peer) expect(id string, code int) message {
	p.t.Helper()
	m := p.read()
	if string(m.ID) != id || m.code() != code {
		p.t.Fatalf("got id %s, error %+v, result %.100s; want id %s, code %d", m.ID, m.Error, m.Result, id, code)
	}
	return m
}

// expectClosed reads the end of the connection.
func (p *peer) expectClosed() {
	p.t.Helper()
	rest, err := io.ReadAll(p.in)
	if len(rest) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		p.t.Fatalf("want the end of the connection, got %.200q, %v", rest, err)
	}
	p.raw.Close()
	p.done()
}

// done waits for the connection to have ended.
func (p *peer) done() {
	p.t.Helper()
	select {
	case <-p.conn.Done():
	case <-time.After(patience):
		p.t.Fatal("the connection does not end")
	}
}

func TestCallBothFramings(t *testing.T) {
	p := start(t, methods{"echo": echo})
	p.send(`{"jsonrpc":"2.0","id":"a","method":"echo","params":{"x":1}}`)
	if m := p.expect(`"a"`, 0); string(m.Result) != `{"x":1}` {
		t.Errorf("result %s", m.Result)
	}
	h := start(t, methods{"echo": echo})
	body := `{"jsonrpc":"2.0","id":7,"method":"echo","params":[1]}`
	fmt.Fprintf(h.raw, "Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s", len(body), body)
	want := `{"jsonrpc":"2.0","id":7,"result":[1]}`
	want = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(want), want)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(h.in, got); err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
