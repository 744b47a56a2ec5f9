package hashline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tally counts what a LineMap said against what the oracle knows.
type tally struct {
	lines    int // old lines in all
	wrong    int // mapped to another line
	retyped  int // mapped to a line typed again in the same place
	survived int // old lines that survived between the neighbours they had
	mapped   int // of these, mapped
	ambig    int
}

func (t *tally) add(m *LineMap, old, new []tracked) (firstWrong int) {
	at := placesOf(new)
	same := func(i, j int) bool { // neighbours, or both past an end
		if i < 0 || i >= len(old) {
			return (i < 0) == (j < 0) && (j < 0 || j >= len(new))
		}
		k, ok := at[old[i].id]
		return ok && k == j
	}
	for i := range old {
		f := m.Line(i + 1)
		t.lines++
		j, ok := at[old[i].id]
		if f.Status == Ambiguous {
			t.ambig++
		}
		if f.Status.Proven() && !(ok && f.Now.Start == j+1) {
			if retyped(old, new, i, f.Now.Start-1) || moved(new, old[i], f.Now.Start-1) {
				t.retyped++
			} else {
				t.wrong++
				firstWrong = i + 1
			}
		}
		if ok && same(i-1, j-1) && same(i+1, j+1) {
			t.survived++
			if f.Status.Proven() {
				t.mapped++
			}
		}
	}
	return firstWrong
}

func TestNeverRelocate(t *testing.T) {
	for _, c := range []struct {
		name                 string
		lines, common, edits int
		// least is the share, in percent, of the lines that survived between the
		// neighbours they had and are mapped. What is missing are lines in moved
		// blocks and in repetitions that the change leaves open.
		least float64
	}{
		{"few edits", 120, 38, 4, 99},
		{"unique lines", 150, 0, 10, 99},
		{"many edits", 200, 38, 20, 98},
		{"repetitive", 120, 75, 4, 98},
		{"only common lines", 60, 100, 3, 93},
		{"small file", 12, 40, 2, 95},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum tally
			for seed := range uint64(600) {
				h := newHistory(seed, c.lines, c.common)
				oldLines, old := slices.Clone(h.lines), h.text()
				for range h.rng.IntN(c.edits) + 1 {
					h.edit()
				}
				if line := sum.add(MapLines(old, h.text()), oldLines, h.lines); line > 0 {
					t.Errorf("seed %d: line %d is mapped to another line", seed, line)
				}
			}
			share := 100 * float64(sum.mapped) / float64(sum.survived)
			t.Logf("%+v, %.2f%% mapped", sum, share)
			if share < c.least {
				t.Errorf("%.2f%% of the surviving lines mapped, want %v%%", share, c.least)
			}
		})
	}
}

// TestComposedMapsEqualTheOracle follows lines through several versions, map by
// map.
func TestComposedMapsEqualTheOracle(t *testing.T) {
	var sum tally
	for seed := range uint64(300) {
		h := newHistory(seed, 80, 38)
		oldLines, at := slices.Clone(h.lines), h.text()
		m := Identity(at.Lines())
		for range 4 {
			h.edit()
			next := h.text()
			m = m.Compose(MapLines(at, next))
			at = next
		}
		if m.Lines() != len(oldLines) || m.NewLines() != len(h.lines) {
			t.Fatalf("seed %d: a map of %d to %d lines, want %d to %d", seed, m.Lines(), m.NewLines(), len(oldLines), len(h.lines))
		}
		if line := sum.add(m, oldLines, h.lines); line > 0 {
			t.Errorf("seed %d: line %d is mapped to another line", seed, line)
		}
	}
	t.Logf("%+v", sum)
	if share := 100 * float64(sum.mapped) / float64(sum.survived); share < 98 {
		t.Errorf("%.2f%% of the surviving lines mapped", share)
	}
}

// fates renders a map as one word a line, for cases that a person can read.
func fates(old, new string) string {
	o, n := NewText([]byte(old)), NewText([]byte(new))
	m := MapLines(o, n)
	var words []string
	for i := 1; i <= o.Lines(); i++ {
		f := m.Line(i)
		word := f.Status.String()
		if f.Status != Current && f.Status != Deleted {
			word += ":" + f.Now.String()
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestMapLinesCases(t *testing.T) {
	lines := func(words string) string { return strings.ReplaceAll(words, " ", "\n") + "\n" }
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing changed", "a b c", "a b c", "current current current"},
		{"inserted above", "a b c", "n a b c", "moved:2 moved:3 moved:4"},
		{"deleted above", "x a b c", "a b c", "deleted moved:1 moved:2 moved:3"},
		{"rewritten in place", "a b c", "a B c", "current changed:2 current"},
		{"rewritten with more", "a b c", "a B B2 c", "current changed:2-3 moved:4"},
		{"two rewritten with one", "a b c d", "a B d", "current changed:2 deleted moved:3"},
		{"both neighbours rewritten", "a b c d e", "a B c D e", "current changed:2 current changed:4 current"},
		{"all but the middle rewritten", "a b c", "A b C", "changed:1 current changed:3"},
		{"lines removed on both sides", "a b c d e", "a c e", "current deleted moved:2 deleted moved:3"},
		{"lines added on both sides", "a c e", "a b c d e", "current moved:3 moved:5"},
		{"uneven changes on both sides", "a b c d e", "a B B2 c D D2 e", "current changed:2-3 ambiguous:4 changed:5-6 moved:7"},
		{"everything rewritten", "a b c", "x y z", "changed:1 changed:2 changed:3"},
		{"emptied", "a b c", "", "deleted deleted deleted"},
		{"deleted and typed again elsewhere", "a b c d e f", "a c d e f b", "current deleted moved:2 moved:3 moved:4 moved:5"},
		{"swapped", "a b c d", "a c b d", "current ambiguous:2-3 ambiguous:2-3 current"},
		{"one of two equals deleted", "a x x b", "a x b", "current ambiguous:2 ambiguous:2 moved:3"},
		{"one more of an equal", "a x b", "a x x b", "current ambiguous:2-3 moved:4"},
		{"slider", "f{ x } g{ y }", "f{ x } h{ z } g{ y }", "current current ambiguous:3-6 moved:7 moved:8 moved:9"},
		{"block copied behind itself", "a b c d", "a b c b c d", "current ambiguous:2-5 ambiguous:2-5 moved:6"},
		{"block copied far away", "a b c d e f g h i j", "a b c d e f g h i j b c", "current current current current current current current current current current"},
		{"a copy more complete than the original", "1 2 3 b 5 b 7 e 9 r e }", "1 2 3 b 5 b 7 e 9 r e } e 9 r E",
			"current current current current current current current ambiguous:8-10 ambiguous:8-10 ambiguous:8-10 ambiguous:11 current"},
		{"the copy deleted, or the original", "1 2 3 b 5 b 7 e 9 r e } e 9 r E", "1 2 3 b 5 b 7 e 9 r e }",
			"current current current current current current current ambiguous:8-10 ambiguous:8-10 ambiguous:8-10 ambiguous:11 current deleted deleted deleted deleted"},
		{"equal line whose neighbour changed", "a x b c x d", "a x B c x d", "current ambiguous:2 changed:3 current current current"},
		{"equal line between its neighbours", "p a x b c d x e", "a x b c d x e", "deleted moved:1 moved:2 moved:3 moved:4 moved:5 moved:6 moved:7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			new := ""
			if c.new != "" {
				new = lines(c.new)
			}
			if got := fates(lines(c.old), new); got != c.want {
				t.Errorf("%s -> %s:\n got %s\nwant %s", c.old, c.new, got, c.want)
			}
		})
	}
}

func TestTerminatorsAndBOMPlayNoPart(t *testing.T) {
	want := "current current current current"
	for _, c := range []struct{ old, new string }{
		{"a\nb\n\nc\n", "a\r\nb\r\n\r\nc\r\n"},
		{"a\r\nb\r\n\r\nc\r\n", "a\nb\n\nc\n"},
		{"a\nb\n\nc\n", "\ufeffa\nb\n\nc\n"},
		{"a\nb\n\nc\n", "a\nb\n\nc"},
		{"a\nb\n\nc", "a\nb\r\n\nc\n"},
	} {
		if got := fates(c.old, c.new); got != want {
			t.Errorf("%q -> %q: %s", c.old, c.new, got)
		}
	}
	if got := fates("a\r\nb\n", "a\r\r\nb\n"); got != "changed:1 current" {
		t.Errorf("a second CR is content: %s", got)
	}
}

func TestFollowCarriesThePlace(t *testing.T) {
	texts := func(words ...string) (out []*Text) {
		for _, w := range words {
			out = append(out, NewText([]byte(strings.ReplaceAll(w, " ", "\n"))))
		}
		return out
	}
	v := texts("a b c d e", "a B B2 c e", "new a B B2 c e2")
	m := MapLines(v[0], v[1]).Compose(MapLines(v[1], v[2]))
	for n, want := range map[int]string{
		1: "moved 2-2", 2: "changed 3-4", 3: "moved 5-5", 4: "deleted 6-5", 5: "changed 6-6",
	} {
		f := m.Line(n)
		if got := fmt.Sprintf("%v %d-%d", f.Status, f.Now.Start, f.Now.End); got != want {
			t.Errorf("line %d: %s, want %s", n, got, want)
		}
	}
	gone := m.Compose(MapLines(v[2], texts("")[0]))
	for n := 1; n <= 5; n++ {
		if f := gone.Line(n); f.Status != Deleted || f.Now != (Range{1, 0}) {
			t.Errorf("after all is gone, line %d: %v", n, f)
		}
	}
	back := MapLines(v[0], v[1]).Compose(MapLines(v[1], v[0]))
	if f := back.Line(2); f.Status.Proven() {
		t.Errorf("a line that was rewritten and typed again is proven: %v", f)
	}
}
