package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/outline/grammar"
	"mapd/outline/symbol"
)

// largeSource returns a file of at least 100 KB: the golden file of the
// language, repeated. With broken, each tenth copy lacks its last bracket.
func largeSource(b *testing.B, language string, broken bool) []byte {
	b.Helper()
	files, err := filepath.Glob("../grammar/testdata/" + language + ".*")
	if err != nil || len(files) == 0 {
		b.Fatalf("no golden file of %s: %v", language, err)
	}
	golden, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	if bytes.HasPrefix(golden, []byte("#!")) {
		_, golden, _ = bytes.Cut(golden, []byte("\n"))
	}
	var src bytes.Buffer
	for i := 0; src.Len() < 120<<10; i++ {
		part := golden
		if broken && i%10 == 9 {
			if k := bytes.LastIndexAny(part, ")}"); k > 0 {
				part = append(bytes.Clone(part[:k]), part[k+1:]...)
			}
		}
		src.Write(part)
		src.WriteByte('\n')
	}
	return src.Bytes()
}

// best returns the shortest of some runs of f, in seconds: other work on the
// machine only ever adds.
func best(runs int, f func()) float64 {
	shortest := time.Hour
	for range runs {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	return shortest.Seconds()
}

// BenchmarkColdOutline measures an outline through a worker, with all that a
// caller waits for. Its metrics are relative to the bare parse of the same bytes
// in the same run: "ratio" of the whole, "transport" of the bytes to and from
// the worker alone.
func BenchmarkColdOutline(b *testing.B) {
	for _, broken := range []bool{false, true} {
		for _, language := range []string{"typescript", "javascript", "python", "rust", "c", "cpp", "java"} {
			name := language
			if broken {
				name += "/broken"
			}
			b.Run(name, func(b *testing.B) { coldOutline(b, language, largeSource(b, language, broken), broken) })
		}
	}
}

func coldOutline(b *testing.B, language string, src []byte, broken bool) {
	p := NewPool(Options{Workers: 1, Timeout: time.Minute})
	defer p.Close()
	parse := func(grammar string) symbol.List {
		list, err := p.Parse(b.Context(), grammar, src)
		if err != nil {
			b.Fatal(err)
		}
		return list
	}
	list := parse(language)
	if (list.Why != "") != broken {
		b.Fatalf("the file has syntax errors: %v, want %v", list.Why != "", broken)
	}
	bare, whole, transport := 1e9, 1e9, 1e9
	for b.Loop() {
		bare = min(bare, best(3, func() {
			if _, err := grammar.BareParse(language, src); err != nil {
				b.Fatal(err)
			}
		}))
		whole = min(whole, best(3, func() { parse(language) }))
		transport = min(transport, best(3, func() { parse("nothing") }))
	}
	b.SetBytes(int64(len(src)))
	b.ReportMetric(whole/bare, "ratio")
	b.ReportMetric(transport/bare, "transport")
}

// TestLargeFile sends a large file and gets a large answer: more than the pipes
// hold, both ways.
func TestLargeFile(t *testing.T) {
	p := newPool(t, Options{Timeout: time.Minute})
	src := []byte(strings.Repeat("x = 1\n", 1<<20))
	list, err := p.Parse(t.Context(), "nothing", src)
	if err != nil || len(list.Symbols) != 0 {
		t.Fatalf("%d symbols, %v", len(list.Symbols), err)
	}
	names := []byte(strings.Repeat("def f(): pass\n", 20000))
	list, err = p.Parse(t.Context(), "python", names)
	if err != nil || len(list.Symbols) != 20000 {
		t.Fatalf("%d symbols, %v", len(list.Symbols), err)
	}
}
