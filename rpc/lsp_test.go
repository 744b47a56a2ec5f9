package rpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/rpc/wire"
)

// lspMethods are the methods of LSP 3.17 that a client may call or notify.
const lspMethods = `callHierarchy/incomingCalls callHierarchy/outgoingCalls codeAction/resolve codeLens/resolve
completionItem/resolve documentLink/resolve inlayHint/resolve notebookDocument/didChange notebookDocument/didClose
notebookDocument/didOpen notebookDocument/didSave textDocument/codeAction textDocument/codeLens
textDocument/colorPresentation textDocument/completion textDocument/declaration textDocument/definition
textDocument/diagnostic textDocument/documentColor textDocument/documentHighlight textDocument/documentLink
textDocument/documentSymbol textDocument/foldingRange textDocument/formatting textDocument/hover
textDocument/implementation textDocument/inlayHint textDocument/inlineValue textDocument/linkedEditingRange
textDocument/moniker textDocument/onTypeFormatting textDocument/prepareCallHierarchy textDocument/prepareRename
textDocument/prepareTypeHierarchy textDocument/rangeFormatting textDocument/references textDocument/rename
textDocument/selectionRange textDocument/semanticTokens/full textDocument/semanticTokens/full/delta
textDocument/semanticTokens/range textDocument/signatureHelp textDocument/typeDefinition
textDocument/willSaveWaitUntil typeHierarchy/subtypes typeHierarchy/supertypes workspace/codeLens/refresh
workspace/diagnostic workspace/executeCommand workspace/symbol workspace/willCreateFiles workspace/willDeleteFiles
workspace/willRenameFiles workspaceSymbol/resolve $/unknown $/progress $/cancelRequest $/setTrace $/logTrace
client/registerCapability window/showMessageRequest window/workDoneProgress/create textDocument/hover2`

// providers are the methods that a server capability of LSP promises.
var providers = map[string]string{
	"documentSymbolProvider": "textDocument/documentSymbol", "foldingRangeProvider": "textDocument/foldingRange",
	"selectionRangeProvider": "textDocument/selectionRange", "diagnosticProvider": "textDocument/diagnostic",
	"workspaceSymbolProvider": "workspace/symbol",
}

// What is advertised is answered, and everything else is not, its params never
// decoded.
func TestOnlyWhatIsAdvertised(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.go", "package p\n\nfunc f() {\n}\n")
	a := d.connect()
	m := a.call("initialize", fmt.Sprintf(`{"processId":null,"rootUri":"file://%s","capabilities":{}}`, d.dir))
	var r struct{ Capabilities map[string]json.RawMessage }
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	advertised := map[string]bool{}
	for name, value := range r.Capabilities {
		if !strings.HasSuffix(name, "Provider") {
			continue
		}
		if providers[name] == "" || string(value) == "false" || string(value) == "null" {
			t.Errorf("%s is advertised as %s", name, value)
		}
		advertised[providers[name]] = true
	}
	for _, method := range []string{"textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/selectionRange", "textDocument/diagnostic"} {
		if !advertised[method] {
			t.Errorf("%s is not advertised", method)
		}
	}
	good := fmt.Sprintf(`{"textDocument":{"uri":%q},"positions":[{"line":2,"character":1}],"query":"f","workDoneToken":"t","partialResultToken":7}`, uri)
	for method := range strings.FieldsSeq(lspMethods) {
		if advertised[method] {
			if m := a.call(method, good); m.Error != nil || len(m.Result) == 0 || string(m.Result) == "null" {
				t.Errorf("%s is advertised and answers %s %+v", method, m.Result, m.Error)
			}
			if m := a.call(method, `{"textDocument":7,"query":7}`); m.code() != "invalid_params" {
				t.Errorf("%s with params of the wrong type: %+v", method, m.Error)
			}
			continue
		}
		for _, params := range []string{good, `{"textDocument":7,"query":7}`, `[7]`} {
			if m := a.call(method, params); m.Error == nil || m.Error.Code != -32601 || m.code() != "unknown_method" {
				t.Errorf("%s %s: %s %+v", method, params, m.Result, m.Error)
			}
		}
	}
	sync := struct {
		OpenClose bool
		Change    int
		Save      struct{ IncludeText bool }
	}{}
	if err := json.Unmarshal(r.Capabilities["textDocumentSync"], &sync); err != nil || !sync.OpenClose || sync.Change != 2 {
		t.Errorf("textDocumentSync: %s", r.Capabilities["textDocumentSync"])
	}
}

// A method that is not served costs what its frame does, however its params would
// decode.
func TestUnknownMethodsAreNotDecoded(t *testing.T) {
	d := newDaemon(t)
	a := d.session()
	params := `{"context":{"diagnostics":[` + strings.Repeat(`{},`, 300_000) + `{}]}}`
	a.call("textDocument/codeAction", params)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m := a.call("textDocument/codeAction", params); m.code() != "unknown_method" {
		t.Fatalf("%+v", m)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 20*uint64(len(params)) {
		t.Errorf("%d bytes were allocated for params of %d", took, len(params))
	}
}

func TestLifecycleOfLSP(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.go", "package p\nfunc disk() {}\n")
	e := editor{d.connect()}
	e.open(uri, "go", 1, "package p\nfunc early() {}\n") // dropped: there is no session yet
	if m := e.call("$/unknown", `{}`); m.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", m.Error)
	}
	initialize := fmt.Sprintf(`{"rootUri":"file://%s","capabilities":{},"trace":"off","locale":"en"}`, d.dir)
	e.call("initialize", initialize)
	e.shows(uri, "disk")
	if m := e.call("initialize", initialize); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second initialize: %+v", m)
	}
	e.shows(uri, "disk")
	if m := e.call("shutdown", `null`); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %+v", m)
	}
	e.open(uri, "go", 1, "package p\nfunc late() {}\n")
	for _, method := range []string{"shutdown", "initialize", "textDocument/documentSymbol", "textDocument/hover", "$/unknown", "mapd/read"} {
		if m := e.call(method, `{}`); m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("%s after shutdown: %+v", method, m)
		}
	}
	e.notify("exit", `null`)
	if _, err := e.in.ReadByte(); err != io.EOF {
		t.Errorf("after exit: %v", err)
	}
	for _, hasty := range []editor{{d.connect()}, d.lsp(`{}`)} {
		hasty.notify("exit", `null`)
		if _, err := hasty.in.ReadByte(); err != io.EOF {
			t.Errorf("after exit without shutdown: %v", err)
		}
	}
	d.lsp(`{}`).shows(uri, "disk")
}

// One folder that is not there does not hold up the others of a change.
func TestFoldersThatAreNotThere(t *testing.T) {
	d := newDaemon(t)
	one, two := "file://"+d.write("one/a.go", "package p\nfunc one() {}\n"), "file://"+d.write("two/a.go", "package p\nfunc two() {}\n")
	e := editor{d.connect()}
	e.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s/one","capabilities":{}}`, d.dir))
	e.shows(one, "one")
	e.notify("workspace/didChangeWorkspaceFolders", fmt.Sprintf(`{"event":{"added":[{"uri":"file://%[1]s/none","name":"x"},{"uri":"untitled:x","name":"x"},{"uri":"file://%[1]s/two","name":"x"}],"removed":[{"uri":"file://%[1]s/one","name":"x"}]}}`, d.dir))
	e.shows(two, "two")
	e.shows(one, "-32803 outside_workspace")
}

func TestPositionEncodingIsNegotiated(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.py", "x = '😀ä'; π = 1\n")
	for offered, want := range map[string]struct {
		encoding string
		column   int
	}{
		`["utf-16","utf-8","utf-32"]`: {"utf-8", 14}, `["utf-8"]`: {"utf-8", 14}, `null`: {"utf-16", 11}, `[]`: {"utf-16", 11}, `["utf-7"]`: {"utf-16", 11},
		`["utf-32","utf-16"]`: {"utf-16", 11}, `["utf-32"]`: {"utf-32", 10},
	} {
		e := editor{d.connect()}
		var r wire.InitializeResult
		m := e.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":{"general":{"positionEncodings":%s},"textDocument":{"documentSymbol":{"hierarchicalDocumentSymbolSupport":true}}}}`, d.dir, offered))
		if err := json.Unmarshal(m.Result, &r); err != nil || r.Capabilities.PositionEncoding != want.encoding {
			t.Errorf("%s: %v %+v, want %s", offered, err, m, want.encoding)
		}
		params := fmt.Sprintf(`{"textDocument":{"uri":%q},"positions":[{"line":0,"character":%d}]}`, uri, want.column)
		ranges := selections(t, e.call("textDocument/selectionRange", params))
		if len(ranges[0]) == 0 || ranges[0][0].Start.Character != want.column {
			t.Errorf("%s: the word at %d: %+v", offered, want.column, ranges)
		}
		e.open(uri, "python", 1, "x = '😀ä'; π = 1\n")
		e.change(uri, 2, fmt.Sprintf("0:%d-0:%d class A: pass #", want.column, want.column))
		e.shows(uri, "x A")
	}
}

type position struct{ Line, Character int }

type span struct{ Start, End position }

func (s span) String() string {
	return fmt.Sprintf("%d:%d-%d:%d", s.Start.Line, s.Start.Character, s.End.Line, s.End.Character)
}

func (p position) before(q position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// selections decodes a selectionRange reply: the ranges of each position from the
// inside out.
func selections(t *testing.T, m message) [][]span {
	t.Helper()
	type selection struct {
		Range  span
		Parent *selection
	}
	var all []selection
	if err := json.Unmarshal(m.Result, &all); err != nil {
		t.Fatalf("%v: %+v", err, m.Error)
	}
	out := make([][]span, len(all))
	for i := range all {
		for s := &all[i]; s != nil; s = s.Parent {
			out[i] = append(out[i], s.Range)
		}
	}
	return out
}

func TestSelectionRange(t *testing.T) {
	d := newDaemon(t)
	const source = "package p\n\n// T is.\ntype T struct {\n\tname string\n}\n\n// F does.\nfunc F() {\n\tgo func() {\n\t\tword := 1 \n\t}()\n}\n"
	uri := "file://" + d.write("a.go", source)
	e := d.lsp(`{}`)
	ask := func(points string) [][]span {
		return selections(t, e.call("textDocument/selectionRange", fmt.Sprintf(`{"textDocument":{"uri":%q},"positions":%s}`, uri, points)))
	}
	got := fmt.Sprint(ask(`[{"line":10,"character":4},{"line":4,"character":99},{"line":1,"character":0},{"line":99,"character":0}]`))
	want := "[[10:2-10:6 10:2-10:11 10:0-10:12 8:0-12:1 7:0-12:1 0:0-13:0]" +
		" [4:6-4:12 4:1-4:12 4:0-4:12 3:0-5:1 2:0-5:1 0:0-13:0] [0:0-13:0] [0:0-13:0]]"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, c := range []string{`7`, `[{}]`, `[{"line":-1,"character":0}]`, `[` + strings.Repeat(`{"line":0,"character":0},`, 1000) + `{"line":0,"character":0}]`} {
		if m := e.call("textDocument/selectionRange", fmt.Sprintf(`{"textDocument":{"uri":%q},"positions":%s}`, uri, c)); m.code() != "invalid_params" {
			t.Errorf("%.40s: %+v", c, m)
		}
	}
	if got := ask(`[]`); len(got) != 0 {
		t.Errorf("no positions: %v", got)
	}
}

// The ranges around any position hold it and lie strictly within each other, in
// any text.
func TestSelectionRangesNest(t *testing.T) {
	d := newDaemon(t)
	random := rand.New(rand.NewPCG(5, 6))
	e := d.lsp(`{}`)
	words := []string{"class A:\n", "  def f(self):\n", "    x = 1\r\n", "\r", "\n", "äß 😀", "\t", "# c\n", "name", " "}
	for round := range 25 {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(words[random.IntN(len(words))])
		}
		uri := fmt.Sprintf("untitled:%d.py", round)
		e.open(uri, "python", 1, b.String())
		var points []string
		var asked []position
		for range 30 {
			p := position{random.IntN(30), random.IntN(12)}
			asked = append(asked, p)
			points = append(points, fmt.Sprintf(`{"line":%d,"character":%d}`, p.Line, p.Character))
		}
		all := selections(t, e.call("textDocument/selectionRange", fmt.Sprintf(`{"textDocument":{"uri":%q},"positions":[%s]}`, uri, strings.Join(points, ","))))
		for i, ranges := range all {
			if len(ranges) == 0 || len(all) != len(asked) {
				t.Fatalf("%q at %v: %v", b.String(), asked[i], ranges)
			}
			for k, r := range ranges {
				if r.End.before(r.Start) || k > 0 && (r == ranges[k-1] || ranges[k-1].Start.before(r.Start) || r.End.before(ranges[k-1].End)) {
					t.Fatalf("%q at %v: %v", b.String(), asked[i], ranges)
				}
			}
			// A position past the text or its line is clamped, never moved on.
			if r := ranges[len(ranges)-1]; asked[i].before(r.Start) {
				t.Fatalf("%q at %v: %v", b.String(), asked[i], ranges)
			}
		}
	}
}

func TestFoldingRange(t *testing.T) {
	d := newDaemon(t)
	const source = "package p\n\nimport (\n\t\"a\"\n\t\"b\"\n)\n\n// F does\n// much.\nfunc F() {\n\tx()\n}\n\ntype T struct {\n\tm struct {\n\t\tn int\n\t}\n}\n"
	uri := "file://" + d.write("a.go", source)
	type fold struct {
		StartLine, EndLine int
		Kind               string
	}
	folds := func(capabilities string) (out []fold) {
		m := d.lsp(capabilities).call("textDocument/foldingRange", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri))
		if err := json.Unmarshal(m.Result, &out); err != nil {
			t.Fatalf("%v: %+v", err, m.Error)
		}
		return out
	}
	all := folds(`{}`)
	for _, want := range []fold{{7, 8, "comment"}, {9, 11, ""}, {13, 17, ""}} {
		if !slices.Contains(all, want) {
			t.Errorf("no %+v in %+v", want, all)
		}
	}
	if !slices.ContainsFunc(all, func(f fold) bool { return f.Kind == "imports" }) {
		t.Errorf("no imports in %+v", all)
	}
	if got := folds(`{"textDocument":{"foldingRange":{"rangeLimit":2,"lineFoldingOnly":true}}}`); len(got) != 2 || got[0].StartLine >= got[1].StartLine {
		t.Errorf("two folds: %+v", got)
	}
	if got := folds(`{"textDocument":{"foldingRange":{"rangeLimit":0}}}`); len(got) != 0 || got == nil {
		t.Errorf("no folds: %+v", got)
	}
	// LSP counts a bare CR as the end of a line, mapd does not.
	e := d.lsp(`{}`)
	e.open("untitled:cr", "go", 1, "package p // \r\r\nfunc F() {\n\t// \r\n\tx()\r\n}\n")
	m := e.call("textDocument/foldingRange", `{"textDocument":{"uri":"untitled:cr"}}`)
	if want := `[{"startLine":2,"endLine":5}]`; string(m.Result) != want {
		t.Errorf("with a bare CR: %s, want %s", m.Result, want)
	}
}

// report decodes a reply to textDocument/diagnostic.
type report struct {
	Kind, ResultID string
	Items          []struct {
		Range                 span
		Severity              int
		Code, Source, Message string
	}
}

func (e editor) diagnose(uri, previous string) (r report) {
	e.t.Helper()
	m := e.call("textDocument/diagnostic", fmt.Sprintf(`{"textDocument":{"uri":%q},"identifier":"mapd","previousResultId":%q}`, uri, previous))
	if err := json.Unmarshal(m.Result, &r); err != nil {
		e.t.Fatalf("%v: %+v", err, m.Error)
	}
	return r
}

// lines are the ranges of a report, after a check of what all diagnostics share.
func (r report) lines(t *testing.T) (out []string) {
	t.Helper()
	for _, i := range r.Items {
		if i.Severity != 2 || i.Code != "stale-lines" || i.Source != "mapd" || i.Message == "" {
			t.Errorf("%+v", i)
		}
		out = append(out, i.Range.String())
	}
	return out
}

func TestDiagnosticsOfStaleLines(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.txt", "one\ntwo\nthree\nfour\nfive\n")
	uri := "file://" + path
	e, other := d.lsp(`{}`), d.lsp(`{}`)
	expect := func(r report, kind string, want ...string) report {
		t.Helper()
		if diff := cmp.Diff(want, r.lines(t)); diff != "" || r.Kind != kind || r.ResultID == "" {
			t.Errorf("%s %q: %s", r.Kind, r.ResultID, diff)
		}
		return r
	}
	expect(e.diagnose(uri, ""), "full")
	e.read(`{"path":"a.txt","ranges":[{"start":1,"end":4}]}`)
	first := expect(e.diagnose(uri, ""), "full")
	if m := e.call("textDocument/diagnostic", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri)); !strings.Contains(string(m.Result), `"items":[]`) {
		t.Errorf("a report without items: %s", m.Result)
	}
	expect(e.diagnose(uri, first.ResultID), "unchanged")
	d.write("a.txt", "zero\none\ntwo\nTHREE\nfour\nFIVE\n")
	second := expect(e.diagnose(uri, first.ResultID), "full", "1:0-2:3", "3:0-3:5", "4:0-4:4")
	expect(e.diagnose(uri, second.ResultID), "unchanged")
	expect(other.diagnose(uri, ""), "full") // it was shown nothing
	// In the text that the editor has, what is not in the file moves the lines.
	e.open(uri, "plaintext", 1, "typed\nzero\none\ntwo\nTHREE\nfour\nFIVE\n")
	expect(e.diagnose(uri, second.ResultID), "full", "2:0-3:3", "4:0-4:5", "5:0-5:4")
	e.change(uri, 2, "4:0-4:5 gone")
	expect(e.diagnose(uri, ""), "full", "2:0-3:3", "5:0-5:4")
	e.change(uri, 3, "0:0-99:0 all else")
	expect(e.diagnose(uri, ""), "full")
	e.close(uri)
	d.write("a.txt", "zero\none\ntwo\nfour\nFIVE\n")
	expect(e.diagnose(uri, ""), "full", "1:0-2:3", "3:0-3:0") // a deleted line is no range
	e.open(uri, "plaintext", 1, "typed\nzero\none\ntwo\nfour\nFIVE\n")
	expect(e.diagnose(uri, ""), "full", "2:0-3:3", "4:0-4:0")
	e.close(uri)
	// An edit of its own makes nothing stale, and its reply tells of all before it.
	edit := e.call("mapd/edit", `{"path":"a.txt","edits":[{"op":"prepend","lines":["mine"]}]}`)
	if edit.Error != nil {
		t.Fatal(edit.Error.Message)
	}
	expect(e.diagnose(uri, ""), "full")
	d.write("a.txt", "mine\nzero\none\n2\nfour\nFIVE\n")
	expect(e.diagnose(uri, ""), "full", "3:0-3:1")
	e.read(`{"path":"a.txt"}`) // what is read again is not stale
	expect(e.diagnose(uri, ""), "full")
	e.open("untitled:1", "plaintext", 1, "x")
	expect(e.diagnose("untitled:1", ""), "full")
	e.open("file://"+d.dir+"/none.txt", "plaintext", 1, "x")
	expect(e.diagnose("file://"+d.dir+"/none.txt", ""), "full")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if m := e.call("textDocument/diagnostic", fmt.Sprintf(`{"textDocument":{"uri":%q}}`, uri)); m.code() != "not_found" {
		t.Errorf("a file that is gone: %+v", m.Error)
	}
}

// What is published about a document that is open stands where the editor has it.
func TestPublishedDiagnosticsOfAnOpenDocument(t *testing.T) {
	d := newDaemon(t)
	uri := "file://" + d.write("a.txt", "one\ntwo\nthree\n")
	e := d.lsp(`{"textDocument":{"publishDiagnostics":{}}}`)
	e.open(uri, "plaintext", 1, "typed\none\ntwo\nTHREE\n")
	e.read(`{"path":"a.txt"}`)
	d.replace("a.txt", "one\ntwo\nTHREE\n")
	var p published
	e.pushed("textDocument/publishDiagnostics", &p)
	if diff := cmp.Diff([]string{"4:0-4:5 changed"}, p.brief()); diff != "" || p.URI != uri {
		t.Errorf("%s: %s", p.URI, diff)
	}
}

// Symbols of one long line are found where they stand, and in good time.
func TestSymbolsOfOneLongLine(t *testing.T) {
	d := newDaemon(t)
	var b strings.Builder
	b.WriteString(`{"first":{"a":1}`)
	for i := range 20_000 {
		fmt.Fprintf(&b, `,"key%d":{"a":"ä%s"}`, i, strings.Repeat("x", 100))
	}
	b.WriteString("}")
	e := d.lsp(`{"textDocument":{"documentSymbol":{"hierarchicalDocumentSymbolSupport":true}}}`)
	e.open("untitled:long.json", "json", 1, b.String())
	m := e.call("textDocument/documentSymbol", `{"textDocument":{"uri":"untitled:long.json"}}`)
	var symbols []struct {
		Name           string
		SelectionRange span
		Children       []struct{ SelectionRange span }
	}
	if err := json.Unmarshal(m.Result, &symbols); err != nil || len(symbols) < 20_000 {
		t.Fatalf("%d symbols, %v %+v", len(symbols), err, m.Error)
	}
	line := []rune(b.String())           // a column of UTF-16 each, in this text
	for i, s := range symbols[:20_000] { // one more stands for those past a limit
		r := s.SelectionRange
		if r.Start.Line != 0 || string(line[r.Start.Character:r.End.Character]) != s.Name {
			t.Fatalf("symbol %d, %s, stands at %s", i, s.Name, r)
		}
	}
}
