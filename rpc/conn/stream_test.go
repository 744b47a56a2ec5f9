package conn

import (
	"context"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

// TestStrayReply sends what only a mistake of the engine could produce: a reply
// of its own, with the code 0 that it gives to plain errors.
func TestStrayReply(t *testing.T) {
	p := start(t, methods{"echo": echo})
	p.call(1, "echo", "[]")
	p.expect("1", 0)
	s := &stream{c: p.conn}
	p.conn.begin()
	reply := jsonrpc2.NewResponse(jsonrpc2.NewNumberID(1), nil, context.Canceled)
	if _, err := s.Write(t.Context(), reply); err != nil {
		t.Fatal(err)
	}
	p.expect("null", -32603)
}

// TestEngineInterface checks the parts of the stream that the engine does not use
// today, but might.
func TestEngineInterface(t *testing.T) {
	p := start(t, methods{"echo": echo})
	p.call(1, "echo", "[]")
	p.expect("1", 0)
	s := &stream{c: p.conn}
	if n, err := s.WriteFrame(t.Context(), []byte(`{"jsonrpc":"2.0","id":2,"result":1}`)); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	p.expect("2", 0)

	a, b := socketPair(t)
	c := &Conn{rwc: a, limits: DefaultLimits()}
	c.idle.L = &c.mu
	reading := newStream(c)
	if _, err := b.Write([]byte(`{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}` + "\n")); err != nil {
		t.Fatal(err)
	}
	msg, _, err := reading.Read(t.Context())
	if call, ok := msg.(*jsonrpc2.Call); err != nil || !ok || call.Method() != "m" || len(call.Params()) != 0 {
		t.Errorf("%#v, %v", msg, err)
	}
}
