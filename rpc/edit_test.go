package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/rpc/wire"
)

// edit calls mapd/edit and fails unless it succeeds.
func (a *agent) edit(params string) wire.EditResult {
	a.t.Helper()
	m := a.call("mapd/edit", params)
	if m.Error != nil {
		a.t.Fatalf("edit %s: %s %s", params, m.Error.Message, m.Error.Data)
	}
	var r wire.EditResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatal(err)
	}
	return r
}

func (d *daemon) content(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

const poem = "one\ntwo\nthree\nfour\nfive\nsix\n"

func TestEdit(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	r := a.edit(`{"path":"a.txt","edits":[` + strings.Join([]string{
		fmt.Sprintf(`{"op":"replace","pos":"%s:two","end":%q,"lines":["TWO","and","THREE"]}`, at[2], at[3]),
		fmt.Sprintf(`{"op":"append","pos":%q,"lines":["five and a half"]}`, at[5]),
		fmt.Sprintf(`{"op":"delete","pos":%q}`, at[6]),
		`{"op":"prepend","lines":["zero"]}`,
	}, ",") + `]}`)
	if got, want := d.content("a.txt"), "zero\none\nTWO\nand\nTHREE\nfour\nfive\nfive and a half\n"; got != want {
		t.Errorf("the file holds %q, want %q", got, want)
	}
	want := wire.EditResult{
		Applied: true, Path: "a.txt", Snapshot: r.Snapshot, Diff: r.Diff, FirstChangedLine: 1, Anchors: r.Anchors,
		Renumber: []wire.Renumber{{After: 0, Delta: 1}, {After: 3, Delta: 1}, {After: 5, Delta: 1}, {After: 6, Delta: -1}},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(r.Diff, "--- a/a.txt\n+++ b/a.txt\n@@") || !strings.Contains(r.Diff, "\n-two\n") || !strings.Contains(r.Diff, "\n+and\n") {
		t.Errorf("diff %q", r.Diff)
	}
	// The anchors of the result are good for the next edit.
	var fresh []wire.Content
	for _, h := range r.Anchors {
		fresh = append(fresh, wire.Content{Text: h.Text})
	}
	next := anchors(wire.ReadResult{Content: fresh})
	r = a.edit(fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"replace","pos":%q,"lines":["AND"]}]}`, next[4]))
	if !r.Applied || r.Warnings != nil || r.Rebased != nil || !strings.Contains(d.content("a.txt"), "TWO\nAND\nTHREE\n") {
		t.Errorf("the next edit: %+v", r)
	}
	if got := a.read(`{"path":"a.txt"}`); got.Stale != nil || got.Snapshot != r.Snapshot {
		t.Errorf("a session is told of its own edits: %+v", got.Stale)
	}
}

// A stale edit writes nothing, and what it is answered is enough for the next.
func TestStaleEditIsRejectedWithAllThatTheNextNeeds(t *testing.T) {
	d := newDaemon(t)
	path := d.write("a.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	d.write("a.txt", strings.Replace(poem, "three", "THREE", 1))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	m := a.call("mapd/edit", fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"replace","pos":%q,"end":%q,"lines":["x"]}]}`, at[2], at[4]))
	if m.code() != "stale_anchors" || m.Error.Code != -32801 {
		t.Fatalf("got %+v", m)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || before.ModTime() != after.ModTime() || d.content("a.txt") != strings.Replace(poem, "three", "THREE", 1) {
		t.Error("a rejected edit touched the file")
	}
	if !strings.Contains(m.Error.Message, "nothing was written") || !strings.Contains(m.Error.Message, ">>> 3#") {
		t.Errorf("message %q", m.Error.Message)
	}
	var data struct {
		Applied        *bool
		Mismatches     []wire.Mismatch
		Remaps         map[string]string
		AffectedRanges []hashline.Range
		Snapshot       string
		Reread         wire.Reread
	}
	if err := json.Unmarshal(m.Error.Data, &data); err != nil {
		t.Fatal(err)
	}
	if data.Applied == nil || *data.Applied || len(data.Mismatches) != 1 || data.Mismatches[0].Anchor != at[3] || data.Mismatches[0].Status != "changed" {
		t.Errorf("data %s", m.Error.Data)
	}
	if diff := cmp.Diff([]hashline.Range{{Start: 3, End: 3}}, data.AffectedRanges); diff != "" {
		t.Error(diff)
	}
	next := anchors(wire.ReadResult{Content: []wire.Content{{Text: data.Reread.Text}}})
	r := a.edit(fmt.Sprintf(`{"path":"a.txt","snapshot":%q,"edits":[{"op":"replace","pos":%q,"end":%q,"lines":["x"]}]}`, data.Snapshot, next[2], next[4]))
	if !r.Applied || r.Warnings != nil || d.content("a.txt") != "one\nx\nfive\nsix\n" {
		t.Errorf("the next edit: %+v; the file holds %q", r, d.content("a.txt"))
	}
}

// A line that provably moved is followed in one call, unless that is refused.
func TestMovedEdit(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	d.write("a.txt", "new\nnewer\n"+poem)
	edit := fmt.Sprintf(`"edits":[{"op":"replace","pos":%q,"lines":["FOUR"]}]`, at[4])
	m := a.call("mapd/edit", `{"path":"a.txt","onStale":"reject",`+edit+`}`)
	if m.code() != "stale_anchors" || !strings.Contains(string(m.Error.Data), `"now":"6#`) {
		t.Errorf("onStale reject: %+v %s", m.Error, m.Error.Data)
	}
	r := a.edit(`{"path":"a.txt",` + edit + `}`)
	if len(r.Rebased) != 1 || r.Rebased[0].From != at[4] || !strings.HasPrefix(r.Rebased[0].To, "6#") || d.content("a.txt") != "new\nnewer\n"+strings.Replace(poem, "four", "FOUR", 1) {
		t.Errorf("remap: %+v, %q", r, d.content("a.txt"))
	}
}

func TestEditRefusals(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	d.write("cut.txt", strings.Repeat("x", 3000)+"\nshort\n")
	d.write("bin", "\x00")
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	cut := anchors(a.read(`{"path":"cut.txt"}`))
	one := func(edits string) string { return `{"path":"a.txt","edits":[` + edits + `]}` }
	for _, c := range []struct{ params, code string }{
		{one(``), "invalid_params"},
		{one(`{"op":"swap","pos":"1#ZZZZ","lines":["x"]}`), "invalid_params"},
		{one(`{"op":"replace","lines":["x"]}`), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q}`, at[1])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"append","pos":%q,"end":%q,"lines":["x"]}`, at[1], at[2])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"delete","pos":%q,"lines":["x"]}`, at[1])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"end":%q,"lines":["x"]}`, at[3], at[2])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"lines":["x\ny"]}`, at[1])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"lines":["x\r"]}`, at[1])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"lines":["x\u0000"]}`, at[1])), "invalid_params"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"lines":["%s:one"]}`, at[2], at[1])), "invalid_params"},
		{one(`{"op":"replace","pos":"line 5","lines":["x"]}`), "invalid_anchor"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"end":%q,"lines":["x"]},{"op":"delete","pos":%q}`, at[1], at[3], at[2])), "overlapping_edits"},
		{one(fmt.Sprintf(`{"op":"replace","pos":%q,"end":%q,"lines":["x"]},{"op":"append","pos":%q,"lines":["y"]}`, at[1], at[3], at[2])), "overlapping_edits"},
		{fmt.Sprintf(`{"path":"cut.txt","edits":[{"op":"replace","pos":%q,"lines":["x"]}]}`, cut[1]), "partially_shown"},
		{`{"path":"bin","edits":[{"op":"append","lines":["x"]}]}`, "binary_file"},
		{`{"path":"none","edits":[{"op":"append","lines":["x"]}]}`, "not_found"},
		{`{"path":".","edits":[{"op":"append","lines":["x"]}]}`, "is_directory"},
		{`{"path":"a.txt","create":true,"edits":[{"op":"append","lines":["x"]}]}`, "already_exists"},
		{`{"path":"a.txt","create":true,"dryRun":true,"edits":[{"op":"append","lines":["x"]}]}`, "already_exists"},
		{`{"path":"n.txt","create":true,"edits":[{"op":"prepend","lines":["x"]}]}`, "invalid_params"},
		{`{"path":"../n.txt","create":true,"edits":[{"op":"append","lines":["x"]}]}`, "outside_workspace"},
		{one(`{"op":"append","lines":["x"]}`)[:len(one(`{"op":"append","lines":["x"]}`))-1] + `,"force":true}`, "invalid_params"},
	} {
		m := a.call("mapd/edit", c.params)
		if m.code() != c.code {
			t.Errorf("%s: %q %+v, want %s", c.params, m.code(), m.Error, c.code)
		}
		if m.Error != nil && !strings.Contains(m.Error.Message, "nothing was written") && !strings.HasPrefix(m.Error.Message, "params") {
			t.Errorf("%s: the message could be read as success: %q", c.params, m.Error.Message)
		}
	}
	if d.content("a.txt") != poem {
		t.Errorf("the file holds %q", d.content("a.txt"))
	}
	if entries, _ := os.ReadDir(d.dir); len(entries) != 3 {
		t.Errorf("files were left: %v", entries)
	}
}

func TestEditCreate(t *testing.T) {
	d := newDaemon(t)
	a := d.session(`{"umask":63}`)
	r := a.edit(`{"path":"deep/er/n.txt","create":true,"edits":[{"op":"append","lines":["a","b"]}]}`)
	if !r.Applied || r.Path != "deep/er/n.txt" || d.content("deep/er/n.txt") != "a\nb\n" || !strings.HasPrefix(r.Diff, "--- /dev/null\n+++ b/deep/er/n.txt\n") {
		t.Errorf("created: %+v", r)
	}
	info, err := os.Stat(filepath.Join(d.dir, "deep/er/n.txt"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestEditDryRunNoChangeAndLoop(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	r := a.edit(fmt.Sprintf(`{"path":"a.txt","dryRun":true,"edits":[{"op":"delete","pos":%q}]}`, at[1]))
	if r.Applied || !r.DryRun || !strings.Contains(r.Diff, "-one") || d.content("a.txt") != poem {
		t.Errorf("dry run: %+v", r)
	}
	same := fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"replace","pos":%q,"lines":["one"]}]}`, at[1])
	for range 2 {
		if r := a.edit(same); r.Applied || !r.NoChange {
			t.Errorf("no change: %+v", r)
		}
	}
	if code := a.call("mapd/edit", same).code(); code != "no_change_loop" {
		t.Errorf("the third: %q", code)
	}
	// An edit of another file does not end the loop, one of this file does.
	d.write("b.txt", poem)
	other := anchors(a.read(`{"path":"b.txt"}`))
	a.edit(fmt.Sprintf(`{"path":"b.txt","edits":[{"op":"delete","pos":%q}]}`, other[1]))
	if code := a.call("mapd/edit", same).code(); code != "no_change_loop" {
		t.Errorf("after an edit of another file: %q", code)
	}
	a.edit(`{"path":"a.txt","edits":[{"op":"append","lines":["more"]}]}`)
	for range 2 {
		if r := a.edit(same); r.Applied || !r.NoChange {
			t.Errorf("after an edit of the file: %+v", r)
		}
	}
}

func TestEditRequestID(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	params := `{"path":"a.txt","requestId":"r1","edits":[{"op":"append","lines":["seven"]}]}`
	first := a.call("mapd/edit", params)
	second := a.call("mapd/edit", params)
	if string(first.Result) != string(second.Result) || d.content("a.txt") != poem+"seven\n" {
		t.Errorf("a retransmit: %s, %s; the file holds %q", first.Result, second.Result, d.content("a.txt"))
	}
	if code := a.call("mapd/edit", strings.Replace(params, "seven", "eight", 1)).code(); code != "invalid_params" {
		t.Errorf("the id with another edit: %q", code)
	}
}

// Of many agents that edit one served state, all land whose lines differ, and
// the others are told.
func TestParallelEdits(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", strings.Repeat("line\n", 3)+poem+strings.Repeat("x\ny\n", 20))
	const agents = 8
	all := make([]*agent, agents)
	anchor := make([]map[int]string, agents)
	for i := range all {
		all[i] = d.session(fmt.Sprintf(`{"session":"agent%d"}`, i))
		anchor[i] = anchors(all[i].read(`{"path":"a.txt"}`))
	}
	ids := make([]int, agents)
	for i, a := range all {
		ids[i] = a.send("mapd/edit", fmt.Sprintf(`{"path":"a.txt","edits":[{"op":"append","pos":%q,"lines":["by %d"]}]}`, anchor[i][12+2*i], i))
	}
	told := false
	for i, a := range all {
		m := a.next()
		if m.Error != nil {
			t.Errorf("agent %d: %+v", i, m.Error)
		}
		told = told || i == 0 && strings.Contains(string(m.Result), `"stale":[{"path":"a.txt"`)
	}
	lines := strings.Split(d.content("a.txt"), "\n")
	for i := range agents {
		at := slices.Index(lines, fmt.Sprintf("by %d", i))
		if at < 0 || at != 12+3*i {
			t.Errorf("the line of agent %d is number %d, want %d", i, at+1, 13+3*i)
		}
	}
	// The others' edits are told with the own one, or with the next reply.
	told = told || len(all[0].read(`{"path":"a.txt","limit":1}`).Stale) > 0
	if !told {
		t.Error("the others' edits are not told")
	}
}

func TestEditMany(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	d.write("b.txt", poem)
	a := d.session()
	at := anchors(a.read(`{"path":"a.txt"}`))
	bt := anchors(a.read(`{"path":"b.txt"}`))
	file := func(name, pos, line string) string {
		return fmt.Sprintf(`{"path":%q,"edits":[{"op":"replace","pos":%q,"lines":[%q]}]}`, name, pos, line)
	}
	const made = `{"path":"c.txt","create":true,"edits":[{"op":"append","lines":["c"]}]}`

	// One that is stale keeps all from being written.
	d.write("b.txt", strings.Replace(poem, "two", "TWO", 1))
	m := a.call("mapd/editMany", `{"files":[`+file("a.txt", at[1], "ONE")+`,`+file("b.txt", bt[2], "x")+`,`+made+`]}`)
	var data struct {
		Applied bool
		Files   []wire.EditOutcome
	}
	if err := json.Unmarshal(m.Error.Data, &data); err != nil || m.code() != "stale_anchors" {
		t.Fatalf("%v %+v", err, m.Error)
	}
	if data.Applied || len(data.Files) != 3 || !data.Files[0].OK || data.Files[1].OK || data.Files[1].Error.Code != -32801 || !data.Files[2].OK || !strings.Contains(m.Error.Message, "nothing was written") {
		t.Errorf("rejection %s: %s", m.Error.Message, m.Error.Data)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "c.txt")); d.content("a.txt") != poem || err == nil {
		t.Error("a rejected editMany wrote something")
	}
	if code := a.call("mapd/editMany", `{"files":[`+file("a.txt", at[1], "1")+`,`+file("./a.txt", at[2], "2")+`]}`).code(); code != "invalid_params" {
		t.Errorf("one file twice: %q", code)
	}

	bt = anchors(a.read(`{"path":"b.txt"}`))
	m = a.call("mapd/editMany", `{"files":[`+file("a.txt", at[1], "ONE")+`,`+file("b.txt", bt[2], "x")+`,`+made+`]}`)
	var r wire.EditManyResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatalf("%v %+v", err, m.Error)
	}
	if !r.Applied || len(r.Files) != 3 || !r.Files[2].Applied || !strings.HasPrefix(d.content("a.txt"), "ONE\n") || !strings.Contains(d.content("b.txt"), "\nx\n") || d.content("c.txt") != "c\n" {
		t.Errorf("applied: %s", m.Result)
	}
}

// A file that cannot be written after others were makes them what they were.
func TestEditManyPutsBack(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", poem)
	a := d.session()
	a.read(`{"path":"a.txt"}`)
	// The check of both creations passes; the second fails because its directory
	// is the file that the first has made.
	m := a.call("mapd/editMany", `{"files":[{"path":"a.txt","edits":[{"op":"append","lines":["seven"]}]},`+
		`{"path":"n","create":true,"edits":[{"op":"append","lines":["n"]}]},`+
		`{"path":"n/m","create":true,"edits":[{"op":"append","lines":["m"]}]}]}`)
	if m.Error == nil || !strings.Contains(m.Error.Message, "nothing was written") {
		t.Fatalf("got %+v %s", m.Error, m.Result)
	}
	if _, err := os.Lstat(filepath.Join(d.dir, "n")); err == nil || d.content("a.txt") != poem {
		t.Errorf("not put back: %v, %q", err, d.content("a.txt"))
	}
}

// A line that was shown to its end, piece by piece, may be replaced.
func TestEditOfALineShownInPieces(t *testing.T) {
	d := newDaemon(t)
	d.write("long.txt", strings.Repeat("é", 2500)+"\nshort\n")
	a := d.session()
	r := a.read(`{"path":"long.txt"}`)
	edit := fmt.Sprintf(`{"path":"long.txt","edits":[{"op":"replace","pos":%q,"lines":["x"]}]}`, anchors(r)[1])
	for reads := 0; r.Details.Next != nil; reads++ {
		if code := a.call("mapd/edit", edit).code(); code != "partially_shown" {
			t.Fatalf("after %d pieces: %q", reads+1, code)
		}
		r = a.read(fmt.Sprintf(`{"path":"long.txt","cursor":%q}`, r.Details.Next.Cursor))
	}
	if r := a.edit(edit); !r.Applied || d.content("long.txt") != "x\nshort\n" {
		t.Errorf("after all pieces: %+v", r)
	}
}

// A range is what its ends enclosed in the version that the agent means: the
// one it names, else the one that it was shown last.
func TestEditOfARangeByVersions(t *testing.T) {
	const v1 = "a\nb\nc\nd\ne\nf\ng\nh\ni\n"
	v2 := strings.Replace(v1, "\ne\n", "\nE\n", 1)
	for _, c := range []struct {
		name, live string
		narrow     bool // name the first version
		want       string
	}{
		{"an interior line changed since the version that is named", v2, true, "stale_anchors"},
		{"an interior line differs from the newest showing", v2, false, "stale_anchors"},
		{"the file is as it was shown last", v1, false, ""},
		{"the file is as the version that is named", v1, true, ""},
		{"one interior line is new to all", strings.Replace(v1, "\ne\n", "\nfive\n", 1), false, "stale_anchors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDaemon(t)
			a := d.session()
			d.write("a.txt", v1)
			first := a.read(`{"path":"a.txt"}`)
			d.write("a.txt", v2)
			a.read(`{"path":"a.txt"}`)
			if !c.narrow {
				d.write("a.txt", v1)
				a.read(`{"path":"a.txt"}`)
			}
			d.write("a.txt", c.live)
			at := anchors(first)
			snapshot := ""
			if c.narrow {
				snapshot = fmt.Sprintf(`"snapshot":%q,`, first.Snapshot)
			}
			m := a.call("mapd/edit", fmt.Sprintf(`{"path":"a.txt",%s"edits":[{"op":"replace","pos":%q,"end":%q,"lines":["x"]}]}`, snapshot, at[2], at[8]))
			if m.code() != c.want {
				t.Fatalf("%q %+v, want %q", m.code(), m.Error, c.want)
			}
			if c.want != "" && (!strings.Contains(string(m.Error.Data), at[5]) || !strings.Contains(string(m.Error.Data), `"affectedRanges":[{"start":5,"end":5}]`)) {
				t.Errorf("the rejection does not name line 5: %s", m.Error.Data)
			}
		})
	}
}
