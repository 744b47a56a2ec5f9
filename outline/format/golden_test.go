package format

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
)

var update = flag.Bool("update", false, "write the symbols found into the golden files")

// TestGolden scans each document of testdata/*.txtar. The name of a document's
// file is LANGUAGE, or LANGUAGE.anything; the file that follows it, named
// "symbols", is what Scan finds.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []txtar.File
	for i, f := range ar.Files {
		if f.Name == "symbols" {
			continue
		}
		lang, _, _ := strings.Cut(f.Name, ".")
		if !Supports(lang) {
			t.Fatalf("%s: %s is no language of this package", file, lang)
		}
		list := mustScan(t, lang, f.Data)
		got := []byte(dump(list))
		out = append(out, f, txtar.File{Name: "symbols", Data: got})
		var want []byte
		if i+1 < len(ar.Files) && ar.Files[i+1].Name == "symbols" {
			want = ar.Files[i+1].Data
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" && !*update {
			t.Errorf("%s, %s (-want +got):\n%s", file, f.Name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: ar.Comment, Files: out}), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func mustScan(t testing.TB, lang string, data []byte) symbol.List {
	t.Helper()
	before := hashline.Sum(data)
	list, err := Scan(context.Background(), lang, hashline.NewText(data))
	if err != nil {
		t.Fatal(err)
	}
	if hashline.Sum(data) != before {
		t.Fatal("Scan changed the bytes")
	}
	checkInvariants(t, data, list)
	return list
}

// checkInvariants fails unless lines are in the file, children lie in their
// parents, siblings are in line order, and the limits hold.
func checkInvariants(t testing.TB, data []byte, list symbol.List) {
	t.Helper()
	lines := hashline.NewText(data).Lines()
	var check func(symbols []symbol.Symbol, first, last, depth int)
	check = func(symbols []symbol.Symbol, first, last, depth int) {
		previous := first
		if depth > MaxDepth && len(symbols) > 0 {
			t.Fatalf("depth %d", depth)
		}
		if len(symbols) > MaxChildren+1 {
			t.Fatalf("%d siblings", len(symbols))
		}
		for i := range symbols {
			s := &symbols[i]
			if s.Start < previous || s.End < s.Start || s.End > last {
				t.Fatalf("symbol %q at %d-%d: previous sibling starts at %d, parent is %d-%d", s.Name, s.Start, s.End, previous, first, last)
			}
			if s.NameLine != 0 && (s.NameLine < s.Start || s.NameLine > s.End) {
				t.Fatalf("symbol %q at %d-%d has its name on line %d", s.Name, s.Start, s.End, s.NameLine)
			}
			if s.Lead != 0 && (s.Lead > s.Start || s.Lead < first) {
				t.Fatalf("symbol %q at %d-%d has lead %d", s.Name, s.Start, s.End, s.Lead)
			}
			if s.Kind == "" || s.Name == "" || len(s.Name) > MaxName+len("…")+3 || len(s.Signature) > 2000 {
				t.Fatalf("symbol %q: kind %q, %d bytes of signature", s.Name, s.Kind, len(s.Signature))
			}
			if strings.ContainsAny(s.Signature+s.Docstring, "\n\r") {
				t.Fatalf("symbol %q: signature or docstring of several lines", s.Name)
			}
			previous = s.Start
			check(s.Children, s.Start, s.End, depth+1)
		}
	}
	check(list.Symbols, 1, lines, 1)
	if n := symbol.Count(list.Symbols); n > MaxSymbols+MaxDepth {
		t.Fatalf("%d symbols", n)
	}
	for i, imp := range list.Imports {
		if imp.Start < 1 || imp.End < imp.Start || imp.End > lines || i > 0 && imp.Start < list.Imports[i-1].Start {
			t.Fatalf("import %q at %d-%d", imp.Path, imp.Start, imp.End)
		}
	}
	if list.Source == "" {
		t.Fatal("no source")
	}
}

// dump writes a list as text for people to read.
func dump(list symbol.List) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s", list.Source)
	if list.Why != "" {
		fmt.Fprintf(&out, " %s", list.Why)
	}
	out.WriteByte('\n')
	for _, imp := range list.Imports {
		fmt.Fprintf(&out, "import %s [%d-%d]\n", imp.Path, imp.Start, imp.End)
	}
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, depth int) bool {
		fmt.Fprintf(&out, "%s%s %s [%d-%d]", strings.Repeat("  ", depth), s.Kind, quoteOdd(s.Name), s.Start, s.End)
		if s.NameLine != s.Start {
			fmt.Fprintf(&out, " name@%d", s.NameLine)
		}
		if s.Lead != 0 {
			fmt.Fprintf(&out, " lead@%d", s.Lead)
		}
		if len(s.Modifiers) > 0 {
			fmt.Fprintf(&out, " %v", s.Modifiers)
		}
		if s.Exported {
			out.WriteString(" exported")
		}
		if s.Signature != "" {
			fmt.Fprintf(&out, " | %s", s.Signature)
		}
		if s.Docstring != "" {
			fmt.Fprintf(&out, " // %s", s.Docstring)
		}
		out.WriteByte('\n')
		return true
	})
	return out.String()
}

// quoteOdd quotes a name that would not be one word of plain text.
func quoteOdd(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '"' }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
