package conn

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestUnserved goes through the ways a call is answered without being run, and
// checks that its method is told of each once, and of no other.
func TestUnserved(t *testing.T) {
	var mu sync.Mutex
	var told []string
	tell := func(m Method) Method {
		m.Unserved = func(params []byte) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, string(params[:min(len(params), 6)]))
		}
		return m
	}
	g := newGate()
	p := start(t, methods{"gate": tell(g.method()), "echo": tell(echo), "serial": tell(serial(echo))}, func(o *Options) {
		o.Limits.InFlight = 1
		o.Budget = NewBudget(keptBuffer)
	})
	p.call(1, "gate", `["a"]`)
	receive(t, g.entered)
	p.call(2, "echo", `["b"]`) // no slot
	p.expect("2", -32803)
	p.call(1, "echo", `["c"]`) // a mistake of the client
	p.expect("1", -32600)
	p.call(3, "nothing", `["d"]`)
	p.expect("3", -32601)
	p.call(4, "serial", `["e"]`) // takes no slot
	p.expect("4", 0)
	p.send(`[{"jsonrpc":"2.0","id":5,"method":"echo","params":["f"]}]`) // waits
	p.send(`[{"jsonrpc":"2.0","id":6,"method":"echo","params":["g"]}]`) // one batch too many
	p.readBatch()
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`)
	if m := p.readBatch(); m[0].code() != -32800 {
		t.Errorf("%+v", m)
	}
	p.conn.Finish(nil)
	p.call(7, "echo", `["h"]`)
	p.expect("7", -32600)
	close(g.let)
	p.expect("1", 0)
	p.done()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(told)
	if got := strings.Join(told, " "); got != `["b"] ["f"] ["g"] ["h"]` {
		t.Errorf("told of %s", got)
	}
}

// TestUnservedAtTheEnd closes the socket while elements of a batch wait.
func TestUnservedAtTheEnd(t *testing.T) {
	var mu sync.Mutex
	unserved := 0
	g := newGate()
	m := g.method()
	m.Unserved = func([]byte) {
		mu.Lock()
		defer mu.Unlock()
		unserved++
		panic("and its panic is its own")
	}
	p := start(t, methods{"gate": m}, func(o *Options) { o.Limits.InFlight = 3 })
	p.send(batch(10, "gate"))
	for range 3 {
		receive(t, g.entered)
	}
	p.raw.Close()
	p.done()
	if unserved != 7 {
		t.Errorf("%d calls were reported", unserved)
	}
}

// TestUnservedInTheSocket ends the connection while calls lie in the socket that
// the read loop has not come to: in the ways a connection ends, each of them is
// reported.
func TestUnservedInTheSocket(t *testing.T) {
	const calls = 200
	for name, end := range map[string]func(*testing.T, *peer){
		"the peer closes":     func(_ *testing.T, p *peer) { p.raw.Close() },
		"this side closes":    func(_ *testing.T, p *peer) { p.conn.Close() },
		"it is found to hang": func(t *testing.T, p *peer) { p.raw.Close(); abandoned(t, p) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			holds := g.method()
			holds.Serial = true
			var unserved atomic.Int64
			other := echo
			other.Unserved = func([]byte) { unserved.Add(1) }
			p := start(t, methods{"holds": holds, "other": other})
			p.call(0, "holds", "[]")
			receive(t, g.entered)
			for i := range calls {
				p.call(i+1, "other", `["`+strings.Repeat("x", 100)+`"]`)
			}
			end(t, p)
			receive(t, g.ended)
			p.done()
			if n := unserved.Load(); n != calls {
				t.Errorf("%d of %d calls were reported", n, calls)
			}
		})
	}
}

func abandoned(t *testing.T, p *peer) {
	if !p.conn.Abandoned() {
		t.Error("a closed peer is not noticed")
	}
}

// TestAbandoned: a peer that only ended its own direction still waits.
func TestAbandoned(t *testing.T) {
	g := newGate()
	p := start(t, methods{"gate": g.method()})
	if p.conn.Abandoned() {
		t.Error("an idle peer is called gone")
	}
	p.call(1, "gate", "[]")
	receive(t, g.entered)
	p.raw.CloseWrite()
	if p.conn.Abandoned() {
		t.Error("a peer that waits for its reply is called gone")
	}
	close(g.let)
	p.expect("1", 0)
	p.expectClosed()
	p.done()
	if !p.conn.Abandoned() {
		t.Error("an ended connection is not called so")
	}
}
