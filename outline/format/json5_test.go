package format

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/outline/symbol"
)

var jsonTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9][-+.0-9e]*|[a-z]+`)

// JSON5 spellings of the tokens of a JSON document change none of its keys.
func TestJSON5IsJSONSpelledOtherwise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		plain := randomJSON(rng)
		if strings.IndexByte("{[", plain[len(plain)-len(strings.TrimLeft(string(plain), " \t\r\n"))]) < 0 {
			continue
		}
		respelled := false
		other := jsonTokens.ReplaceAllStringFunc(string(plain), func(token string) string {
			switch {
			case token == `"a"` || token == `"name"` || token == `"ключ"`:
				respelled = true
				return []string{token[1 : len(token)-1], "'" + token[1:len(token)-1] + "'"}[rng.IntN(2)]
			case token == "1" || token == "-2.5e+3":
				respelled = true
				return []string{"+1", "0xAf", ".5", "5.", "-Infinity", "NaN"}[rng.IntN(6)]
			case token == `"x"`:
				respelled = true
				return []string{`'it\'s "x"'`, `'//'`, `'\u0041'`}[rng.IntN(3)]
			}
			return token
		})
		if !respelled {
			continue
		}
		list := mustScan(t, "jsonc", []byte(other))
		if list.Why != "" {
			t.Fatalf("%s: %s", list.Why, other)
		}
		if diff := gocmp.Diff(oracleKeys(t, plain), scannedKeys(list)); diff != "" {
			t.Fatalf("%s\n%s", other, diff)
		}
	}
}

// What is JSON already is the same outline when it is read as JSON5.
func TestRelaxedReadsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		data := randomJSON(rng)
		from := relax(data)
		if from == nil || !json.Valid(from.out) {
			t.Fatalf("refused: %s", data)
		}
		read := func(body []byte, from *relaxed) []symbol.Symbol {
			d := newDoc(context.Background(), hashline.NewText(data))
			if err := jsonDocument(d, body, from); err != nil {
				t.Fatal(err)
			}
			return d.list().Symbols
		}
		if diff := gocmp.Diff(read(data, nil), read(from.out, from)); diff != "" {
			t.Fatalf("%s\n%s", data, diff)
		}
	}
}

func TestJSON5Refused(t *testing.T) {
	for _, data := range []string{
		`{a: b}`, `{a 1}`, `{a: 'x}`, `{a: 1`, `[1,,2]`, `{a: 0x}`, `{a: 1x}`, `{a: --1}`, `{-a: 1}`, `{a: +}`, `a`, `{a: "x" 'y'}`, `{a:: 1}`,
		"{a: 'x\ny'}", "'",
	} {
		if list := mustScan(t, "jsonc", []byte(data)); list.Why != symbol.SyntaxErrors {
			t.Errorf("%q is let pass: %+v", data, list)
		}
	}
}

func TestJSON5Hostile(t *testing.T) {
	tests := map[string]string{
		"commas":    "{" + huge(",", 3<<20),
		"words":     huge("a:", 1<<20),
		"apostroph": huge("'", 3<<20),
		"keys":      "{" + huge("a:1,", 900_000) + "}",
		"deep":      huge("{a:", 100_000),
		"strings":   "[" + huge(`'\'',`, 500_000) + "]",
		"too large": "{" + huge("a:1,", 2_000_000) + "}",
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "jsonc", []byte(data)) })
	}
}
