package pattern

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
	"mapd/testdata/golden"
)

func scan(t testing.TB, lang string, src []byte) symbol.List {
	t.Helper()
	list, err := Scan(context.Background(), lang, hashline.NewText(src))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestGolden compares the symbols of each testdata/LANGUAGE.txtar with what a
// person read line by line.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) < 15 {
		t.Fatalf("only %d golden files", len(files))
	}
	for _, name := range files {
		lang := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(lang, func(t *testing.T) {
			golden.Archive(t, name, func(src []byte) string {
				list := scan(t, lang, src)
				if list.Source != symbol.Pattern || list.Why != symbol.Unsupported || !Supports(lang) {
					t.Errorf("source %q, why %q, supported %v", list.Source, list.Why, Supports(lang))
				}
				return golden.Dump(list)
			})
		})
	}
}

func TestUnknownLanguages(t *testing.T) {
	src := []byte("// c\nfunction f() {\n\tg()\n}\n\nclass A:\n    def m(self):\n        pass\n\nsub s\n  x\nend\n")
	got := golden.Dump(scan(t, "klingon", src))
	want := "pattern unsupported\nfunction f [2-4] ^1 | function f() | c\nclass A [6-8] | class A\n  function m [7-8] | def m(self)\nfunction s [10-12] | sub s\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
	if Supports("klingon") {
		t.Error("klingon is supported")
	}
	for lang, src := range map[string]string{"text": "def f():\n  pass\n", "klingon": "nothing here\n", "python": ""} {
		if list := scan(t, lang, []byte(src)); list.Source != symbol.None || len(list.Symbols) > 0 {
			t.Errorf("%s: %+v", lang, list)
		}
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Scan(ctx, "python", hashline.NewText([]byte("def f(): pass\n"))); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestNoEndIsInvented checks that a definition which nothing ends has its own
// line or what is seen to be in it, and no more.
func TestNoEndIsInvented(t *testing.T) {
	for _, test := range []struct{ lang, src, want string }{
		{"javascript", "function f() {\n  a()\n", "f [1-2]"},
		{"javascript", "function f() {\n\nfunction g() {\n}\n\n\n", "f [1-1]\ng [3-4]"},
		{"c", "int f(int a,\n", "f [1-1]"},
		{"c", "int f(void)\n\n\n\nint x;\n", "f [1-1]"},
		{"go", "func f() {\n\ta(\n}\n\nfunc g() {\n}\n", "f [1-3]\ng [5-6]"},
		{"python", "def f():\n    a\n\n\n# end\n", "f [1-2]"},
		{"python", "def f(a,\n", "f [1-1]"},
		{"swift", "func f()\nfunc g()\n", "f [1-1]\ng [2-2]"},
		{"ruby", "def f\n  a\ndef g\nend\n", "f [1-2]\ng [3-4]"},
		{"ruby", "def f\n  a\nend\nend\nend\n", "f [1-3]"},
		{"gomod", "module a\n\nrequire (\n\tb v1 // indirect\n\tc v2\n)\n", "module a [1-1]\nrequire [3-6]"},
		{"java", "}}}}\nclass A {\n}\n", "A [2-3]"},
		{"java", "class A {\n  void f() {\n  }\n}}}\nclass B {\n}\n", "A [1-4]\n  f [2-3]\nB [5-6]"},
		{"typescript", "f(\"unclosed);\nfunction g() {\n  `\nfunction no() {}\n`\n}\nfunction h() {}\n", "g [2-6]\nh [7-7]"},
	} {
		var lines []string
		symbol.Walk(scan(t, test.lang, []byte(test.src)).Symbols, func(s *symbol.Symbol, depth int) bool {
			lines = append(lines, fmt.Sprintf("%s%s [%d-%d]", strings.Repeat("  ", depth), s.Name, s.Start, s.End))
			return true
		})
		if got := strings.Join(lines, "\n"); got != test.want {
			t.Errorf("%s %q:\ngot\n%s\nwant\n%s", test.lang, test.src, got, test.want)
		}
	}
}

// TestHostileIsLinear scans inputs that would cost a careless scanner far more
// than time in proportion, in every language. Its bound is a hundred times what
// they take, and a quadratic scan is beyond it.
func TestHostileIsLinear(t *testing.T) {
	const size, bound = 256 << 10, 3 * time.Second
	pieces := map[string]string{
		"open":       "{",
		"open lines": "{\n",
		"parens":     "((((\n",
		"nested":     "function f() {\n",
		"defs":       "def f():\nfn g() {}\nclass A {}\n",
		"one line":   "function f() { ",
		"quotes":     "\"'`\n",
		"comments":   "/* (* {- <# #| --[[ \n",
		"here":       "<<EOF\n",
		"generics":   "impl<<<<<<",
		"words":      "pub static ",
		"dedent":     strings.Repeat(" ", 40) + "class A {\nclass B {\n",
		"nul":        "\x00\xff",
		"tags":       "<a>",
	}
	langs := []string{"klingon"}
	for lang := range languages {
		langs = append(langs, lang)
	}
	for name, piece := range pieces {
		for _, lang := range langs {
			src := bytes.Repeat([]byte(piece), size/len(piece))
			start := time.Now()
			list := scan(t, lang, src)
			if took := time.Since(start); took > bound {
				t.Errorf("%s %s took %s", lang, name, took)
			}
			if c := symbol.Count(list.Symbols); c > MaxSymbols {
				t.Errorf("%s %s: %d symbols", lang, name, c)
			}
		}
	}
}

// BenchmarkScan scans code of a few languages.
func BenchmarkScan(b *testing.B) {
	for _, lang := range []string{"go", "c", "python", "typescript", "ruby", "klingon"} {
		sample := lang
		if lang == "klingon" {
			sample = "java"
		}
		if lang == "go" || lang == "python" {
			sample = "bash"
		}
		archive, err := txtar.ParseFile("testdata/" + sample + ".txtar")
		if err != nil {
			b.Fatal(err)
		}
		src := bytes.Repeat(archive.Files[0].Data, 1000)
		b.Run(lang, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				scan(b, lang, src)
			}
		})
	}
}

// FuzzScan checks that no input breaks the promises of a symbol list.
func FuzzScan(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		if archive, err := txtar.ParseFile(name); err == nil {
			f.Add(strings.TrimSuffix(filepath.Base(name), ".txtar"), archive.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, lang string, src []byte) {
		text := hashline.NewText(src)
		list, err := Scan(context.Background(), lang, text)
		if err != nil {
			t.Fatal(err)
		}
		var check func(level []symbol.Symbol, from, to int)
		check = func(level []symbol.Symbol, from, to int) {
			for _, s := range level {
				if s.Start < from || s.End < s.Start || s.End > to || s.Name == "" || s.NameLine < s.Start || s.NameLine > s.End || s.Lead > s.Start || !utf8.ValidString(s.Name+s.Signature+s.Docstring) {
					t.Fatalf("%+v within %d-%d", s, from, to)
				}
				from = s.Start
				check(s.Children, s.Start, s.End)
			}
		}
		check(list.Symbols, 1, text.Lines())
	})
}
