package grammar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/corpus"
	"mapd/testdata/golden"
)

// A damage breaks a file. It returns the broken text and how to tell which
// definitions survive: line 0 to skip the definition; otherwise its new line.
type damage struct {
	name  string
	apply func(r *rand.Rand, src []byte) (broken []byte, survives func(s *symbol.Symbol) int)
}

func lineOf(src []byte, at int) int { return bytes.Count(src[:at], []byte("\n")) + 1 }

// without removes one of the places where text occurs.
func without(text string) func(*rand.Rand, []byte) ([]byte, func(*symbol.Symbol) int) {
	return func(r *rand.Rand, src []byte) ([]byte, func(*symbol.Symbol) int) {
		var places []int
		for at := 0; ; at++ {
			k := bytes.Index(src[at:], []byte(text))
			if k < 0 {
				break
			}
			at += k
			places = append(places, at)
		}
		if len(places) == 0 {
			return nil, nil
		}
		at := places[r.IntN(len(places))]
		line := lineOf(src, at)
		broken := slices.Concat(src[:at], src[at+len(text):])
		return broken, func(s *symbol.Symbol) int {
			if s.Start == line {
				return 0
			}
			return s.Start
		}
	}
}

func conflict(r *rand.Rand, src []byte) ([]byte, func(*symbol.Symbol) int) {
	lines := slices.Collect(bytes.Lines(src))
	if len(lines) < 20 {
		return nil, nil
	}
	k := r.IntN(len(lines) - 10)
	ours := slices.Concat(lines[k : k+3]...)
	broken := slices.Concat(slices.Concat(lines[:k]...), []byte("<<<<<<< HEAD\n"), ours, []byte("=======\n"),
		slices.Concat(lines[k:k+3]...), []byte(">>>>>>> theirs\n"), slices.Concat(lines[k+3:]...))
	return broken, func(s *symbol.Symbol) int {
		switch {
		case s.Start <= k:
			return s.Start
		case s.Start <= k+3:
			return 0
		}
		return s.Start + 6
	}
}

func cutShort(r *rand.Rand, src []byte) ([]byte, func(*symbol.Symbol) int) {
	at := len(src)/4 + r.IntN(len(src)/2)
	line := lineOf(src, at)
	return src[:at], func(s *symbol.Symbol) int {
		if s.NameLine >= line || s.Start >= line {
			return 0
		}
		return s.Start
	}
}

var damages = map[string][]damage{
	"python": {
		{"unclosed paren", without(")")}, {"unclosed string", without("'")}, {"triple quote", without(`"""`)},
		{"missing colon", without("):")}, {"conflict markers", conflict}, {"cut short", cutShort},
	},
	"": {
		{"missing brace", without("}")}, {"missing open brace", without("{")}, {"unclosed paren", without(")")}, {"unclosed string", without(`"`)},
		{"conflict markers", conflict}, {"cut short", cutShort},
	},
}

// testBroken damages files in all ways and checks that the definitions that
// survive are still found.
func testBroken(t *testing.T, language string, files []string, want float64) {
	t.Helper()
	kinds := damages[language]
	if kinds == nil {
		kinds = damages[""]
	}
	var total, found, right, phantoms int
	for _, kind := range kinds {
		r := rand.New(rand.NewPCG(1, 2))
		var n, ok, ends int
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			intact, err := Outline(language, src)
			if err != nil || intact.Why != "" {
				continue
			}
			broken, survives := kind.apply(r, src)
			if broken == nil {
				continue
			}
			list, err := Outline(language, broken)
			if err != nil {
				t.Fatal(err)
			}
			if !checkShape(t, broken, list) {
				t.Errorf("in %s, %s", file, kind.name)
			}
			again, err := Outline(language, broken)
			if err != nil || golden.Dump(again) != golden.Dump(list) {
				t.Errorf("%s, %s: another outline for the same bytes", file, kind.name)
			}
			a, b, c := survivors(t, file+", "+kind.name, intact, list, survives)
			n, ok, ends = n+a, ok+b, ends+c
			phantoms += strangers(t, file+", "+kind.name, intact, list)
		}
		t.Logf("%-12s %-18s %6d definitions  recall %.4f  ends %.4f", language, kind.name, n, ratio(ok, n), ratio(ends, ok))
		total, found, right = total+n, found+ok, right+ends
	}
	fmt.Printf("%-12s %d broken files: %6d definitions  recall %.4f  ends %.4f  phantoms %.4f\n",
		language, len(files)*len(kinds), total, ratio(found, total), ratio(right, found), ratio(phantoms, total))
	if phantoms*100 > total {
		t.Errorf("%s: %d symbols of broken files are not in the whole ones", language, phantoms)
	}
	if got := ratio(found, total); got < want || total == 0 {
		t.Errorf("%s: recall in broken files is %.4f, want %.4f", language, got, want)
	}
}

func survivors(t *testing.T, what string, intact, list symbol.List, survives func(*symbol.Symbol) int) (n, ok, ends int) {
	type key struct {
		name  string
		start int
	}
	have := make(map[key]int)
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		have[key{s.Name, s.Start}] = s.End - s.Start + 1
		return true
	})
	var missed []string
	symbol.Walk(intact.Symbols, func(s *symbol.Symbol, _ int) bool {
		line := survives(s)
		if line == 0 {
			return true
		}
		n++
		lines, found := have[key{s.Name, line}]
		if found {
			ok++
		} else {
			missed = append(missed, fmt.Sprintf("%s:%d", s.Name, line))
		}
		if found && lines == s.End-s.Start+1 {
			ends++
		}
		return true
	})
	if len(missed)*50 > n && testing.Verbose() {
		t.Logf("%s: missed %d of %d: %.200s", what, len(missed), n, strings.Join(missed, " "))
	}
	return n, ok, ends
}

// strangers counts the symbols of a broken file of which the whole one has not
// even the name.
func strangers(t *testing.T, what string, intact, list symbol.List) int {
	names := make(map[string]bool)
	symbol.Walk(intact.Symbols, func(s *symbol.Symbol, _ int) bool {
		names[s.Name] = true
		return true
	})
	var found []string
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		if !names[s.Name] {
			found = append(found, fmt.Sprintf("%s %s:%d", s.Kind, s.Name, s.Start))
		}
		return true
	})
	if len(found) > 0 && testing.Verbose() {
		t.Logf("%s: %d strangers: %.200s", what, len(found), strings.Join(found, " "))
	}
	return len(found)
}

func TestBrokenC(t *testing.T) {
	testBroken(t, "c", cFiles(t), .98)
}

// cFiles returns C files that every machine has: those of Go's runtime and of
// the grammars' binding.
func cFiles(t *testing.T) []string {
	t.Helper()
	small := func(path string, size int64) bool {
		return strings.HasSuffix(path, ".c") && size > 4<<10 && size < 200<<10
	}
	return append(filesIn(t, bindingDir(t), 24, small), filesIn(t, corpus.GoRoot(t, "src", "runtime"), 20, small)...)
}

// TestBrokenGoldens damages the golden file of every language.
func TestBrokenGoldens(t *testing.T) {
	want := map[string]float64{
		"elm":    .95, // a comment that lost its end swallows the file
		"svelte": .97, // an element without its end is none
	}
	for _, language := range Names() {
		files, err := filepath.Glob("testdata/" + language + ".*")
		if err != nil {
			t.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".outline") })
		bar := want[language]
		if bar == 0 {
			bar = .98
		}
		testBroken(t, language, slices.Repeat(files, 3), bar)
	}
}

func TestBrokenPython(t *testing.T) {
	suite(t, "python")
	testBroken(t, "python", pythonFiles(t, 60), .98)
}

func TestBrokenTypeScript(t *testing.T) {
	suite(t, "npm")
	modules := npmDir(t)
	testBroken(t, "typescript", filesIn(t, modules, 60, func(p string, size int64) bool {
		return strings.HasSuffix(p, ".ts") && size > 4<<10 && size < 400<<10
	}), .98)
	testBroken(t, "javascript", filesIn(t, modules, 60, func(p string, size int64) bool {
		return strings.HasSuffix(p, ".js") && !strings.HasSuffix(p, ".min.js") && !strings.Contains(p, "/libs/") && size > 4<<10 && size < 400<<10
	}), .98)
}
