package outline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline/sandbox"
	"mapd/outline/symbol"
)

// fakeParser is a Pool that answers what it is told to.
type fakeParser struct {
	list symbol.List
	err  error
	stop func() // called before it answers
}

func (f fakeParser) Parse(context.Context, string, []byte) (symbol.List, error) {
	if f.stop != nil {
		f.stop()
	}
	return f.list, f.err
}

const python = "class A:\n    def f(self):\n        pass\n\ndef g():\n    pass\n"

func TestExtractReasons(t *testing.T) {
	parsed := symbol.List{Symbols: []symbol.Symbol{{Name: "x", Kind: symbol.Class, Start: 1, End: 3}}, Source: symbol.Parser}
	for _, test := range []struct {
		name   string
		lang   Language
		parser Parser
		limit  int
		src    string
		source symbol.Source
		why    symbol.Why
		count  int
	}{
		{name: "parsed", lang: Python, parser: fakeParser{list: parsed}, src: python, source: symbol.Parser, count: 1},
		{name: "timeout", lang: Python, parser: fakeParser{err: fmt.Errorf("x: %w", sandbox.ErrTimeout)}, src: python, source: symbol.Pattern, why: symbol.Timeout, count: 3},
		{name: "memory", lang: Python, parser: fakeParser{err: sandbox.ErrMemory}, src: python, source: symbol.Pattern, why: symbol.Memory, count: 3},
		{name: "crashed", lang: Python, parser: fakeParser{err: sandbox.ErrCrashed}, src: python, source: symbol.Pattern, why: symbol.Crashed, count: 3},
		{name: "panic", lang: Python, parser: fakeParser{stop: func() { panic("no") }}, src: python, source: symbol.Pattern, why: symbol.Crashed, count: 3},
		{name: "too large", lang: Python, parser: fakeParser{list: parsed}, limit: len(python) - 1, src: python, source: symbol.Pattern, why: symbol.TooLarge, count: 3},
		{name: "just fits", lang: Python, parser: fakeParser{list: parsed}, limit: len(python), src: python, source: symbol.Parser, count: 1},
		{name: "go too large", lang: Go, limit: 10, src: "package p\nfunc f() {\n}\n", source: symbol.Pattern, why: symbol.TooLarge, count: 1},
		{name: "go", lang: Go, src: "package p\nfunc f() {\n}\n", source: symbol.Parser, count: 1},
		{name: "go broken", lang: Go, src: "package p\nfunc f( {\n}\nfunc g() {}\n", source: symbol.Segments, why: symbol.SyntaxErrors, count: 2},
		{name: "format", lang: Markdown, src: "# a\n\n## b\n", source: symbol.Parser, count: 2},
		{name: "no pool", lang: Python, src: python, source: symbol.Pattern, why: symbol.Unsupported, count: 3},
		{name: "unknown language", lang: Nim, src: "proc f() =\n  discard\n", source: symbol.Pattern, why: symbol.Unsupported, count: 1},
		{name: "text", lang: Text, src: "def f():\n    pass\n", source: symbol.None, why: symbol.Unsupported},
		{name: "empty", lang: Go, src: "", source: symbol.Parser},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := New(Options{Pool: test.parser, Limits: Limits{Bytes: test.limit}, Log: slog.New(slog.DiscardHandler)})
			o, err := x.Extract(context.Background(), test.lang, hashline.NewText([]byte(test.src)))
			if err != nil {
				t.Fatal(err)
			}
			if o.Source != test.source || o.Why != test.why || o.Count != test.count {
				t.Errorf("source %q why %q count %d, want %q %q %d", o.Source, o.Why, o.Count, test.source, test.why, test.count)
			}
			if o.Language != test.lang || o.Bytes != len(test.src) || o.Lines != strings.Count(test.src, "\n") {
				t.Errorf("language %s bytes %d lines %d", o.Language, o.Bytes, o.Lines)
			}
		})
	}
}

func TestExtractEndsWithContext(t *testing.T) {
	for _, lang := range []Language{Go, Python, JSON, Nim, Text} {
		ctx, cancel := context.WithCancel(context.Background())
		x := New(Options{Pool: fakeParser{err: context.Canceled, stop: cancel}})
		if lang != Python {
			cancel()
		}
		if o, err := x.Extract(ctx, lang, hashline.NewText([]byte("{}\n"))); !errors.Is(err, context.Canceled) || o != nil {
			t.Errorf("%s: got %v, %v", lang, o, err)
		}
		cancel()
	}
}

// TestTimeLimit checks that a scan in this process which takes too long gives
// way to line patterns, and that the caller's context is not blamed.
func TestTimeLimit(t *testing.T) {
	x := New(Options{Limits: Limits{Time: time.Nanosecond}})
	o, err := x.Extract(context.Background(), Go, hashline.NewText([]byte("package p\nfunc f() {\n}\n")))
	if err != nil || o.Source != symbol.Pattern || o.Why != symbol.Timeout || o.Count != 1 {
		t.Errorf("got %+v, %v", o, err)
	}
}

func TestVersion(t *testing.T) {
	a, b := New(Options{}), New(Options{Limits: Limits{Bytes: 5}})
	if a.Version() == "" || a.Version() == b.Version() || a.Version() != New(Options{Limits: DefaultLimits()}).Version() {
		t.Errorf("versions %q and %q", a.Version(), b.Version())
	}
}

// TestDefectsAreBugs checks that what an extractor must not return is a panic
// here, and would be repaired in service.
func TestDefectsAreBugs(t *testing.T) {
	sym := func(name string, start, end int, children ...symbol.Symbol) symbol.Symbol {
		return symbol.Symbol{Name: name, Kind: symbol.Class, Start: start, End: end, Children: children}
	}
	with := func(change func(*symbol.Symbol)) []symbol.Symbol {
		s := sym("a", 3, 4)
		change(&s)
		return []symbol.Symbol{s}
	}
	for name, symbols := range map[string][]symbol.Symbol{
		"starts at 0":       {sym("a", 0, 2)},
		"ends past the end": {sym("a", 1, 7)},
		"ends first":        {sym("a", 3, 2)},
		"no name":           {sym("", 1, 1)},
		"child outside":     {sym("a", 2, 3, sym("b", 2, 4))},
		"child before":      {sym("a", 2, 3, sym("b", 1, 2))},
		"order":             {sym("a", 3, 3), sym("b", 1, 1)},
		"order of children": {sym("p", 1, 5, sym("a", 3, 3), sym("b", 1, 1))},
		"not UTF-8":         {sym("a\xff", 1, 1)},
		"lead after start":  with(func(s *symbol.Symbol) { s.Lead = 4 }),
		"name outside":      with(func(s *symbol.Symbol) { s.NameLine = 5 }),
		"bad signature":     with(func(s *symbol.Symbol) { s.Signature = "\xff" }),
		"bad modifier":      with(func(s *symbol.Symbol) { s.Modifiers = []string{"\xff"} }),
	} {
		t.Run(name, func(t *testing.T) {
			list := symbol.List{Symbols: symbols, Source: symbol.Parser}
			x := New(Options{Pool: fakeParser{list: symbol.List{Symbols: clone(symbols)}}})
			func() {
				defer func() {
					if err, ok := recover().(error); !ok || !errors.Is(err, errBroken) {
						t.Errorf("recovered %v", err)
					}
				}()
				x.Extract(context.Background(), Python, hashline.NewText(bytes.Repeat([]byte("x\n"), 6)))
			}()
			if err := enforce(&list, 6); !errors.Is(err, errBroken) {
				t.Errorf("enforce: %v", err)
			}
			if err := enforce(&list, 6); err != nil {
				t.Errorf("after the repair: %v", err)
			}
		})
	}
}

func clone(symbols []symbol.Symbol) []symbol.Symbol {
	out := slices.Clone(symbols)
	for i := range out {
		out[i].Children = clone(out[i].Children)
		out[i].Modifiers = slices.Clone(out[i].Modifiers)
	}
	return out
}

// checkOutline fails the test unless o keeps the promises of Outline. It shares
// no code with enforce.
func checkOutline(t *testing.T, o *Outline) {
	t.Helper()
	count := 0
	var check func(level []symbol.Symbol, from, to int)
	check = func(level []symbol.Symbol, from, to int) {
		last := from
		for _, s := range level {
			count++
			if s.Start < last || s.End < s.Start || s.End > to || s.Name == "" || len(s.Name) > MaxName {
				t.Fatalf("%s %.40q: %d-%d after %d, within %d-%d", s.Kind, s.Name, s.Start, s.End, last, from, to)
			}
			last = s.Start
			check(s.Children, s.Start, s.End)
		}
	}
	check(o.Symbols, 1, o.Lines)
	if count != o.Count || count > MaxSymbols {
		t.Fatalf("%d symbols, Count is %d", count, o.Count)
	}
}

// TestRandomBytes gives random pieces of code and data to every extractor in
// this process.
func TestRandomBytes(t *testing.T) {
	x := New(Options{})
	rng := rand.New(rand.NewPCG(3, 4))
	for lang := range known {
		t.Run(string(lang), func(t *testing.T) {
			for range 60 {
				src := randomPieces(rng)
				defer func() {
					if v := recover(); v != nil {
						t.Errorf("%v\n%q", v, src)
					}
				}()
				o, err := x.Extract(context.Background(), lang, hashline.NewText(src))
				if err != nil {
					t.Fatal(err)
				}
				checkOutline(t, o)
				if o.Why == symbol.Crashed {
					t.Fatalf("panicked on %q", src)
				}
			}
		})
	}
}

func randomPieces(rng *rand.Rand) []byte {
	pieces := []string{
		"func ", "class ", "{", "}", "(", ")", "\n", "\n", "\n", "\t", "    ", "\"", "'", "`", "# ", "- ", ": ", "name", "= ", "/*", "*/", "\\", "\xff", "\x00", ",",
		"<a>", "[x]", "1", "type T struct", "end\n", "|", "```\n", "def f():\n", "@end\n", "FROM x AS y\n", "=>", "const f = ", "<<EOF\n", "EOF\n", ";", "--", "//",
	}
	var src []byte
	for range rng.IntN(1 << (2 + rng.IntN(7))) {
		src = append(src, pieces[rng.IntN(len(pieces))]...)
	}
	return src
}

func TestManySymbols(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	src := []byte("package p\n" + strings.Repeat("var a struct { b, c int }\n", MaxSymbols/2))
	o, err := New(Options{Limits: Limits{Time: time.Minute}}).Extract(context.Background(), Go, hashline.NewText(src))
	if err != nil || o.Source != symbol.Parser || o.Why != symbol.TooLarge || o.Count != MaxSymbols/2 {
		t.Errorf("%s %s, %d symbols, %v", o.Source, o.Why, o.Count, err)
	}
	src = []byte("package p\n" + strings.Repeat("var a int\n", MaxSymbols+5))
	o, err = New(Options{Limits: Limits{Time: time.Minute}}).Extract(context.Background(), Go, hashline.NewText(src))
	if err != nil || o.Why != symbol.TooLarge || o.Count != MaxSymbols {
		t.Fatalf("%s %s, %d symbols, %v", o.Source, o.Why, o.Count, err)
	}
	last := o.Symbols[MaxSymbols-1]
	if last.Name != Elided || last.Start != MaxSymbols+1 || last.End != MaxSymbols+6 {
		t.Errorf("the last is %+v", last)
	}
	checkOutline(t, o)
}
