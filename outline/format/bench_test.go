package format

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/text"
	yamlv3 "go.yaml.in/yaml/v3"

	"mapd/hashline"
)

// generated is a document of about size bytes as a program would write it, and
// what the library of its format does at least to scan it.
type generated struct {
	lang string
	make func(size int) []byte
	bare func(data []byte) // nil if there is no library
}

var families = []generated{
	{"json", lockFile, bareJSON},
	{"jsonl", repeated("", `{"id":%d,"user":{"name":"Ann","tags":["a","b"]},"text":"some words of a message","ok":true}`+"\n", ""), bareJSON},
	{"yaml", repeated("", "item%d:\n  name: some text\n  list:\n    - a: 1\n      b: \"two\"\n    - [x, y]\n  text: |\n    line one\n    line two\n", ""), bareYAML},
	{"toml", repeated("", "[table.t%d]\nname = \"value\"\nlist = [1, 2, 3]\ninline = { a = 1, b = \"x\" }\n\n", ""), bareTOML},
	{"csv", repeated("id,name,price,when\n", "%d,\"Smith, J\",12.50,2026-01-02\n", ""), bareCSV},
	{"markdown", repeated("", "## Section %d\n\nA paragraph of text with `code` and a [link](http://x).\nIt has two lines.\n\n- item\n- item\n\n```go\n# not a heading\n```\n\n", ""), bareMarkdown},
	{"xml", repeated("<root>\n", "<item id=\"%d\">\n  <name>text</name>\n  <empty/>\n</item>\n", "</root>\n"), bareXML},
	{"sql", repeated("", "CREATE TABLE t%d (\n  id bigint PRIMARY KEY,\n  name varchar(20) NOT NULL -- why\n);\nINSERT INTO t VALUES (1, 'it''s; x'), (2, 'b');\n", ""), nil},
	{"clojure", repeated("", "(defn f%d\n  \"Doc.\"\n  [x & {:keys [y]}]\n  (let [z (+ x 1)] ; comment\n    (str \"a\" z)))\n\n", ""), nil},
	{"diff", repeated("", "diff --git a/f%d b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n context line\n-old line of text\n+new line of text\n context line\n", ""), nil},
	{"rst", repeated("", "Section %d\n----------\n\nA paragraph of text\nwith two lines.\n\n", ""), nil},
	{"properties", repeated("", "some.key.name%d = a value of the key\n", ""), nil},
}

func repeated(head, body, tail string) func(size int) []byte {
	return func(size int) []byte {
		var out bytes.Buffer
		out.WriteString(head)
		for i := 0; out.Len() < size; i++ {
			fmt.Fprintf(&out, body, i)
		}
		out.WriteString(tail)
		return out.Bytes()
	}
}

// lockFile is like a package-lock.json.
func lockFile(size int) []byte {
	return repeated("{\n  \"name\": \"demo\",\n  \"packages\": {\n", `    "node_modules/package-%d": {
      "version": "1.0.0",
      "resolved": "https://registry.example/package/-/package-1.0.0.tgz",
      "integrity": "sha512-0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz==",
      "dependencies": {
        "left": "^1.0.0",
        "right": "^2.0.0"
      },
      "engines": {"node": ">=18"}
    },
`, "    \"last\": {}\n  }\n}\n")(size)
}

// bareJSON reads all tokens and looks at none.
func bareJSON(data []byte) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsonOptions...)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return
		}
	}
}

func bareYAML(data []byte) {
	var n yamlv3.Node
	yamlv3.Unmarshal(data, &n)
}

func bareTOML(data []byte) {
	var p unstable.Parser
	p.Reset(data)
	for p.NextExpression() {
	}
}

func bareCSV(data []byte) {
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); err == io.EOF {
			return
		}
	}
}

func bareMarkdown(data []byte) { goldmark.DefaultParser().Parse(text.NewReader(data)) }

func bareXML(data []byte) {
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := dec.RawToken(); err != nil {
			return
		}
	}
}

// BenchmarkScan prints MB per second of the processor, and as ratio the time of
// a scan divided by that of the library's bare scan of the same bytes in the
// same run.
func BenchmarkScan(b *testing.B) {
	for _, f := range families {
		for _, mb := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s/%dMB", f.lang, mb), func(b *testing.B) { f.benchmark(b, f.make(mb<<20)) })
		}
	}
}

func (f generated) benchmark(b *testing.B, data []byte) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	doc := hashline.NewText(data)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	var ours, floor time.Duration // of the processor: other load adds nothing
	for b.Loop() {
		ours += f.time(doc)
		if f.bare != nil {
			b.StopTimer()
			start := cpuTime()
			f.bare(data)
			floor += cpuTime() - start
			b.StartTimer()
		}
	}
	b.ReportMetric(float64(len(data))*float64(b.N)/1e6/max(ours.Seconds(), 1e-9), "cpu-MB/s")
	if f.bare != nil {
		b.ReportMetric(float64(ours)/float64(floor), "ratio")
	}
}

func (f generated) time(doc *hashline.Text) time.Duration {
	start := cpuTime()
	if _, err := Scan(context.Background(), f.lang, doc); err != nil {
		panic(err)
	}
	return cpuTime() - start
}

// TestLargeFiles holds each format to linear time up to 100 MB and to memory
// below three times the file.
func TestLargeFiles(t *testing.T) {
	if !strings.Contains(os.Getenv("MAPD_SUITE"), "large") {
		t.Skip("set MAPD_SUITE=large")
	}
	for _, f := range families {
		t.Run(f.lang, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			half, whole := hashline.NewText(f.make(50<<20)), hashline.NewText(f.make(100<<20))
			best := func(doc *hashline.Text) time.Duration {
				least := time.Hour
				for range 3 {
					least = min(least, f.time(doc))
				}
				return least
			}
			a, b := best(half), best(whole)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f.time(whole)
			runtime.ReadMemStats(&after)
			allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(whole.Size())
			t.Logf("%s: %d MB/s, 2x size takes %.2fx time, allocates %.2fx the file", f.lang, int(100/b.Seconds()), b.Seconds()/a.Seconds(), allocated)
			if b.Seconds() > 2.2*a.Seconds() {
				t.Errorf("2x size takes %.2fx time", b.Seconds()/a.Seconds())
			}
			if allocated > 2 { // with the file itself: 3
				t.Errorf("allocates %.2fx the file", allocated)
			}
		})
	}
}
