package format

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// countdown is a context that ends after its error was asked for n times.
type countdown struct {
	context.Context
	n int
}

func (c *countdown) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestScanStopsWithItsContext ends the context at the start and in the middle
// of a scan of each format.
func TestScanStopsWithItsContext(t *testing.T) {
	for _, f := range families {
		text := hashline.NewText(f.make(1 << 20))
		for asked := range 3 {
			list, err := Scan(&countdown{context.Background(), asked}, f.lang, text)
			if !errors.Is(err, context.Canceled) || len(list.Symbols) > 0 {
				t.Errorf("%s, ended when asked %d times: %d symbols, %v", f.lang, asked, len(list.Symbols), err)
			}
		}
	}
}

func TestSupports(t *testing.T) {
	for lang := range strings.FieldsSeq(`json jsonc jsonl yaml toml ini env properties csv tsv markdown mdx rst asciidoc latex sql
		clojure edn ipynb diff xml makefile just graphql nix zig dart haskell julia perl r objc solidity vue`) {
		if !Supports(lang) {
			t.Errorf("%s is not supported", lang)
		}
		list := mustScan(t, lang, nil)
		if len(list.Symbols) > 0 {
			t.Errorf("%s: an empty file has symbols", lang)
		}
	}
	if Supports("text") || Supports("") || Supports("go") {
		t.Error("a language of another package is supported")
	}
	if list := mustScan(t, "cobol", []byte("x")); list.Source != symbol.None || list.Why != symbol.Unsupported {
		t.Errorf("an unknown language is %s %s", list.Source, list.Why)
	}
}

// TestMarksAndLineEnds scans each format with a byte order mark and with CRLF:
// the symbols are the same.
func TestMarksAndLineEnds(t *testing.T) {
	for _, f := range families {
		plain := string(f.make(4 << 10))
		want := dump(mustScan(t, f.lang, []byte(plain)))
		for name, data := range map[string]string{
			"mark": hashline.BOM + plain,
			"CRLF": strings.ReplaceAll(plain, "\n", "\r\n"),
		} {
			if got := dump(mustScan(t, f.lang, []byte(data))); got != want {
				t.Errorf("%s with %s differs: %s", f.lang, name, firstDifference(want, got))
			}
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d is %q, not %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(g), len(w))
}

// TestElided checks what stands for the symbols that a limit leaves out.
func TestElided(t *testing.T) {
	array := "{\"a\": [\n" + strings.Repeat("{},\n", MaxElements+49) + "{}\n]}\n"
	tests := []struct {
		lang, data string
		want       keyAt
		signature  string
	}{
		{"json", array, keyAt{Elided, 102, 151}, "50 more elements not listed"},
		{"json", strings.ReplaceAll(array, "{}", "7"), keyAt{Elided, 102, 151}, "50 more elements not listed"},
		{"yaml", "a:\n" + strings.Repeat("- x: 1\n  y: 2\n", MaxElements+1), keyAt{Elided, 202, 203}, "1 more element not listed"},
		{"toml", "a = [\n" + strings.Repeat("{x = 1},\n", MaxElements+2) + "]\n", keyAt{Elided, 102, 103}, "2 more elements not listed"},
		{"jsonl", strings.Repeat("{}\n", MaxElements+3), keyAt{Elided, 101, 103}, "3 more records not listed"},
		{"csv", "a,b\n" + strings.Repeat("1,\"2\n\"\n", MaxElements+2), keyAt{Elided, 202, 205}, "2 more rows not listed"},
		{"properties", strings.Repeat("a=1\n", MaxChildren+5), keyAt{Elided, MaxChildren + 1, MaxChildren + 5}, "5 more symbols not listed"},
	}
	for _, tt := range tests {
		list := mustScan(t, tt.lang, []byte(tt.data))
		symbols := list.Symbols
		if len(symbols) == 1 {
			symbols = symbols[0].Children
		}
		last := symbols[len(symbols)-1]
		if got := (keyAt{last.Name, last.Start, last.End}); got != tt.want || last.Signature != tt.signature {
			t.Errorf("%s: last is %+v %q, want %+v %q", tt.lang, got, last.Signature, tt.want, tt.signature)
		}
	}
}

// TestPruneKeepsTheTop fills a file with more symbols than MaxSymbols: the
// deepest level goes, those above stay complete and say what they held.
func TestPruneKeepsTheTop(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "\"k%d\": {\"a\": {\"x\": 1, \"y\": 2},\n \"b\": 1, \"c\": 1},\n", i)
	}
	b.WriteString("\"last\": 1}\n")
	list := mustScan(t, "json", []byte(b.String()))
	if n := len(list.Symbols); n != 10_001 {
		t.Fatalf("%d symbols at the top", n)
	}
	if n := symbol.Count(list.Symbols); n != 40_001 {
		t.Errorf("%d symbols in all", n)
	}
	for i, s := range list.Symbols[:10_000] {
		if s.Name != fmt.Sprint("k", i) || s.Start != 2+2*i || s.End != 3+2*i || s.Signature != "object, 3 keys" {
			t.Fatalf("symbol %d is %+v", i, s)
		}
		if a := s.Children[0]; len(s.Children) != 3 || a.Name != "a" || a.Signature != "object, 2 keys" || a.Children != nil {
			t.Fatalf("children of symbol %d are %+v", i, s.Children)
		}
	}
}
