package format

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/outline/symbol"
)

// TestMarkupSections writes the same sections in three formats, among text that
// must not be taken for sections, and compares their lines.
func TestMarkupSections(t *testing.T) {
	formats := []struct {
		lang    string
		heading func(level int, name string) string
		noise   []string
	}{
		{"rst", func(level int, name string) string {
			return name + "\n" + strings.Repeat(string("=-~^"[level]), len(name)) + "\n"
		}, []string{"text\n\n", "::\n\n    No\n    ==\n\n", ".. note::\n\n   No\n   --\n\n", "\n----\n\n", "- item\n\n", "=== ===\nA   B\n=== ===\n\n"}},
		{"asciidoc", func(level int, name string) string { return strings.Repeat("=", level+1) + " " + name + "\n" },
			[]string{"text\n\n", "----\n== no\n----\n\n", "....\n= no\n....\n", "|===\n| == no\n|===\n", "////\n== no\n////\n", " == no\n\n", "==no\n\n", "====\n== no\n====\n"}},
		{"latex", func(level int, name string) string {
			return []string{`\chapter`, `\section`, `\subsection*`, `\subsubsection[x]`}[level] + "{" + name + "}\n"
		}, []string{"text\n", "% \\section{no}\n", "\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n", "\\verb|\\section{no}|\n", "\\sectionmark{no} \\\\\n", "\\%\n"}},
	}
	rng := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		for _, f := range formats {
			var text bytes.Buffer
			var starts, levels []int
			line, deepest := 1, -1
			for i := range 1 + rng.IntN(8) {
				level := rng.IntN(min(deepest+2, 4))
				deepest = max(deepest, level)
				h := f.heading(level, fmt.Sprint("Heading ", i))
				starts, levels = append(starts, line), append(levels, level)
				if f.lang != "latex" {
					h += "\n"
				}
				for range rng.IntN(3) {
					h += f.noise[rng.IntN(len(f.noise))]
				}
				text.WriteString(h)
				line += strings.Count(h, "\n")
			}
			var want, got []keyAt
			for i, start := range starts {
				end := line - 1
				for k := i + 1; k < len(starts); k++ {
					if levels[k] <= levels[i] {
						end = starts[k] - 1
						break
					}
				}
				want = append(want, keyAt{fmt.Sprint("Heading ", i), start, end})
			}
			list := mustScan(t, f.lang, text.Bytes())
			symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
				got = append(got, keyAt{s.Name, s.Start, s.End})
				return true
			})
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Fatalf("%s:\n%s\n(-want +got) %s", f.lang, text.String(), diff)
			}
		}
	}
}

// TestDiffHunks writes patches whose hunks are known.
func TestDiffHunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 500 {
		var text bytes.Buffer
		var want []keyAt
		line := 1
		write := func(s string) { text.WriteString(s + "\n"); line++ }
		for i := range 1 + rng.IntN(4) {
			file := len(want)
			want = append(want, keyAt{fmt.Sprint("dir/f", i), line, 0})
			if rng.IntN(2) == 0 {
				write(fmt.Sprintf("diff --git a/dir/f%d b/dir/f%d", i, i))
				write("index 1..2 100644")
			}
			write(fmt.Sprintf("--- a/dir/f%d", i))
			write(fmt.Sprintf("+++ b/dir/f%d\t2020-01-01", i))
			for h := range 1 + rng.IntN(3) {
				var body []string
				old, new := 0, 0
				for range 1 + rng.IntN(6) {
					switch rng.IntN(3) {
					case 0:
						body, old = append(body, "--- removed"), old+1
					case 1:
						body, new = append(body, "+++ added"), new+1
					default:
						body, old, new = append(body, " @@ -1 +1 @@"), old+1, new+1
					}
				}
				name := fmt.Sprintf("@@ -%d,%d +%d,%d @@", 100*h+1, old, 100*h+1, new)
				start := line
				write(name + " func x()")
				for _, l := range body {
					write(l)
				}
				want = append(want, keyAt{name, start, line - 1})
			}
			want[file].End = line - 1
		}
		list := mustScan(t, "diff", text.Bytes())
		var got []keyAt
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			got = append(got, keyAt{s.Name, s.Start, s.End})
			return true
		})
		if diff := gocmp.Diff(want, got); diff != "" || list.Why != "" {
			t.Fatalf("%s\n%s (-want +got) %s", text.String(), list.Why, diff)
		}
	}
}

func TestMarkupHostile(t *testing.T) {
	tests := map[string]string{
		"underlines": huge("a\n==\n", 1<<19),
		"marks":      huge("=", 10<<20) + "\na\n" + huge("=", 10<<20),
		"sections":   huge("\\section{", 1<<19),
		"backslash":  huge("\\", 10<<20),
		"begin":      huge("\\begin{verbatim}", 1<<18),
		"percent":    huge("%", 10<<20),
		"hunks":      huge("@@ -1 +1 @@\n", 1<<18),
		"files":      huge("--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n", 1<<17),
		"huge hunk":  "--- a\n+++ b\n@@ -1,99999999999999999999 +1,9223372036854775807 @@\n" + huge(" x\n", 1<<18),
		"cells":      `{"cells":[` + huge(`{"cell_type":"code","source":["a\n"]},`, 1<<16) + `{}]}`,
		"brackets":   huge("[", 10<<20),
		"NULs":       huge("\x00", 1<<20),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			for _, lang := range []string{"rst", "asciidoc", "latex", "diff", "ipynb"} {
				mustScan(t, lang, []byte(data))
			}
		})
	}
}

func FuzzMarkup(f *testing.F) {
	f.Add([]byte("=====\nTitle\n=====\n\nSub\n---\n\n::\n\n  x\n"))
	f.Add([]byte("= A\n\n----\n== b\n----\n\nC\n-\n"))
	f.Add([]byte("\\section[a]{b}\n%\\section{c}\n\\begin{verbatim}\\end{verbatim}\\verb|x|\n"))
	f.Add([]byte("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@ f\n-a\n+b\n+c\n\\ No newline\n"))
	f.Add([]byte(`{"cells":[{"cell_type":"markdown","source":["# a\n","b"]},{"cell_type":"code","source":"def f():\n  pass"}],"metadata":{"language_info":{"name":"python"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, lang := range []string{"rst", "asciidoc", "latex", "diff", "ipynb"} {
			mustScan(t, lang, data)
		}
	})
}
