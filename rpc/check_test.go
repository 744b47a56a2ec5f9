package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/rpc/wire"
)

func (a *agent) check(params string) wire.CheckResult {
	a.t.Helper()
	m := a.call("mapd/check", params)
	if m.Error != nil {
		a.t.Fatalf("check %s: %s", params, m.Error.Message)
	}
	var r wire.CheckResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatal(err)
	}
	return r
}

// anchors returns the anchors of a result's lines by number.
func anchors(r wire.ReadResult) map[int]string {
	out := map[int]string{}
	for _, c := range r.Content {
		for _, line := range strings.Split(c.Text, "\n") {
			anchor, _, _ := strings.Cut(line, ":")
			if a, err := hashline.ParseAnchor(anchor); err == nil {
				out[a.Line] = anchor
			}
		}
	}
	return out
}

func TestCheck(t *testing.T) {
	d := newDaemon(t)
	lines := strings.Split("zero one two three four five six seven eight nine ten eleven", " ")
	write := func(lines ...string) { d.write("a.txt", strings.Join(lines, "\n")+"\n") }
	write(lines...)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))

	fresh := a.check(fmt.Sprintf(`{"path":"a.txt","anchors":[%q,%q]}`, at[1], at[12]))
	if !fresh.Fresh || fresh.Results[0].Status != "current" || fresh.Reread != nil || len(fresh.AffectedRanges) != 0 || len(fresh.Remaps) != 0 {
		t.Errorf("nothing changed: %+v", fresh)
	}

	// Two lines above, and 5, 6, 7 rewritten.
	changed := append([]string{"new", "newer"}, lines...)
	copy(changed[6:], []string{"A", "B", "C"})
	write(changed...)
	r := a.check(fmt.Sprintf(`{"path":"a.txt","anchors":["%s:one",%q,%q,%q,%q,"3#ZZZZ"]}`, at[2], at[5], at[6], at[7], at[12]))
	var statuses []string
	for _, one := range r.Results {
		statuses = append(statuses, one.Status)
	}
	if diff := cmp.Diff([]string{"moved", "changed", "changed", "changed", "moved", "bad_hash"}, statuses); diff != "" {
		t.Error(diff)
	}
	if r.Fresh || r.Remaps[at[2]] != r.Results[0].Now || !strings.HasPrefix(r.Results[0].Now, "4#") {
		t.Errorf("remaps %v, results %+v", r.Remaps, r.Results)
	}
	if diff := cmp.Diff([]hashline.Range{{Start: 3, End: 3}, {Start: 7, End: 9}}, r.AffectedRanges); diff != "" {
		t.Error(diff)
	}
	if r.Reread == nil || !strings.Contains(r.Reread.Text, ":A\n") {
		t.Errorf("reread %+v", r.Reread)
	}

	// What the check showed is delivered: its anchors are current now.
	shown := anchors(wire.ReadResult{Content: []wire.Content{{Text: r.Reread.Text}}})
	if again := a.check(fmt.Sprintf(`{"path":"a.txt","anchors":[%q,%q]}`, shown[8], r.Results[0].Now)); !again.Fresh || again.Results[0].Status != "current" || again.Results[1].Status != "current" {
		t.Errorf("the anchors of the reread: %+v", again)
	}

	// Another session was not shown anything: only a live match counts.
	other := d.session()
	o := other.check(fmt.Sprintf(`{"path":"a.txt","anchors":[%q,%q]}`, shown[8], at[2]))
	if o.Results[0].Status != "never_served" || o.Results[1].Status != "never_served" || o.Results[1].Now != "" || !o.Fresh == true && len(o.AffectedRanges) == 0 {
		t.Errorf("another session: %+v", o)
	}
	for _, c := range []struct{ params, code string }{
		{`{"path":"a.txt","anchors":[]}`, "invalid_params"},
		{`{"path":"a.txt"}`, "invalid_params"},
		{`{"path":"a.txt","anchors":["5"]}`, "invalid_anchor"},
		{`{"path":"a.txt","anchors":["5#vowel"]}`, "invalid_anchor"},
		{`{"path":"b.txt","anchors":["5#ZZZZ"]}`, "not_found"},
		{`{"path":"a.txt","anchors":["5#ZZZZ"],"why":1}`, "invalid_params"},
	} {
		if code := a.call("mapd/check", c.params).code(); code != c.code {
			t.Errorf("%s: %q, want %s", c.params, code, c.code)
		}
	}
}

// What a session holds that went stale comes with its next reply, once, and
// never for bytes that are as they were.
func TestStaleComesOnceWithTheNextReply(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "one\ntwo\nthree\nfour\n")
	d.write("b.txt", "b\n")
	a, off := d.session(), d.session(`{"stale":"off"}`)
	for _, s := range []*agent{a, off} {
		s.read(`{"path":"a.txt"}`)
	}
	first := a.read(`{"path":"a.txt"}`)
	if first.Stale != nil {
		t.Errorf("nothing changed: %+v", first.Stale)
	}
	d.write("a.txt", "one\ntwo\nTHREE\nfour\n")
	r := a.read(`{"path":"b.txt"}`)
	if len(r.Stale) != 1 || r.Stale[0].Path != "a.txt" || r.Stale[0].From != first.Snapshot || r.Stale[0].To == nil {
		t.Fatalf("stale %+v", r.Stale)
	}
	want := []wire.StaleRange{{Served: hashline.Range{Start: 3, End: 3}, Status: "changed", Now: &hashline.Range{Start: 3, End: 3}}}
	if diff := cmp.Diff(want, r.Stale[0].Ranges); diff != "" {
		t.Error(diff)
	}
	if r := a.read(`{"path":"b.txt"}`); r.Stale != nil {
		t.Errorf("told twice: %+v", r.Stale)
	}
	if r := off.read(`{"path":"b.txt"}`); r.Stale != nil {
		t.Errorf("told although it is off: %+v", r.Stale)
	}
	if err := os.Remove(filepath.Join(d.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	m := a.call("mapd/readMany", `{"reads":[{"path":"b.txt"}]}`)
	if !strings.Contains(string(m.Result), `"to":null`) || !strings.Contains(string(m.Result), `"status":"deleted"`) {
		t.Errorf("a file that is gone: %s %+v", m.Result, m.Error)
	}
}

func TestLedgerAndForget(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", strings.Repeat("line\n", 10))
	d.write("b.txt", "b\n")
	a := d.session(`{"session":"agent"}`)
	ledger := func(a *agent, params string) wire.LedgerResult {
		t.Helper()
		m := a.call("mapd/ledger", params)
		var r wire.LedgerResult
		if err := json.Unmarshal(m.Result, &r); err != nil {
			t.Fatalf("%v %+v", err, m.Error)
		}
		return r
	}
	if r := ledger(a, `{}`); r.Files == nil || len(r.Files) != 0 {
		t.Errorf("nothing was read: %+v", r)
	}
	read := a.read(`{"path":"a.txt","ranges":[{"start":2,"end":3},{"start":7,"end":8}]}`)
	a.read(`{"path":"b.txt"}`)
	want := wire.LedgerResult{Files: []wire.LedgerFile{{Path: "a.txt", Snapshot: read.Snapshot, Ranges: []hashline.Range{{Start: 2, End: 3}, {Start: 7, End: 8}}, Stale: []hashline.Range{}}}}
	if diff := cmp.Diff(want, ledger(a, `{"path":"a.txt"}`)); diff != "" {
		t.Error(diff)
	}
	if r := ledger(a, `{}`); len(r.Files) != 2 || r.Files[0].Path != "a.txt" || r.Files[1].Path != "b.txt" {
		t.Errorf("all files: %+v", r)
	}

	// A named session outlives its connection, and is taken over.
	again := d.session(`{"session":"agent"}`)
	if r := ledger(again, `{"path":"a.txt"}`); len(r.Files) != 1 {
		t.Errorf("after a reconnect: %+v", r)
	}
	if m := again.call("mapd/forget", `{"path":"a.txt"}`); string(m.Result) != `{}` {
		t.Errorf("forget: %s %+v", m.Result, m.Error)
	}
	if r := ledger(again, `{}`); len(r.Files) != 1 || r.Files[0].Path != "b.txt" {
		t.Errorf("after forget: %+v", r)
	}
	again.call("mapd/forget", `{}`)
	if r := ledger(again, `{}`); len(r.Files) != 0 {
		t.Errorf("after forgetting all: %+v", r)
	}
}

// A line that was shown in several versions is spoken of once, as of the newest.
func TestStaleOfSeveralShowings(t *testing.T) {
	d := newDaemon(t)
	d.write("b.txt", "b\n")
	a := d.session()
	for _, five := range []string{"five", "FIVE"} {
		d.write("a.txt", strings.Replace(poem+"seven\neight\nnine\n", "five", five, 1))
		a.read(`{"path":"a.txt"}`)
	}
	newest := a.read(`{"path":"a.txt","limit":1}`)
	d.write("a.txt", strings.Replace(strings.Replace(poem+"seven\neight\nnine\n", "five", "FIVE", 1), "nine", "NINE", 1))
	r := a.read(`{"path":"b.txt"}`)
	if len(r.Stale) != 1 || r.Stale[0].From != newest.Snapshot || len(r.Stale[0].Ranges) != 1 || r.Stale[0].Ranges[0].Served != (hashline.Range{Start: 9, End: 9}) {
		t.Errorf("stale %+v", r.Stale)
	}
}

// A client that asked for it is told of stale lines without asking, of other
// sessions' edits with who made them, and never of its own.
func TestStalePush(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "one\ntwo\nthree\n")
	watcher := d.session(`{"stale":"push","session":"watcher"}`)
	at := anchors(watcher.read(`{"path":"a.txt"}`))
	next := func() wire.Stale {
		t.Helper()
		m := watcher.next()
		var s wire.Stale
		if err := json.Unmarshal(m.Params, &s); err != nil || m.Method != "mapd/stale" {
			t.Fatalf("%v %+v", err, m)
		}
		return s
	}
	d.replace("a.txt", "one\nTWO\nthree\n")
	s := next()
	want := []wire.StaleRange{{Served: hashline.Range{Start: 2, End: 2}, Status: "changed", Now: &hashline.Range{Start: 2, End: 2}}}
	if diff := cmp.Diff(want, s.Ranges); diff != "" || s.Path != "a.txt" || s.By != "" {
		t.Errorf("%+v %s", s, diff)
	}

	other := d.session(`{"session":"other"}`)
	mine := anchors(other.read(`{"path":"a.txt"}`))
	other.edit(fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"delete","pos":%q}]}`, mine[1]))
	if s := next(); s.By != "other" || len(s.Ranges) == 0 || s.Ranges[0].Status != "deleted" {
		t.Errorf("another session's edit: %+v", s)
	}

	r := watcher.edit(fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"replace","pos":%q,"lines":["THREE"]}]}`, at[3]))
	if !r.Applied || r.Stale != nil {
		t.Errorf("own edit: %+v", r)
	}
	d.write("b.txt", "b\n")
	watcher.read(`{"path":"b.txt"}`) // call fails if a notification comes first
	if err := os.Remove(filepath.Join(d.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if s := next(); s.To != nil || s.Ranges[0].Status != "deleted" {
		t.Errorf("a file that is gone: %+v", s)
	}
}

// A file that is renamed stays what the session was shown.
func TestRenamedFile(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "one\ntwo\nthree\n")
	a := d.session()
	first := a.read(`{"path":"a.txt"}`)
	at := anchors(first)
	if err := os.Rename(filepath.Join(d.dir, "a.txt"), filepath.Join(d.dir, "b.txt")); err != nil {
		t.Fatal(err)
	}
	r := a.check(fmt.Sprintf(`{"path":"b.txt","anchors":[%q]}`, at[2]))
	if !r.Fresh || r.Results[0].Status != "current" || r.Snapshot != first.Snapshot || r.Path != "b.txt" {
		t.Errorf("under its new name: %+v", r)
	}
	d.write("b.txt", "zero\none\ntwo\nthree\n")
	e := a.edit(fmt.Sprintf(`{"path":"b.txt","edits":[{"op":"replace","pos":%q,"lines":["TWO"]}]}`, at[2]))
	if len(e.Rebased) != 1 || e.Warnings != nil || d.content("b.txt") != "zero\none\nTWO\nthree\n" {
		t.Errorf("an edit by its old anchor: %+v", e)
	}
	m := a.call("mapd/ledger", `{}`)
	if !strings.Contains(string(m.Result), `"files":[{"path":"b.txt"`) {
		t.Errorf("the ledger: %s", m.Result)
	}
}
