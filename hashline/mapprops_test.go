package hashline

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// TestMapLinesInvariants holds what must be true of any map of any two texts.
func TestMapLinesInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := NewText([]byte(fileGen().Draw(t, "old")))
		new := NewText([]byte(fileGen().Draw(t, "new")))
		checkMap(t, MapLines(old, new), old, new)
	})
}

// fataler is what a property needs of a test.
type fataler interface {
	Fatalf(format string, args ...any)
}

func checkMap(t fataler, m *LineMap, old, new *Text) {
	if m.Lines() != old.Lines() || m.NewLines() != new.Lines() {
		t.Fatalf("a map of %d to %d lines, want %d to %d", m.Lines(), m.NewLines(), old.Lines(), new.Lines())
	}
	back := map[int]int{}
	last := 0
	for n := 1; n <= old.Lines(); n++ {
		f := m.Line(n)
		switch f.Status {
		case Current, Moved:
			to := f.Now.Start
			if f.Now.Len() != 1 || !bytes.Equal(old.Line(n), new.Line(to)) {
				t.Fatalf("line %d %q is %v, which is not equal", n, old.Line(n), f)
			}
			if (f.Status == Current) != (n == to) {
				t.Fatalf("line %d is %v", n, f)
			}
			if to <= last {
				t.Fatalf("line %d goes to %d, after one that went to %d", n, to, last)
			}
			last = to
			back[to] = n
		case Changed, Ambiguous:
			if !f.Now.Valid() || f.Now.End > new.Lines() {
				t.Fatalf("line %d is %v of %d lines", n, f, new.Lines())
			}
		case Deleted:
			if f.Now.Len() != 0 || f.Now.Start < 1 || f.Now.Start > new.Lines()+1 {
				t.Fatalf("line %d is %v of %d lines", n, f, new.Lines())
			}
		}
	}
	for n := 0; n <= new.Lines()+1; n++ {
		got, ok := m.Old(n)
		if want, wantOK := back[n]; got != want || ok != wantOK {
			t.Fatalf("Old(%d) = %d, %v; want %d, %v", n, got, ok, want, wantOK)
		}
	}
}
