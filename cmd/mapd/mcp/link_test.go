//lint:file-ignore SA1019 MCP is about to drop roots; the clients that have them will be there for years.

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mapd/rpc/wire"
)

// wait is the pause of a loop that looks for something nobody signals.
func wait() { <-time.After(5 * time.Millisecond) }

// jsonNames lists the members of a struct as they are on the wire, each between
// spaces.
func jsonNames(v any) string {
	out := " "
	typ := reflect.TypeOf(v)
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		out += name + " "
	}
	return out
}

// The folders of a session are the roots of its client, in every version of the
// protocol; without roots the folder is where .git is.
func TestRoots(t *testing.T) {
	h := newHouse(t)
	h.write("one/.git/HEAD", "")
	h.write("one/deep/a.txt", "in one\n")
	h.write("two/a.txt", "in two\n")
	one, two := filepath.Join(h.dir, "one"), filepath.Join(h.dir, "two")
	for _, protocol := range []string{"2024-11-05", "2025-06-18", "2026-07-28"} {
		t.Run(protocol, func(t *testing.T) {
			c := sdk.NewClient(&sdk.Implementation{Name: "rooted"}, nil)
			c.AddRoots(&sdk.Root{URI: "http://example.com/"}, &sdk.Root{URI: fileURI(filepath.Join(h.dir, "none"))}, &sdk.Root{URI: fileURI(two)})
			a := attach(t, h.options(), c, protocol)
			if r := a.call("read", object{"path": "a.txt"}); r.IsError || !strings.Contains(text(r), "in two") {
				t.Errorf("%q", text(r))
			}
			if r := a.call("read", object{"path": filepath.Join(one, "deep/a.txt")}); !r.IsError {
				t.Errorf("a file outside of the roots: %q", text(r))
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		opt := h.options()
		opt.Dir = filepath.Join(one, "deep")
		a := attach(t, opt, nil, "")
		if r := a.call("read", object{"path": "deep/a.txt"}); r.IsError || !strings.Contains(text(r), "in one") {
			t.Errorf("%q", text(r))
		}
	})
	t.Run("useless", func(t *testing.T) {
		c := sdk.NewClient(&sdk.Implementation{Name: "rooted"}, nil)
		opt := h.options()
		opt.Dir = two
		a := attach(t, opt, c, "2025-06-18")
		if r := a.call("read", object{"path": "a.txt"}); r.IsError || !strings.Contains(text(r), "in two") {
			t.Errorf("%q", text(r))
		}
	})
}

// A client of the newest protocol is asked for its roots in the answer to its
// first call. One that calls again without them has none.
func TestRootsUnanswered(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "here\n")
	through, end := rawBridge(t, h.options())
	defer end()
	call := func(id int, more string) string {
		return string(through(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}%s,"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}`+"\n", id, more)))
	}
	through(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}` + "\n")
	if got := call(2, ""); !strings.Contains(got, `"resultType":"input_required"`) || !strings.Contains(got, `"roots/list"`) {
		t.Fatalf("the first call: %s", got)
	}
	if got := call(3, `,"requestState":"roots","inputResponses":{}`); !strings.Contains(got, ":here") {
		t.Errorf("the second call: %s", got)
	}
	if got := call(4, ""); !strings.Contains(got, ":here") {
		t.Errorf("the third call: %s", got)
	}
}

// The session follows its client to other roots, and paths are relative to the
// first of them from then on.
func TestRootsChange(t *testing.T) {
	h := newHouse(t)
	h.write("one/a.txt", "in one\n")
	h.write("two/a.txt", "in two\n")
	one, two := fileURI(filepath.Join(h.dir, "one")), fileURI(filepath.Join(h.dir, "two"))
	c := sdk.NewClient(&sdk.Implementation{Name: "rooted"}, nil)
	c.AddRoots(&sdk.Root{URI: one})
	a := attach(t, h.options(), c, "2025-06-18")
	if r := a.call("read", object{"path": "a.txt"}); !strings.Contains(text(r), "in one") {
		t.Fatalf("%q", text(r))
	}
	c.RemoveRoots(one)
	c.AddRoots(&sdk.Root{URI: two})
	// The SDK gathers changes before it tells them.
	for deadline := time.Now().Add(patience); ; wait() {
		r := a.call("read", object{"path": "a.txt"})
		if strings.Contains(text(r), "in two") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %q", text(r))
		}
	}
}

// A call that its client gives up is given up in the daemon.
func TestCancel(t *testing.T) {
	asked, cancelled := make(chan json.RawMessage, 1), make(chan string, 1)
	opt := newScript(t, func(c *scripted, id json.RawMessage, method string, params json.RawMessage) {
		switch method {
		case "mapd/read":
			asked <- id
		case "$/cancelRequest":
			cancelled <- string(params)
		case "mapd/forget":
			c.reply(id, "{}")
		}
	})
	a := attach(t, opt, nil, "2025-06-18")
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() {
		_, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: "read", Arguments: object{"path": "x"}})
		given <- err
	}()
	id := <-asked
	cancel()
	if err := <-given; err == nil {
		t.Error("the call was answered")
	}
	if got := <-cancelled; got != `{"id":`+string(id)+`}` {
		t.Errorf("the daemon was told %s, the call was %s", got, id)
	}
}

// A connection that is lost in a call: what is safe to make twice is made twice,
// an edit is not.
func TestLostConnection(t *testing.T) {
	var reads, edits, connections atomic.Int64
	opt := newScript(t, func(c *scripted, id json.RawMessage, method string, _ json.RawMessage) {
		connections.Store(int64(c.number))
		switch method {
		case "mapd/read":
			if reads.Add(1) == 1 {
				c.Close()
				return
			}
			c.reply(id, `{"path":"x","content":[{"type":"text","text":"1#ZZZZ:x"}]}`)
		case "mapd/edit":
			edits.Add(1)
			c.Close()
		case "mapd/forget":
			c.reply(id, "{}")
		}
	})
	a := attach(t, opt, nil, "2025-06-18")
	if r := a.call("read", object{"path": "x"}); r.IsError || text(r) != "1#ZZZZ:x" || reads.Load() != 2 {
		t.Errorf("read: %q after %d reads", text(r), reads.Load())
	}
	if r := a.call("edit", object{"path": "x"}); !r.IsError || !strings.Contains(text(r), "not known") || edits.Load() != 1 {
		t.Errorf("edit: %q after %d edits", text(r), edits.Load())
	}
	if r := a.call("read", object{"path": "x"}); r.IsError || connections.Load() != 3 {
		t.Errorf("after it: %q on connection %d", text(r), connections.Load())
	}
}

// A daemon that was stopped and started again is found again. It knows nothing
// of what the one before it showed.
func TestDaemonRestarts(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one\ntwo\n")
	a := attach(t, h.options(), nil, "")
	shown := text(a.call("read", object{"path": "a.txt"}))
	h.stop()
	h.start()
	if r := a.call("ledger", nil); r.IsError || text(r) != "You were shown no lines." {
		t.Errorf("%q", text(r))
	}
	r := a.call("edit", object{"path": "a.txt", "edits": []object{{"op": "replace", "pos": anchor(t, shown, "two"), "lines": []string{"zwei"}}}})
	if r.IsError || !strings.Contains(text(r), "Warning: ") || h.content("a.txt") != "one\nzwei\n" {
		t.Errorf("%q", text(r))
	}
}

// The ledger is found again by the name of the session, after another
// connection has taken it and after the bridge itself is another one.
func TestNamedSession(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", "one\ntwo\n")
	opt := h.options()
	opt.Session = "mine"
	a := attach(t, opt, nil, "")
	a.call("read", object{"path": "a.txt"})
	other := h.direct("mine")
	if ledger, err := other.Ledger(t.Context(), wire.LedgerParams{}); err != nil || len(ledger.Files) != 1 {
		t.Fatalf("the other connection has %v, %v", ledger, err)
	}
	// What the first connection was asked before it was closed is still answered.
	for taken, deadline := false, time.Now().Add(patience); !taken; wait() {
		if r := a.call("ledger", nil); r.IsError || text(r) != "a.txt: 1-2" || time.Now().After(deadline) {
			t.Fatalf("taken back: %q", text(r))
		}
		select {
		case <-other.Done():
			taken = true
		default:
		}
	}
	a.session.Close()
	again := attach(t, opt, nil, "")
	if r := again.call("ledger", nil); r.IsError || text(r) != "a.txt: 1-2" {
		t.Errorf("of the next bridge: %q", text(r))
	}
}

// A bridge without a name of its own leaves no ledger behind, and gets along
// without a name where the daemon has no room for one more.
func TestManyBridges(t *testing.T) {
	const many = 70 // the daemon keeps 64 named sessions
	h := newHouse(t)
	h.write("a.txt", "one\n")
	c := h.direct("")
	var names []string
	t.Run("at once", func(t *testing.T) {
		for i := range many {
			a := attach(t, h.options(), nil, "2025-06-18")
			if r := a.call("read", object{"path": "a.txt"}); r.IsError {
				t.Fatalf("bridge %d: %q", i, text(r))
			}
			if r := a.call("ledger", nil); text(r) != "a.txt: 1" {
				t.Fatalf("bridge %d: %q", i, text(r))
			}
		}
		status, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range status.Sessions {
			if s.Name != "" {
				names = append(names, s.Name)
			}
		}
	})
	if len(names) != 64 {
		t.Fatalf("%d sessions had a name", len(names))
	}
	if ledger, err := h.direct(names[0]).Ledger(t.Context(), wire.LedgerParams{}); err != nil || len(ledger.Files) != 0 {
		t.Errorf("left behind: %+v, %v", ledger, err)
	}
}

// A client that asks for progress is told how far its call is, and that it ends.
func TestProgress(t *testing.T) {
	begun, indexed := make(chan struct{}), make(chan struct{})
	var told []float64
	var lock sync.Mutex // guards told
	all := make(chan struct{})
	var dir atomic.Value
	opt := newScript(t, func(c *scripted, id json.RawMessage, method string, _ json.RawMessage) {
		switch method {
		case "mapd/find":
			close(begun)
			go func() {
				<-indexed
				c.reply(id, `{"mode":"text","results":[],"truncated":false}`)
			}()
		case "mapd/status":
			c.reply(id, `{"workspaces":[{"root":"/elsewhere","state":"indexing","files":9,"indexed":8},{"root":"`+dir.Load().(string)+`","state":"indexing","files":200,"indexed":50}]}`)
		case "mapd/forget":
			c.reply(id, "{}")
		}
	})
	dir.Store(opt.Dir)
	c := sdk.NewClient(&sdk.Implementation{Name: "test"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			lock.Lock()
			defer lock.Unlock()
			told = append(told, r.Params.Progress)
			switch {
			case r.Params.Message == "indexing: 50 of 200 files":
				close(indexed)
			case r.Params.Progress == 1:
				close(all)
			}
		},
	})
	a := attach(t, opt, c, "2025-06-18")
	p := &sdk.CallToolParams{Name: "find", Arguments: object{"query": "x"}}
	p.SetProgressToken("token")
	if r, err := a.session.CallTool(t.Context(), p); err != nil || text(r) != "Nothing found." {
		t.Errorf("%v %v", r, err)
	}
	<-begun
	<-all
	lock.Lock()
	defer lock.Unlock()
	if !slices.Equal(told, []float64{0, 0.25, 1}) {
		t.Errorf("told %v", told)
	}
}

// What is found is shown with what an edit needs.
func TestFind(t *testing.T) {
	h := newHouse(t)
	h.write("a.go", "package a\n\ntype Server struct{}\n\nfunc (s *Server) Stop() {\n\ts.halt()\n}\n")
	a := attach(t, h.options(), nil, "")
	shown := text(a.call("read", object{"path": "a.go"}))
	r := a.call("find", object{"query": "Stop", "mode": "symbol"})
	want := "a.go " + anchor(t, shown, "func (s *Server) Stop() {") + ":func (s *Server) Stop() { [method "
	if !strings.HasPrefix(text(r), want) || !strings.Contains(text(r), ": 5-7]") || decode[wire.FindResult](t, r).Mode != "symbol" {
		t.Errorf("a symbol: %q, want %q", text(r), want)
	}
	r = a.call("find", object{"query": "halt()", "mode": "text"})
	if want := "a.go " + anchor(t, shown, "\ts.halt()") + ":\ts.halt() [in method "; !strings.HasPrefix(text(r), want) {
		t.Errorf("a line: %q, want %q", text(r), want)
	}
	if r := a.call("find", object{"query": "nowhere at all"}); r.IsError || !strings.HasPrefix(text(r), "Nothing found.") {
		t.Errorf("nothing: %q", text(r))
	}
}

// What a result lacks is said.
func TestFindNotices(t *testing.T) {
	got, err := findBlocks([]byte(`{"mode":"symbol","results":[{"path":"a.go","snapshot":"s","name":"Stop","kind":"method","start":4,"end":9,"container":"Server","anchor":"4#ZPMQ","text":"func","cut":{"shownBytes":4,"totalBytes":9}}],` +
		`"truncated":true,"degraded":[{"root":"/r","why":"watch limit"}]}`))
	want := "a.go 4#ZPMQ:func [4 of 9 bytes of this line] [method Stop in Server: 4-9]\n" +
		"[There is more: narrow the query or raise limit.]\n" +
		"[Incomplete: /r is degraded: watch limit]"
	if err != nil || string(got) != string(textBlocks(want)) {
		t.Errorf("%s, %v", got, err)
	}
}
