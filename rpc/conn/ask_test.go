package conn

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A call of ours gets the answer with its id, in a batch too; a refusal, the end
// of its context and the end of the connection are told apart.
func TestAsk(t *testing.T) {
	p := start(t, methods{"echo": echo})
	p.call(1, "echo", `{}`) // the first frame decides the framing
	p.read()
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan error, 1)
	for _, c := range []struct {
		answer string // %s is the id
		do     func()
		want   error
	}{
		{`{"jsonrpc":"2.0","id":%s,"result":null}`, nil, nil},
		{`{"jsonrpc":"2.0","id":"other","result":1}` + "\n" + `[{"jsonrpc":"2.0","id":%s,"result":{"x":1}}]`, nil, nil},
		{`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, nil, ErrRefused},
		{"", cancel, context.Canceled},
	} {
		go func() { answers <- p.conn.Ask(ctx, "some/method", []byte(`{"a":1}`)) }()
		m := p.read()
		if m.Method != "some/method" || string(m.Params) != `{"a":1}` {
			t.Fatalf("%+v", m)
		}
		if c.answer != "" {
			p.send(fmt.Sprintf(c.answer, m.ID))
		} else {
			c.do()
		}
		if err := receive(t, answers); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, want %v", c.answer, err, c.want)
		}
	}
	go func() { answers <- p.conn.Ask(t.Context(), "some/method", nil) }()
	p.read()
	p.raw.Close()
	if err := receive(t, answers); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("the peer has left: %v", err)
	}
}
