package hashline

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// refLine is a line of the reference: its content, and where its terminator
// comes from.
type refLine struct {
	content    string
	terminator string
	isNew      bool
}

// reference is Apply the slow way: it moves whole lines about. slots[k] is what
// stands in the place of line k, gaps[k] what is inserted after it; line 0 is
// before the first.
type reference struct {
	bom         string
	lines       []naiveLine
	usual       string
	slots, gaps [][]refLine
	bare        string // what a last line without end gets when something follows it
}

func referenceApply(file string, edits []Edit) string {
	var r reference
	r.bom, r.lines = naiveLines(file)
	ends := map[string]int{}
	r.slots, r.gaps = make([][]refLine, len(r.lines)+1), make([][]refLine, len(r.lines)+1)
	for k, l := range r.lines {
		ends[l.terminator]++
		r.slots[k+1] = []refLine{{l.content, l.terminator, false}}
	}
	r.usual = "\n"
	if ends["\r\n"] > ends["\n"] {
		r.usual = "\r\n"
	}
	for _, e := range edits {
		switch e.Op {
		case Append, Prepend:
			r.insert(e)
		case Delete:
			r.replace(Edit{Start: e.Start, End: e.End})
		case Replace:
			r.replace(e)
		}
	}
	return r.join()
}

// firstOf returns the terminator of the first of those lines that has one.
func (r *reference) firstOf(lines ...int) string {
	for _, k := range lines {
		if k >= 1 && k <= len(r.lines) && r.lines[k-1].terminator != "" {
			return r.lines[k-1].terminator
		}
	}
	return r.usual
}

func (r *reference) insert(e Edit) {
	n := len(r.lines)
	at, gap := e.Start, e.Start // the neighbour, and the line before the new ones
	if e.Op == Append && at == 0 {
		at, gap = n, n
	}
	if e.Op == Prepend {
		at = min(max(at, 1), n)
		gap = max(e.Start, 1) - 1
	}
	end := r.firstOf(at, gap, gap+1)
	if gap == n && r.bare == "" && len(e.Lines) > 0 {
		r.bare = end
	}
	for _, l := range e.Lines {
		r.gaps[gap] = append(r.gaps[gap], refLine{l, end, true})
	}
}

func (r *reference) replace(e Edit) {
	for k := e.Start; k <= e.End; k++ {
		r.slots[k] = nil
	}
	for i, l := range e.Lines {
		end := ""
		if e.Start+i <= e.End {
			end = r.lines[e.Start+i-1].terminator
		}
		if end == "" && e.End > e.Start {
			end = r.firstOf(e.End, e.End-1)
		}
		if end == "" {
			end = r.firstOf(e.End, e.Start-1, e.End+1)
		}
		r.slots[e.Start] = append(r.slots[e.Start], refLine{l, end, true})
	}
}

func (r *reference) join() string {
	n := len(r.lines)
	var lines []refLine
	for k := range n + 1 {
		lines = append(append(lines, r.slots[k]...), r.gaps[k]...)
	}
	var sb strings.Builder
	sb.WriteString(r.bom)
	for i, l := range lines {
		last := i == len(lines)-1
		switch {
		case last && l.isNew && l.content != "" && n > 0 && r.lines[n-1].terminator == "":
			l.terminator = ""
		case !last && l.terminator == "":
			l.terminator = r.bare
			if strings.HasSuffix(l.content, "\r") {
				l.terminator = "\r\n"
			}
		}
		sb.WriteString(l.content + l.terminator)
	}
	return sb.String()
}

// batchGen draws edits of a text of n lines; they may overlap.
func batchGen(n int) *rapid.Generator[[]Edit] {
	line := rapid.SampledFrom([]string{"", "a", "b", "}", "new", "\xff", "é", BOM, BOM + "a"})
	edit := rapid.Custom(func(t *rapid.T) Edit {
		e := Edit{Op: Op(rapid.IntRange(0, 3).Draw(t, "op")), Lines: rapid.SliceOfN(line, 0, 4).Draw(t, "lines")}
		if n == 0 {
			e.Op = rapid.SampledFrom([]Op{Append, Prepend}).Draw(t, "insert")
			return e
		}
		switch e.Op {
		case Append, Prepend:
			e.Start = rapid.IntRange(0, n).Draw(t, "at")
		default:
			e.Start = rapid.IntRange(1, n).Draw(t, "start")
			e.End = min(n, e.Start+rapid.IntRange(0, 3).Draw(t, "more"))
		}
		return e
	})
	return rapid.SliceOfN(edit, 0, 5)
}

// overlap is the rule of Apply spelt over all pairs.
func overlap(n int, edits []Edit) bool {
	replaces := func(e Edit) bool { return e.Op == Replace || e.Op == Delete }
	gap := func(e Edit) int {
		switch {
		case e.Op == Append && e.Start == 0:
			return n
		case e.Op == Append:
			return e.Start
		default:
			return max(e.Start, 1) - 1
		}
	}
	for i, a := range edits {
		for j, b := range edits {
			switch {
			case i == j || !replaces(a):
			case replaces(b) && a.Start <= b.End && b.Start <= a.End:
				return true
			case !replaces(b) && len(b.Lines) > 0 && a.Start <= gap(b) && gap(b) < a.End:
				return true
			}
		}
	}
	return false
}

func TestApplyEqualsReference(t *testing.T) { rapid.Check(t, applyEqualsReference) }

func applyEqualsReference(t *rapid.T) {
	file := fileGen().Draw(t, "file")
	text := NewText([]byte(file))
	edits := batchGen(text.Lines()).Draw(t, "edits")
	a, err := Apply(text, edits)
	var clash *OverlapError
	if wrong := overlap(text.Lines(), edits); wrong != errors.As(err, &clash) || !wrong && err != nil {
		t.Fatalf("Apply(%q, %+v): %v; overlap is %v", file, edits, err, wrong)
	}
	if err != nil {
		return
	}
	if got, want := string(a.New.Bytes()), referenceApply(file, edits); got != want {
		t.Fatalf("Apply(%q, %+v) = %q, want %q", file, edits, got, want)
	}
	if string(text.Bytes()) != file {
		t.Fatal("Apply changed its argument")
	}
	if a.Changed() != (string(a.New.Bytes()) != file) {
		t.Fatalf("Changed = %v", a.Changed())
	}
	checkApplied(t, a, edits)
}

// checkApplied holds what the parts of a result say about each other.
func checkApplied(t *rapid.T, a *Applied, edits []Edit) {
	checkMap(t, a.Map, a.Old, a.New)
	if index := NewText(a.New.Bytes()); a.New.bom != index.bom || !slices.Equal(a.New.ends, index.ends) {
		t.Fatalf("the index of %q is %v, want %v", a.New.Bytes(), a.New.ends, index.ends)
	}
	if want := Hunks(a.Old, a.New, a.Map); !slices.Equal(a.Hunks, want) {
		t.Fatalf("hunks %v, want %v", a.Hunks, want)
	}
	touched := map[int]bool{}
	for _, e := range edits {
		if e.Op == Replace || e.Op == Delete {
			for n := e.Start; n <= e.End; n++ {
				touched[n] = true
			}
		}
	}
	for n := 1; n <= a.Old.Lines(); n++ {
		if touched[n] || a.New.HasBOM() && !a.Old.HasBOM() {
			continue
		}
		to := n
		for _, s := range a.Renumber {
			if s.After < n {
				to += s.Delta
			}
		}
		if f := a.Map.Line(n); !f.Status.Proven() || f.Now.Start != to {
			t.Fatalf("line %d, which no edit names, is %v; renumber says %d", n, f, to)
		}
	}
	// The hunks turn the old lines into the new ones.
	var rebuilt []byte
	rebuilt = append(rebuilt, a.New.Bytes()[:a.New.bom]...)
	next := 1
	raw := func(t *Text, r Range) (out []byte) {
		for n := r.Start; n <= r.End; n++ {
			start, end := t.Span(n)
			out = append(out, t.Bytes()[start:end]...)
		}
		return out
	}
	for i, h := range a.Hunks {
		if i > 0 && h.Old.Start <= a.Hunks[i-1].Old.End+1 && h.New.Start <= a.Hunks[i-1].New.End+1 {
			t.Fatalf("hunks touch: %v", a.Hunks)
		}
		rebuilt = append(rebuilt, raw(a.Old, Range{next, h.Old.Start - 1})...)
		rebuilt = append(rebuilt, raw(a.New, h.New)...)
		next = h.Old.End + 1
	}
	rebuilt = append(rebuilt, raw(a.Old, Range{next, a.Old.Lines()})...)
	if string(rebuilt) != string(a.New.Bytes()) {
		t.Fatalf("hunks %v make %q of %q, want %q", a.Hunks, rebuilt, a.Old.Bytes(), a.New.Bytes())
	}
}

func TestApplyErrors(t *testing.T) {
	text := NewText([]byte("1\n2\n3\n4\n5\n"))
	for _, c := range []struct {
		name  string
		edits []Edit
		want  string
	}{
		{"line 0", []Edit{{Op: Replace, Start: 0, End: 1}}, "edit 1: lines 0 to 1 of a text of 5 lines"},
		{"past the end", []Edit{{Op: Delete, Start: 5, End: 6}}, "edit 1: lines 5 to 6 of a text of 5 lines"},
		{"backwards", []Edit{{Op: Replace, Start: 3, End: 2}}, "edit 1: lines 3 to 2 of a text of 5 lines"},
		{"append past the end", []Edit{{Op: Append, Start: 6, Lines: []string{"x"}}}, "edit 1: lines 6 to 0 of a text of 5 lines"},
		{"negative", []Edit{{Op: Prepend, Start: -1, Lines: []string{"x"}}}, "edit 1: lines -1 to 0 of a text of 5 lines"},
		{"line feed", []Edit{{Op: Append, Lines: []string{"ok", "a\nb"}}}, "edit 1: lines[1] holds a line feed"},
		{"carriage return", []Edit{{Op: Append}, {Op: Append, Lines: []string{"a\r"}}}, "edit 2: lines[0] holds a carriage return"},
		{"NUL", []Edit{{Op: Append, Lines: []string{"\x00"}}}, "edit 1: lines[0] holds a NUL"},
		{"the same line twice", []Edit{{Op: Replace, Start: 2, End: 2}, {Op: Replace, Start: 2, End: 2}}, "edits 1 and 2 overlap at line 2"},
		{"nested", []Edit{{Op: Replace, Start: 3, End: 3}, {Op: Delete, Start: 1, End: 5}}, "edits 1 and 2 overlap at line 3"},
		{"append inside", []Edit{{Op: Append, Start: 3, Lines: []string{"x"}}, {Op: Delete, Start: 2, End: 4}}, "edits 1 and 2 overlap at line 4"},
		{"prepend inside", []Edit{{Op: Delete, Start: 2, End: 4}, {Op: Prepend, Start: 3, Lines: []string{"x"}}}, "edits 1 and 2 overlap at line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := Apply(text, c.edits)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || a != nil {
				t.Errorf("Apply = %v, %v; want %q", a, err, c.want)
			}
		})
	}
	for _, edits := range [][]Edit{
		{{Op: Append, Start: 1, Lines: []string{"x"}}, {Op: Delete, Start: 2, End: 4}, {Op: Append, Start: 4, Lines: []string{"y"}}},
		{{Op: Delete, Start: 1, End: 2}, {Op: Delete, Start: 3, End: 5}},
		{{Op: Append, Start: 3}, {Op: Delete, Start: 2, End: 4}}, // nothing inserted
	} {
		if _, err := Apply(text, edits); err != nil {
			t.Errorf("Apply(%+v): %v", edits, err)
		}
	}
}

// TestUnifiedDiffPatches gives diffs to patch(1), if it is there.
func TestUnifiedDiffPatches(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("no patch(1)")
	}
	dir := t.TempDir()
	rng := newHistory(5, 40, 38)
	for i := range 40 {
		old := rng.text()
		for range 3 {
			rng.edit()
		}
		new := rng.text()
		if i%2 == 1 && new.Size() > 0 {
			new = NewText(slices.Clone(new.Bytes()[:new.Size()-1])) // no final newline
		}
		if i%4 == 3 && old.Size() > 0 {
			old = NewText(slices.Clone(old.Bytes()[:old.Size()-1]))
		}
		diff := UnifiedDiff("f", "f", old, new, Hunks(old, new, MapLines(old, new)), DiffContext)
		if len(diff) == 0 {
			continue
		}
		file := filepath.Join(dir, fmt.Sprint("f", i))
		if err := os.WriteFile(file, old.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "--fuzz=0", "-s", file)
		cmd.Stdin = strings.NewReader(string(diff))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("patch: %v\n%s\n%s", err, out, diff)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(new.Bytes()) {
			t.Errorf("patch made %q, want %q, by\n%s", got, new.Bytes(), diff)
		}
	}
}

// TestApplyMakesByteOrderMark has edits put U+FEFF at the very start, where it is
// no part of a line any more.
func TestApplyMakesByteOrderMark(t *testing.T) {
	for _, c := range []struct {
		file, line string
		lines      int
		hunks      string
	}{
		{"\r", BOM, 0, "[{1 1-0}]"},
		{"x", BOM, 0, "[{1 1-0}]"},
		{"x\n", BOM, 1, "[{1 1}]"},
		{"x\ny\n", BOM + "z", 2, "[{1 1}]"},
		{"x\ny\n", BOM + "x", 2, "[]"},
	} {
		a, err := Apply(NewText([]byte(c.file)), []Edit{{Op: Replace, Start: 1, End: 1, Lines: []string{c.line}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a.Hunks); got != c.hunks || a.New.Lines() != c.lines || !a.New.HasBOM() || !a.Changed() {
			t.Errorf("%q in %q: hunks %s, %d lines, changed %v", c.line, c.file, got, a.New.Lines(), a.Changed())
		}
	}
}
