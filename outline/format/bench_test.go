package format

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"

	"mapd/hashline"
)

// benchmarkAgainst measures Scan of data and prints the metric ratio: its time
// divided by that of bare, the library's scan of the same bytes, in this run.
func benchmarkAgainst(b *testing.B, lang string, data []byte, bare func([]byte)) {
	doc := hashline.NewText(data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var ours, floor time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := Scan(context.Background(), lang, doc); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(start)
		if bare != nil {
			b.StopTimer()
			start = time.Now()
			bare(data)
			floor += time.Since(start)
			b.StartTimer()
		}
	}
	if bare != nil {
		b.ReportMetric(float64(ours)/float64(floor), "ratio")
	}
}

// bareJSON reads all tokens and looks at none.
func bareJSON(data []byte) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		if _, err := dec.ReadToken(); err != nil {
			return
		}
	}
}

// lockFile is like a package-lock.json of size bytes.
func lockFile(size int) []byte {
	var out bytes.Buffer
	out.WriteString("{\n  \"name\": \"demo\",\n  \"lockfileVersion\": 3,\n  \"packages\": {\n")
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, `    "node_modules/package-%d": {
      "version": "1.%d.0",
      "resolved": "https://registry.example/package-%d/-/package-%d-1.%d.0.tgz",
      "integrity": "sha512-0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz==",
      "dependencies": {
        "left": "^1.0.0",
        "right": "^2.0.0"
      },
      "engines": {"node": ">=18"}
    },
`, i, i%40, i, i, i%40)
	}
	out.WriteString("    \"last\": {}\n  }\n}\n")
	return out.Bytes()
}

func BenchmarkJSONLock(b *testing.B) {
	for _, mb := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) { benchmarkAgainst(b, "json", lockFile(mb<<20), bareJSON) })
	}
}

func BenchmarkJSONOneLine(b *testing.B) {
	data := append([]byte{'['}, bytes.Repeat([]byte(`{"id":1,"tags":["a","b"],"at":{"x":1.5,"y":null}},`), 200_000)...)
	benchmarkAgainst(b, "json", append(data, "{}]"...), bareJSON)
}

func BenchmarkMarkdown(b *testing.B) {
	for _, f := range realFiles(b, ".md", 1<<20, 2000) {
		if len(f.data) > 200<<10 {
			for _, n := range []int{1, 20} {
				data := bytes.Repeat(f.data, n)
				b.Run(fmt.Sprintf("%dKB", len(data)>>10), func(b *testing.B) { benchmarkAgainst(b, "markdown", data, bareMarkdown) })
			}
			return
		}
	}
}

func bareMarkdown(data []byte) {
	goldmark.DefaultParser().Parse(text.NewReader(data))
}
