package rpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/rpc"
	"mapd/rpc/wire"
)

func TestInitialize(t *testing.T) {
	d := newDaemon(t)
	a := d.connect()
	for _, method := range []string{"mapd/read", "mapd/status", "shutdown", "nonsense"} {
		if m := a.call(method, `{}`); m.Error == nil || m.Error.Code != -32002 || m.code() != "not_initialized" {
			t.Errorf("%s before initialize: %+v", method, m.Error)
		}
	}
	m := a.call("initialize", fmt.Sprintf(`{"processId":1,"rootPath":"/x","rootUri":"file://%s","capabilities":{"general":{"positionEncodings":["utf-16","utf-8"]},"unknown":{"x":[1]}},"trace":"off"}`, d.dir))
	var r wire.InitializeResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("%v %+v", err, m.Error)
	}
	mapd := r.Capabilities.Experimental.Mapd
	if mapd.Protocol != 1 || mapd.Build != "test" || r.ServerInfo.Name != "mapd" || r.Capabilities.PositionEncoding != "utf-8" {
		t.Errorf("initialize: %s", m.Result)
	}
	// What is advertised is answered, and only that.
	for _, method := range mapd.Methods {
		if slices.Contains([]string{"initialize", "mapd/stop", "shutdown"}, method) {
			continue
		}
		if code := a.call(method, `{}`).code(); code == "unknown_method" || code == "not_initialized" {
			t.Errorf("%s is advertised and answers %s", method, code)
		}
	}
	if m := a.call("textDocument/hover", `{"textDocument":7}`); m.Error.Code != -32601 || m.code() != "unknown_method" {
		t.Errorf("an unknown method: %+v", m.Error)
	}
	if m := a.call("initialize", `{}`); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second initialize: %+v", m)
	}
}

func TestInitializeRefusals(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Roots = []string{"/nowhere/allowed"} })
	for _, c := range []struct{ params, code string }{
		{`{"initializationOptions":{"anchors":{"width":5}}}`, "invalid_params"},
		{`{"initializationOptions":{"anchors":{"width":1}}}`, "invalid_params"},
		{`{"initializationOptions":{"delivery":"pigeon"}}`, "invalid_params"},
		{`{"initializationOptions":{"stale":"maybe"}}`, "invalid_params"},
		{`{"rootUri":"https://example.com/"}`, "invalid_params"},
		{`{"rootUri":"file:///no/such/folder/anywhere"}`, "not_found"},
		{`{"rootUri":"file://` + d.dir + `"}`, "outside_workspace"},
		{`{"rootUri":5}`, "invalid_params"},
	} {
		a := d.connect()
		if m := a.call("initialize", c.params); m.code() != c.code {
			t.Errorf("%s: %+v, want %s", c.params, m.Error, c.code)
		}
		if m := a.call("initialize", `{}`); m.Error != nil { // a refusal can be mended
			t.Errorf("initialize after a refusal: %+v", m.Error)
		}
		if code := a.call("mapd/read", `{"path":"a"}`).code(); code != "outside_workspace" {
			t.Errorf("a read without a folder: %q", code)
		}
		a.conn.Close()
	}
}

// shutdown and exit end the session and never the daemon.
func TestShutdownAndExit(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "x\n")
	a, other := d.session(), d.session()
	if m := a.call("shutdown", `null`); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %+v", m)
	}
	if code := a.call("mapd/read", `{"path":"a.txt"}`).code(); code != "shutting_down" {
		t.Errorf("a read after shutdown: %q", code)
	}
	a.notify("exit", `null`)
	if _, err := a.in.ReadByte(); err != io.EOF {
		t.Errorf("after exit: %v", err)
	}
	other.read(`{"path":"a.txt"}`)
}

func TestNamedSessionIsTakenOver(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "x\n")
	older := d.session(`{"session":"agent"}`)
	newer := d.session(`{"session":"agent"}`)
	m := older.next()
	if m.ID != nil || m.code() != "session_taken" {
		t.Errorf("the older connection gets %+v", m)
	}
	if _, err := older.in.ReadByte(); err != io.EOF {
		t.Errorf("the older connection is not closed: %v", err)
	}
	newer.read(`{"path":"a.txt"}`)
}

func TestFoldersOfASession(t *testing.T) {
	d := newDaemon(t)
	d.write("one/a.txt", "one\n")
	d.write("two/a.txt", "two\n")
	uri := func(name string) string { return "file://" + filepath.Join(d.dir, name) }
	a := d.connect()
	a.call("initialize", fmt.Sprintf(`{"workspaceFolders":[{"uri":%q,"name":"1"}],"rootUri":%q}`, uri("one"), uri("two")))
	two := filepath.Join(d.dir, "two", "a.txt")
	if code := a.call("mapd/read", fmt.Sprintf(`{"path":%q}`, two)).code(); code != "outside_workspace" {
		t.Errorf("rootUri beside workspaceFolders is a folder: %q", code)
	}
	a.notify("workspace/didChangeWorkspaceFolders", fmt.Sprintf(`{"event":{"added":[{"uri":%q,"name":"2"}],"removed":[]}}`, uri("two")))
	r := a.read(fmt.Sprintf(`{"path":%q,"anchors":false}`, two))
	if text(r) != "two" || r.Path != two {
		t.Errorf("a file of the second folder: %q as %q", text(r), r.Path)
	}
	if r := a.read(`{"path":"a.txt","anchors":false}`); text(r) != "one" || r.Path != "a.txt" {
		t.Errorf("a file of the first folder: %q as %q", text(r), r.Path)
	}
	a.notify("workspace/didChangeWorkspaceFolders", fmt.Sprintf(`{"event":{"added":[],"removed":[{"uri":%q,"name":"1"}]}}`, uri("one")))
	if r := a.read(`{"path":"a.txt","anchors":false}`); text(r) != "two" {
		t.Errorf("after the first folder left: %q", text(r))
	}
}

func TestMapMethod(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", "package p\n\nimport \"fmt\"\n\nfunc F() { fmt.Println() }\n\nfunc G() {}\n")
	a := d.session()
	get := func(params string) wire.MapResult {
		t.Helper()
		m := a.call("mapd/map", params)
		if m.Error != nil {
			t.Fatalf("map %s: %+v", params, m.Error)
		}
		var r wire.MapResult
		if err := json.Unmarshal(m.Result, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	both := get(`{"path":"a.go"}`)
	if both.Text == nil || both.Symbols == nil || len(*both.Symbols) != 2 || len(both.Imports) != 1 || both.Details.SymbolCount != 2 || both.Details.Map.Bytes != len(*both.Text) {
		t.Errorf("both: %+v", both)
	}
	if r := get(`{"path":"a.go","format":"text"}`); r.Text == nil || r.Symbols != nil {
		t.Errorf("text: %+v", r)
	}
	if r := get(`{"path":"a.go","format":"json"}`); r.Text != nil || r.Symbols == nil || r.Details.Map != nil {
		t.Errorf("json: %+v", r)
	}
	if r := get(`{"path":"a.go","maxBytes":40}`); len(*r.Text) > 40 || len(*r.Symbols) != 2 {
		t.Errorf("40 bytes: %q", *r.Text)
	}

	d.write("a.go", "package p\n\nimport \"fmt\"\n\nfunc F() { fmt.Print() }\n\nfunc H() {}\n")
	r := get(fmt.Sprintf(`{"path":"a.go","since":%q}`, both.Snapshot))
	ops := map[string]string{}
	for _, c := range *r.Changes {
		ops[c.Name] = c.Op
	}
	if diff := cmp.Diff(map[string]string{"F": "changed", "G": "removed", "H": "added"}, ops); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ params, code string }{
		{`{"path":"a.go","since":"0.1"}`, "unknown_snapshot"},
		{`{"path":"a.go","detail":"some"}`, "invalid_params"},
		{`{"path":"a.go","format":"xml"}`, "invalid_params"},
		{`{"path":"a.go","maxBytes":0}`, "invalid_params"},
		{`{"path":"a.go","max":1}`, "invalid_params"},
		{`{"path":"b.go"}`, "not_found"},
		{`{"path":"."}`, "is_directory"},
	} {
		if code := a.call("mapd/map", c.params).code(); code != c.code {
			t.Errorf("%s: %q, want %s", c.params, code, c.code)
		}
	}
}

func TestDocumentSymbol(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.py", "class A:\n    def 𝒻𝑜(self):\n        pass\n")
	params := fmt.Sprintf(`{"textDocument":{"uri":"file://%s"},"workDoneToken":"x"}`, path)
	type pos struct{ Line, Character int }
	type span struct{ Start, End pos }
	type symbol struct {
		Name           string
		Kind           int
		Range          span
		SelectionRange span
		Children       []symbol
		ContainerName  string
		Location       struct {
			URI   string
			Range span
		}
	}
	ask := func(capabilities string) []symbol {
		t.Helper()
		a := d.connect()
		a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":%s}`, d.dir, capabilities))
		m := a.call("textDocument/documentSymbol", params)
		var out []symbol
		if err := json.Unmarshal(m.Result, &out); err != nil {
			t.Fatalf("%v: %+v", err, m.Error)
		}
		return out
	}
	const hierarchical = `"textDocument":{"documentSymbol":{"hierarchicalDocumentSymbolSupport":true}}`
	for encoding, ends := range map[string]int{"utf-16": 12, "utf-8": 16} {
		got := ask(`{"general":{"positionEncodings":["` + encoding + `"]},` + hierarchical + `}`)
		want := []symbol{{Name: "A", Kind: 5, Range: span{pos{0, 0}, pos{2, 12}}, SelectionRange: span{pos{0, 6}, pos{0, 7}},
			Children: []symbol{{Name: "𝒻𝑜", Kind: 6, Range: span{pos{1, 0}, pos{2, 12}}, SelectionRange: span{pos{1, 8}, pos{1, ends}}}}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", encoding, diff)
		}
	}
	flat := ask(`{}`)
	if len(flat) != 2 || flat[1].ContainerName != "A" || flat[1].Location.URI != "file://"+path || flat[1].Location.Range.Start.Line != 1 {
		t.Errorf("flat: %+v", flat)
	}
}

func TestStatus(t *testing.T) {
	d := newDaemon(t)
	a := d.session()
	var s wire.StatusResult
	if err := json.Unmarshal(a.call("mapd/status", `{}`).Result, &s); err != nil {
		t.Fatal(err)
	}
	if s.PID != os.Getpid() || s.Protocol != 1 || s.Limits["frame_bytes"] != 64<<20 || s.Limits["stall_ms"] != 30_000 {
		t.Errorf("status: %+v", s)
	}
	if len(s.Sessions) != 1 || !slices.Equal(s.Sessions[0].Folders, []string{d.dir}) || len(s.Workspaces) != 1 || s.Workspaces[0].Root != d.dir {
		t.Errorf("sessions %+v, workspaces %+v", s.Sessions, s.Workspaces)
	}
}

// stop answers, lets what runs end, and closes every connection.
func TestStop(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "x\n")
	a, idle := d.session(), d.session()
	read := a.send("mapd/read", `{"path":"a.txt"}`)
	stop := a.send("mapd/stop", `{}`)
	got := map[int]bool{}
	for range 2 {
		m := a.next()
		if m.Error != nil {
			t.Errorf("reply %d: %+v", *m.ID, m.Error)
		}
		got[*m.ID] = true
	}
	if !got[read] || !got[stop] {
		t.Errorf("replies %v", got)
	}
	for _, c := range []*agent{a, idle} {
		if _, err := c.in.ReadByte(); err != io.EOF {
			t.Errorf("a connection lives on: %v", err)
		}
	}
	if err := d.server.ServeConn(t.Context(), nopConn{}, rpc.Peer{}); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("a connection after stop: %v", err)
	}
}

type nopConn struct{}

func (nopConn) Read([]byte) (int, error)    { return 0, io.EOF }
func (nopConn) Write(b []byte) (int, error) { return len(b), nil }
func (nopConn) Close() error                { return nil }

// A cancelled request answers that it was cancelled, once.
func TestCancel(t *testing.T) {
	d := newDaemon(t)
	// 10 MB of C keep a worker busy for longer than the cancel takes.
	d.write("big.c", strings.Repeat("int f(int a) { if (a) { return g(a, 1) + 2; } return 0; }\n", 180_000))
	a := d.session()
	id := a.send("mapd/map", `{"path":"big.c"}`)
	a.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, id))
	m := a.next()
	if *m.ID != id || m.Error == nil || m.Error.Code != -32800 || m.code() != "cancelled" {
		t.Errorf("got %+v", m)
	}
	d.write("a.txt", "x\n")
	a.read(`{"path":"a.txt"}`)
}
