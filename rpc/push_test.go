package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/rpc"
	"mapd/rpc/wire"
)

// published is textDocument/publishDiagnostics.
type published struct {
	URI         string
	Diagnostics []struct {
		Range         struct{ Start, End struct{ Line, Character int } }
		Severity      int
		Code, Source  string
		Message       string
		Uninteresting json.RawMessage `json:"data"`
	}
}

// brief is one line for each diagnostic: its 1-based lines and the status that
// its message names.
func (p published) brief() []string {
	out := []string{}
	for _, d := range p.Diagnostics {
		status := "?"
		for _, s := range []string{"changed", "moved", "deleted", "ambiguous"} {
			if strings.Contains(d.Message, "("+s+")") {
				status = s
			}
		}
		out = append(out, fmt.Sprintf("%d:%d-%d:%d %s", d.Range.Start.Line+1, d.Range.Start.Character, d.Range.End.Line+1, d.Range.End.Character, status))
	}
	return out
}

// pushed returns the next message, which must be a notification of that method.
func (a *agent) pushed(method string, params any) {
	a.t.Helper()
	m := a.next()
	if m.Method != method {
		a.t.Fatalf("got %+v, want %s", m, method)
	}
	if err := json.Unmarshal(m.Params, params); err != nil {
		a.t.Fatal(err)
	}
}

// replace gives a file other content in one step, so that no moment in between
// can be told of.
func (d *daemon) replace(name, content string) {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "new")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Rename(path, filepath.Join(d.dir, name)); err != nil {
		d.t.Fatal(err)
	}
}

// editor opens a session whose client takes diagnostics.
func (d *daemon) editor(options string) *agent {
	d.t.Helper()
	a := d.connect()
	m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s","capabilities":{"textDocument":{"publishDiagnostics":{}}},"initializationOptions":%s}`, d.dir, options))
	if m.Error != nil {
		d.t.Fatal(m.Error.Message)
	}
	return a
}

// Diagnostics stand where stale lines are now, until they are read again or are
// as they were; an edit of the session itself makes none.
func TestPublishDiagnostics(t *testing.T) {
	d := newDaemon(t)
	const content = "one\ntwo\nthree\nfour\nfive\n"
	path := d.write("a.txt", content)
	a := d.editor(`{}`)
	at := anchors(a.read(`{"path":"a.txt"}`))
	expect := func(what string, want ...string) {
		t.Helper()
		var p published
		a.pushed("textDocument/publishDiagnostics", &p)
		if diff := cmp.Diff(append([]string{}, want...), p.brief()); diff != "" || p.URI != "file://"+path {
			t.Errorf("%s: %s %s", what, p.URI, diff)
		}
		for _, x := range p.Diagnostics {
			if x.Severity != 2 || x.Source != "mapd" || x.Code != "stale-lines" {
				t.Errorf("%s: %+v", what, x)
			}
		}
	}
	d.replace("a.txt", "zero\none\nTWO\nthree\nfive\n")
	expect("a change", "2:0-2:3 moved", "3:0-3:3 changed", "4:0-4:5 moved", "5:0-5:0 deleted")
	d.replace("a.txt", content)
	expect("the file as it was")
	d.replace("a.txt", "one\ntwo\nTHREE\nfour\nfive\n")
	expect("another change", "3:0-3:5 changed")
	a.id++
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"a.txt","offset":3,"limit":1}}`, a.id))
	if m := a.next(); m.ID == nil {
		t.Fatalf("%+v", m)
	}
	expect("read again")
	if r := a.edit(fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"delete","pos":%q}]}`, at[1])); !r.Applied {
		t.Fatalf("%+v", r)
	}
	d.write("b.txt", "b\n")
	a.read(`{"path":"b.txt"}`) // call fails if a notification comes first
	d.replace("a.txt", "two\nTHREE\nfour\n5\n")
	expect("after an edit of its own", "4:0-4:1 changed")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var p published
	a.pushed("textDocument/publishDiagnostics", &p)
	if len(p.Diagnostics) == 0 {
		t.Error("no diagnostic of a file that is gone")
	}
	a.id++
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/forget","params":{}}`, a.id))
	if m := a.next(); m.ID == nil {
		t.Fatalf("%+v", m)
	}
	d.write("a.txt", "new\n")
	expect("forgotten")
	off := d.editor(`{"stale":"off"}`)
	off.read(`{"path":"b.txt"}`)
	d.replace("b.txt", "c\n")
	a.workspaceAt(d.dir, ready)
	off.read(`{"path":"b.txt"}`) // call fails if a notification comes first
}

// What is pushed is each change once, whoever reports it: a workspace, or where
// none does, a look at the file.
func TestPushedOnce(t *testing.T) {
	for _, where := range []string{"watched", "ignored", "bare"} {
		t.Run(where, func(t *testing.T) {
			d := newDaemon(t)
			if err := os.Mkdir(filepath.Join(d.dir, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			d.write(".gitignore", "ignored\n")
			d.write(where, "one\ntwo\n")
			a := d.connect()
			a.call("initialize", fmt.Sprintf(`{"workspaceFolders":[{"uri":"file://%s","name":"","bare":%v}],"initializationOptions":{"stale":"push"}}`, d.dir, where == "bare"))
			if where != "bare" {
				a.workspaceAt(d.dir, ready)
			}
			a.read(fmt.Sprintf(`{"path":%q}`, where))
			for i := range 20 {
				d.replace(where, fmt.Sprintf("one\n%d\n", i))
				var s wire.Stale
				a.pushed("mapd/stale", &s)
				want := []wire.StaleRange{{Served: hashline.Range{Start: 2, End: 2}, Status: "changed", Now: &hashline.Range{Start: 2, End: 2}}}
				if diff := cmp.Diff(want, s.Ranges); diff != "" || s.Path != where {
					t.Fatalf("%+v %s", s, diff)
				}
				r := a.read(fmt.Sprintf(`{"path":%q}`, where)) // call fails if something else comes first
				if s.To == nil || *s.To != r.Snapshot {
					t.Fatalf("the notice leads to %v, the file is %s", s.To, r.Snapshot)
				}
			}
		})
	}
}

// Edits of a session are no news to it, however many and whatever reports them;
// they are to others.
func TestOwnEditsDoNotEcho(t *testing.T) {
	limits := rpc.DefaultLimits()
	limits.Coalesce = 10 * time.Millisecond // as soon as can be
	d := newDaemonOf(t, limits)
	d.write("a.txt", "one\ntwo\nthree\nend\n")
	a, b := d.session(`{"stale":"push"}`), d.session(`{"stale":"push","session":"b"}`)
	a.workspaceAt(d.dir, ready)
	b.read(`{"path":"a.txt"}`)
	for i := range 200 {
		at := anchors(a.read(`{"path":"a.txt"}`))
		r := a.edit(fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"replace","pos":%q,"lines":["two %d"]},{"op":"append","pos":%q,"lines":["more"]}]}`, at[2], i, at[1]))
		if !r.Applied || r.Stale != nil {
			t.Fatalf("%+v", r)
		}
	}
	a.workspaceAt(d.dir, ready)
	var s wire.Stale
	b.pushed("mapd/stale", &s)
	if s.By == "" {
		t.Errorf("%+v", s)
	}
}

// A file that is emptied before it is written again, as many programs save, is
// told of as it is afterwards.
func TestSavedInTwoSteps(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.txt", "one\ntwo\n")
	a := d.session(`{"stale":"push"}`)
	a.workspaceAt(d.dir, ready)
	a.read(`{"path":"a.txt"}`)
	for i, first := range []func() error{
		func() error { return os.Truncate(path, 0) },
		func() error { return os.Remove(path) },
	} {
		before := a.workspaceAt(d.dir, ready).Version
		if err := first(); err != nil {
			t.Fatal(err)
		}
		a.workspaceAt(d.dir, func(w wire.WorkspaceStatus) bool { return w.Version > before }) // it was seen so
		d.replace("a.txt", fmt.Sprintf("one\n%d\n", i))
		var s wire.Stale
		a.pushed("mapd/stale", &s)
		if len(s.Ranges) != 1 || s.Ranges[0].Status != "changed" || s.Ranges[0].Served != (hashline.Range{Start: 2, End: 2}) {
			t.Errorf("%+v", s)
		}
		a.read(`{"path":"a.txt"}`)
	}
}

// What went stale while a named session was detached is told when it is back.
func TestStaleWhileDetached(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "one\ntwo\n")
	d.write("b.txt", "one\n")
	const options = `{"stale":"push","session":"me"}`
	a := d.session(options)
	a.workspaceAt(d.dir, ready)
	a.read(`{"path":"a.txt"}`)
	a.read(`{"path":"b.txt"}`)
	a.call("shutdown", `null`)
	a.notify("exit", `null`)
	_, _ = a.in.ReadByte() // the end of the connection
	d.replace("a.txt", "one\nTWO\n")
	d.connect() // whatever notices the change may do so
	b := d.session(options)
	var s wire.Stale
	b.pushed("mapd/stale", &s)
	if s.Path != "a.txt" || len(s.Ranges) != 1 || s.Ranges[0].Status != "changed" {
		t.Errorf("%+v", s)
	}
	b.workspaceAt(d.dir, ready) // call fails if more is told
}
