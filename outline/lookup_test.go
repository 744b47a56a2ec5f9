package outline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline/symbol"
	"mapd/testdata/corpus"
)

// tree makes symbols from lines "kind name start-end", two spaces a level; a
// kind that ends in * is local.
func tree(t testing.TB, text string) *Outline {
	t.Helper()
	o := &Outline{Language: Go, Lines: 1000}
	stack := []*[]symbol.Symbol{&o.Symbols}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		body := strings.TrimLeft(line, " ")
		if body == "" {
			continue
		}
		depth := (len(line) - len(body)) / 2
		kind, rest, _ := strings.Cut(body, " ")
		at := strings.LastIndexByte(rest, ' ')
		s := symbol.Symbol{Name: rest[:at], Kind: symbol.Kind(strings.TrimSuffix(kind, "*")), Local: strings.HasSuffix(kind, "*")}
		if _, err := fmt.Sscanf(rest[at+1:], "%d-%d", &s.Start, &s.End); err != nil {
			t.Fatal(err)
		}
		level := stack[depth]
		*level = append(*level, s)
		stack = append(stack[:depth+1], &(*level)[len(*level)-1].Children)
	}
	o.Count = symbol.Count(o.Symbols)
	return o
}

const lookupTree = `
function Close 1-2
struct File 3-9
  field name 4-4
  method Close 5-5
  field Sync 6-6
method File.Close 10-12
  function* helper 11-11
method File.Read 13-15
method Dir.Read 16-18
class Outer 20-40
  class Inner 21-30
    method run 22-23
    method deep 24-25
  method run 31-32
function over 41-42
function over 43-44
function over 45-46
  function* helper 45-46
namespace ns 50-60
  class A 51-53
    method f 52-52
  method A::f 54-56
  function g 57-58
method A::h 61-62
function unique* 63-63
class operator[] 64-64
`

const dataTree = `
object a 1-20
  array b 2-15
    object [0] 3-5
      key c 4-4
    object [1] 6-8
    object [3] 9-12
      key c 10-10
      key c 11-11
  key x.y 16-16
  object x 17-19
    key y 18-18
key a.b 21-21
key with "quote" 22-22
key 3 23-23
array list 24-30
  object [0] 25-26
  object [1] 27-28
`

const documentTree = "" +
	"heading Getting Started! 1-50\n" +
	"  heading Install 2-20\n" +
	"    heading Linux 3-9\n" +
	"    heading v1.2 (beta) 10-20\n" +
	"  heading Usage 21-50\n" +
	"heading API 60-90\n" +
	"  heading Install 61-70\n"

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		tree, path string
		want       string // canonical path and lines; the candidates; or the nearest
	}{
		{lookupTree, "Close", "Close 1-2"}, // the top level wins over members
		{lookupTree, "File", "File 3-9"},
		{lookupTree, "File.Close", "File.Close 10-12"}, // the whole name wins over a path
		{lookupTree, "File.name", "File.name 4-4"},
		{lookupTree, "File#name", "File.name 4-4"},
		{lookupTree, "File::Sync", "File.Sync 6-6"},
		{lookupTree, "Sync", "File.Sync 6-6"},
		{lookupTree, "Read", "? File.Read 13-15, Dir.Read 16-18"},
		{lookupTree, "Dir.Read", "Dir.Read 16-18"},
		{lookupTree, "run", "? Outer.Inner.run 22-23, Outer.run 31-32"},
		{lookupTree, "Outer.run", "Outer.run 31-32"},
		{lookupTree, "Inner.run", "Outer.Inner.run 22-23"},
		{lookupTree, "Outer::Inner::run", "Outer.Inner.run 22-23"},
		{lookupTree, "Outer/Inner/deep", "Outer.Inner.deep 24-25"},
		{lookupTree, "Outer->Inner->deep", "Outer.Inner.deep 24-25"},
		{lookupTree, "Outer > Inner > deep", "Outer.Inner.deep 24-25"},
		{lookupTree, "deep", "Outer.Inner.deep 24-25"},
		{lookupTree, "over", "? over[1] 41-42, over[2] 43-44, over[3] 45-46"},
		{lookupTree, "over[2]", "over[2] 43-44"},
		{lookupTree, "over#3", "over[3] 45-46"},
		{lookupTree, "over[3].helper", "over[3].helper 45-46"},
		{lookupTree, "over[4]", "! over[1], over[2], over[3]"},
		{lookupTree, "over[0]", "! over[1], over[2], over[3]"},
		{lookupTree, "helper", "? File.Close.helper 11-11, over[3].helper 45-46"},
		{lookupTree, "File.Close.helper", "File.Close.helper 11-11"},
		{lookupTree, "A::f", "ns.A::f 54-56"},
		{lookupTree, "ns::A::f", "? ns.A.f 52-52, ns.A::f 54-56"},
		{lookupTree, "ns::g", "ns.g 57-58"},
		{lookupTree, "::ns::g", "ns.g 57-58"},
		{lookupTree, "h", "A::h 61-62"},
		{lookupTree, "class Outer", "Outer 20-40"},
		{lookupTree, "func deep(a, b)", "Outer.Inner.deep 24-25"},
		{lookupTree, "(*File).Close", "File.Close 10-12"},
		{lookupTree, "Outer.run()", "Outer.run 31-32"},
		{lookupTree, "def", "!"},
		{lookupTree, "operator[]", "operator[] 64-64"},
		{lookupTree, "Outer.missing", "!"},
		{lookupTree, "deep[1]", "! Outer.Inner.deep"},
		{lookupTree, "Cloze", "! Close, File.Close"},
		{lookupTree, "outer", "! Outer"},
		{lookupTree, "Inn", "! Outer.Inner"},
		{lookupTree, "", "!"},
		{lookupTree, ".", "!"},
		{lookupTree, "File.", "! File"},

		{dataTree, "a.b[3].c[2]", "a.b[3].c[2] 11-11"},
		{dataTree, "a.b[0].c", "a.b[0].c 4-4"},
		{dataTree, "$.a.b[1]", "a.b[1] 6-8"},
		{dataTree, "$.a", "a 1-20"},
		{dataTree, ".a.b[1]", "a.b[1] 6-8"},
		{dataTree, "list[1]", "list[1] 27-28"},
		{dataTree, "list[0-1]", "list[0-1] 25-28"},
		{dataTree, "a.b[1-3]", "a.b[1-3] 6-12"},
		{dataTree, "list[0-7]", "! list"},
		{dataTree, "list[1-0]", "! list"},
		{lookupTree, "over[1-2]", "over[1-2] 41-44"},
		{dataTree, "list[2]", "! list"},
		{dataTree, "a.b", "a.b 21-21"}, // a key with a dot is a whole name
		{dataTree, `a["b"]`, "a.b 2-15"},
		{dataTree, `a["x.y"]`, `a["x.y"] 16-16`},
		{dataTree, "a.x.y", `? a["x.y"] 16-16, a.x.y 18-18`},
		{dataTree, `$['with "quote"']`, `with "quote" 22-22`},
		{dataTree, `["with \"quote\""]`, `with "quote" 22-22`},
		{dataTree, "3", "3 23-23"},

		{documentTree, "Getting Started!", "Getting Started! 1-50"},
		{documentTree, "# Getting Started!", "Getting Started! 1-50"},
		{documentTree, "#getting-started", "Getting Started! 1-50"},
		{documentTree, "getting started", "Getting Started! 1-50"},
		{documentTree, "#Getting Started! > Install", "Getting Started! > Install 2-20"},
		{documentTree, "#getting-started > install > linux", "Getting Started! > Install > Linux 3-9"},
		{documentTree, "Install > Linux", "Getting Started! > Install > Linux 3-9"},
		{documentTree, "## Install", "? Getting Started! > Install 2-20, API > Install 61-70"},
		{documentTree, "API > Install", "API > Install 61-70"},
		{documentTree, "v1.2 (beta)", "Getting Started! > Install > v1.2 (beta) 10-20"},
		{documentTree, "#v12-beta", "Getting Started! > Install > v1.2 (beta) 10-20"},
		{documentTree, "usage", "Getting Started! > Usage 21-50"},
	} {
		o := tree(t, test.tree)
		if got := answer(o, test.path); got != test.want {
			t.Errorf("%-30q got  %s\n%34s want %s", test.path, got, "", test.want)
		}
	}
}

// answer writes what Lookup returns.
func answer(o *Outline, path string) string {
	m, err := o.Lookup(path)
	var missing *NotFoundError
	var ambiguous *AmbiguousError
	switch {
	case errors.As(err, &missing):
		return strings.TrimSpace("! " + strings.Join(missing.Nearest, ", "))
	case errors.As(err, &ambiguous):
		var list []string
		for _, c := range ambiguous.Candidates {
			list = append(list, fmt.Sprintf("%s %d-%d", c.Name, c.Start, c.End))
		}
		return "? " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s %d-%d", m.Path, m.Symbol.Start, m.Symbol.End)
}

func TestLookupParents(t *testing.T) {
	m, err := tree(t, lookupTree).Lookup("Inner.run")
	if err != nil || len(m.Parents) != 2 || m.Parents[0].Name != "Outer" || m.Parents[1].Name != "Inner" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestLookupErrors(t *testing.T) {
	o := tree(t, lookupTree)
	_, err := o.Lookup("over")
	if want := `"over" names 3 symbols; ask for one of over[1] (function, 41-42), over[2] (function, 43-44), over[3] (function, 45-46)`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	_, err = o.Lookup("Inn")
	if want := `no symbol "Inn"; the nearest are Outer.Inner`; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

// TestLookupIsBounded looks up in large outlines what costs most.
func TestLookupIsBounded(t *testing.T) {
	o := flat(200_000, 12)
	for i := range o.Symbols[:100_000] {
		o.Symbols[i].Name = "same"
	}
	start := time.Now()
	var ambiguous *AmbiguousError
	if _, err := o.Lookup("same"); !errors.As(err, &ambiguous) || ambiguous.Total != 100_000 || len(ambiguous.Candidates) != MaxCandidates {
		t.Errorf("got %v", err)
	}
	if m, err := o.Lookup("same[99999]"); err != nil || m.Symbol != &o.Symbols[99_998] {
		t.Errorf("got %v, %v", m, err)
	}
	var missing *NotFoundError
	for _, path := range []string{"f00000199999x", strings.Repeat("a.", 2000), strings.Repeat("same[1].", 400), strings.Repeat("x", 1<<20), "same[100001]"} {
		if _, err := o.Lookup(path); !errors.As(err, &missing) || len(missing.Nearest) > MaxNearest || len(err.Error()) > 1000 {
			t.Errorf("%.20q: %v", path, err)
		}
	}
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestLookupOfEverySymbol checks on real files that the canonical path of each
// symbol leads back to it.
func TestLookupOfEverySymbol(t *testing.T) {
	x := New(Options{})
	total := 0
	for _, name := range []string{"reflect/type.go", "net/http/server.go", "go/types/infer.go", "encoding/json/decode_test.go"} {
		src, err := os.ReadFile(corpus.GoRoot(t, "src", name))
		if err != nil {
			t.Fatal(err)
		}
		o, err := x.Extract(context.Background(), Go, hashline.NewText(src))
		if err != nil {
			t.Fatal(err)
		}
		var parents []*symbol.Symbol
		symbol.Walk(o.Symbols, func(s *symbol.Symbol, depth int) bool {
			parents = append(parents[:depth], s)
			path := o.pathTo(Match{Symbol: s, Parents: parents[:depth]})
			if m, err := o.Lookup(path); err != nil || m.Symbol != s || m.Path != path {
				t.Errorf("%s: %s: %v", name, path, err)
			}
			total++
			return true
		})
	}
	if total < 1000 {
		t.Errorf("only %d symbols", total)
	}
}

// The members of a type are found by its name also where a block of its own
// adds them.
func TestLookupThroughExtensions(t *testing.T) {
	o := &Outline{Lines: 40, List: symbol.List{Symbols: []symbol.Symbol{
		{Name: "Foo", Kind: symbol.Struct, Start: 1, End: 2},
		{Name: "impl<T: Into<U>> Foo<T>", Kind: symbol.Object, Start: 3, End: 9, Children: []symbol.Symbol{{Name: "new", Kind: symbol.Method, Start: 4, End: 5}}},
		{Name: "impl fmt::Display for Foo", Kind: symbol.Object, Start: 10, End: 19, Children: []symbol.Symbol{{Name: "fmt", Kind: symbol.Method, Start: 11, End: 12}}},
		{Name: "extension Bar", Kind: symbol.Object, Start: 20, End: 29, Children: []symbol.Symbol{{Name: "run", Kind: symbol.Method, Start: 21, End: 22}}},
		{Name: "implied", Kind: symbol.Function, Start: 30, End: 31},
	}}}
	for path, line := range map[string]int{"Foo": 1, "Foo::new": 4, "Foo.fmt": 11, "Foo#fmt": 11, "Bar.run": 21, "implied": 30, "new": 4} {
		m, err := o.Lookup(path)
		if err != nil || m.Symbol.Start != line {
			t.Errorf("%s: %+v, %v; want line %d", path, m.Symbol, err, line)
			continue
		}
		if again, err := o.Lookup(m.Path); err != nil || again.Symbol != m.Symbol {
			t.Errorf("%s: its path %q leads elsewhere: %v", path, m.Path, err)
		}
	}
}
