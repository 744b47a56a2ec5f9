package format

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	yamlv3 "go.yaml.in/yaml/v3"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// oracleYAML finds the keys of the documents with yaml.v3 and their first lines.
// It reports false if it cannot parse them or a key is a collection, which has
// no name there.
func oracleYAML(data []byte) (keys []keyAt, ok bool) {
	dec := yamlv3.NewDecoder(bytes.NewReader(data))
	var docs []*yamlv3.Node
	for {
		var doc yamlv3.Node
		if err := dec.Decode(&doc); err != nil {
			if err.Error() != "EOF" {
				return nil, false
			}
			break
		}
		docs = append(docs, &doc)
	}
	complete := true
	var walk func(path string, n *yamlv3.Node)
	walk = func(path string, n *yamlv3.Node) {
		switch n.Kind {
		case yamlv3.DocumentNode:
			walk(path, n.Content[0])
		case yamlv3.MappingNode:
			for i := 0; i < len(n.Content); i += 2 {
				k := n.Content[i]
				name := k.Value
				complete = complete && k.Kind&(yamlv3.MappingNode|yamlv3.SequenceNode) == 0
				if k.Kind == yamlv3.AliasNode {
					name = "*" + k.Value
				}
				if name == "" {
					name = Unnamed
				}
				p := path + "/" + cutName(name)
				keys = append(keys, keyAt{Path: p, Start: k.Line})
				walk(p, n.Content[i+1])
			}
		case yamlv3.SequenceNode:
			for i, c := range n.Content {
				if i < MaxElements {
					walk(fmt.Sprintf("%s/[%d]", path, i), c)
				}
			}
		}
	}
	for _, doc := range docs {
		walk("", doc)
	}
	return keys, complete
}

// yamlSpan is a key of a block mapping, and the index in the list of all starts
// of what follows its value; -1 if its end is not to be compared.
type yamlSpan struct {
	key  *yamlv3.Node
	next int
}

// yamlSpans returns the first lines of all keys and elements in order, and the
// keys.
func yamlSpans(data []byte) (starts []int, spans []yamlSpan) {
	dec := yamlv3.NewDecoder(bytes.NewReader(data))
	var walk func(n *yamlv3.Node)
	walk = func(n *yamlv3.Node) {
		for i, c := range n.Content {
			if n.Kind == yamlv3.MappingNode && i%2 == 0 {
				starts = append(starts, c.Line)
				v := n.Content[i+1]
				k := len(spans)
				spans = append(spans, yamlSpan{key: c, next: -1})
				walk(v)
				if (n.Style|v.Style)&yamlv3.FlowStyle == 0 && v.Style&(yamlv3.LiteralStyle|yamlv3.FoldedStyle) == 0 {
					spans[k].next = len(starts)
				}
			} else if n.Kind == yamlv3.SequenceNode {
				starts = append(starts, c.Line)
				walk(c)
			} else if n.Kind == yamlv3.DocumentNode {
				walk(c)
			}
		}
	}
	for {
		var doc yamlv3.Node
		if dec.Decode(&doc) != nil {
			return starts, spans
		}
		walk(&doc)
	}
}

// checkYAMLEnds compares the last lines of block keys with those that follow from
// where yaml.v3 sees the next node start: the last line before it that is not
// blank, a comment, a mark between documents or a lone dash.
func checkYAMLEnds(t *testing.T, name string, data []byte, list symbol.List) {
	t.Helper()
	text := hashline.NewText(data)
	starts, spans := yamlSpans(data)
	var got []*symbol.Symbol
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		if s.Kind == symbol.Key {
			got = append(got, s)
		}
		return true
	})
	if len(got) != len(spans) {
		return // elements beyond MaxElements
	}
	for i, sp := range spans {
		if sp.next < 0 {
			continue
		}
		end := text.Lines()
		if sp.next < len(starts) {
			end = starts[sp.next] - 1
		}
		for end > sp.key.Line {
			ink := strings.TrimSpace(string(text.Line(end)))
			if ink != "" && ink[0] != '#' && !documentMark(text.Line(end), "---") && !documentMark(text.Line(end), "...") && strings.Trim(ink, "- ") != "" && ink[0] != '%' {
				break
			}
			end--
		}
		if end >= sp.key.Line && got[i].End != end {
			t.Errorf("%s: key %s on line %d ends on %d, want %d", name, got[i].Name, got[i].Start, got[i].End, end)
		}
	}
}

func scannedYAML(list symbol.List) []keyAt {
	var out []keyAt
	var walk func(path string, symbols []symbol.Symbol)
	walk = func(path string, symbols []symbol.Symbol) {
		for _, s := range symbols {
			p := path + "/" + s.Name
			if s.Kind == symbol.Section {
				p = path
			}
			if s.Kind == symbol.Key {
				out = append(out, keyAt{Path: p, Start: s.Start})
			}
			walk(p, s.Children)
		}
	}
	walk("", list.Symbols)
	return out
}

func TestYAMLAgainstLibrary(t *testing.T) {
	files := append(realFiles(t, ".yaml", 200<<10, 1200), realFiles(t, ".yml", 200<<10, 600)...)
	valid := 0
	for _, f := range files {
		want, ok := oracleYAML(f.data)
		list := mustScan(t, "yaml", f.data)
		if !ok {
			continue
		}
		valid++
		if list.Why != "" {
			t.Errorf("%s: valid, but %s", f.name, list.Why)
		}
		if diff := gocmp.Diff(want, scannedYAML(list)); diff != "" {
			t.Errorf("%s: (-yaml.v3 +ours) %s", f.name, diff)
		}
		checkYAMLEnds(t, f.name, f.data, list)
	}
	t.Logf("%d of %d real files are valid", valid, len(files))
	rng := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		data := randomYAML(rng)
		want, ok := oracleYAML(data)
		if !ok {
			t.Fatalf("the generator wrote what yaml.v3 refuses:\n%s", data)
		}
		list := mustScan(t, "yaml", data)
		if diff := gocmp.Diff(want, scannedYAML(list)); diff != "" || list.Why != "" {
			t.Fatalf("%s\n%s (-yaml.v3 +ours) %s", data, list.Why, diff)
		}
		checkYAMLEnds(t, string(data), data, list)
	}
}

// randomYAML writes nested block and flow collections with odd keys and
// scalars.
func randomYAML(rng *rand.Rand) []byte {
	var out bytes.Buffer
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	keys := 0
	key := func() string {
		keys++
		return fmt.Sprintf(pick("k%d", "\"q: %d\"", "'it''s %d'", "/path/%d", "%d", "a b %d", "x-%d", "a#%d", "http://%d"), keys)
	}
	scalar := func(indent int) string {
		pad := strings.Repeat(" ", indent+2)
		return pick("1", "true", "~", "plain text", "\"a # b\"", "'c: d'", "http://x/y#z", "*no", "x # comment",
			"|\n"+pad+"text: not a key\n\n"+pad+"# nor a comment\n"+pad+"- nor this", ">-\n"+pad+"folded",
			"\"several\n"+pad+"lines: here\"", "plain\n"+pad+"goes on", "[1, {a: b}, [c]]", "{x: 1, 'y': [2,\n"+pad+"3], z: }", "[]", "{}")
	}
	var block func(indent, depth int)
	block = func(indent, depth int) {
		pad := strings.Repeat(" ", indent)
		seq := rng.IntN(3) == 0
		for range 1 + rng.IntN(3) {
			if rng.IntN(6) == 0 {
				out.WriteString(pick("\n", "# comment: x\n", pad+"  # - c\n"))
			}
			out.WriteString(pad)
			if seq {
				out.WriteString("- ")
				if rng.IntN(2) == 0 || depth > 4 {
					out.WriteString(strings.ReplaceAll(scalar(indent), "*no", "n") + "\n")
					continue
				}
				fmt.Fprintf(&out, "%s: %s\n", key(), strings.ReplaceAll(scalar(indent+2), "*no", "n"))
				fmt.Fprintf(&out, "%s  %s: 1\n", pad, key())
				continue
			}
			fmt.Fprintf(&out, "%s:", key())
			if rng.IntN(2) == 0 || depth > 4 {
				out.WriteString(" " + strings.ReplaceAll(scalar(indent), "*no", "n") + "\n")
				continue
			}
			out.WriteString(pick("\n", " # c\n", " &a"+fmt.Sprint(keys)+"\n", " !!map\n"))
			if b := out.Bytes(); bytes.HasSuffix(b, []byte("!!map\n")) {
				out.WriteString(pad + "  " + key() + ": v\n")
				continue
			}
			block(indent+1+rng.IntN(3), depth+1)
		}
	}
	if rng.IntN(3) == 0 {
		out.WriteString("%YAML 1.1\n---\n")
	}
	for i := range 1 + rng.IntN(2) {
		if i > 0 {
			out.WriteString(pick("---\n", "...\n---\n", "--- # next\n"))
		}
		block(0, 0)
	}
	return out.Bytes()
}

// One error costs the keys at its place, never those after it.
func TestYAMLBrokenKeepsTheRest(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"tab", "a: 1\n\tb: 2\nc: 3\n", "a 1, b 2, c 3"},
		{"quote", "a: \"x\nb: 2\nc: 3\n", "a 1, b 2, c 3"},
		{"bracket", "a: [1, 2\nb: 2\nc: 3\n", "a 1, b 2, c 3"},
		{"brace", "a: {x: 1\nb: 2\nc: 3\n", "a 1, x 1, b 2, c 3"},
		{"conflict", "a: 1\n<<<<<<< ours\nb: 2\n=======\nb: 3\n>>>>>>> theirs\nc: 4\n", "a 1, b 3, b 5, c 7"},
		{"dedent", "a:\n    b: 1\n  c: 2\nd: 3\n", "a 1, b 2, c 3, d 4"},
	} {
		list := mustScan(t, "yaml", []byte(tt.data))
		var got []string
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			got = append(got, fmt.Sprint(s.Name, " ", s.Start))
			return true
		})
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, s, tt.want)
		}
		if tt.name != "dedent" && list.Why != symbol.SyntaxErrors {
			t.Errorf("%s: broken, but %q", tt.name, list.Why)
		}
	}
}

func TestYAMLHostile(t *testing.T) {
	tests := map[string]string{
		"dashes":     huge("- ", 1<<20),
		"brackets":   huge("[", 10<<20),
		"braces":     huge("{a: ", 1<<20),
		"quotes":     huge("\"", 1<<20),
		"quote keys": huge("\"a\n", 1<<20),
		"open flows": huge("a: [\n", 1<<20),
		"tiny keys":  huge("a: 1\n", 1<<20),
		"colons":     huge(":", 10<<20),
		"hashes":     huge("a#", 5<<20),
		"NULs":       huge("\x00", 1<<20),
		"marks":      huge("---\na\n", 1<<19),
		"anchors":    huge("&a ", 1<<20),
		"long key":   huge("x", 1<<20) + ": 1\n",
		"bad UTF-8":  "\xff: \xfe\n",
	}
	var deep strings.Builder
	for i := range 3000 {
		deep.WriteString(huge(" ", i) + "a:\n")
	}
	tests["deep"] = deep.String()
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "yaml", []byte(data)) })
	}
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte("a:\n- b: 1\n  c: |\n   x: y\n- [d, {e: f}]\n---\nkind: K\nmetadata: {name: n}\n"))
	f.Add([]byte("? k\n: v\n\"q\": 'a\n b'\n&x y: *x\n\t- z\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mustScan(t, "yaml", data)
	})
}
