package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/rpc"
	"mapd/rpc/wire"
)

// newSearchable is a daemon that waits for indexes as long as it takes.
func newSearchable(t testing.TB) *daemon {
	t.Helper()
	limits := rpc.DefaultLimits()
	limits.FindWait = time.Minute
	return newDaemonOf(t, limits, func(o *rpc.Options) { o.Cookies = t.TempDir() })
}

func (a *agent) find(params string) wire.FindResult {
	a.t.Helper()
	m := a.call("mapd/find", params)
	if m.Error != nil {
		a.t.Fatalf("find %s: %s", params, m.Error.Message)
	}
	var r wire.FindResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatal(err)
	}
	if len(r.Degraded) > 0 {
		a.t.Fatalf("find %s: degraded %+v", params, r.Degraded)
	}
	return r
}

func (a *agent) ledger(params string) wire.LedgerResult {
	a.t.Helper()
	m := a.call("mapd/ledger", params)
	var r wire.LedgerResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatalf("ledger %s: %v %+v", params, err, m.Error)
	}
	return r
}

// brief returns hits as "path:start-end anchor's line name(kind) in container".
func brief(r wire.FindResult) []string {
	var out []string
	for _, h := range r.Results {
		line, _, _ := strings.Cut(h.Anchor, "#")
		s := fmt.Sprintf("%s:%d-%d %s", h.Path, h.Start, h.End, line)
		if h.Name != "" {
			s += fmt.Sprintf(" %s(%s)", h.Name, h.Kind)
		}
		if h.Container != "" {
			s += " in " + h.Container
		}
		out = append(out, s)
	}
	return out
}

const greeting = "package greet\n\n// Hello greets.\nfunc Hello(name string) string {\n\treturn \"Hello, \" + name\n}\n\ntype Greeter struct{ word string }\n"

func TestFind(t *testing.T) {
	d := newSearchable(t)
	d.write("greet.go", greeting)
	d.write("doc/intro.md", "# Hello\n\nSay hello, in words.\n")
	d.write("lib/greet.py", "class Greeter:\n    @property\n    def hello(self):\n        return 'hello, you'\n")
	a := d.session()
	for _, c := range []struct {
		params, mode string
		want         []string
	}{
		{`{"query":"Hello"}`, "symbol", []string{"greet.go:4-6 4 Hello(function)", "doc/intro.md:1-3 1 Hello(heading)"}},
		{`{"query":"hello","kind":"method"}`, "symbol", []string{"lib/greet.py:3-4 3 hello(method) in Greeter"}},
		{`{"query":"Greeter.hello"}`, "symbol", []string{"lib/greet.py:3-4 3 hello(method) in Greeter"}},
		{`{"query":"greeter","path":"lib/**"}`, "symbol", []string{"lib/greet.py:1-4 1 Greeter(class)"}},
		{`{"query":"hlo","mode":"symbol","path":"*.go"}`, "symbol", []string{"greet.go:4-6 4 Hello(function)"}},
		{`{"query":"hello, "}`, "text", []string{"greet.go:5-5 5 Hello(function)", "doc/intro.md:3-3 3 Hello(heading)", "lib/greet.py:4-4 4 hello(method) in Greeter"}},
		{`{"query":"Hello, "}`, "text", []string{"greet.go:5-5 5 Hello(function)"}},
		{`{"query":"hello","mode":"text","path":"*.py"}`, "text", []string{"lib/greet.py:3-3 3 hello(method) in Greeter", "lib/greet.py:4-4 4 hello(method) in Greeter"}},
		{`{"query":"^pack.*t$","regexp":true}`, "text", []string{"greet.go:1-1 1"}},
		{`{"query":"hello","mode":"text","kind":"method"}`, "text", []string{"lib/greet.py:3-3 3 hello(method) in Greeter", "lib/greet.py:4-4 4 hello(method) in Greeter"}},
		{`{"query":"h.l+o","regexp":true,"kind":"heading"}`, "text", []string{"doc/intro.md:1-1 1 Hello(heading)", "doc/intro.md:3-3 3 Hello(heading)"}},
		{`{"query":"^gr.*r$","regexp":true,"mode":"symbol"}`, "symbol", []string{"greet.go:8-8 8 Greeter(struct)", "lib/greet.py:1-4 1 Greeter(class)"}},
		{`{"query":"^H","regexp":true,"mode":"symbol","kind":"function"}`, "symbol", []string{"greet.go:4-6 4 Hello(function)"}},
		{`{"query":"no such thing"}`, "text", nil},
		{`{"query":"Hello","kind":"class"}`, "symbol", nil},
	} {
		r := a.find(c.params)
		got := brief(r)
		slices.Sort(got)
		slices.Sort(c.want)
		if diff := cmp.Diff(c.want, got); diff != "" || r.Mode != c.mode || r.Truncated || r.Results == nil {
			t.Errorf("%s: mode %s, truncated %v: -want +got\n%s", c.params, r.Mode, r.Truncated, diff)
		}
	}
	h := a.find(`{"query":"Hello","path":"*.go"}`).Results[0]
	read := a.read(`{"path":"greet.go","offset":4,"limit":1}`)
	if want := h.Anchor + ":" + h.Text; text(read) != want+"\n\n[Showing lines 4-4 of 8. Use offset=5 to continue.]" && text(read) != want || read.Snapshot != h.Snapshot {
		t.Errorf("a read shows %q of %s, the hit %q of %s", text(read), read.Snapshot, want, h.Snapshot)
	}
}

func TestFindRefusals(t *testing.T) {
	d := newSearchable(t)
	a := d.session()
	for _, c := range []struct{ params, says string }{
		{`{}`, "query is empty"},
		{`{"query":" \t"}`, "query is empty"},
		{`{"query":"a","mode":"fuzzy"}`, "auto, symbol, text"},
		{`{"query":"a","kind":"gadget"}`, "function"},
		{`{"query":"a","limit":0}`, "at least 1"},
		{`{"query":"a","limit":-1}`, "at least 1"},
		{`{"query":"a","limit":1001}`, "at most 1000"},
		{`{"query":"a","path":"{a"}`, "not closed"},
		{`{"query":"(","regexp":true}`, "missing closing"},
		{`{"query":"(","regexp":true,"mode":"symbol"}`, "missing closing"},
		{`{"query":"a\nb","mode":"text"}`, "line break"},
		{`{"query":"a","nonsense":1}`, "nonsense"},
		{`{"query":5}`, "query"},
		{fmt.Sprintf(`{"query":%q}`, strings.Repeat("a", 5000)), "at most 4096"},
	} {
		m := a.call("mapd/find", c.params)
		if m.code() != "invalid_params" || !strings.Contains(m.Error.Message, c.says) {
			t.Errorf("%.80s: %s, %+v; want it to say %q", c.params, m.code(), m.Error, c.says)
		}
	}
}

// Every anchor that a search shows was delivered: a check calls it current, and
// an edit takes it, but for lines that were not shown whole.
func TestFindIsDelivery(t *testing.T) {
	d := newSearchable(t)
	long := strings.Repeat("é", 1500) + " needle at the end"
	d.write("a.txt", "needle one\nmiddle\nNEEDLE two\n")
	d.write("crlf.txt", "first\r\nneedle\r\n")
	d.write("latin.txt", "needle caf\xe9\nx\n")
	d.write("long.txt", "needle "+strings.Repeat("x", 3000)+"\n"+long+"\n")
	a := d.session()
	r := a.find(`{"query":"needle"}`)
	want := []string{"a.txt:1-1 1", "a.txt:3-3 3", "crlf.txt:2-2 2", "latin.txt:1-1 1", "long.txt:1-1 1", "long.txt:2-2 2"}
	if diff := cmp.Diff(want, brief(r)); diff != "" {
		t.Fatal(diff)
	}
	for _, h := range r.Results {
		c := a.check(fmt.Sprintf(`{"path":%q,"anchors":[%q]}`, h.Path, h.Anchor))
		if !c.Fresh || c.Results[0].Status != "current" || c.Snapshot != h.Snapshot {
			t.Errorf("%s %s: %+v", h.Path, h.Anchor, c)
		}
	}
	first, second := r.Results[4], r.Results[5]
	if first.Cut == nil || first.Text != "needle "+strings.Repeat("x", 1993) || *first.Cut != (wire.FindCut{ShownBytes: 2000, TotalBytes: 3007}) {
		t.Errorf("a long line: %+v of %d bytes", first.Cut, len(first.Text))
	}
	if second.Cut == nil || second.Cut.From == 0 || !strings.HasSuffix(second.Text, "é needle at the end") || second.Text != long[second.Cut.From:] || second.Cut.TotalBytes != len(long) {
		t.Errorf("a line with the match at its end: %+v, %q", second.Cut, second.Text)
	}
	if r.Results[3].Text != "needle caf\ufffd" || r.Results[2].Text != "needle" {
		t.Errorf("texts: %+v", r.Results)
	}
	for i, code := range []string{"", "", "", "partially_shown", "partially_shown", "partially_shown"} {
		h := r.Results[i]
		m := a.call("mapd/edit", fmt.Sprintf(`{"path":%q,"dryRun":true,"edits":[{"op":"replace","pos":%q,"lines":["new"]}]}`, h.Path, h.Anchor))
		if m.code() != code {
			t.Errorf("an edit of %s %s: %q, want %q", h.Path, h.Anchor, m.code(), code)
		}
	}
	// What was not shown is not claimed.
	ledger := a.ledger(`{"path":"a.txt"}`)
	if diff := cmp.Diff([]hashline.Range{{Start: 1, End: 1}, {Start: 3, End: 3}}, ledger.Files[0].Ranges); diff != "" {
		t.Error(diff)
	}
	if files := a.ledger(`{}`).Files; len(files) != 4 {
		t.Errorf("%d files in the ledger", len(files))
	}
}

// A search sees what changed right before it, and only that.
func TestFindAfterChanges(t *testing.T) {
	d := newSearchable(t)
	a := d.session()
	a.find(`{"query":"anything"}`)
	for i := range 20 {
		name := fmt.Sprintf("f%d.go", i)
		d.write(name, fmt.Sprintf("package a\n\nfunc Turn%d() {}\n", i))
		if got := brief(a.find(fmt.Sprintf(`{"query":"Turn%d"}`, i))); len(got) != 1 || got[0] != name+fmt.Sprintf(":3-3 3 Turn%d(function)", i) {
			t.Fatalf("turn %d: %v", i, got)
		}
		d.write(name, fmt.Sprintf("package a\n\n\nfunc Turned%d() {}\n", i))
		if got := brief(a.find(fmt.Sprintf(`{"query":"Turn%d","mode":"symbol"}`, i))); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, name+":3-3") }) {
			t.Fatalf("turn %d, renamed: %v", i, got)
		}
		if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
			t.Fatal(err)
		}
		if got := brief(a.find(fmt.Sprintf(`{"query":"Turned%d"}`, i))); got != nil {
			t.Fatalf("turn %d, removed: %v", i, got)
		}
	}
	// Lines that went stale are told of with the next search too.
	d.write("held.txt", "one\ntwo\n")
	a.read(`{"path":"held.txt"}`)
	d.write("held.txt", "one\nTWO\n")
	if r := a.find(`{"query":"nothing"}`); len(r.Stale) != 1 || r.Stale[0].Path != "held.txt" {
		t.Errorf("stale: %+v", r.Stale)
	}
}

func TestFindLimits(t *testing.T) {
	d := newSearchable(t)
	d.write("many.txt", strings.Repeat("needle\n", 1200))
	d.write("names.go", "package a\n\n"+strings.Repeat("func get() {}\n", 60))
	a := d.session()
	for _, c := range []struct {
		params    string
		hits      int
		truncated bool
	}{
		{`{"query":"needle"}`, 50, true},
		{`{"query":"needle","limit":1000}`, 1000, true},
		{`{"query":"get"}`, 50, true},
		{`{"query":"get","limit":60}`, 60, false},
		{`{"query":"get","limit":1}`, 1, true},
	} {
		if r := a.find(c.params); len(r.Results) != c.hits || r.Truncated != c.truncated {
			t.Errorf("%s: %d hits, truncated %v", c.params, len(r.Results), r.Truncated)
		}
	}
}

// What is near to files that the session was shown comes first, in that session.
func TestFindNear(t *testing.T) {
	d := newSearchable(t)
	for _, dir := range []string{"a", "b", "c/d"} {
		d.write(dir+"/x.go", "package x\n\nfunc Get() {} // needle\n")
	}
	d.write("c/read.txt", "read\nme\n")
	a, other := d.session(), d.session()
	a.read(`{"path":"c/read.txt"}`)
	for _, params := range []string{`{"query":"Get"}`, `{"query":"needle"}`} {
		if got := brief(a.find(params)); len(got) != 3 || !strings.HasPrefix(got[0], "c/d/x.go:3") || !strings.HasPrefix(got[1], "a/x.go:3") {
			t.Errorf("%s, after a read in c: %q", params, got)
		}
	}
	if got := brief(other.find(`{"query":"Get"}`)); len(got) != 3 || !strings.HasPrefix(got[0], "a/x.go:3") {
		t.Errorf("in another session: %q", got)
	}
}

// Only the folders of the session are searched, bare ones too.
func TestFindFolders(t *testing.T) {
	d := newSearchable(t)
	d.write("one/a.go", "package a\n\nfunc Get() {}\n")
	d.write("two/b.go", "package b\n\nfunc Get() {}\n")
	d.write("three/c.go", "package c\n\nfunc Get() {}\n")
	a := d.connect()
	params := fmt.Sprintf(`{"workspaceFolders":[{"uri":"file://%[1]s/one","name":"1"},{"uri":"file://%[1]s/two","name":"2","bare":true}]}`, d.dir)
	if m := a.call("initialize", params); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	want := []string{"a.go:3-3 3 Get(function)", d.dir + "/two/b.go:3-3 3 Get(function)"}
	if diff := cmp.Diff(want, brief(a.find(`{"query":"Get"}`))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:], brief(a.find(fmt.Sprintf(`{"query":"Get","path":"%s/two/*.go"}`, d.dir)))); diff != "" {
		t.Error(diff)
	}
	b := d.connect()
	b.call("initialize", `{}`)
	if code := b.call("mapd/find", `{"query":"Get"}`).code(); code != "outside_workspace" {
		t.Errorf("without a folder: %q", code)
	}
}

// A root that is not indexed is named, and a search that does not wait long
// enough says so.
func TestFindDegraded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	d := newSearchable(t)
	a := d.connect()
	if m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s"}`, home)); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	m := a.call("mapd/find", `{"query":"anything"}`)
	var r wire.FindResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("%v %+v", err, m.Error)
	}
	if len(r.Degraded) != 1 || r.Degraded[0].Root != home || !strings.Contains(r.Degraded[0].Why, "home directory") || r.Results == nil {
		t.Errorf("%s", m.Result)
	}

	impatient := newDaemonWithin(t, func(l *rpc.Limits) { l.FindWait = time.Nanosecond })
	impatient.write("a.go", greeting)
	m = impatient.session().call("mapd/find", `{"query":"Hello","mode":"symbol"}`)
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Degraded) != 1 {
		t.Fatalf("%v %+v: %s", err, m.Error, m.Result)
	}
}

func TestFindCancelled(t *testing.T) {
	d := newSearchable(t)
	d.write("a.txt", strings.Repeat(strings.Repeat("ab", 50)+"\n", 50_000))
	a := d.session()
	a.find(`{"query":"nothing"}`)
	id := a.send("mapd/find", `{"query":"(a|b|ab)*c[0-9]","regexp":true}`)
	a.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, id))
	if m := a.next(); m.ID == nil || *m.ID != id || m.Error != nil && m.Error.Code != -32800 {
		t.Errorf("%+v", m.Error)
	}
}

// Many sessions search, read and edit the same files; whatever anchor a search
// shows is one that a check of the same session knows.
func TestFindManySessions(t *testing.T) {
	d := newSearchable(t)
	for i := range 20 {
		d.write(fmt.Sprintf("f%02d.go", i), strings.ReplaceAll(greeting, "Hello", fmt.Sprintf("Hello%d", i)))
	}
	var wg sync.WaitGroup
	for n := range 8 {
		a := d.session()
		wg.Go(func() {
			for i := range 10 {
				file := fmt.Sprintf("f%02d.go", (n*7+i)%20)
				d.write(file, fmt.Sprintf("// %d %d\n", n, i)+greeting)
				for _, params := range []string{`{"query":"Hello"}`, `{"query":"return \"Hello"}`} {
					m := a.call("mapd/find", params)
					var r wire.FindResult
					if err := json.Unmarshal(m.Result, &r); err != nil {
						t.Errorf("%v: %+v", err, m.Error)
						return
					}
					for _, h := range r.Results[:min(3, len(r.Results))] {
						m := a.call("mapd/check", fmt.Sprintf(`{"path":%q,"anchors":[%q],"snapshot":%q}`, h.Path, h.Anchor, h.Snapshot))
						var c wire.CheckResult
						if err := json.Unmarshal(m.Result, &c); err != nil || c.Results[0].Status == "never_served" || c.Results[0].Status == "bad_hash" {
							t.Errorf("%s of %s: %v, %s", h.Anchor, h.Path, m.Error, m.Result)
						}
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestWorkspaceSymbol(t *testing.T) {
	d := newSearchable(t)
	d.write("a.go", "package a\n\nfunc Größe(x int) {}\n\ntype T struct{ größer, Ä int }\n")
	type info struct {
		Name      string `json:"name"`
		Kind      int    `json:"kind"`
		Container string `json:"containerName"`
		Location  struct {
			URI   string `json:"uri"`
			Range struct {
				Start, End struct{ Line, Character int }
			} `json:"range"`
		} `json:"location"`
	}
	for encoding, width := range map[string]int{"utf-8": 1, "utf-16": 0} {
		a := d.connect()
		a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":{"general":{"positionEncodings":[%q]}}}`, d.dir, encoding))
		ask := func(query string) []info {
			var out []info
			m := a.call("workspace/symbol", fmt.Sprintf(`{"query":%q,"partialResultToken":1}`, query))
			if err := json.Unmarshal(m.Result, &out); err != nil || out == nil {
				t.Fatalf("%v: %+v", err, m)
			}
			return out
		}
		got := ask("größ")
		if len(got) != 2 || got[0].Name != "Größe" || got[0].Kind != 12 || got[1].Name != "größer" || got[1].Container != "T" {
			t.Fatalf("%s: %+v", encoding, got)
		}
		at := got[1].Location
		if at.URI != "file://"+d.dir+"/a.go" || at.Range.Start.Line != 4 || at.Range.Start.Character != 15 || at.Range.End.Character != 15+6+2*width {
			t.Errorf("%s: %+v", encoding, at)
		}
		if all := ask(""); len(all) != 4 {
			t.Errorf("%s: the empty query finds %+v", encoding, all)
		}
		if none := ask("nothing of the kind"); len(none) != 0 {
			t.Errorf("%s: %+v", encoding, none)
		}
		if files := a.ledger(`{}`).Files; len(files) != 0 {
			t.Errorf("positions are no delivery: %+v", files)
		}
	}
}
