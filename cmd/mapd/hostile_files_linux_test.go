package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// attacksByFiles are files that what parses them can choke on.
func attacksByFiles() []attack {
	random := func(extension string, size int) attack {
		return choke(fmt.Sprintf("%d MB of random bytes, %s", size>>20, extension), "random"+extension, func() []byte { return noise(size) })
	}
	soaked := func(a attack) attack { a.soak = true; return a }
	quick := func(a attack) attack { a.own = startQuick; return a }
	attacks := []attack{
		choke("a< × 30,000, .java", "a.java", repeated("a<", 30_000)),
		choke("a< × 500,000, .tsx", "a.tsx", repeated("a<", 500_000)),
		choke("10 MB of (, .js", "a.js", repeated("(", 10<<20)),
		choke("10 MB of (, .py", "a.py", repeated("(", 10<<20)),
		choke("10 MB of (, .go", "a.go", func() []byte { return append([]byte("package p\nvar x = "), repeated("(", 10<<20)()...) }),
		choke("10 MB of [, .json", "a.json", repeated("[", 10<<20)),
		choke("10 MB of >, .md", "a.md", repeated("> ", 5<<20)),
		choke("nesting of 100,000 blocks, .js", "n.js", nested("{", "}", 100_000)),
		choke("nesting of 100,000 ifs, .c", "n.c", func() []byte {
			return []byte("int main() {\n" + strings.Repeat("if (x) {\n", 100_000) + strings.Repeat("}\n", 100_001))
		}),
		choke("nesting of 100,000 arrays, .json", "n.json", nested("[", "]", 100_000)),
		choke("nesting of 100,000 functions, .go", "n.go", func() []byte {
			return []byte("package p\nvar x = " + strings.Repeat("func() {", 100_000) + strings.Repeat("}", 100_000))
		}),
		choke("1,000,000 tiny symbols, .go", "tiny.go", func() []byte { return append([]byte("package p\n"), counted("var a%d int\n", 1_000_000)()...) }),
		quick(choke("1,000,000 tiny symbols, .py", "tiny.py", counted("def f%d(): 0\n", 1_000_000))),
		choke("1,000,000 keys, .json", "tiny.json", func() []byte {
			return append(append([]byte("{\n"), counted("\"k%d\":1,\n", 1_000_000)()...), `"end":1}`...)
		}),
		choke("a name of 1 MB, .py", "name.py", func() []byte { return []byte("def " + strings.Repeat("x", 1<<20) + "():\n    pass\n") }),
		choke("a name of 1 MB, .md", "name.md", func() []byte { return []byte("# " + strings.Repeat("x", 1<<20) + "\n") }),
		quick(choke("a line of 8 MB, .ts", "line.ts", repeated("x=1;", 2<<20))),
		{name: "8 MB with NULs, .c", allow: 64 << 20, run: func(t *testing.T, h *house) string {
			h.file(t, "nul.c", []byte(strings.Repeat("int a\x00;\n", 1<<20)))
			m := h.session(t).call(wire.MethodRead, `{"path":"nul.c"}`)
			if m.code() != string(wire.BinaryFile) {
				t.Errorf("%+v", m.Error)
			}
			return m.verdict()
		}},
		{name: "a failure is forgotten in time", run: forgotten, own: func(t *testing.T) *house {
			return startHouse(t, "MAPD_LIMIT_FAILED_OUTLINE_MS=200", "MAPD_LIMIT_OUTLINE_MS=300", "mapd", "serve")
		}},
		{name: "1,000,000 symbols as JSON, to LSP and to mapd", allow: 1 << 30, run: allSymbols},
	}
	for _, extension := range []string{".js", ".java"} {
		attacks = append(attacks, quick(random(extension, 1<<20)))
	}
	for _, extension := range []string{".py", ".c", ".go", ".ts", ".tsx", ".json", ".jsonl", ".yaml", ".toml", ".csv", ".md", ".sql", ".clj", ".rs", ".rb", ".cpp", ".php"} {
		attacks = append(attacks, soaked(random(extension, 1<<20)))
	}
	return attacks
}

func repeated(s string, n int) func() []byte {
	return func() []byte { return []byte(strings.Repeat(s, n)) }
}

func nested(open, shut string, n int) func() []byte {
	return func() []byte { return []byte(strings.Repeat(open, n) + strings.Repeat(shut, n)) }
}

func counted(format string, n int) func() []byte {
	return func() []byte {
		var b []byte
		for i := range n {
			b = fmt.Appendf(b, format, i)
		}
		return b
	}
}

// noise returns random bytes that pass for text: lines of printable ones.
func noise(n int) []byte {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, seed))
	b := make([]byte, n)
	for i := range b {
		if b[i] = byte(' ' + r.IntN('~'-' '+1)); r.IntN(60) == 0 {
			b[i] = '\n'
		}
	}
	return b
}

// chokeAllowed is what a file of some MB may cost the daemon: its bytes, its
// index of lines, its outline, and the garbage of the last few files.
const chokeAllowed = 512 << 20

// choke asks for the map of a file. The answer must come, within its budget and
// with the reason if it is less than an outline, and be remembered.
func choke(name, file string, content func() []byte) attack {
	return attack{name: name, allow: chokeAllowed, run: func(t *testing.T, h *house) string {
		bytes := content()
		h.file(t, file, bytes)
		p := h.session(t)
		start := time.Now()
		m := p.call(wire.MethodMap, mapOf(file))
		took := time.Since(start)
		if m.Error != nil {
			t.Fatalf("%+v", m.Error)
		}
		made := p.status(t).Counters["outlines_made"]
		if again := p.call(wire.MethodMap, mapOf(file)); string(again.Result) != string(m.Result) {
			t.Errorf("%.300s\nthen\n%.300s", m.Result, again.Result)
		}
		if now := p.status(t).Counters["outlines_made"]; now != made {
			t.Errorf("%d outlines were made, then %d: this one was not remembered", made, now)
		}
		return judgeMap(t, m, took)
	}}
}

// judgeMap fails unless a map keeps its promises.
func judgeMap(t *testing.T, m message, took time.Duration) string {
	t.Helper()
	var r wire.MapResult
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Text == nil {
		t.Fatalf("%v in %.200s", err, m.Result)
	}
	if len(*r.Text) > wire.DefaultMapMaxBytes {
		t.Errorf("the map has %d bytes", len(*r.Text))
	}
	if len(m.Result) > 4*wire.DefaultMapMaxBytes {
		t.Errorf("the answer has %d bytes", len(m.Result))
	}
	o := r.Details.Outline
	if o.Source == "" {
		t.Fatalf("the answer does not say how the outline was made: %.300s", m.Result)
	}
	if took > patience/2 {
		t.Errorf("it took %v", took)
	}
	return fmt.Sprintf("a map of %d bytes by %s %s, %v", len(*r.Text), o.Source, o.Why, took.Round(time.Millisecond))
}

// forgotten asks again after the time for which failures are remembered.
func forgotten(t *testing.T, h *house) string {
	p := h.session(t)
	name := h.slow(t, 0)
	p.call(wire.MethodMap, mapOf(name))
	h.indexed(t)
	made := p.status(t).Counters["outlines_made"]
	wait(250 * time.Millisecond)
	p.call(wire.MethodMap, mapOf(name))
	now := p.status(t).Counters["outlines_made"]
	if now != made+1 {
		t.Errorf("%d outlines made, then %d", made, now)
	}
	return "parsed anew"
}

// allSymbols asks for every symbol of a file that has too many.
func allSymbols(t *testing.T, h *house) string {
	file := h.file(t, "tiny.json", append(append([]byte("{\n"), counted("\"k%d\":1,\n", 1_000_000)()...), `"end":1}`...))
	p := h.session(t)
	var got []string
	for method, params := range map[string]string{
		wire.MethodMap:                `{"path":"tiny.json","format":"json"}`,
		"textDocument/documentSymbol": fmt.Sprintf(`{"textDocument":{"uri":%q}}`, fileURI(file)),
	} {
		m := p.call(method, params)
		if m.Error != nil && m.code() != string(wire.FileTooLarge) {
			t.Errorf("%s: %+v", method, m.Error)
		}
		got = append(got, fmt.Sprintf("%s, %d MB", m.verdict(), len(m.Result)/1_000_000))
	}
	slices.Sort(got)
	return strings.Join(got, "; ")
}
