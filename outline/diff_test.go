package outline

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
)

func sideOf(t testing.TB, name string, src []byte) Side {
	t.Helper()
	text := hashline.NewText(src)
	o, err := New(Options{}).Extract(context.Background(), Detect(name, src), text)
	if err != nil {
		t.Fatal(err)
	}
	return Side{Outline: o, Text: text}
}

func dumpChanges(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s %s %d-%d", c.Op, c.Kind, c.Name, c.Start, c.End)
		if c.Was != nil {
			fmt.Fprintf(&b, " was %d-%d", c.Was.Start, c.Was.End)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestDiffGolden compares the first two files of each testdata/diff/*.txtar.
func TestDiffGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/diff/*.txtar")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f := archive.Files
			got := dumpChanges(Diff(sideOf(t, f[0].Name, f[0].Data), sideOf(t, f[1].Name, f[1].Data)))
			if diff := cmp.Diff(string(f[2].Data), got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// TestDiffFunctions edits files of functions at random and compares with what
// the edits did.
func TestDiffFunctions(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	type function struct {
		name string
		body int
	}
	write := func(list []function) ([]byte, map[string]hashline.Range) {
		var b bytes.Buffer
		b.WriteString("package p\n\n")
		at := map[string]hashline.Range{}
		for _, f := range list {
			start := bytes.Count(b.Bytes(), []byte("\n")) + 1
			fmt.Fprintf(&b, "func %s() {\n%s}\n\n", f.name, strings.Repeat("\tg()\n", f.body))
			at[f.name] = hashline.Range{Start: start, End: start + f.body + 1}
		}
		return b.Bytes(), at
	}
	for range 300 {
		var old, now []function
		for i := range rng.IntN(12) {
			old = append(old, function{fmt.Sprint("f", i), rng.IntN(4)})
		}
		want := map[string]Op{}
		for _, f := range old {
			switch rng.IntN(5) {
			case 0:
				want[f.name] = Removed
				continue
			case 1:
				f.body++
				want[f.name] = Changed
			case 2:
				extra := function{"new" + f.name, 1}
				want[extra.name] = Added
				now = append(now, extra)
			}
			now = append(now, f)
		}
		if len(now) > 2 && rng.IntN(3) == 0 {
			slices.Reverse(now[:2])
		}
		oldSrc, oldAt := write(old)
		newSrc, newAt := write(now)
		for name, r := range newAt {
			if was, ok := oldAt[name]; ok && was.Start != r.Start && want[name] == "" {
				want[name] = Moved
			}
		}
		changes := Diff(sideOf(t, "a.go", oldSrc), sideOf(t, "a.go", newSrc))
		got := map[string]Op{}
		for i, c := range changes {
			got[c.Name] = c.Op
			at := newAt[c.Name]
			if c.Op == Removed {
				at = oldAt[c.Name]
			}
			if (hashline.Range{Start: c.Start, End: c.End}) != at || c.Was != nil && *c.Was != oldAt[c.Name] || (c.Was == nil) != (c.Op == Added) {
				t.Fatalf("%+v, want at %v", c, at)
			}
			if i > 0 && c.Start < changes[i-1].Start {
				t.Fatalf("not in line order: %v", changes)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("want -, got +\n%s\n%s\n-----\n%s", diff, oldSrc, newSrc)
		}
		if again := Diff(sideOf(t, "a.go", newSrc), sideOf(t, "a.go", newSrc)); len(again) != 0 {
			t.Fatalf("a file differs from itself: %v", again)
		}
	}
}

// TestDiffIgnoresTerminators checks that lines are compared without their ends.
func TestDiffIgnoresTerminators(t *testing.T) {
	src := "package p\n\nfunc f() {\n\tg()\n}"
	for _, other := range []string{src + "\n", strings.ReplaceAll(src, "\n", "\r\n"), hashline.BOM + src} {
		if c := Diff(sideOf(t, "a.go", []byte(src)), sideOf(t, "a.go", []byte(other))); len(c) != 0 {
			t.Errorf("%q: %v", other, c)
		}
	}
}

// TestDiffIsLinear compares outlines with many symbols, of one name and of
// many, and deep ones.
func TestDiffIsLinear(t *testing.T) {
	text := hashline.NewText(bytes.Repeat([]byte("x\n"), 1_000_000))
	same, many, deep := flat(50_000, 10), flat(50_000, 10), &Outline{}
	for i := range same.Symbols {
		same.Symbols[i].Name = "same"
	}
	level := &deep.Symbols
	for i := range maxDepth {
		*level = []symbol.Symbol{{Name: "n", Start: 1 + i, End: 900_000 - i}}
		level = &(*level)[0].Children
	}
	shifted := hashline.NewText(append([]byte("y\n"), text.Bytes()...))
	start := time.Now()
	for _, o := range []*Outline{same, many, deep} {
		moved := *o
		moved.Symbols = clone(o.Symbols)
		symbol.Walk(moved.Symbols, func(s *symbol.Symbol, _ int) bool {
			s.Start, s.End = s.Start+1, s.End+1
			return true
		})
		changes := Diff(Side{o, text}, Side{&moved, shifted})
		if len(changes) != len(o.Symbols) || changes[0].Op != Moved {
			t.Errorf("%d changes, the first %+v", len(changes), changes[0])
		}
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %s", took)
	}
}
