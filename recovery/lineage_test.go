package recovery

import (
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
)

// lived is a file with its versions, as workspace and rpc would drive a
// Lineage.
type lived struct {
	t       *testing.T
	lineage *Lineage
	texts   map[string]*hashline.Text
	names   map[string]string // content to snapshot
	asked   int               // texts that were asked for
	at      string
}

func newLived(t *testing.T, content string) *lived {
	l := &lived{t: t, lineage: NewLineage(), texts: map[string]*hashline.Text{}, names: map[string]string{}}
	l.foreign(content)
	return l
}

// foreign puts other bytes there, behind the daemon's back.
func (l *lived) foreign(content string) string {
	name, ok := l.names[content]
	if !ok {
		name = fmt.Sprint("s", len(l.names)+1)
		l.names[content] = name
		l.texts[name] = hashline.NewText([]byte(content))
	}
	l.at = name
	return name
}

// edit makes an edit through the daemon.
func (l *lived) edit(edits ...hashline.Edit) string {
	l.t.Helper()
	a, err := hashline.Apply(l.texts[l.at], edits)
	if err != nil {
		l.t.Fatal(err)
	}
	from := l.at
	to := l.foreign(string(a.New.Bytes()))
	l.lineage.Add("f", from, to, a.Map)
	return to
}

func (l *lived) text(snapshot string) (*hashline.Text, bool) {
	l.asked++
	t, ok := l.texts[snapshot]
	return t, ok
}

// lines returns where the lines of a version are now: 0 for one that is not
// proven.
func (l *lived) lines(from string) string {
	l.t.Helper()
	m, ok := l.lineage.Map("f", from, l.at, l.text)
	if !ok {
		return "not kept"
	}
	var out []string
	for n := 1; n <= m.Lines(); n++ {
		f := m.Line(n)
		if f.Status.Proven() {
			out = append(out, fmt.Sprint(f.Now.Start))
		} else {
			out = append(out, "-")
		}
	}
	return strings.Join(out, " ")
}

func insert(after int, lines ...string) hashline.Edit {
	return hashline.Edit{Op: hashline.Append, Start: after, Lines: lines}
}

func remove(start, end int) hashline.Edit {
	return hashline.Edit{Op: hashline.Delete, Start: start, End: end}
}

func (l *lived) want(from, want string) {
	l.t.Helper()
	if got := l.lines(from); got != want {
		l.t.Errorf("lines of %s: %s, want %s", from, got, want)
	}
}

func TestLineageFollowsEditsExactly(t *testing.T) {
	// Among equal lines a comparison proves little, and the edits prove all.
	l := newLived(t, "x\nx\nx\nx\n")
	v1 := l.at
	v2 := l.edit(insert(1, "x"))
	l.edit(remove(3, 4))
	l.want(v1, "1 - - 3")
	l.want(v2, "1 2 - - 3")
	l.asked = 0
	l.want(v1, "1 - - 3")
	if l.asked != 0 {
		t.Errorf("%d texts were asked for, the edits say it all", l.asked)
	}
}

func TestLineageBridgesForeignChanges(t *testing.T) {
	l := newLived(t, "a\nb\nx\nx\nc\nd\n")
	v1 := l.at
	l.edit(insert(3, "x")) // exact: lines 1-3, 5-7
	l.foreign("new\na\nb\nx\nx\nx\nc\nd\n")
	v3 := l.at
	l.edit(remove(1, 1))
	l.want(v1, "1 2 3 5 6 7")
	l.want(v3, "- 1 2 3 4 5 6 7")
}

func TestLineageReturnsToEarlierBytes(t *testing.T) {
	l := newLived(t, "a\nb\nc\n")
	v1 := l.at
	l.edit(remove(2, 2))
	back := l.edit(insert(1, "b"))
	if back != v1 {
		t.Fatalf("the snapshot of equal bytes is %s, not %s", back, v1)
	}
	l.want(v1, "1 2 3")
	// From another version the way round through the deletion proves less than
	// the bytes.
	v0 := l.foreign("new\na\nb\nc\n")
	l.foreign("a\nb\nc\n")
	l.want(v0, "- 1 2 3")
	// And on from there again.
	l.edit(insert(0, "z"))
	l.want(v1, "1 2 3")
	l.want(v0, "- 1 2 3")
}

// An edit that another program took back has no part in what became of a line.
func TestLineageOfEditsTakenBack(t *testing.T) {
	l := newLived(t, "a\nb\nc\nd\n")
	v1 := l.at
	v2 := l.edit(hashline.Edit{Op: hashline.Replace, Start: 2, End: 2, Lines: []string{"mine"}})
	l.foreign("a\nb\nc\nd\n")
	l.foreign("new\na\nb\nc\nd\n")
	l.want(v1, "2 3 4 5")
	l.want(v2, "2 - 4 5")
	l.edit(remove(1, 1), remove(5, 5))
	l.want(v1, "1 2 3 -")
}

func TestLineageBranches(t *testing.T) {
	// Two edits of the same version, with a foreign change back in between: the
	// way that leads to the live version is taken.
	l := newLived(t, "x\nx\ny\n")
	v1 := l.at
	l.edit(insert(1, "one"))
	l.foreign("x\nx\ny\n")
	l.edit(insert(2, "two"))
	l.want(v1, "1 2 4")
	l.edit(remove(4, 4))
	l.want(v1, "1 2 -")
}

func TestLineageStartsFromTheLatestBranch(t *testing.T) {
	l := newLived(t, "p\nx\nx\ny\n")
	v1 := l.at
	l.edit(remove(2, 2))
	l.foreign("p\nx\nx\ny\n")
	l.edit(insert(4, "z"))
	l.foreign("new\np\nx\nx\ny\nz\n")
	l.want(v1, "2 3 4 5")
}

func TestLineageWithoutTexts(t *testing.T) {
	l := newLived(t, "a\nb\n")
	v1 := l.at
	l.foreign("a\nc\n")
	delete(l.texts, v1)
	l.want(v1, "not kept")
	l.at = v1
	l.want(v1, "not kept")
}

func TestLineageIsBounded(t *testing.T) {
	l := NewLineage()
	m := hashline.Identity(1)
	for i := range 3 * maxFileEdits {
		l.Add("f", fmt.Sprint(i), fmt.Sprint(i+1), m)
	}
	if n := len(l.of("f")); n != maxFileEdits {
		t.Errorf("%d edits of one file, want %d", n, maxFileEdits)
	}
	for i := range 2 * maxEdits {
		l.Add(fmt.Sprint("g", i), "1", "2", m)
	}
	total := 0
	for _, edits := range l.edits {
		total += len(edits)
	}
	if total > maxEdits || len(l.order) > maxEdits || len(l.of("f")) != 0 {
		t.Errorf("%d edits are kept, %d of the first file", total, len(l.of("f")))
	}
	if n := len(l.of(fmt.Sprint("g", 2*maxEdits-1))); n != 1 {
		t.Errorf("the latest edit is not kept")
	}
}
