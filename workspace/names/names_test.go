package names

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mapd/outline"
	"mapd/outline/symbol"
)

// flat is the naive form of Names: the symbols of an outline one after the
// other.
func flat(o *outline.Outline) []Symbol {
	var out []Symbol
	var parents []int
	symbol.Walk(o.Symbols, func(s *symbol.Symbol, depth int) bool {
		one := Symbol{
			Name: s.Name, Kind: s.Kind, Start: s.Start, End: s.End, NameLine: s.NameLine,
			Parent: -1, Depth: depth, Exported: s.Exported, Local: s.Local,
		}
		if s.NameLine < s.Start || s.NameLine > s.End || s.NameLine-s.Start >= noNameLine {
			one.NameLine = s.Start
		}
		if depth > 0 {
			one.Parent = parents[depth-1]
		}
		parents = append(parents[:depth], len(out))
		out = append(out, one)
		return true
	})
	return out
}

func unpacked(n Names) []Symbol {
	var out []Symbol
	for _, s := range n.All() {
		out = append(out, s)
	}
	return out
}

func outlineOf(symbols ...symbol.Symbol) *outline.Outline {
	return &outline.Outline{List: symbol.List{Symbols: symbols}}
}

// outlines draws outlines as extractors make them; lines says how far apart
// symbols may be.
func outlines(lines int) *rapid.Generator[*outline.Outline] {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "ServeHTTP", "Type.Method", "äöü", "x_1", "日本", "Install > Linux"}),
		rapid.StringN(1, 20, 60),
	)
	return rapid.Custom(func(t *rapid.T) *outline.Outline {
		line := 1
		var level func(depth int) []symbol.Symbol
		level = func(depth int) []symbol.Symbol {
			var out []symbol.Symbol
			for range rapid.IntRange(0, 4-depth).Draw(t, "symbols") {
				line += rapid.IntRange(0, lines).Draw(t, "gap")
				s := symbol.Symbol{
					Name: name.Draw(t, "name"), Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Start: line,
					Exported: rapid.Bool().Draw(t, "exported"), Local: rapid.Bool().Draw(t, "local"),
				}
				if rapid.Bool().Draw(t, "children") {
					s.Children = level(depth + 1)
				}
				line += rapid.IntRange(0, lines).Draw(t, "length")
				s.End = line
				s.NameLine = rapid.IntRange(0, s.End).Draw(t, "name line")
				out = append(out, s)
			}
			return out
		}
		return outlineOf(level(0)...)
	})
}

// What was packed comes out again, also after a round trip through bytes.
func TestPack(t *testing.T) {
	for name, lines := range map[string]int{"narrow": 300, "wide": 50_000} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				o := outlines(lines).Draw(t, "outline")
				want := flat(o)
				n := Pack(o)
				if diff := cmp.Diff(want, unpacked(n)); diff != "" || n.Len() != len(want) {
					t.Fatalf("%d symbols, want %d:\n%s", n.Len(), len(want), diff)
				}
				stored, err := n.AppendBinary([]byte("before"))
				if err != nil {
					t.Fatal(err)
				}
				back, err := Parse(stored[len("before"):])
				if err != nil || back != n {
					t.Fatalf("Parse of what AppendBinary wrote: %v", err)
				}
			})
		})
	}
}

func TestSize(t *testing.T) {
	one := symbol.Symbol{Name: "name", Kind: symbol.Function, Start: 1, End: 2}
	for _, c := range []struct {
		last int
		want int
	}{{math.MaxUint16, 20}, {math.MaxUint16 + 1, 28}} {
		one.End = c.last
		symbols := []symbol.Symbol{one, one, one, one}
		if got := Pack(outlineOf(symbols...)).Size(); got != headBytes+4*c.want {
			t.Errorf("4 symbols of a file of %d lines take %d bytes, want %d each", c.last, got, c.want)
		}
	}
	if n := Pack(nil); n.Len() != 0 || n.Size() != 0 || n != Pack(outlineOf()) {
		t.Errorf("no outline is %+v", n)
	}
}

func TestEnclosing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := outlines(3).Draw(t, "outline")
		n := Pack(o)
		line := rapid.IntRange(1, 60).Draw(t, "line")
		want := -1
		for i, s := range flat(o) {
			if s.Start <= line && line <= s.End && (want < 0 || s.Depth >= n.At(want).Depth) {
				want = i
			}
		}
		if got := n.Enclosing(line); got != want {
			t.Fatalf("line %d is in symbol %d, want %d", line, got, want)
		}
	})
}

// Any byte that is changed, added or missing is an error.
func TestDamaged(t *testing.T) {
	b, _ := Pack(outlineOf(
		symbol.Symbol{Name: "Type", Kind: symbol.Class, Start: 1, End: 9, Exported: true, Children: []symbol.Symbol{
			{Name: "méthode", Kind: symbol.Method, Start: 2, End: 3, NameLine: 3},
		}},
		symbol.Symbol{Name: "f", Kind: symbol.Function, Start: 10, End: 10},
	)).AppendBinary(nil)
	if _, err := Parse(b); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for bit := range 8 {
			broken := []byte(string(b))
			broken[i] ^= 1 << bit
			if _, err := Parse(broken); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d flipped: %v", bit, i, err)
			}
		}
		if _, err := Parse(b[:i]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	if _, err := Parse(append(b, 0)); !errors.Is(err, ErrDamaged) {
		t.Fatalf("one byte more: %v", err)
	}
}

// FuzzCheck is about forms whose digest fits: what check lets pass can be read.
func FuzzCheck(f *testing.F) {
	for _, o := range []*outline.Outline{
		outlineOf(),
		outlineOf(symbol.Symbol{Name: "a", Kind: symbol.Key, Start: 1, End: 1}),
		outlineOf(symbol.Symbol{Name: "A", Kind: symbol.Class, Start: 1, End: 70_000, Children: []symbol.Symbol{
			{Name: "b", Kind: symbol.Method, Start: 2, End: 2, NameLine: 2},
			{Name: strings.Repeat("ü", 200), Kind: symbol.Method, Start: 2, End: 3, Local: true},
		}}),
	} {
		f.Add([]byte(Pack(o).s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := Names{string(b)}
		if n.check() != "" {
			return
		}
		for i, s := range n.All() {
			if s.Name == "" || s.Start < 1 || s.End < s.Start || s.NameLine < s.Start || s.NameLine > s.End || s.Parent >= i {
				t.Fatalf("symbol %d: %+v", i, s)
			}
			if got := n.Enclosing(s.Start); got < 0 {
				t.Fatalf("line %d of symbol %d is in no symbol", s.Start, i)
			}
		}
		stored, _ := n.AppendBinary(nil)
		if back, err := Parse(stored); err != nil || back != n {
			t.Fatalf("round trip: %v", err)
		}
	})
}

func TestKinds(t *testing.T) {
	if len(kinds) != 32 {
		t.Errorf("%d kinds; a new one goes to the end of the list and needs another version", len(kinds))
	}
	Kinds()[0] = "" // a copy
	if kinds[0] != symbol.File {
		t.Error("Kinds hands out the list itself")
	}
}
