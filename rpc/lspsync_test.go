package rpc_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mapd/rpc"
	"mapd/rpc/wire"
)

// editor is an agent that speaks LSP.
type editor struct{ *agent }

// lsp opens a connection with capabilities, and the daemon's folder as its root.
func (d *daemon) lsp(capabilities string) editor {
	d.t.Helper()
	a := d.connect()
	if m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":%s}`, d.dir, capabilities)); m.Error != nil {
		d.t.Fatalf("initialize: %s", m.Error.Message)
	}
	a.notify("initialized", `{}`)
	return editor{a}
}

func (e editor) open(uri, language string, version int, text string) {
	e.t.Helper()
	quoted, _ := json.Marshal(text)
	e.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":%q,"version":%d,"text":%s}}`, uri, language, version, quoted))
}

// change sends changes, each a whole text, or a range and a text as
// "0:1-2:3 text".
func (e editor) change(uri string, version int, changes ...string) {
	e.t.Helper()
	var out []string
	for _, c := range changes {
		var l1, c1, l2, c2 int
		if n, _ := fmt.Sscanf(c, "%d:%d-%d:%d", &l1, &c1, &l2, &c2); n == 4 {
			_, text, _ := strings.Cut(c, " ")
			quoted, _ := json.Marshal(text)
			out = append(out, fmt.Sprintf(`{"range":{"start":{"line":%d,"character":%d},"end":{"line":%d,"character":%d}},"text":%s}`, l1, c1, l2, c2, quoted))
			continue
		}
		quoted, _ := json.Marshal(c)
		out = append(out, fmt.Sprintf(`{"text":%s}`, quoted))
	}
	e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[%s]}`, uri, version, strings.Join(out, ",")))
}

func (e editor) close(uri string) {
	e.t.Helper()
	e.notify("textDocument/didClose", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
}

// names decodes the names of a documentSymbol reply, or its error.
func names(m message) string {
	if m.Error != nil {
		return fmt.Sprintf("%d %s", m.Error.Code, m.code())
	}
	var symbols []struct{ Name string }
	if err := json.Unmarshal(m.Result, &symbols); err != nil {
		return err.Error()
	}
	var out []string
	for _, s := range symbols {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

// shows fails unless the symbols of a document are those named.
func (e editor) shows(uri, want string) {
	e.t.Helper()
	if got := names(e.call("textDocument/documentSymbol", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))); got != want {
		e.t.Errorf("%s shows %q, want %q", uri, got, want)
	}
}

const lost = "-32801 unknown_snapshot"

// An open document is what its session sees; all else sees the file.
func TestTheOpenDocumentCounts(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.go", "package p\n\nfunc disk() {}\n")
	e, other := d.lsp(`{}`), d.lsp(`{}`)
	e.shows(uri, "disk")
	e.open(uri, "go", 1, "package p\n\nfunc open() {}\n")
	e.shows(uri, "open")
	e.change(uri, 2, "2:5-2:9 typed", "2:0-2:0 func before() {}\n")
	e.shows(uri, "before typed")
	e.change(uri, 7, "package p\nfunc whole() {}\n")
	e.shows(uri, "whole")
	other.shows(uri, "disk")
	if got := text(e.read(`{"path":"a.go","anchors":false}`)); !strings.Contains(got, "disk") {
		t.Errorf("mapd/read shows %q", got)
	}
	e.notify("textDocument/willSave", fmt.Sprintf(`{"textDocument":{"uri":%q},"reason":1}`, uri))
	e.notify("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
	e.shows(uri, "whole")
	e.notify("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q},"text":"package p\nfunc saved() {}\n"}`, uri))
	e.shows(uri, "saved")
	e.close(uri)
	e.shows(uri, "disk")
}

// What cannot be applied as it was sent makes the text unknown, and never wrong;
// the connection lives, and so do the other documents.
func TestUnknownTextUntilItIsSentAgain(t *testing.T) {
	for name, spoil := range map[string]func(e editor, uri string){
		"an old version":      func(e editor, uri string) { e.change(uri, 4, "0:0-0:0 x") },
		"a range backwards":   func(e editor, uri string) { e.change(uri, 6, "1:1-0:0 x") },
		"inside a character":  func(e editor, uri string) { e.change(uri, 6, "2:3-2:3 x") },
		"a second bad change": func(e editor, uri string) { e.change(uri, 6, "0:0-0:0 x", "1:1-0:0 x") },
		"a range without end": func(e editor, uri string) { e.raw(uri, `{"range":{"start":{"line":0,"character":0}},"text":"x"}`) },
		"an empty range":      func(e editor, uri string) { e.raw(uri, `{"range":{},"text":"x"}`) },
		"no text":             func(e editor, uri string) { e.raw(uri, `{"range":null}`) },
		"a negative line": func(e editor, uri string) {
			e.raw(uri, `{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":0}},"text":"x"}`)
		},
		"changes of no kind": func(e editor, uri string) { e.raw(uri, `7`) },
		"a lone surrogate": func(e editor, uri string) {
			e.raw(uri, `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"\ud83d"}`)
		},
		"a lone surrogate first": func(e editor, uri string) {
			e.notify("textDocument/didChange", fmt.Sprintf(`{"contentChanges":[{"text":"\ud83d"}],"textDocument":{"uri":%q,"version":6}}`, uri))
		},
		"a member twice": func(e editor, uri string) {
			e.notify("textDocument/didChange", fmt.Sprintf(`{"contentChanges":[],"contentChanges":[],"textDocument":{"uri":%q,"version":6}}`, uri))
		},
		"a version that is no number": func(e editor, uri string) {
			e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":"6"},"contentChanges":[]}`, uri))
		},
		"no version": func(e editor, uri string) {
			e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q},"contentChanges":[]}`, uri))
		},
		"an open without text": func(e editor, uri string) {
			e.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"go","version":6}}`, uri))
		},
		"a save of no text": func(e editor, uri string) {
			e.notify("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q},"text":5}`, uri))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDaemon(t)
			uri, other := "file://"+d.write("a.go", "package p\nfunc disk() {}\n"), "file://"+d.write("b.go", "")
			e := d.lsp(`{}`)
			e.open(uri, "go", 5, "package p\nfunc open() {}\n//😀\n")
			e.open(other, "go", 1, "package p\nfunc other() {}\n")
			spoil(e, uri)
			e.shows(uri, lost)
			e.change(uri, 8, "0:0-0:0 x")
			e.shows(uri, lost)
			e.shows(other, "other")
			e.change(uri, 9, "package p\nfunc again() {}\n")
			e.shows(uri, "again")
			e.change(uri, 1, "0:0-0:0 x")
			e.shows(uri, lost)
			e.open(uri, "go", 1, "package p\nfunc reopened() {}\n")
			e.shows(uri, "reopened")
		})
	}
}

// The log says why a text is not known any more, and nothing of the text.
func TestTheLogTellsOfLostTexts(t *testing.T) {
	var log syncedBuffer
	d := newDaemon(t, func(o *rpc.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	e := d.lsp(`{}`)
	e.open("untitled:one", "go", 5, "secret")
	e.change("untitled:one", 3, "0:0-0:0 secret")
	e.change("untitled:two", 3, "0:0-0:0 secret")
	e.shows("untitled:one", lost)
	got := log.String()
	for _, want := range []string{"untitled:one is not known any more", "version 3 came after version 5", "untitled:two: it is not open"} {
		if !strings.Contains(got, want) {
			t.Errorf("the log does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("the log shows the text:\n%s", got)
	}
}

// syncedBuffer is a buffer for a log.
type syncedBuffer struct {
	mu sync.Mutex // guards b
	b  strings.Builder
}

func (s *syncedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// raw sends one change as it is.
func (e editor) raw(uri, change string) {
	e.t.Helper()
	e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":6},"contentChanges":[%s]}`, uri, change))
}

// Notifications that name no document are dropped, as are those about one that is
// not open.
func TestNotificationsAboutNothing(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.go", "package p\nfunc disk() {}\n")
	e := d.lsp(`{}`)
	for _, method := range []string{"didOpen", "didChange", "didSave", "didClose"} {
		for _, params := range []string{`{}`, `[]`, `{"textDocument":7}`, `{"textDocument":{"uri":""}}`, `{"textDocument":{"uri":"/a.go"}}`} {
			e.notify("textDocument/"+method, params)
		}
	}
	e.change(uri, 1, "package q\nfunc never() {}\n")
	e.close(uri)
	e.notify("$/unknown", `{}`)
	e.notify("workspace/didChangeConfiguration", `{"settings":null}`)
	e.notify("workspace/didChangeWatchedFiles", `{"changes":[{"uri":"file:///x","type":7}]}`)
	e.notify("window/workDoneProgress/cancel", `{"token":1}`)
	e.notify("$/setTrace", `{"value":"verbose"}`)
	e.notify("$/progress", `{"token":1,"value":{}}`)
	e.shows(uri, "disk")
}

// A request is answered from the documents that were open when it came, whatever
// comes behind it.
func TestRequestsSeeTheirMoment(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.go", "")
	e := d.lsp(`{}`)
	e.open(uri, "go", 0, "package p\nfunc f0() {}\n")
	const rounds = 40
	want := map[int]string{}
	for i := 1; i <= rounds; i++ {
		want[e.send("textDocument/documentSymbol", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))] = fmt.Sprintf("f%d", i-1)
		e.change(uri, i, fmt.Sprintf("1:6-1:100 %d() {}", i))
	}
	for range rounds {
		m := e.next()
		if got := names(m); m.ID == nil || got != want[*m.ID] {
			t.Fatalf("%+v: %s, want %s", m, got, want[*m.ID])
		}
	}
}

// A document is found by every name of its file.
func TestDocumentsByAnyName(t *testing.T) {
	d := newDaemon(t)
	real := d.write("dir/a.go", "package p\nfunc disk() {}\n")
	link := filepath.Join(d.dir, "link.go")
	if err := os.Symlink("dir/a.go", link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dir", filepath.Join(d.dir, "other")); err != nil {
		t.Fatal(err)
	}
	e := d.lsp(`{}`)
	e.open("file://"+link, "go", 1, "package p\nfunc open() {}\n")
	for _, name := range []string{real, link, filepath.Join(d.dir, "other/a.go"), strings.Replace(real, "a.go", "%61.go", 1), d.dir + "/dir/../dir/a.go"} {
		e.shows("file://"+name, "open")
	}
	e.change("file://localhost"+link, 2, "package p\nfunc changed() {}\n")
	e.shows("file://"+real, "changed")
	if code := e.call("mapd/edit", `{"path":"dir/a.go","edits":[{"op":"append","lines":["x"]}]}`).code(); code != "buffer_dirty" {
		t.Errorf("an edit under another name: %q", code)
	}
	e.close("file://" + link)
	e.shows("file://"+real, "disk")
	// A file that is not there yet.
	e.open("file://"+filepath.Join(d.dir, "other/new.go"), "go", 1, "package p\nfunc draft() {}\n")
	e.shows("file://"+filepath.Join(d.dir, "dir/new.go"), "draft")
}

// Documents that are in no file have symbols too, by the language that the editor
// names.
func TestDocumentsWithoutAFile(t *testing.T) {
	d := newDaemon(t)
	e := d.lsp(`{}`)
	e.open("untitled:Untitled-1", "python", 1, "class A:\n    pass\n")
	e.open("untitled:/x/b.go", "plaintext", 1, "package p\nfunc f() {}\n")
	e.open("git:/c.py?ref=HEAD", "go", 1, "class C:\n    pass\n")
	e.open("file:///outside/of/any/folder", "typescriptreact", 1, "function outside() {}\n")
	e.open("untitled:binary", "go", 1, "package p\x00\n")
	e.shows("untitled:Untitled-1", "A")
	e.shows("untitled:/x/b.go", "f")
	e.shows("git:/c.py?ref=HEAD", "C")
	e.shows("file:///outside/of/any/folder", "outside")
	e.shows("untitled:binary", "-32803 binary_file")
	e.shows("untitled:Untitled-2", "-32803 not_found")
	e.shows("file:///outside/of/any/other", "-32803 outside_workspace")
	e.shows("", "-32602 invalid_params")
	alone := editor{d.connect()}
	alone.call("initialize", `{"rootUri":null,"workspaceFolders":null,"capabilities":{}}`)
	alone.open("file:///tmp/single.py", "python", 1, "def single(): pass\n")
	alone.shows("file:///tmp/single.py", "single")
	alone.shows("file:///etc/passwd", "-32803 outside_workspace")
}

func TestDocumentsHaveLimits(t *testing.T) {
	d := newDaemonOf(t, rpc.DefaultLimits(), func(o *rpc.Options) {
		o.Limits.Documents.Documents, o.Limits.Documents.Bytes, o.Limits.AllDocuments = 2, 20_000, 30_000
	})
	source := "package p\nfunc f() {}\n//" + strings.Repeat("x", 10_000) + "\n"
	uri := func(name string) string { return "file://" + d.write(name, "package p\nfunc disk() {}\n") }
	e := d.lsp(`{}`)
	e.open(uri("a.go"), "go", 1, source)
	e.open(uri("b.go"), "go", 1, source)
	e.shows(uri("a.go"), "f")
	e.shows(uri("b.go"), "-32803 file_too_large")
	e.open(uri("c.go"), "go", 1, source) // a third one
	e.shows(uri("c.go"), "-32803 server_busy")
	e.shows(uri("d.go"), "-32803 server_busy") // it might be that one
	edit := `{"path":"d.go","edits":[{"op":"append","lines":["x"]}]}`
	if code := e.call("mapd/edit", edit).code(); code != "buffer_dirty" {
		t.Errorf("an edit while not all documents are known: %q", code)
	}
	e.close(uri("c.go"))
	e.shows(uri("c.go"), "disk")
	if m := e.call("mapd/edit", edit); m.Error != nil {
		t.Errorf("an edit: %+v", m.Error)
	}
	two, three := d.lsp(`{}`), d.lsp(`{}`)
	two.open(uri("a.go"), "go", 1, source)
	two.shows(uri("a.go"), "f")
	three.open(uri("a.go"), "go", 1, source)
	three.shows(uri("a.go"), "-32803 file_too_large") // all editors together
	if used := d.server.Status().Memory["texts"]; used < 20_000 || used > 30_000 {
		t.Errorf("the documents take %d bytes", used)
	}
	for _, gone := range []editor{e, two} {
		gone.call("shutdown", `null`)
		gone.notify("exit", `null`)
		_, _ = gone.in.ReadByte() // the end of the connection
	}
	waitFor(t, func() bool { return d.server.Status().Memory["texts"] < 1000 })
	three.open(uri("a.go"), "go", 2, source)
	three.shows(uri("a.go"), "f")
}

// An edit is refused while the editor of its session holds what is not in the
// file; it is nobody else's concern.
func TestDirtyDocuments(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.txt", "\ufeffone\r\ntwo\n")
	uri := "file://" + path
	e, other := d.lsp(`{}`), d.session()
	edit := func(a *agent, extra, line string) string {
		t.Helper()
		m := a.call("mapd/edit", fmt.Sprintf(`{"path":"a.txt",%s"edits":[{"op":"append","lines":[%q]}]}`, extra, line))
		if m.Error == nil {
			return ""
		}
		var data struct{ Retryable bool }
		if err := json.Unmarshal(m.Error.Data, &data); err != nil || !data.Retryable || m.Error.Code != -32801 || !strings.Contains(m.Error.Message, "nothing was written") {
			t.Errorf("%+v %s", m.Error, m.Error.Data)
		}
		return m.code()
	}
	refused := func(extra string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		if code := edit(e.agent, extra, "x"); code != "buffer_dirty" {
			t.Errorf("%s: %q", extra, code)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Error("the file was changed")
		}
	}
	e.open(uri, "plaintext", 1, "one\r\ntwo\n") // the editor keeps the byte order mark
	if code := edit(e.agent, "", "three"); code != "" {
		t.Errorf("a clean document: %q", code)
	}
	if code := edit(e.agent, "", "four"); code != "" {
		t.Errorf("a document that is out of date by an edit: %q", code)
	}
	e.change(uri, 2, "0:0-0:0 typed ")
	refused("")
	refused(`"dryRun":true,`)
	if m := e.call("mapd/editMany", `{"files":[{"path":"b.txt","create":true,"edits":[{"op":"append","lines":["b"]}]},{"path":"a.txt","edits":[{"op":"append","lines":["x"]}]}]}`); m.code() != "buffer_dirty" {
		t.Errorf("editMany: %+v", m)
	}
	if code := edit(other, "", "five"); code != "" {
		t.Errorf("another session: %q", code)
	}
	d.write("a.txt", "typed one\r\ntwo\n")
	e.notify("textDocument/didSave", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
	e.change(uri, 1, "0:0-0:0 old")
	refused("") // its text is not known
	e.open(uri, "plaintext", 3, "typed one\r\ntwo\n")
	if code := edit(e.agent, "", "six"); code != "" {
		t.Errorf("after the save: %q", code)
	}
	e.change(uri, 4, "0:0-0:0 again ")
	refused("")
	e.close(uri)
	if code := edit(e.agent, "", "seven"); code != "" {
		t.Errorf("after the close: %q", code)
	}
}

// A file is not made under the draft of an editor.
func TestDraftsAreNotOverwritten(t *testing.T) {
	d := newDaemon(t)
	e, other := d.lsp(`{}`), d.session()
	e.open("file://"+filepath.Join(d.dir, "new.txt"), "plaintext", 1, "a draft")
	create := `{"path":"new.txt","create":true,"edits":[{"op":"append","lines":["made"]}]}`
	if code := e.call("mapd/edit", create).code(); code != "buffer_dirty" {
		t.Errorf("create under a draft: %q", code)
	}
	e.change("file://"+filepath.Join(d.dir, "new.txt"), 2, "")
	if m := e.call("mapd/edit", create); m.Error != nil {
		t.Errorf("create under an empty draft: %+v", m.Error)
	}
	var result wire.EditResult
	if m := other.call("mapd/edit", `{"path":"new.txt","edits":[{"op":"append","lines":["x"]}]}`); json.Unmarshal(m.Result, &result) != nil || !result.Applied {
		t.Errorf("another session: %+v", m.Error)
	}
}

// waitFor fails unless a condition comes true in good time.
func waitFor(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it does not come true")
		}
	}
}
