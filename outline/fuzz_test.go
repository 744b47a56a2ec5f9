package outline

import (
	"log/slog"
	"testing"

	"mapd/hashline"
)

// FuzzExtract gives any bytes to any extractor that runs in this process. A
// panic is a failure, and so is an outline that has to be repaired, because a
// test makes a panic of it.
func FuzzExtract(f *testing.F) {
	for _, lang := range fuzzed {
		f.Add(string(lang), []byte("# a\nb = 1\n[c]\n- d: {e: f}\n"))
	}
	f.Add(string(Go), []byte("package p\nfunc (t T) f() {\n\tx := func() {}\n}\ntype (\n\tA struct{ B int }\n"))
	f.Add(string(YAML), []byte("a:\n  - b: |\n      c: d\n\t? e\n? f\n: {g: [h\n---\n&x a: *x\n"))
	f.Add(string(Markdown), []byte("a\n===\n> # b\n~~~\n# c\n~~~\n<!--\n# d\n-->\n## e"))
	f.Add(string(SQL), []byte("create function f() returns int as $$ begin ; end $$;\ncreate table t (a int, b"))
	f.Add(string(Clojure), []byte("(defn f [x] #_(def y) \\( \"(\" #\"[\" ) ; )\n(ns a"))
	x := New(Options{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, language string, content []byte) {
		o, err := x.Extract(t.Context(), Language(language), hashline.NewText(content))
		if err != nil {
			t.Fatal(err)
		}
		for _, detail := range []Detail{Full, Compact, Minimal, Top, Truncated} {
			const most = 4096
			if m := o.Render(RenderOptions{Name: "f", Detail: detail, MaxBytes: most}); len(m.Text) > most {
				t.Errorf("%s has %d bytes", detail, len(m.Text))
			}
		}
	})
}

// fuzzed are one language of each family of extractors, and those with a
// scanner of their own.
var fuzzed = []Language{
	Text, Go, JSON, JSONC, JSONL, YAML, TOML, INI, Env, Properties, CSV, TSV, Markdown, RST, AsciiDoc, LaTeX, SQL, Clojure, EDN, Notebook, Patch, XML,
	Python, C, JavaScript, Ruby, Bash, Makefile, Dockerfile, Haskell,
}
