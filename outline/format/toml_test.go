package format

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	tomlv2 "github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// oracleTOML finds the keys and tables of a document with go-toml's parser and
// the lines on which they start.
func oracleTOML(data []byte) (out []keyAt, ok bool) {
	var any map[string]any
	if tomlv2.Unmarshal(data, &any) != nil {
		return nil, false
	}
	text := hashline.NewText(data)
	var p unstable.Parser
	p.Reset(data)
	name := func(it unstable.Iterator) (joined string, line int) {
		var parts []string
		for it.Next() {
			if n := it.Node(); len(parts) == 0 {
				line = text.LineAt(int(n.Raw.Offset))
			}
			parts = append(parts, string(it.Node().Data))
		}
		joined = cutName(strings.Join(parts, "."))
		if joined == "" {
			joined = Unnamed
		}
		return joined, line
	}
	var value func(path string, n *unstable.Node)
	value = func(path string, n *unstable.Node) {
		switch n.Kind {
		case unstable.InlineTable:
			for it := n.Children(); it.Next(); {
				key, line := name(it.Node().Key())
				out = append(out, keyAt{Path: path + "/" + key, Start: line})
				value(path+"/"+key, it.Node().Value())
			}
		case unstable.Array:
			i := 0
			for it := n.Children(); it.Next(); {
				if i < MaxElements {
					value(fmt.Sprintf("%s/[%d]", path, i), it.Node())
				}
				i++
			}
		}
	}
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		key, line := name(e.Key())
		if e.Kind == unstable.KeyValue {
			out = append(out, keyAt{Path: table + "/" + key, Start: line})
			value(table+"/"+key, e.Value())
			continue
		}
		table = "/" + key
		out = append(out, keyAt{Path: table, Start: line})
	}
	return out, p.Error() == nil
}

func scannedTOML(list symbol.List) []keyAt {
	var out []keyAt
	var walk func(path string, symbols []symbol.Symbol)
	walk = func(path string, symbols []symbol.Symbol) {
		for _, s := range symbols {
			name := s.Name
			if s.Kind == symbol.Table {
				name = withoutIndexes(name)
			}
			p := path + "/" + name
			if s.Kind == symbol.Key || s.Kind == symbol.Table {
				out = append(out, keyAt{Path: p, Start: s.Start})
			}
			walk(p, s.Children)
		}
	}
	walk("", list.Symbols)
	return out
}

// withoutIndexes drops each "[0]" from the name of a table.
func withoutIndexes(name string) string {
	for {
		open := strings.IndexByte(name, '[')
		if open < 0 {
			return cmp.Or(name, Unnamed)
		}
		name = name[:open] + name[open+strings.IndexByte(name[open:], ']')+1:]
	}
}

func checkTOML(t *testing.T, name string, data []byte) bool {
	t.Helper()
	want, ok := oracleTOML(data)
	list := mustScan(t, "toml", data)
	if !ok {
		return false
	}
	if diff := gocmp.Diff(want, scannedTOML(list)); diff != "" || list.Why != "" {
		t.Errorf("%s: %s (-go-toml +ours) %s", name, list.Why, diff)
	}
	return true
}

func TestTOMLAgainstLibrary(t *testing.T) {
	valid, files := 0, realFiles(t, ".toml", 1<<20, 1500)
	for _, f := range files {
		if checkTOML(t, f.name, f.data) {
			valid++
		}
	}
	t.Logf("%d of %d real files are valid", valid, len(files))
	rng := rand.New(rand.NewPCG(9, 10))
	valid = 0
	for range 3000 {
		if data := randomTOML(rng); checkTOML(t, string(data), data) {
			valid++
		} else {
			t.Fatalf("the generator wrote what go-toml refuses:\n%s", data)
		}
	}
}

func randomTOML(rng *rand.Rand) []byte {
	var out bytes.Buffer
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	keys := 0
	key := func() string {
		keys++
		return fmt.Sprintf(pick("k%d", "\"q.%d\"", "'l # %d'", "a%d.b . c", "%d", "\"\\t%d\""), keys)
	}
	var value func(depth int) string
	value = func(depth int) string {
		switch n := rng.IntN(10); {
		case n < 2 && depth < 3:
			return "[" + pick("", "\n", " # ] c\n") + value(depth+1) + pick("", ",", "\n,\n# [t]\n") + "]"
		case n < 4 && depth < 3:
			return "{ " + key() + " = " + value(depth+1) + ", " + key() + "=" + value(depth+1) + " }"
		}
		return pick("1", "-1_000", "1.5e3", "true", "1979-05-27T07:32:00Z", "07:32:00", `"a # b"`, `'c\'`,
			"\"\"\"\n[not]\na = \"table\" \\\"\"\"\n\"\"\"", "'''\n[nor]\nthis = 1'''", `""`, `""""quoted""""`, "inf", "[]", "{}")
	}
	for range 1 + rng.IntN(6) {
		out.WriteString(pick("", "\n", "# [comment]\n", "  \n"))
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&out, pick("[%s]", "[ %s ] # t", "[[%s]]", "[[x.%s]]")+"\n", key())
		}
		fmt.Fprintf(&out, pick("%s = %s", "  %s=%s # c", "%s\t=\t%s")+pick("\n", "\r\n"), key(), value(0))
	}
	return out.Bytes()
}

// One error costs the lines at its place, never those after it.
func TestTOMLBrokenKeepsTheRest(t *testing.T) {
	for _, tt := range []struct{ name, data, want string }{
		{"array", "a = [1,\nb = 2\n[c]\nd = 3\n", "a 1, b 2, c 3, d 4"},
		{"string", "a = \"x\nb = 2\n", "a 1, b 2"},
		{"long string", "a = \"\"\"x\nb = 2\n[c]\n", "a 1, b 2, c 3"},
		{"header", "[a\nb = 2\n[[c]\nd = 3\n", "b 2, d 4"},
		{"conflict", "a = 1\n<<<<<<< ours\nb = 2\n=======\nb = 3\n>>>>>>> theirs\n", "a 1, b 3, b 5"},
		{"inline", "a = {b = 1\nc = 2\n", "a 1, b 1, c 2"},
	} {
		list := mustScan(t, "toml", []byte(tt.data))
		var got []string
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			got = append(got, fmt.Sprint(s.Name, " ", s.Start))
			return true
		})
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, s, tt.want)
		}
		if list.Why != symbol.SyntaxErrors {
			t.Errorf("%s: broken, but %q", tt.name, list.Why)
		}
	}
}

func TestTOMLHostile(t *testing.T) {
	tests := map[string]string{
		"brackets":     huge("[", 10<<20),
		"arrays":       "a = " + huge("[", 10<<20),
		"braces":       "a = " + huge("{b=", 3<<20),
		"open arrays":  huge("a = [\n", 1<<20),
		"open strings": huge("a = \"\"\"\n", 1<<20) + "a = '''",
		"quotes":       huge("\"", 10<<20),
		"dots":         huge("a.", 5<<20) + "a = 1",
		"tables":       huge("[[a]]\n", 1<<20),
		"tiny keys":    huge("a=1\n", 1<<20),
		"elements":     "a = [" + huge("{},\n", 1<<20) + "]",
		"NULs":         huge("\x00", 1<<20),
		"bad UTF-8":    "\"\xff\" = '\xfe'\n",
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "toml", []byte(data)) })
	}
}

func FuzzTOML(f *testing.F) {
	f.Add([]byte("a = 1\n[b.\"c d\"]\ne = [1, {f = '''\n[x]'''}]\n[[g]]\nh.i = \"\"\"\nj = 1\"\"\"\n"))
	f.Add([]byte("[a\nb = [\nc = {d = \n"))
	f.Fuzz(func(t *testing.T, data []byte) { mustScan(t, "toml", data) })
}
