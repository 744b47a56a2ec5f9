package conn

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// scan parses one value the way a frame is parsed.
func scan(data []byte, depth int) error {
	s := scanner{max: depth}
	s.reset(data)
	if _, err := s.value(); err != nil {
		return err
	}
	return s.end()
}

var texts = []string{
	``, ` `, `{}`, `[]`, `{`, `}`, `[`, `]`, `[1,]`, `[,1]`, `{"a":1,}`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1 "b":2}`,
	`[1 2]`, `{]}`, `[}`, `{{}}`, `{[]}`, `[[{"a":[{}]}]]`, `[[{"a":[{]}]]`, `{"a":[1,{"b":null}],"c":true}`,
	`0`, `-0`, `01`, `1.`, `.1`, `1.5e+10`, `1e`, `1e+`, `-`, `+1`, `1E5`, `1e-5x`, `0x10`, `1_000`, `Infinity`, `NaN`,
	`true`, `tru`, `trueish`, `false`, `null`, `nul`, `True`,
	`""`, `"`, `"a`, `"\"`, `"\n"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\u12a4"`, `"\ud800"`, "\"\n\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\"",
	"\"\xff\"", "\"\xed\xa0\x80\"", "\"ä\"", "\"12345678ä\"", "\"12345678\xff\"", "[\xff]", "\xef\xbb\xbf{}",
	`"aaaaaaaaaaaaaaaa"`, `"aaaaaaa\naaaaaaaaaa"`, "\"aaaaaaaaaaaaaaa\taaa\"", `"!!!!!!!!!!!!!!!!!!"`, `"\\\\\\\\\\\\"`, `"aaaaaaaa\"aaaaaaaa"`,
	`1 `, ` 1`, "\t1\r\n", "\v1", `1 1`, `{} {}`, `// a
1`, `'a'`, `{"a":1,"a":2}`, `"` + strings.Repeat("x", 100) + `"`,
}

func TestScanAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		want := json.Valid([]byte(text)) && utf8.ValidString(text)
		if err := scan([]byte(text), 100); (err == nil) != want {
			t.Errorf("%q: %v, want valid: %v", text, err, want)
		}
	}
}

// TestScanEveryByte puts each byte at each place of a string that is looked at
// eight bytes at once, alone and behind a quote that ends the string.
func TestScanEveryByte(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			text := []byte(`["` + strings.Repeat("x", 20) + `"]`)
			text[2+at] = byte(b)
			want := json.Valid(text) && utf8.Valid(text)
			if err := scan(text, 100); (err == nil) != want {
				t.Errorf("%q: %v, want valid: %v", text, err, want)
			}
			short := append([]byte(`["`+strings.Repeat("y", at)), byte(b), '"', ']')
			want = json.Valid(short) && utf8.Valid(short)
			if err := scan(short, 100); (err == nil) != want {
				t.Errorf("%q: %v, want valid: %v", short, err, want)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		want := json.Valid(data) && utf8.Valid(data)
		if err := scan(data, 1<<17); (err == nil) != want {
			if !want || strings.Count(string(data), "[")+strings.Count(string(data), "{") < 10_000 {
				t.Errorf("%q: %v, want valid: %v", data, err, want)
			}
		}
	})
}

func TestScanDepth(t *testing.T) {
	nested := func(n int, open, end string) []byte {
		return []byte(strings.Repeat(open, n) + "1" + strings.Repeat(end, n))
	}
	for _, open := range []struct{ open, end string }{{"[", "]"}, {`{"a":`, "}"}} {
		if err := scan(nested(7, open.open, open.end), 7); err != nil {
			t.Errorf("at the limit: %v", err)
		}
		if err := scan(nested(8, open.open, open.end), 7); err != errDepth {
			t.Errorf("past the limit: %v", err)
		}
	}
	if err := scan([]byte(`[[]]`), 1); err != errDepth {
		t.Errorf("an empty array past the limit: %v", err)
	}
	if err := scan([]byte(`[[],[],[{}]]`), 3); err != nil {
		t.Errorf("siblings do not add up: %v", err)
	}
}
