package golang

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
	"mapd/testdata/golden"
)

// extract runs Extract, which must not fail.
func extract(t testing.TB, src []byte) symbol.List {
	t.Helper()
	list, err := Extract(context.Background(), hashline.NewText(src))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestGolden compares the symbols of each testdata/*.txtar with what a person
// read line by line. Line 1 of in.go is the line after its marker.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			golden.Archive(t, name, func(src []byte) string { return golden.Dump(extract(t, src)) })
		})
	}
}

// TestLineEndings checks that terminators and a byte order mark change no line.
func TestLineEndings(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/types.txtar")
	if err != nil {
		t.Fatal(err)
	}
	src := archive.Files[0].Data
	want := golden.Dump(extract(t, src))
	for name, changed := range map[string][]byte{
		"CRLF": bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")),
		"BOM":  append([]byte(hashline.BOM), src...),
	} {
		if diff := cmp.Diff(want, golden.Dump(extract(t, changed))); diff != "" {
			t.Errorf("%s: want -, got +\n%s", name, diff)
		}
	}
}

func TestLineDirectives(t *testing.T) {
	list := extract(t, []byte("package p\n//line other.y:900\nfunc f() {\n}\n"))
	if s := list.Symbols[0]; s.Start != 3 || s.End != 4 {
		t.Errorf("f is at %d-%d", s.Start, s.End)
	}
}

func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Extract(ctx, hashline.NewText([]byte("package p"))); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// TestCuts lists where a file may be cut.
func TestCuts(t *testing.T) {
	src := "package p\n\nfunc f() {\n\tvar x int\n}\n\n// doc\n// more\nvar f = 1\n/* doc */\nvar y int\n\ntype T struct{}\nfunctional()\nfunc g()\n"
	var got []string
	for at := nextCut([]byte(src), 1); at < len(src); at = nextCut([]byte(src), at+1) {
		line, _, _ := strings.Cut(src[at:], "\n")
		got = append(got, line)
	}
	want := []string{"func f() {", "// doc", "type T struct{}", "func g()"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

// TestCutsInLiterals checks that a file whose chunks would end in a raw string,
// a comment or an expression has all its symbols and nothing else.
func TestCutsInLiterals(t *testing.T) {
	for _, inner := range []string{"var s = `\n%s`\n", "/*\n%s*/\nvar s int\n", "var s =\n%s\n"} {
		lines := strings.Repeat("func no() {}\n", chunkedFile/10)
		if strings.HasPrefix(inner, "var s =\n") {
			lines = "func() {}\n"
		}
		src := "package p\n\nfunc f() {}\n" + fmt.Sprintf(inner, lines) + "func g() {}\n" + strings.Repeat("// filler\n", chunkedFile/10)
		var names []string
		list := extract(t, []byte(src))
		for _, s := range list.Symbols {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != "f s g" || list.Source != symbol.Parser {
			t.Errorf("%q: %s, %.60s", inner, list.Source, got)
		}
	}
}

// TestParseAllPanics checks that a panic on another goroutine reaches the
// caller, who can recover it.
func TestParseAllPanics(t *testing.T) {
	text := hashline.NewText([]byte("package p\nfunc f() {}\n"))
	wave := []*chunk{{text: text, end: 10}, {text: text, start: 10, end: 9}, {text: text, end: 10}}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	parseAll(wave)
}
