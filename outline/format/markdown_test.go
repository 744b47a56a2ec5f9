package format

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"mapd/hashline"
	"mapd/outline/symbol"
)

type headingAt struct {
	Level, Line int
	Name        string
}

// oracleHeadings finds the headings of the document with goldmark. An empty
// heading has no position there and is left out here and in ours.
func oracleHeadings(data []byte) []headingAt {
	var out []headingAt
	lines := hashline.NewText(data)
	root := goldmark.DefaultParser().Parse(text.NewReader(data))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		var words []string
		for i := range h.Lines().Len() {
			seg := h.Lines().At(i)
			words = append(words, strings.TrimSpace(string(seg.Value(data))))
		}
		name := strings.Join(words, " ")
		if name == "" {
			continue
		}
		out = append(out, headingAt{h.Level, lines.LineAt(h.Lines().At(0).Start), cutName(name)})
	}
	return out
}

func scannedHeadings(list symbol.List) []headingAt {
	var out []headingAt
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		if s.Kind == symbol.Heading && s.Name != Unnamed {
			out = append(out, headingAt{len(s.Signature), s.Start, s.Name})
		}
		return true
	})
	return out
}

func oracleTables(data []byte) []headingAt {
	var out []headingAt
	lines := hashline.NewText(data)
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	ast.Walk(md.Parser().Parse(text.NewReader(data)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if table, ok := n.(*extast.Table); ok && entering {
			first := -1
			ast.Walk(table.FirstChild(), func(c ast.Node, _ bool) (ast.WalkStatus, error) {
				if seg, ok := c.(*ast.Text); ok && first < 0 {
					first = seg.Segment.Start
				}
				return ast.WalkContinue, nil
			})
			at := headingAt{table.ChildCount() - 1, 0, ""}
			if first >= 0 { // else the header has only images, which have no position
				at.Line = lines.LineAt(first)
			}
			out = append(out, at)
		}
		return ast.WalkContinue, nil
	})
	return out
}

func scannedTables(list symbol.List) []headingAt {
	var out []headingAt
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		if s.Kind == symbol.Table {
			out = append(out, headingAt{s.End - s.Start - 1, s.Start, ""})
		}
		return true
	})
	return out
}

func markdownDiff(t testing.TB, data []byte) string {
	list := mustScan(t, "markdown", data)
	if diff := cmp.Diff(oracleHeadings(data), scannedHeadings(list)); diff != "" {
		return "headings " + diff
	}
	return ""
}

func TestMarkdownAgainstGoldmark(t *testing.T) {
	for _, f := range realFiles(t, ".md", 1<<20, 2000) {
		if bytes.HasPrefix(f.data, []byte("---")) || bytes.HasPrefix(f.data, []byte(hashline.BOM)) {
			continue // goldmark knows neither front matter nor marks
		}
		if diff := markdownDiff(t, f.data); diff != "" {
			t.Errorf("%s: (-goldmark +ours) %s", f.name, diff)
		}
		want, got := oracleTables(f.data), scannedTables(mustScan(t, "markdown", f.data))
		for i := range min(len(want), len(got)) {
			if want[i].Line == 0 {
				got[i].Line = 0
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: tables (-goldmark +ours) %s", f.name, diff)
		}
	}
	rng := rand.New(rand.NewPCG(5, 9))
	for range 3000 {
		data := randomMarkdown(rng)
		if diff := markdownDiff(t, data); diff != "" {
			t.Fatalf("%q (-goldmark +ours)\n%s\n%s", data, data, diff)
		}
	}
}

func randomMarkdown(rng *rand.Rand) []byte {
	pieces := []string{"# one", "## two", "three\n===", "four\n---", "```", "~~~", "```go", "    # code", "- item", "  - nested",
		"  text", "    more", "> quote", "> # in quote", "1. first", "2. second", "   # in item", "<!--", "-->", "<div>", "</div>", "<b>",
		"[a]: /url", "[b]: /url 'title'", "===", "---", "***", "text", "text\ntext", "", "", "", "\t# tab", "#", "# closed #", "#no", "<pre>", "</pre>", "-", "> ```", "- ```", "-   # x"}
	var out bytes.Buffer
	out.WriteString("start\n\n")
	for range 1 + rng.IntN(12) {
		out.WriteString(pieces[rng.IntN(len(pieces))])
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func TestMarkdownHostile(t *testing.T) {
	tests := map[string]string{
		"quotes":      huge("> ", 1<<20),
		"quote lines": huge(huge("> ", 200)+"\n", 5000),
		"items":       huge("- ", 1<<20),
		"hashes":      huge("#", 10<<20),
		"headings":    huge("# a\n", 1<<20),
		"brackets":    huge("[", 10<<20),
		"definitions": huge("[a]: x \"\n", 1<<20),
		"bars":        huge("|", 10<<20) + "\n" + huge("|-", 5<<20),
		"spaces":      huge(" ", 10<<20) + "x",
		"NULs":        huge("\x00", 1<<20),
		"dashes":      huge("-", 10<<20),
		"paragraph":   huge("a\n", 5<<20) + "===\n",
		"bad UTF-8":   "# \xff\xfe\n\xff\n---\n",
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			mustScan(t, "markdown", []byte(data))
			mustScan(t, "mdx", []byte(data))
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte("# a\n\nb\n===\n~~~\n# c\n~~~\n- # d\n"))
	f.Add([]byte("---\na: b\n---\n> x\ny\n===\n\n| a |\n|---|\n[l]: t\n  'x'\n<!-- # -->\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mustScan(t, "markdown", data)
		mustScan(t, "mdx", data)
	})
}
