package rpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"mapd/hashline"
	"mapd/outline"
	"mapd/rpc"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// gate makes empty outlines once it is closed.
type gate chan struct{}

func (g gate) Extract(ctx context.Context, _ outline.Language, _ *hashline.Text) (*outline.Outline, error) {
	select {
	case <-g:
		return &outline.Outline{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A client that shows progress is asked for a token, and then told from begin to
// end; not before it is initialized, not if it refuses, and not if it has not
// declared it.
func TestProgress(t *testing.T) {
	const declared = `{"window":{"workDoneProgress":true}}`
	for _, c := range []struct {
		name, capabilities, answer string
	}{
		{"declared", declared, `"result":null`},
		{"refused", declared, `"error":{"code":1,"message":"no"}`},
		{"not declared", `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hold := make(gate) // the index is not ready before the client asks
			d := newDaemon(t, func(o *rpc.Options) {
				o.Cache = workspace.NewCache(workspace.Options{Outlines: hold})
				t.Cleanup(func() { o.Cache.Close() })
			})
			d.write("a.go", "package a\n")
			a := d.connect()
			if m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":%s}`, d.dir, c.capabilities)); m.Error != nil {
				t.Fatal(m.Error.Message)
			}
			a.notify("initialized", `{}`)
			a.notify("initialized", `{}`) // reports it no second time
			if c.answer == "" {
				a.status() // fails if something else comes
				close(hold)
				a.workspaceAt(d.dir, ready) // call fails if something else comes
				return
			}
			type value struct {
				Kind, Title, Message string
				Percentage           *int
			}
			var kinds []string
			var token string
			for len(kinds) == 0 || kinds[len(kinds)-1] != "end" {
				var m struct {
					ID     string
					Method string
					Params struct {
						Token string
						Value value
					}
				}
				line, err := a.in.ReadBytes('\n')
				if err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(line, &m); err != nil {
					t.Fatalf("%v in %s", err, line)
				}
				if m.Method == "window/workDoneProgress/create" && token == "" {
					token = m.Params.Token
					a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,%s}`, m.ID, c.answer))
					close(hold)
					if c.name == "refused" {
						a.workspaceAt(d.dir, ready) // call fails if progress comes
						return
					}
					continue
				}
				if v := m.Params.Value; m.Method != "$/progress" || m.Params.Token != token || v.Kind != "end" && v.Percentage == nil {
					t.Fatalf("%s", line)
				}
				kinds = append(kinds, m.Params.Value.Kind)
			}
			if kinds[0] != "begin" {
				t.Errorf("%q", kinds)
			}
			a.workspaceAt(d.dir, ready)
		})
	}
}

// What a session reads comes first in the index.
func TestReadFilesAreIndexedFirst(t *testing.T) {
	order := make(chan string, 1000)
	hold := make(gate)
	d := newDaemon(t, func(o *rpc.Options) {
		o.Cache = workspace.NewCache(workspace.Options{Outlines: noted{hold, order}})
		t.Cleanup(func() { o.Cache.Close() })
	})
	for i := range 300 {
		d.write(fmt.Sprintf("f%03d.txt.go", i), fmt.Sprintf("// %d\n", i))
	}
	a := d.session()
	a.workspaceAt(d.dir, func(w wire.WorkspaceStatus) bool { return w.Files == 300 })
	a.read(`{"path":"f007.txt.go"}`)
	a.read(`{"path":"f009.txt.go"}`)
	close(hold)
	a.workspaceAt(d.dir, ready)
	for i := range 20 { // those before were begun already
		switch <-order {
		case "// 7", "// 9":
			return
		}
		if i == 19 {
			t.Error("neither is among the first")
		}
	}
}

// noted is an extractor that tells the first lines of what it is given.
type noted struct {
	gate
	order chan string
}

func (n noted) Extract(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
	n.order <- string(text.Line(1))
	return n.gate.Extract(ctx, lang, text)
}
