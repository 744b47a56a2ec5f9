package conn

import (
	"context"
	"errors"
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
	if _, _, err := s.Read(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}
