package conn

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
)

func TestCancel(t *testing.T) {
	g := newGate()
	late := make(chan struct{})
	stubborn := func(err error) Method {
		return Method{Serve: func(ctx context.Context, _ []byte) (Reply, error) {
			g.entered <- "stubborn"
			<-ctx.Done()
			<-late
			return Reply{Result: []byte("true")}, err
		}}
	}
	p := start(t, methods{
		"gate": g.method(), "echo": echo,
		"done":    stubborn(nil),
		"verdict": stubborn(wire.Errorf(wire.NotFound, "gone")),
		"vague":   stubborn(errors.New("killed")),
	})
	cancel := func(id string) { p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":` + id + `}}`) }
	for _, id := range []string{"1", `"one"`} {
		p.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"gate"}`)
		receive(t, g.entered)
		cancel(id)
		if m := p.expect(id, -32800); m.Error.Data.Code != "cancelled" || !m.Error.Data.Retryable {
			t.Errorf("%+v", m.Error)
		}
		if cause := receive(t, g.ended); cause != ErrCancelled {
			t.Errorf("cause %v", cause)
		}
	}
	// Nothing to cancel, or nothing that names it.
	for _, id := range []string{"1", "99", `"x"`, "1.5", "null", "{}", "[1]", "1e20"} {
		cancel(id)
	}
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest"}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":[]}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}`)
	p.call(1, "echo", "[]")
	p.expect("1", 0)
	// A success or a verdict that comes after the cancellation stands.
	for name, code := range map[string]int{"done": 0, "verdict": -32803, "vague": -32800} {
		p.call(7, name, "[]")
		receive(t, g.entered)
		cancel("7")
		late <- struct{}{}
		p.expect("7", code)
	}
}

func TestCancelWaitingElement(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()}, func(o *Options) { o.Limits.InFlight = 1 })
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"gate"},{"jsonrpc":"2.0","id":2,"method":"gate"}]`)
	receive(t, g.entered)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}`)
	p.call(3, "gate", "[]")
	p.expect("3", -32803) // the slot is taken, and the cancellation has arrived
	close(g.let)
	if line := string(p.line()); !strings.Contains(line, `"id":1,"result"`) || !strings.Contains(line, `"id":2,"error":{"code":-32800`) {
		t.Errorf("%s", line)
	}
	if len(g.entered) != 0 {
		t.Error("the cancelled element ran")
	}
}

// TestDisconnectEndsContexts closes the socket under running requests: one that
// went async, one that holds the read loop, one in a batch, one with unread
// input behind it. A busy machine may miss the deadline, but not three times.
func TestDisconnectEndsContexts(t *testing.T) {
	request := `{"jsonrpc":"2.0","id":1,"method":"gate"}`
	for name, test := range map[string]struct {
		serial bool
		in     string
	}{
		"async":             {false, request},
		"serial":            {true, request},
		"batch":             {false, "[" + request + "]"},
		"serial and unread": {true, request + "\n" + strings.Repeat(`{"jsonrpc":"2.0","method":"x"}`+"\n", 1000)},
		"serial in batch":   {true, "[" + request + "]"},
	} {
		took := time.Hour
		for try := 0; try < 3 && took > 100*time.Millisecond; try++ {
			took = min(took, disconnect(t, test.serial, test.in))
		}
		if took > 100*time.Millisecond {
			t.Errorf("%s: the context ended after %v", name, took)
		}
	}
}

// disconnect sends in, closes the socket when its request runs, and returns how
// long the context of the request lived on.
func disconnect(t *testing.T, onLoop bool, in string) time.Duration {
	g := newGate()
	m := g.method()
	m.Serial = onLoop
	p := start(t, methods{"gate": m})
	p.send(in)
	receive(t, g.entered)
	begin := time.Now()
	p.raw.Close()
	if cause := receive(t, g.ended); cause != ErrDisconnected {
		t.Errorf("cause %v", cause)
	}
	took := time.Since(begin)
	p.done()
	if err := p.conn.Err(); err != nil {
		t.Errorf("a disconnect is reported as %v", err)
	}
	return took
}

// TestTimerOfAnEarlierHandler has the timer that an earlier handler set come too
// early for the one that holds the read loop.
func TestTimerOfAnEarlierHandler(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": serial(g.method())})
	p.call(1, "gate", "[]")
	receive(t, g.entered)
	w := &serialWatch{c: p.conn, since: time.Now()}
	w.tick()
	looking := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.stop != nil
	}
	for begin := time.Now(); !looking(); {
		if time.Since(begin) > patience {
			t.Fatal("nobody looks whether the peer is there")
		}
	}
	w.end()
	close(g.let)
	p.expect("1", 0)
}

func TestHalfCloseStillGetsReplies(t *testing.T) {
	for _, end := range []string{"\n", ""} {
		g := newGate()
		p := start(t, methods{"gate": g.method()})
		io.WriteString(p.raw, `{"jsonrpc":"2.0","id":1,"method":"gate","params":[1]}`+"\n"+`[{"jsonrpc":"2.0","id":2,"method":"gate","params":[2]}]`+end)
		receive(t, g.entered)
		p.raw.CloseWrite()
		receive(t, g.entered)
		close(g.let)
		seen := string(p.line()) + string(p.line())
		if !strings.Contains(seen, `"id":1,"result":[1]`) || !strings.Contains(seen, `"id":2,"result":[2]`) {
			t.Errorf("%s", seen)
		}
		p.expectClosed()
	}
}

// TestHalfCloseThenClose ends the contexts although the input had ended before.
func TestHalfCloseThenClose(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()})
	p.call(1, "gate", "[]")
	receive(t, g.entered)
	p.raw.CloseWrite()
	// The end of input has been seen when the connection watches for the rest.
	p.raw.Close()
	if cause := receive(t, g.ended); cause != ErrDisconnected {
		t.Errorf("cause %v", cause)
	}
	p.done()
}
