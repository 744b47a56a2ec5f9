package client

import (
	"context"
	"net"
	"testing"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// TestMethods looks at what each method sends, and has it get a result.
func TestMethods(t *testing.T) {
	served, ours := pair(t)
	sent := make(chan string, 1)
	server := conn.New(t.Context(), served, conn.Options{Lookup: func(name string) (conn.Method, *wire.Error) {
		return conn.Method{Serve: func(_ context.Context, params []byte) (conn.Reply, error) {
			sent <- name + string(params[:1])
			return conn.Reply{Result: []byte("{}")}, nil
		}}, nil
	}})
	defer server.Close()
	c := &Client{link: newLink(ours, nil)}
	defer c.current().close(net.ErrClosed)
	ctx := t.Context()
	for want, call := range map[string]func() (any, error){
		"mapd/read":     func() (any, error) { return c.Read(ctx, wire.ReadParams{}) },
		"mapd/readMany": func() (any, error) { return c.ReadMany(ctx, wire.ReadManyParams{}) },
		"mapd/map":      func() (any, error) { return c.Map(ctx, wire.MapParams{}) },
		"mapd/check":    func() (any, error) { return c.Check(ctx, wire.CheckParams{}) },
		"mapd/edit":     func() (any, error) { return c.Edit(ctx, wire.EditParams{}) },
		"mapd/editMany": func() (any, error) { return c.EditMany(ctx, wire.EditManyParams{}) },
		"mapd/recover":  func() (any, error) { return c.Recover(ctx, wire.RecoverParams{}) },
		"mapd/ledger":   func() (any, error) { return c.Ledger(ctx, wire.LedgerParams{}) },
		"mapd/forget":   func() (any, error) { return c, c.Forget(ctx, wire.LedgerParams{}) },
		"mapd/status":   func() (any, error) { return c.Status(ctx) },
		"mapd/stop":     func() (any, error) { return c.Stop(ctx) },
	} {
		if result, err := call(); err != nil || result == nil {
			t.Errorf("%s: %v, %v", want, result, err)
		}
		if got := <-sent; got != want+"{" {
			t.Errorf("sent %s, want %s", got, want)
		}
	}
}
