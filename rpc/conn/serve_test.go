package conn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mapd/rpc/wire"
)

func TestMalformedIsAnsweredAndTheConnectionLives(t *testing.T) {
	p := start(t, methods{"echo": echo})
	p.call(0, "echo", "[]") // its first byte tells the framing
	p.expect("0", 0)
	for text, id := range malformedMessages {
		p.send(text)
		p.expect(id, -32600)
	}
	for _, text := range malformedJSON {
		p.send(text)
		p.expect("null", -32700)
	}
	p.send("[]")
	p.expect("null", -32600)
	p.call(1, "echo", `{"alive":true}`)
	p.expect("1", 0)
	if got, want := p.conn.Stats().Malformed, int64(len(malformedMessages)+len(malformedJSON)+1); got != want {
		t.Errorf("%d counted as malformed, want %d", got, want)
	}
}

func TestMalformedWithHeadersLives(t *testing.T) {
	p := start(t, methods{"echo": echo})
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"echo","params":{]}}`, `{"jsonrpc":"2.0","id":1.5,"method":"echo"}`, `{"jsonrpc":"2.0","id":9,"method":"echo"}`} {
		fmt.Fprint(p.raw, header(body))
	}
	want := []string{`"code":-32700`, `"code":-32600`, `"id":9,"result":null}`}
	for _, w := range want {
		var length int
		if _, err := fmt.Fscanf(p.in, "Content-Length: %d\r\n\r\n", &length); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(p.in, body); err != nil || !strings.Contains(string(body), w) {
			t.Errorf("%s, %v; want %s", body, err, w)
		}
	}
}

func TestLostBoundaryEndsConnection(t *testing.T) {
	for name, in := range badHeaders {
		p := start(t, methods{"echo": echo})
		go io.WriteString(p.raw, in)
		rest, err := io.ReadAll(p.in)
		if !bytes.Contains(rest, []byte(`"code":-32700`)) || !bytes.Contains(rest, []byte(`"id":null`)) || bytes.Count(rest, []byte(`"jsonrpc"`)) != 1 {
			t.Errorf("%s: got %q, %v", name, rest, err)
		}
		p.raw.Close()
		p.done()
	}
}

// TestPeerThatWritesOnGetsTheError sends far more than the limit before it
// reads.
func TestPeerThatWritesOnGetsTheError(t *testing.T) {
	p := start(t, methods{}, func(o *Options) { o.Limits.Frame = 1 << 20 })
	if _, err := p.raw.Write(append([]byte("{"), make([]byte, 8<<20)...)); err != nil {
		t.Fatalf("write: %v", err)
	}
	p.expect("null", -32700)
	p.expectClosed()
}

func TestEndInsideMessage(t *testing.T) {
	for _, in := range []string{"Content-Length: 100\r\n\r\n{", "Content-Le", `{"jsonrpc":`} {
		p := start(t, methods{})
		io.WriteString(p.raw, in)
		p.raw.CloseWrite()
		rest, _ := io.ReadAll(p.in)
		if !bytes.Contains(rest, []byte(`"code":-32700`)) {
			t.Errorf("%q: %q", in, rest)
		}
		p.done()
	}
}

func TestUnknownMethodIsNotDecoded(t *testing.T) {
	var asked atomic.Int64
	m := methods{"echo": echo}
	p := start(t, nil, func(o *Options) {
		o.Lookup = func(name string) (Method, *wire.Error) {
			asked.Add(1)
			return m.lookup(name)
		}
	})
	// Params that a decoder would choke on: they are JSON, and 1 MB.
	p.call(1, "nothing", "["+strings.TrimSuffix(strings.Repeat("1e999,", 200_000), ",")+"]")
	p.expect("1", -32601)
	p.send(`{"jsonrpc":"2.0","method":"nothing","params":[]}`)
	p.call(2, "echo", "[]")
	p.expect("2", 0)
	if asked.Load() != 3 {
		t.Errorf("asked for %d methods", asked.Load())
	}
}

func TestErrorsOfHandlers(t *testing.T) {
	fail := func(err error) Method {
		return Method{Serve: func(context.Context, []byte) (Reply, error) { return Reply{Result: []byte("1")}, err }}
	}
	special := errors.New("special")
	m := methods{
		"plain":   fail(errors.New("a plain error with \xff")),
		"wire":    fail(fmt.Errorf("wrapped: %w", wire.Errorf(wire.NotFound, "no such file").With("path", "x"))),
		"mapped":  fail(special),
		"unknown": fail(&wire.Error{Code: "made_up", Message: "m"}),
		"field":   fail(wire.Errorf(wire.IO, "x").With("f", func() {})),
		"raw":     fail(wire.Errorf(wire.IO, "x").With("f", json.RawMessage("\"\xff\""))),
		"empty":   {Serve: func(context.Context, []byte) (Reply, error) { return Reply{Result: []byte{}}, nil }},
		"panic":   {Serve: func(context.Context, []byte) (Reply, error) { panic("boom") }},
		"index": {Serve: func(_ context.Context, params []byte) (Reply, error) {
			return Reply{Result: params[len(params):][1:]}, nil
		}},
		"serial": serial(Method{Serve: func(context.Context, []byte) (Reply, error) { panic("boom") }}),
		"hook":   {Serve: func(context.Context, []byte) (Reply, error) { return Reply{Queued: func() { panic("boom") }}, nil }},
		"note":   notification(func([]byte) error { return errors.New("failed") }),
		"bang":   notification(func([]byte) error { panic("boom") }),
		"echo":   echo,
	}
	p := start(t, nil, func(o *Options) {
		o.Lookup = func(name string) (Method, *wire.Error) {
			if name == "lookup" {
				panic("boom")
			}
			return m.lookup(name)
		}
		o.Error = func(err error) *wire.Error {
			if err == special {
				return wire.Errorf(wire.ReadOnly, "mapped")
			}
			return nil
		}
	})
	for name, code := range map[string]int{
		"plain": -32603, "wire": -32803, "mapped": -32803, "unknown": -32603, "field": -32603, "raw": -32603, "empty": 0,
		"panic": -32603, "index": -32603, "serial": -32603, "lookup": -32603, "hook": 0,
	} {
		p.call(1, name, "{}")
		p.expect("1", code)
		p.send(fmt.Sprintf(`[{"jsonrpc":"2.0","id":2,"method":%q}]`, name))
		if line := p.line(); !strings.Contains(string(line), fmt.Sprintf(`"code":%d`, code)) == (code != 0) {
			t.Errorf("%s in a batch: %s", name, line)
		}
	}
	p.send(`{"jsonrpc":"2.0","method":"note"}`, `{"jsonrpc":"2.0","method":"bang"}`, `{"jsonrpc":"2.0","method":"lookup"}`)
	p.call(3, "echo", "[]")
	p.expect("3", 0)
	if got := p.conn.Stats().Panics; got != 2*4+2+2 {
		t.Errorf("%d panics counted", got)
	}
}

func TestNotificationAndCallAreNotMixedUp(t *testing.T) {
	var ran atomic.Int64
	p := start(t, methods{
		"note": notification(func([]byte) error { ran.Add(1); return nil }),
		"call": {Serve: func(context.Context, []byte) (Reply, error) { ran.Add(1); return Reply{}, nil }},
		"echo": echo,
	})
	p.call(1, "note", "[]")
	p.expect("1", -32600)
	p.call(2, cancelMethod, `{"id":1}`)
	p.expect("2", -32601) // what starts with $/ is no method
	p.send(`{"jsonrpc":"2.0","method":"call"}`)
	p.send(`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`)
	p.call(3, "echo", "[]")
	p.expect("3", 0)
	if ran.Load() != 0 {
		t.Errorf("%d ran", ran.Load())
	}
}

// TestWireOrder pipelines notifications and calls that change a state.
func TestWireOrder(t *testing.T) {
	const n = 50_000
	var got []int
	push := func(params []byte) error {
		i, err := strconv.Atoi(strings.Trim(string(params), "[]"))
		got = append(got, i)
		return err
	}
	p := start(t, methods{
		"note": notification(push),
		"push": serial(Method{Serve: func(_ context.Context, params []byte) (Reply, error) { return Reply{}, push(params) }}),
		"echo": echo,
		"length": serial(Method{Serve: func(context.Context, []byte) (Reply, error) {
			return Reply{Result: strconv.AppendInt(nil, int64(len(got)), 10)}, nil
		}}),
	})
	var sent sync.WaitGroup
	sent.Go(func() {
		var b bytes.Buffer
		for i := range n {
			switch {
			case i%1000 == 999:
				fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"push","params":[%d]}`+"\n", i, i)
			case i%1000 == 500:
				fmt.Fprintf(&b, `[{"jsonrpc":"2.0","method":"note","params":[%d]},{"jsonrpc":"2.0","id":"e%d","method":"echo"}]`+"\n", i, i)
			default:
				fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"note","params":[%d]}`+"\n", i)
			}
		}
		b.WriteString(`{"jsonrpc":"2.0","id":"end","method":"length"}` + "\n")
		p.raw.Write(b.Bytes())
	})
	for {
		line := p.line()
		if strings.Contains(string(line), `"error"`) {
			t.Fatalf("%s", line)
		}
		if strings.Contains(string(line), `"end"`) {
			if !strings.Contains(string(line), fmt.Sprintf(`"result":%d}`, n)) {
				t.Errorf("%s, want %d", line, n)
			}
			break
		}
	}
	sent.Wait()
	p.conn.Close()
	for i := range got {
		if got[i] != i {
			t.Fatalf("%d runs as number %d", got[i], i)
		}
	}
}

func TestDuplicateIDInFlight(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method(), "echo": echo, "serial": serial(echo)})
	p.call(1, "gate", "[]")
	receive(t, g.entered)
	p.call(1, "echo", "[]")
	p.expect("1", -32600)
	p.call(1, "serial", "[]")
	p.expect("1", -32600)
	p.send(`{"jsonrpc":"2.0","id":"1","method":"echo"}`) // another id
	p.expect(`"1"`, 0)
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"echo"}]`)
	if line := string(p.line()); strings.Count(line, "-32600") != 2 || strings.Count(line, `"result"`) != 1 {
		t.Errorf("batch: %s", line)
	}
	close(g.let)
	p.expect("1", 0)
	p.call(1, "echo", "[]")
	p.expect("1", 0)
}

func TestServerBusy(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method(), "serial": serial(echo), "echo": echo})
	for i := range 64 {
		p.call(i, "gate", "[]")
		receive(t, g.entered)
	}
	p.call(64, "echo", "[]")
	if m := p.expect("64", -32803); m.Error.Data.Code != "server_busy" || !m.Error.Data.Retryable {
		t.Errorf("%+v", m.Error)
	}
	p.call(65, "serial", "[]") // takes no slot
	p.expect("65", 0)
	g.let <- struct{}{}
	p.read()
	p.call(66, "echo", "[]")
	p.expect("66", 0)
	if s := p.conn.Stats(); s.InFlight != 63 || s.Busy != 1 {
		t.Errorf("%+v", s)
	}
	close(g.let)
	for range 63 {
		p.read()
	}
	if s := p.conn.Stats(); s.InFlight != 0 || s.InFlightBytes != 0 {
		t.Errorf("at the end %+v", s)
	}
}

func TestByteBudget(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method(), "echo": echo}, func(o *Options) { o.Limits.InFlightBytes = 10_000 })
	params := `["` + strings.Repeat("x", 6000) + `"]`
	p.call(1, "gate", params)
	receive(t, g.entered)
	p.call(2, "echo", params)
	if m := p.expect("2", -32803); m.Error.Data.Code != "server_busy" {
		t.Errorf("%+v", m.Error)
	}
	p.send(`[{"jsonrpc":"2.0","id":7,"method":"echo","params":` + params + `}]`)
	if line := string(p.line()); !strings.Contains(line, "server_busy") {
		t.Errorf("batch: %s", line)
	}
	p.call(3, "echo", "[1]")
	p.expect("3", 0)
	close(g.let)
	p.expect("1", 0)
	p.call(4, "echo", `["`+strings.Repeat("x", 20_000)+`"]`) // alone, any frame is served
	p.expect("4", 0)
}

func TestContextNamesRequest(t *testing.T) {
	var got Request
	p := start(t, methods{"who": {Serve: func(ctx context.Context, _ []byte) (Reply, error) {
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		got, _ = FromContext(derived)
		return Reply{}, nil
	}}})
	p.send(`{"jsonrpc":"2.0","id":"a-7","method":"who"}`)
	p.expect(`"a-7"`, 0)
	p.conn.Close()
	if got.ID != `"a-7"` || got.Method != "who" || got.Received.IsZero() {
		t.Errorf("%+v", got)
	}
	if _, ok := FromContext(t.Context()); ok {
		t.Error("a request out of nothing")
	}
}

func TestDribble(t *testing.T) {
	p := start(t, methods{"echo": echo})
	for _, c := range []byte(header(`{"jsonrpc":"2.0","id":1,"method":"echo","params":["ä"]}`)) {
		if _, err := p.raw.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	want := header(`{"jsonrpc":"2.0","id":1,"result":["ä"]}`)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p.in, got); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
}

// TestParamsAreKept checks that params of async calls survive the frames that
// follow, at the sizes where they are copied and where they are handed over.
func TestParamsAreKept(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()})
	sizes := []int{1, 100, 5000, 70_000, keptBuffer - 100, keptBuffer + 100, 1 << 20}
	for i, size := range sizes {
		p.call(i, "gate", `["`+strings.Repeat(string(rune('a'+i)), size)+`"]`)
		receive(t, g.entered)
		// Whatever buffer the params came in is written over.
		p.send(strings.Repeat(`{"jsonrpc":"2.0","method":"none","params":["`+strings.Repeat("-", 1000)+"\"]}\n", 1000))
	}
	close(g.let)
	for range sizes {
		m := p.read()
		i, _ := strconv.Atoi(string(m.ID))
		if want := `["` + strings.Repeat(string(rune('a'+i)), sizes[i]) + `"]`; string(m.Result) != want {
			t.Errorf("params of %d bytes were changed", sizes[i])
		}
	}
}

func TestLogsNoPayload(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	p := start(t, methods{"echo": echo}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	p.send(`{"jsonrpc":"2.0","id":1.5,"method":"echo","params":["secret"]}`, `{"jsonrpc":"2.0","method":"nobody","params":["secret"]}`)
	p.expect("null", -32600)
	p.conn.Close()
	mu.Lock()
	defer mu.Unlock()
	if text := log.String(); strings.Contains(text, "secret") || !strings.Contains(text, "nobody") || !strings.Contains(text, "invalid_request") {
		t.Errorf("log: %s", text)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
