package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"mapd/outline"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// fuzzParams are right and nearly right params of every method that takes any.
var fuzzParams = map[string][]string{
	"initialize": {
		`{"rootUri":"file:///","clientInfo":{"name":"x"},"initializationOptions":{"session":"s","anchors":{"width":3},"delivery":"separate","stale":"push","umask":18}}`,
		`{"workspaceFolders":[{"uri":"file:///%2e%2e/x","name":"x"},{"uri":"file://localhost/"}],"capabilities":{"general":{"positionEncodings":["utf-8"]}}}`,
		`{"rootUri":null}`,
	},
	wire.MethodRead: {
		`{"path":"a.go"}`, `{"path":"a.txt","offset":2,"limit":1,"anchors":false,"map":"always"}`, `{"path":"a.txt","ranges":[{"start":1,"end":1},{"start":3,"end":9}]}`,
		`{"path":"a.go","symbol":"f","map":"only","mapMaxBytes":10}`, `{"path":"a.txt","cursor":"x"}`, `{"uri":"file:///a","maxLines":1,"maxBytes":1}`,
		`{"path":".","images":true,"toolCallId":"t","delivery":"separate"}`, `{"path":"a\u0000b"}`, `{"path":"../../etc/passwd"}`,
	},
	wire.MethodReadMany: {`{"reads":[{"path":"a.go"},{"path":"a.txt","limit":1}]}`, `{"reads":[]}`},
	wire.MethodMap:      {`{"path":"a.go","detail":"full","format":"both","maxBytes":100}`, `{"path":"a.txt","since":"0123456789abcdef.1"}`},
	wire.MethodCheck:    {`{"path":"a.txt","anchors":["1#ZZZZ","2#VRTX:beta"],"snapshot":"0123456789abcdef.1"}`},
	wire.MethodEdit: {
		`{"path":"a.txt","edits":[{"op":"replace","pos":"1#ZZZZ","end":"2#ZZZZ","lines":["x"]}],"dryRun":true}`,
		`{"path":"new/b.txt","create":true,"edits":[{"op":"append","lines":["x"]}],"requestId":"r"}`, `{"path":"a.txt","edits":[{"op":"prepend","lines":["a\nb"]}],"onStale":"reject"}`,
	},
	wire.MethodEditMany: {`{"files":[{"path":"a.txt","edits":[{"op":"delete","pos":"1#ZZZZ"}]},{"path":"a.go","edits":[]}]}`},
	wire.MethodRecover: {
		`{"turn":{"toolCalls":[{"id":"1","name":"read","arguments":{"path":"a.txt"}}],"toolResults":[{"toolCallId":"1","content":"Skipped due to queued user message."}]},"reissue":true}`,
	},
	wire.MethodLedger: {`{"path":"a.txt"}`, `{}`}, wire.MethodForget: {`{"path":"a.txt"}`}, wire.MethodStatus: {`{}`, `null`},
	wire.MethodFind:    {`{"query":"f","kind":"function","path":"*.go","limit":3}`, `{"query":"b.*a","mode":"text","regexp":true}`},
	"workspace/symbol": {`{"query":"f"}`},
	"textDocument/didOpen": {
		`{"textDocument":{"uri":"file:///a.go","languageId":"go","version":1,"text":"package a\r\n\rfunc f() {}"}}`,
		`{"textDocument":{"uri":"untitled:1","languageId":"python","version":1,"text":"class A:\n  pass\n"}}`, `{"textDocument":{"uri":"file:///a.go"}}`,
	},
	"textDocument/didChange": {
		`{"textDocument":{"uri":"file:///a.go","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":1},"end":{"line":9,"character":9}},"text":"x"}]}`,
		`{"textDocument":{"uri":"untitled:1","version":3},"contentChanges":[{"text":"all"},{"range":{"start":{"line":0},"end":{}},"text":"x"}]}`,
	},
	"textDocument/didSave":            {`{"textDocument":{"uri":"file:///a.go"},"text":"x"}`},
	"textDocument/didClose":           {`{"textDocument":{"uri":"untitled:1"}}`},
	"textDocument/willSave":           {`{"textDocument":{"uri":"untitled:1"},"reason":1}`},
	"textDocument/documentSymbol":     {`{"textDocument":{"uri":"file:///a.go"}}`, `{"textDocument":{"uri":"untitled:1"}}`},
	"textDocument/foldingRange":       {`{"textDocument":{"uri":"file:///a.go"}}`},
	"textDocument/selectionRange":     {`{"textDocument":{"uri":"file:///a.go"},"positions":[{"line":0,"character":1},{"line":99,"character":99}]}`},
	"textDocument/diagnostic":         {`{"textDocument":{"uri":"file:///a.go"},"previousResultId":"x"}`},
	"workspace/didChangeWatchedFiles": {`{"changes":[{"uri":"file:///a.go","type":2}]}`},
	"window/workDoneProgress/cancel":  {`{"token":1}`},

	"workspace/didChangeWorkspaceFolders": {`{"event":{"added":[{"uri":"file:///tmp"}],"removed":[{"uri":"file:///x"}]}}`},
}

// unfuzzed are the methods that take no params, or end what they are sent to.
var unfuzzed = map[string]bool{"initialized": true, "shutdown": true, "exit": true, "$/setTrace": true, wire.MethodStop: true}

// FuzzParams gives any params to any method: the answer is JSON, or an error
// that the protocol knows, and never a defect of the daemon.
func FuzzParams(f *testing.F) {
	for name := range methods {
		if fuzzParams[name] == nil && !unfuzzed[name] {
			f.Errorf("no params to begin with for %s", name)
		}
		for _, params := range append(fuzzParams[name], ``, `[]`, `{"path":1}`, `{"x":{}}`) {
			f.Add(name, []byte(params))
		}
	}
	p, roamer := fuzzPeer(f), fuzzPeer(f)
	f.Fuzz(func(t *testing.T, name string, params []byte) {
		m, known := methods[name]
		if !known || unfuzzed[name] || !json.Valid(params) && len(params) > 0 {
			return
		}
		target := p
		switch {
		case m.early:
			fresh, hangUp := connected(t, p.server)
			defer hangUp()
			target = fresh
		case m.notification || m.pin != nil: // they change folders and documents, in which no edit may follow
			target = roamer
		}
		session, _ := target.attached()
		reply, err := m.handler(target, session)(t.Context(), params)
		switch {
		case err != nil && m.notification: // it is only logged
		case err != nil:
			if wired := toWire(err); wired.Code == wire.Internal || wired.Code.Number() == 0 {
				t.Errorf("%s %s: %s: %v", name, params, wired.Code, err)
			}
		case !m.notification && !json.Valid(slices.Concat(reply.Result, slices.Concat(reply.Rest...))):
			t.Errorf("%s %s: no JSON: %.200q", name, params, reply.Result)
		default:
			for _, hook := range []func(){reply.Queued, reply.Withdraw} {
				if hook != nil {
					hook()
				}
			}
		}
	})
}

// fuzzPeer returns a connection with a session in a folder of its own.
func fuzzPeer(f testing.TB) *peer {
	f.Helper()
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for name, text := range map[string]string{"a.go": "package p\n\nfunc f() {}\n", "a.txt": "alpha\nbeta\ngamma\n", "image.png": "\x89PNG\r\n\x1a\n\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	limits := DefaultLimits()
	cache := workspace.NewCache(workspace.Options{Limits: limits.Workspace, Outlines: outline.New(outline.Options{Limits: limits.Outline})})
	f.Cleanup(func() { _ = cache.Close() })
	// No other folders: those that params name would be indexed.
	s := NewServer(Options{Limits: limits, Cache: cache, Version: "test", Build: "test", Roots: []string{dir}})
	p, hangUp := connected(f, s)
	f.Cleanup(hangUp)
	if _, err := initialize(context.Background(), p, fmt.Appendf(nil, `{"rootUri":%q}`, fileURI(dir))); err != nil {
		f.Fatal(err)
	}
	return p
}

// connected returns a connection that is served and whose peer says nothing.
// hangUp ends it and waits for that.
func connected(t testing.TB, s *Server) (p *peer, hangUp func()) {
	t.Helper()
	ours, theirs := net.Pipe()
	p, err := s.admit(context.Background(), ours, Peer{})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.serve(p, ours) }) // it ends as the test wants it to
	for p.connection() == nil {
		runtime.Gosched()
	}
	return p, func() {
		theirs.Close()
		serving.Wait()
	}
}
