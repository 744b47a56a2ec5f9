package conn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// batch returns a batch of n calls of method with the ids 0 to n-1.
func batch(n int, method string) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":[%d]}`, i, method, i)
	}
	return "[" + strings.Join(calls, ",") + "]"
}

// readBatch reads a batch of replies.
func (p *peer) readBatch() []message {
	p.t.Helper()
	var replies []message
	line := p.line()
	if err := json.Unmarshal(line, &replies); err != nil {
		p.t.Fatalf("no batch: %.300s", line)
	}
	return replies
}

func TestBatchSizes(t *testing.T) {
	p := start(t, methods{"echo": echo})
	for _, n := range []int{1, 2, 64, 65, 1000} {
		p.send(batch(n, "echo"))
		replies := p.readBatch()
		if len(replies) != n {
			t.Fatalf("%d replies to a batch of %d", len(replies), n)
		}
		for i, m := range replies {
			if string(m.ID) != fmt.Sprint(i) || string(m.Result) != fmt.Sprintf("[%d]", i) {
				t.Fatalf("batch of %d: reply %d is %s: %s", n, i, m.ID, m.Result)
			}
		}
	}
	for _, n := range []int{0, 1001, 100_000} {
		p.send(batch(n, "echo"))
		p.expect("null", -32600)
	}
	p.call(1, "echo", "[]")
	p.expect("1", 0)
	if s := p.conn.Stats(); s.InFlight != 0 || s.InFlightBytes != 0 || p.conn.held != 0 || p.conn.batches != 0 {
		t.Errorf("left behind: %+v, %d, %d", s, p.conn.held, p.conn.batches)
	}
}

// TestBatchConcurrency holds all elements until no further one is started.
func TestBatchConcurrency(t *testing.T) {
	var running, most atomic.Int64
	g := newGate()
	m := Method{Serve: func(ctx context.Context, params []byte) (Reply, error) {
		for n := running.Add(1); ; {
			if seen := most.Load(); n <= seen || most.CompareAndSwap(seen, n) {
				break
			}
		}
		defer running.Add(-1)
		return g.method().Serve(ctx, params)
	}}
	p := start(t, methods{"gate": m, "serial": serial(echo), "echo": echo})
	p.send(batch(1000, "gate"))
	for range 64 {
		receive(t, g.entered)
	}
	// While the batch has all slots the connection is alive.
	p.call(5000, "serial", "[]")
	p.expect("5000", 0)
	p.call(5001, "echo", "[]")
	p.expect("5001", -32803)
	close(g.let)
	if replies := p.readBatch(); len(replies) != 1000 {
		t.Errorf("%d replies", len(replies))
	}
	if most.Load() != 64 {
		t.Errorf("%d ran at once", most.Load())
	}
}

func TestBatchMixed(t *testing.T) {
	notes := make(chan string, 10)
	p := start(t, methods{
		"echo":   echo,
		"serial": serial(echo),
		"note":   notification(func(params []byte) error { notes <- string(params); return nil }),
	})
	p.send(`[` + strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`,
		`{"jsonrpc":"2.0","method":"note","params":[2]}`,
		`3`, `[]`, `{}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"echo"}`,
		`{"jsonrpc":"1.0","id":"v","method":"echo"}`,
		`{"jsonrpc":"2.0","id":4,"method":"nothing"}`,
		`{"jsonrpc":"2.0","id":5,"method":"serial","params":[5]}`,
		`{"jsonrpc":"2.0","id":6,"result":1}`,
		`{"jsonrpc":"2.0","id":7,"method":"note"}`,
		`{"jsonrpc":"2.0","method":"echo"}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99}}`,
	}, ",") + `]`)
	var got []string
	for _, m := range p.readBatch() {
		got = append(got, fmt.Sprint(string(m.ID), " ", m.code(), " ", string(m.Result)))
	}
	want := []string{
		"1 0 [1]", "null -32600 ", "null -32600 ", "null -32600 ", "null -32600 ", `"v" -32600 `,
		"4 -32601 ", "5 0 [5]", "7 -32600 ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if note := receive(t, notes); note != "[2]" {
		t.Errorf("notification %s", note)
	}
	p.send(`[{"jsonrpc":"2.0","method":"note","params":[8]},{"jsonrpc":"2.0","method":"nobody"}]`, `[1,{"jsonrpc":"2.0"`)
	if m := p.expect("null", -32700); m.Error == nil {
		t.Error("a batch of notifications has a reply")
	}
}

// TestBatchInitializes checks that a call sees what a serial one before it in
// the same batch did to the lookup.
func TestBatchInitializes(t *testing.T) {
	m := methods{}
	m["open"] = serial(Method{Serve: func(context.Context, []byte) (Reply, error) { m["echo"] = echo; return Reply{}, nil }})
	p := start(t, m)
	p.send(`[{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","id":2,"method":"open"},{"jsonrpc":"2.0","id":3,"method":"echo"}]`)
	replies := p.readBatch()
	if replies[0].code() != -32601 || replies[1].code() != 0 || replies[2].code() != 0 {
		t.Errorf("%+v", replies)
	}
}

// TestBatchReplyBudget asks for more than a reply may hold.
func TestBatchReplyBudget(t *testing.T) {
	var withdrawn atomic.Int64
	big := Method{Serve: func(context.Context, []byte) (Reply, error) {
		return Reply{Result: []byte(`"` + strings.Repeat("x", 10_000) + `"`), Withdraw: func() { withdrawn.Add(1) }}, nil
	}}
	p := start(t, methods{"big": big}, func(o *Options) { o.Limits.Frame = 50_000; o.Limits.InFlight = 1 })
	p.send(batch(10, "big"))
	ok, refused := 0, 0
	for _, m := range p.readBatch() {
		switch {
		case m.Error == nil:
			ok++
		case m.Error.Data.Code == "server_busy":
			refused++
		}
	}
	if ok != 4 || refused != 6 || withdrawn.Load() != 6 {
		t.Errorf("%d answered, %d refused, %d withdrawn", ok, refused, withdrawn.Load())
	}
	p.call(1, "big", "[]")
	p.expect("1", 0)
}

func TestManyBatches(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()}, func(o *Options) { o.Limits.InFlight = 2 })
	for i := range 3 {
		p.send(fmt.Sprintf(`[{"jsonrpc":"2.0","id":"%da","method":"gate"},{"jsonrpc":"2.0","id":"%db","method":"gate"}]`, i, i))
	}
	for _, m := range p.readBatch() {
		if m.code() != -32803 || !strings.HasPrefix(string(m.ID), `"2`) {
			t.Errorf("%+v", m)
		}
	}
	close(g.let)
	for range 2 {
		for _, m := range p.readBatch() {
			if m.code() != 0 {
				t.Errorf("%+v", m)
			}
		}
	}
}

// TestBatchDisconnect closes the socket while elements run and others wait.
func TestBatchDisconnect(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()}, func(o *Options) { o.Limits.InFlight = 4 })
	p.send(batch(100, "gate"))
	for range 4 {
		receive(t, g.entered)
	}
	p.raw.Close()
	p.done()
	if len(g.ended) != 4 || len(g.entered) != 0 {
		t.Errorf("%d contexts ended, %d more elements ran", len(g.ended), len(g.entered))
	}
}
