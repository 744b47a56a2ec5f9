package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"mapd/rpc/wire"
)

// What every session of a model pays for the tools: at most 1,000 tokens of
// four bytes, with all that tools/list says of them.
func TestToolsAreFewTokens(t *testing.T) {
	h := newHouse(t)
	a := attach(t, h.options(), nil, "")
	list, err := a.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		hints := tool.Annotations
		if hints == nil || hints.DestructiveHint == nil || hints.OpenWorldHint == nil || *hints.OpenWorldHint ||
			hints.ReadOnlyHint == (tool.Name == "edit") || *hints.DestructiveHint != (tool.Name == "edit") {
			t.Errorf("the hints of %s are %+v", tool.Name, hints)
		}
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok || schema["type"] != "object" || tool.Description == "" {
			t.Errorf("%s is declared as %q with %v", tool.Name, tool.Description, tool.InputSchema)
		}
	}
	if want := []string{"check", "edit", "find", "ledger", "map", "read", "recover", "status"}; !slices.Equal(names, want) {
		t.Errorf("the tools are %v, want %v", names, want)
	}
	encoded, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d tokens", len(encoded), len(encoded)/4)
	if len(encoded)/4 > 1000 {
		t.Errorf("tools/list takes %d tokens, at most 1000 are allowed", len(encoded)/4)
	}
}

// The arguments that a schema names are parameters of the method: the daemon
// takes each of them.
func TestSchemasNameParameters(t *testing.T) {
	params := map[string]any{
		"check": wire.CheckParams{}, "edit": wire.EditParams{}, "find": wire.FindParams{}, "ledger": wire.LedgerParams{}, "map": wire.MapParams{},
		"read": wire.ReadParams{}, "recover": wire.RecoverParams{}, "status": struct{}{},
	}
	for _, tool := range tools {
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		if err := json.Unmarshal([]byte(tool.schema), &schema); err != nil {
			t.Fatalf("%s: %v", tool.name, err)
		}
		for _, name := range schema.Required {
			if schema.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", tool.name, name)
			}
		}
		known := jsonNames(params[tool.name])
		for name := range schema.Properties {
			if !strings.Contains(known, " "+name+" ") {
				t.Errorf("%s has the property %s; its method takes%s", tool.name, name, known)
			}
		}
	}
}

// initialize and tools/list are answered while the daemon says nothing at all.
func TestListWithoutDaemon(t *testing.T) {
	silent := make(chan struct{})
	opt := newScript(t, func(*scripted, json.RawMessage, string, json.RawMessage) { <-silent })
	defer close(silent)
	a := attach(t, opt, nil, "2025-06-18")
	if list, err := a.session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 8 {
		t.Errorf("%v, %v", list, err)
	}
}

// No daemon and none to be had: the call says so, and what to do.
func TestNoDaemon(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // a socket may not lie in it
		t.Fatal(err)
	}
	opt := Options{Dir: dir}
	opt.Daemon.Socket = filepath.Join(dir, "s")
	a := attach(t, opt, nil, "2025-06-18")
	r := a.call("read", object{"path": "x"})
	if !r.IsError || !strings.Contains(text(r), dir) {
		t.Errorf("%v %q", r.IsError, text(r))
	}
}

// A model reads what the daemon made for it, unchanged; the object of the wire
// is beside it.
func TestRead(t *testing.T) {
	h := newHouse(t)
	h.write("a.go", "package a\n\n// F says <&>\u2028.\nfunc F() {}\n")
	h.write("long.go", "package a\n\n"+strings.Repeat("// a line of some length\n", 3000)+"func G() {}\n")
	h.write("empty", "")
	a := attach(t, h.options(), nil, "")
	c := h.direct("")
	for _, arguments := range []object{{"path": "a.go"}, {"path": "long.go"}, {"path": "long.go", "symbol": "G"}, {"path": "a.go", "delivery": "separate", "map": "always"}} {
		got := a.call("read", arguments)
		encoded, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		var p wire.ReadParams
		if err := json.Unmarshal(encoded, &p); err != nil {
			t.Fatal(err)
		}
		p.Delivery = wire.DeliverInline
		want, err := c.Read(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for _, block := range want.Content {
			shown = append(shown, block.Text)
		}
		if !slices.Equal(texts(got), shown) || got.IsError {
			t.Errorf("%v: %q, want %q", arguments, texts(got), shown)
		}
		if beside := decode[wire.ReadResult](t, got); beside.Snapshot != want.Snapshot || beside.Details.TotalLines != want.Details.TotalLines || len(beside.Content) != len(want.Content) {
			t.Errorf("%v: beside it %+v", arguments, beside)
		}
	}
	if r := a.call("read", object{"path": "empty"}); r.IsError || text(r) != "[This file is empty.]" {
		t.Errorf("an empty file: %q", text(r))
	}
}

// What fails is a result with isError that a model can read, never an error of
// the protocol.
func TestFailures(t *testing.T) {
	h := newHouse(t)
	a := attach(t, h.options(), nil, "")
	for _, c := range []struct {
		tool      string
		arguments any
		code      wire.Code
	}{
		{"read", object{"path": "none.go"}, wire.NotFound},
		{"read", object{"path": "none.go", "offfset": 3}, wire.InvalidParams},
		{"read", []int{1}, wire.InvalidParams},
		{"map", []int{1}, wire.InvalidParams},
		{"check", nil, wire.InvalidParams},
		{"check", "x", wire.InvalidParams},
		{"edit", object{"path": "../x", "edits": []object{{"op": "append", "lines": []string{"x"}}}}, wire.OutsideWorkspace},
	} {
		r := a.call(c.tool, c.arguments)
		failure := decode[wire.ErrorObject](t, r)
		if !r.IsError || text(r) != failure.Message || failure.Code != c.code.Number() || !strings.Contains(string(failure.Data), string(c.code)) {
			t.Errorf("%s %v: %q, beside it %+v %s; want %s", c.tool, c.arguments, text(r), failure, failure.Data, c.code)
		}
	}
}

// An edit by shown anchors lands and shows fresh ones. A foreign change is told
// with the next result; an edit of the changed line is rejected, and the
// rejection holds what the next try needs.
func TestEditAndStale(t *testing.T) {
	h := newHouse(t)
	h.write("poem.txt", "roses\nare\nred\nviolets\nlook\nblue\n")
	a := attach(t, h.options(), nil, "")
	shown := text(a.call("read", object{"path": "poem.txt"}))

	replace := func(anchor, line string) *sdk.CallToolResult {
		return a.call("edit", object{"path": "poem.txt", "edits": []object{{"op": "replace", "pos": anchor, "lines": []string{line}}}})
	}
	r := replace(anchor(t, shown, "red"), "crimson")
	if r.IsError || !strings.HasPrefix(text(r), "Edited poem.txt") || !decode[wire.EditResult](t, r).Applied {
		t.Fatalf("%q", text(r))
	}
	if r := replace(anchor(t, text(r), "crimson"), "scarlet"); r.IsError {
		t.Fatalf("by the anchor that the edit showed: %q", text(r))
	}

	h.write("poem.txt", "roses\nare\nscarlet\nviolets\nlook\npurple\n")
	r = a.call("ledger", object{})
	if all := texts(r); len(all) != 2 || !strings.Contains(all[0], "poem.txt: 1-6; stale: 6") || !strings.Contains(all[1], "poem.txt that you were shown are no longer as they were:\n6-6: changed") {
		t.Errorf("the next result says %q", all)
	}
	r = replace(anchor(t, shown, "blue"), "azure")
	if !r.IsError || !strings.Contains(text(r), "nothing was written") || h.content("poem.txt") != "roses\nare\nscarlet\nviolets\nlook\npurple\n" {
		t.Fatalf("an edit of a stale line: %q", text(r))
	}
	failure := decode[wire.ErrorObject](t, r)
	var data struct{ Reread wire.Reread }
	if err := json.Unmarshal(failure.Data, &data); err != nil {
		t.Fatal(err)
	}
	if r = replace(anchor(t, data.Reread.Text, "purple"), "azure"); r.IsError || h.content("poem.txt") != "roses\nare\nscarlet\nviolets\nlook\nazure\n" {
		t.Errorf("the next try: %q, %q", text(r), h.content("poem.txt"))
	}
}

// The other tools, one exchange each.
func TestTools(t *testing.T) {
	h := newHouse(t)
	h.write("a.go", "package a\n\nfunc F() {}\n\nfunc G() {}\n")
	a := attach(t, h.options(), nil, "")
	shown := text(a.call("read", object{"path": "a.go"}))
	snapshot := decode[wire.ReadResult](t, a.call("read", object{"path": "a.go"})).Snapshot
	f := anchor(t, shown, "func F() {}")

	r := a.call("map", object{"path": "a.go"})
	if !strings.Contains(text(r), "F") || decode[wire.MapResult](t, r).Symbols != nil {
		t.Errorf("map: %q, beside it %v", text(r), r.StructuredContent)
	}
	if r := a.call("map", object{"path": "a.go", "format": "json"}); !strings.Contains(text(r), `"name":"F"`) {
		t.Errorf("map as JSON: %q", text(r))
	}
	if r := a.call("check", object{"path": "a.go", "anchors": []string{f}}); text(r) != f+" current" {
		t.Errorf("check: %q", text(r))
	}
	if r := a.call("ledger", object{"path": "a.go"}); text(r) != "a.go: 1-5" {
		t.Errorf("ledger: %q", text(r))
	}
	if r := a.call("recover", object{}); text(r) != "No read was interrupted." {
		t.Errorf("recover: %q", text(r))
	}
	turn := object{
		"toolCalls":   []object{{"id": "1", "name": "read", "arguments": object{"path": "a.go"}}},
		"toolResults": []object{{"toolCallId": "1", "content": "Skipped due to queued user message."}},
	}
	if r := a.call("recover", object{"turn": turn}); !strings.Contains(text(r), "a.go") {
		t.Errorf("recover a turn: %q", text(r))
	}
	if r := a.call("recover", object{"turn": turn, "reissue": true}); !strings.Contains(text(r), f+":func F() {}") || strings.Contains(text(r), "again") {
		t.Errorf("recover a turn with its reads: %q", text(r))
	}
	if r := a.call("status", nil); !strings.Contains(text(r), h.dir) || decode[wire.StatusResult](t, r).PID != os.Getpid() {
		t.Errorf("status: %q", text(r))
	}
	h.write("a.go", "package a\n\nfunc G() {}\n")
	if r := a.call("map", object{"path": "a.go", "since": snapshot}); !strings.Contains(text(r), "removed function F") {
		t.Errorf("changes: %q", text(r))
	}
	create := object{"path": "new.txt", "create": true, "edits": []object{{"op": "append", "lines": []string{"one"}}}}
	dry := object{"path": "a.go", "dryRun": true, "edits": []object{{"op": "append", "lines": []string{"one"}}}}
	if r := a.call("edit", create); r.IsError || h.content("new.txt") != "one\n" {
		t.Errorf("create: %q", text(r))
	}
	if r := a.call("edit", dry); r.IsError || !strings.Contains(text(r), "+one") || strings.Contains(h.content("a.go"), "one") {
		t.Errorf("dry run: %q", text(r))
	}
}

// Clients that would show the JSON in place of the text get the text alone.
func TestStructured(t *testing.T) {
	h := newHouse(t)
	h.write("a.go", "package a\n")
	for _, c := range []struct {
		client, structured string
		want               bool
	}{
		{"any", "", true}, {"claude-code", "", false}, {"codex-mcp-client", StructuredAuto, false},
		{"claude-code", StructuredAlways, true}, {"any", StructuredNever, false},
	} {
		opt := h.options()
		opt.Structured = c.structured
		a := attach(t, opt, sdk.NewClient(&sdk.Implementation{Name: c.client}, nil), "2025-06-18")
		r := a.call("read", object{"path": "a.go"})
		if got := r.StructuredContent != nil; got != c.want || len(texts(r)) != 1 {
			t.Errorf("%+v: structured %v, %d texts", c, got, len(texts(r)))
		}
	}
	if err := Run(t.Context(), nil, Options{Structured: "often"}); err == nil {
		t.Error("an unknown choice is taken")
	}
}

// The end of stdin: calls under way are answered first, lines that are no
// message are refused, and the bridge ends by itself.
func TestEndOfStdin(t *testing.T) {
	h := newHouse(t)
	h.write("a.txt", strings.Repeat("line\n", 100))
	ours, in, out := stdio()
	ended := make(chan error, 1)
	go func() {
		err := Run(context.Background(), ours, h.options())
		ours.Close()
		ended <- err
	}()
	go func() {
		fmt.Fprint(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n")
		fmt.Fprint(in, "no message\n\n{\"jsonrpc\":\"1.0\",\"id\":9}\n")
		for id := 2; id < 12; id++ {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt"}}}`+"\n", id)
		}
		fmt.Fprint(in, `{"jsonrpc":"2.0","id":12,"method":"ping"}`) // without an end of line
		in.Close()
	}()
	answers := map[string]int{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     *int
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		switch {
		case m.Error != nil:
			answers[fmt.Sprint("error ", m.Error.Code)]++
		case m.ID != nil && *m.ID <= 12 && m.Result != nil:
			answers["result"]++
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if answers["result"] != 12 || answers["error -32700"] != 1 || answers["error -32600"] != 1 {
		t.Errorf("%v", answers)
	}
}

// A context that ends is the end of the bridge.
func TestContextEnds(t *testing.T) {
	h := newHouse(t)
	ours, in, out := stdio()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, ours, h.options()) }()
	if _, err := fmt.Fprint(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A line has a limit, and the limit ends the bridge with an error.
func TestLongLine(t *testing.T) {
	h := newHouse(t)
	ours, in, out := stdio()
	ended := make(chan error, 1)
	go func() { ended <- Run(context.Background(), ours, h.options()) }()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	block := []byte(strings.Repeat("x", 1<<20))
	for range maxLine>>20 + 1 {
		if _, err := in.Write(block); err != nil {
			break
		}
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("ended with %v", err)
	}
	in.Close()
	ours.Close()
}

// Nothing is held back once calls have ended.
func TestBodiesAreLetGo(t *testing.T) {
	b := newBodies()
	ctx, cancel := context.WithCancel(t.Context())
	var held atomic.Int64
	for range 10 {
		b.hold(ctx, textBlocks("x"), nil, false)
		held.Add(1)
	}
	cancel()
	for range 1000 {
		b.mu.Lock()
		n := len(b.held)
		b.mu.Unlock()
		if n == 0 {
			return
		}
		wait()
	}
	t.Errorf("%d bodies are held", len(b.held))
}
