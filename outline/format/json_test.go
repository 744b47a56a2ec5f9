package format

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// keyAt is a key with the path to it and its lines.
type keyAt struct {
	Path       string
	Start, End int
}

// oracleKeys finds the keys of a JSON document with encoding/json, counting
// lines by offsets. It looks into at most MaxElements elements of an array.
func oracleKeys(t testing.TB, data []byte) []keyAt {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	text := hashline.NewText(data)
	line := func() int { return text.LineAt(int(dec.InputOffset()) - 1) }
	var out []keyAt
	var value func(path string, show bool)
	value = func(path string, show bool) {
		tok, err := dec.Token()
		if err != nil {
			t.Fatalf("oracle: %v", err)
		}
		switch tok {
		case json.Delim('{'):
			for dec.More() {
				name, _ := dec.Token()
				key := path + "/" + cmp.Or(cutName(name.(string)), Unnamed)
				i := len(out)
				if show {
					out = append(out, keyAt{key, line(), 0})
				}
				value(key, show)
				if show {
					out[i].End = line()
				}
			}
			dec.Token()
		case json.Delim('['):
			for i := 0; dec.More(); i++ {
				value(fmt.Sprintf("%s/[%d]", path, i), show && i < MaxElements)
			}
			dec.Token()
		}
	}
	value("", true)
	return out
}

func scannedKeys(list symbol.List) []keyAt {
	var out []keyAt
	var walk func(path string, symbols []symbol.Symbol)
	walk = func(path string, symbols []symbol.Symbol) {
		for _, s := range symbols {
			p := path + "/" + s.Name
			if s.Kind == symbol.Key {
				out = append(out, keyAt{p, s.Start, s.End})
			}
			walk(p, s.Children)
		}
	}
	walk("", list.Symbols)
	return out
}

func checkJSON(t testing.TB, data []byte) {
	t.Helper()
	list := mustScan(t, "json", data)
	if list.Source != symbol.Parser || list.Why != "" {
		t.Fatalf("valid JSON is %s %s", list.Source, list.Why)
	}
	if diff := gocmp.Diff(oracleKeys(t, data), scannedKeys(list)); diff != "" {
		t.Fatalf("(-encoding/json +ours) %s", diff)
	}
}

func TestJSONAgainstEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		checkJSON(t, randomJSON(rng))
	}
	for _, f := range realFiles(t, ".json", 1<<20, 400) {
		if json.Valid(f.data) && bytes.ContainsAny(f.data[:1], "{[") {
			checkJSON(t, f.data)
		}
	}
}

// randomJSON writes a document with line breaks in all places that allow them.
func randomJSON(rng *rand.Rand) []byte {
	var out bytes.Buffer
	gap := func() {
		out.WriteString([]string{"", "", " ", "\n", "\r\n", "\n\t\n"}[rng.IntN(6)])
	}
	var value func(depth int)
	value = func(depth int) {
		gap()
		switch n := rng.IntN(8); {
		case n < 3 && depth < 6:
			out.WriteByte('{')
			for i := range rng.IntN(5) {
				if i > 0 {
					out.WriteByte(',')
				}
				gap()
				fmt.Fprintf(&out, "%q", []string{"a", "b", "", "a.b", "[0]", "ключ", "name"}[rng.IntN(7)])
				gap()
				out.WriteByte(':')
				value(depth + 1)
			}
			gap()
			out.WriteByte('}')
		case n < 5 && depth < 6:
			out.WriteByte('[')
			for i := range rng.IntN(5) {
				if i > 0 {
					out.WriteByte(',')
				}
				value(depth + 1)
			}
			gap()
			out.WriteByte(']')
		default:
			out.WriteString([]string{`"x"`, `1`, `-2.5e+3`, `true`, `false`, `null`, `"\n\"{["`}[rng.IntN(7)])
		}
		gap()
	}
	value(0)
	return out.Bytes()
}

// Comments and trailing commas change no line of any key.
func TestJSONCIsJSONWithBlanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		plain := randomJSON(rng)
		var commented bytes.Buffer
		inString := false
		for i, c := range plain {
			if c == '"' && (i == 0 || plain[i-1] != '\\') {
				inString = !inString
			}
			if !inString && (c == '}' || c == ']') && i > 0 && strings.IndexByte("{[,", lastInk(plain[:i])) < 0 {
				commented.WriteByte(',')
			}
			commented.WriteByte(c)
			if !inString && strings.IndexByte("{[,:", c) >= 0 {
				commented.WriteString([]string{"/* \"no\": {*/", "// } \"no\": [", ""}[rng.IntN(3)])
				if b := commented.Bytes(); b[len(b)-1] == '[' && len(b) > 2 && b[len(b)-2] == ' ' {
					commented.WriteString("\n")
				}
			}
		}
		strict, changed := blankComments(commented.Bytes())
		if changed && !json.Valid(strict) {
			t.Fatalf("not valid after blanking:\n%s\n%s", commented.Bytes(), strict)
		}
		list := mustScan(t, "jsonc", commented.Bytes())
		if diff := gocmp.Diff(oracleKeys(t, strict), scannedKeys(list)); diff != "" {
			t.Fatalf("%s\n%s", commented.Bytes(), diff)
		}
	}
}

func lastInk(b []byte) byte {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return 0
	}
	return b[len(b)-1]
}

func TestJSONHostile(t *testing.T) {
	deep := huge(`{"a":`, 100_000)
	tests := map[string]string{
		"deep open":    deep,
		"deep closed":  deep + "1" + huge("}", 100_000),
		"brackets":     huge("[", 10<<20),
		"parentheses":  huge("(", 10<<20),
		"long name":    `{"` + strings.Repeat("x", 1<<20) + `": 1, "b": 2}`,
		"long escapes": `{"` + huge(`\ud83d\ude00`, 1<<17) + `": 1, "b": 2}`,
		"tiny keys":    `{` + huge(`"a":1,`, 1_000_000) + `"b":2}`,
		"tiny records": `[` + huge("{},\n", 1_000_000) + `{}]`,
		"NULs":         huge("\x00", 1<<20),
		"bad UTF-8":    "{\"\xff\xfe\": \"\x80\"}",
		"many open":    `{"a":` + huge("[{},{\"b\":", 4000),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			list := mustScan(t, "json", []byte(data))
			if name == "bad UTF-8" && (len(list.Symbols) != 1 || list.Symbols[0].Name != "\uFFFD\uFFFD") {
				t.Errorf("got %+v", list.Symbols)
			}
			if name == "tiny keys" {
				last := list.Symbols[len(list.Symbols)-1]
				if want := count(strings.Count(data, ":")-MaxChildren, "more key") + " not listed"; last.Name != Elided || last.Signature != want {
					t.Errorf("last symbol %+v, want signature %q", last, want)
				}
			}
			if name == "long name" && len(list.Symbols) != 2 {
				t.Errorf("%d symbols", len(list.Symbols))
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[{"b":1},{}],"c":{"d":null}}`, "{ // x\n\"a\": [1,],\n}", "[1,{\"a\"", "\xef\xbb\xbf{\"k\":\n2}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list := mustScan(t, "jsonc", data)
		if body := bytes.TrimPrefix(data, []byte(hashline.BOM)); json.Valid(body) && list.Why != "" {
			t.Fatalf("valid JSON is %s", list.Why)
		}
	})
}

func FuzzJSONLines(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"a\":null,\"b\":[]}\nx\n"))
	f.Add([]byte(`{"type":"session","cwd":"/"}` + "\n" + `{"type":"message","message":{"role":"user","content":"x"}}` + "\n" +
		`{"type":"message","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"y"},{"type":"toolCall","id":"1","name":"n","arguments":{}}]}}` + "\n" +
		`{"type":"message","message":{"role":"toolResult","toolCallId":"1"}}`))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"s","call_id":"c","arguments":"{}"}}` + "\n" + `{"type":"compacted","payload":{"message":"z"}}`))
	f.Fuzz(func(t *testing.T, data []byte) { mustScan(t, "jsonl", data) })
}

func TestJSONLinesHostile(t *testing.T) {
	call := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}}` + "\n"
	tests := map[string]string{
		"records":  huge("{\"a\":1}\n", 1<<20),
		"keys":     "{" + huge(`"a":1,`, 1<<20) + `"b":2}`,
		"columns":  manyColumns(),
		"broken":   huge("{\n", 1<<20),
		"brackets": huge("[", 10<<20),
		"calls":    huge(call, 1<<17),
		"turns":    huge(call+`{"type":"user","message":{"role":"user","content":"x"}}`+"\n", 1<<17),
		"blocks":   `{"type":"user","message":{"role":"user","content":[` + huge(`{"type":"tool_result","tool_use_id":"x"},`, 1<<18) + "{}]}}",
		"NULs":     huge("\x00", 1<<20),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "jsonl", []byte(data)) })
	}
}

func manyColumns() string {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "{\"k%d\":1}\n", i)
	}
	return b.String()
}
