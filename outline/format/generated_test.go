package format

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/outline/symbol"
)

// keyPiece is a text whose keys and their lines, counted from 0, are known.
type keyPiece struct {
	text string
	keys []keyAt
}

// TestKeyLines puts pieces of each format together at random: exactly their
// keys are found.
func TestKeyLines(t *testing.T) {
	pieces := map[string][]keyPiece{
		"ini": {
			{"k%d = v", []keyAt{{"k%d", 0, 0}}},
			{"k%d: a = b", []keyAt{{"k%d", 0, 0}}},
			{"k%d =\n  more\n  x = 1", []keyAt{{"k%d", 0, 2}}},
			{"k%d = a \\\nno = 1", []keyAt{{"k%d", 0, 1}}},
			{"flag%d", []keyAt{{"flag%d", 0, 0}}},
			{"; no = %d\n# [no]\n", nil},
		},
		"env": {
			{"K%d=v=w", []keyAt{{"K%d", 0, 0}}},
			{"export K%d='a\nNO=1\n'", []keyAt{{"K%d", 0, 2}}},
			{"K%d=\"a\\\"\nNO=1\" # c", []keyAt{{"K%d", 0, 1}}},
			{"# NO=%d\n", nil},
			{"K%d=", []keyAt{{"K%d", 0, 0}}},
		},
		"properties": {
			{"k%d=v", []keyAt{{"k%d", 0, 0}}},
			{"k%d : a\\\n no = 1\\\\", []keyAt{{"k%d", 0, 1}}},
			{"a\\ b%d c", []keyAt{{"a b%d", 0, 0}}},
			{"# no = %d \\\n! no\n", nil},
			{"\\u006b%d\\==1", []keyAt{{"k%d=", 0, 0}}},
		},
	}
	rng := rand.New(rand.NewPCG(25, 26))
	for lang, list := range pieces {
		for range 300 {
			var text strings.Builder
			var want, got []keyAt
			line := 1
			for i := range 1 + rng.IntN(8) {
				p := list[rng.IntN(len(list))]
				for _, k := range p.keys {
					want = append(want, keyAt{strings.ReplaceAll(k.Path, "%d", fmt.Sprint(i)), line + k.Start, line + k.End})
				}
				s := strings.ReplaceAll(p.text, "%d", fmt.Sprint(i)) + "\n"
				text.WriteString(s)
				line += strings.Count(s, "\n")
			}
			found := mustScan(t, lang, []byte(text.String()))
			symbol.Walk(found.Symbols, func(s *symbol.Symbol, _ int) bool {
				got = append(got, keyAt{s.Name, s.Start, s.End})
				return true
			})
			if diff := gocmp.Diff(want, got); diff != "" || found.Why != "" {
				t.Fatalf("%s:\n%s\n%s (-want +got) %s", lang, text.String(), found.Why, diff)
			}
		}
	}
}

// TestNotebookLines writes notebooks in two layouts: the line of the file that a
// heading or definition is said to be on holds its text.
func TestNotebookLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for range 200 {
		type cell struct {
			Type    string         `json:"cell_type"`
			Meta    map[string]any `json:"metadata"`
			Outputs []string       `json:"outputs,omitempty"`
			Source  any            `json:"source"`
		}
		var cells []cell
		names := 0
		for i := range 1 + rng.IntN(5) {
			c := cell{Type: "markdown", Outputs: []string{"def no_output():\n", "# No output\n"}}
			lines := []string{fmt.Sprintf("# Heading %d\n", i), "text \"quoted\" \\ \n", "\n", fmt.Sprintf("## Sub %d\n", i), "last"}
			if rng.IntN(2) == 0 {
				c.Type, lines = "code", []string{"x = '''\n", "'''\n", fmt.Sprintf("def f%d(a):\n", i), "    return a\n", fmt.Sprintf("class C%d:\n", i), "    pass"}
			}
			names += 2
			c.Source = lines
			if rng.IntN(4) == 0 {
				c.Source = strings.Join(lines, "")
			}
			cells = append(cells, c)
		}
		book := map[string]any{"cells": cells, "metadata": map[string]any{"language_info": map[string]any{"name": "python"}}}
		data, err := json.MarshalIndent(book, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 {
			data, _ = json.Marshal(book)
		}
		list := mustScan(t, "ipynb", data)
		if len(list.Symbols) != len(cells) || list.Why != "" {
			t.Fatalf("%d cells, want %d, %s\n%s", len(list.Symbols), len(cells), list.Why, data)
		}
		rows := strings.Split(string(data), "\n")
		found := 0
		for _, c := range list.Symbols {
			if !strings.Contains(rows[c.Start-1], "{") || !strings.Contains(rows[c.End-1], "}") {
				t.Fatalf("cell %s is at %d-%d\n%s", c.Name, c.Start, c.End, data)
			}
			symbol.Walk(c.Children, func(s *symbol.Symbol, _ int) bool {
				found++
				if !strings.Contains(rows[s.NameLine-1], s.Name) {
					t.Fatalf("%s is on line %d\n%s", s.Name, s.NameLine, data)
				}
				return true
			})
		}
		if found != names {
			t.Fatalf("%d headings and definitions, want %d\n%s", found, names, data)
		}
	}
}
