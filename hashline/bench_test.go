package hashline

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mapd/testdata/corpus"
)

// benchText is a large Go file of this toolchain, or generated lines where it
// is missing.
func benchText(b *testing.B) []byte {
	b.Helper()
	src, err := os.ReadFile(corpus.GoRoot(b, "src/cmd/compile/internal/ssa/rewriteARM64.go"))
	if err == nil {
		return src
	}
	var sb strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&sb, "\tif v.Op != Op%d || auxIntToInt64(v.AuxInt) != %d {\n", i%200, i)
	}
	return []byte(sb.String())
}

func perLine(b *testing.B, lines int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(lines), "ns/line")
}

func BenchmarkNewText(b *testing.B) {
	src := benchText(b)
	var t *Text
	for b.Loop() {
		t = NewText(src)
	}
	perLine(b, t.Lines())
}

func BenchmarkAppendAnchored(b *testing.B) {
	t := NewText(benchText(b))
	dst := make([]byte, 0, 2*t.Size())
	b.SetBytes(int64(t.Size()))
	b.ReportAllocs()
	for b.Loop() {
		dst = t.AppendAnchored(dst[:0], Range{1, t.Lines()}, DefaultWidth)
	}
	perLine(b, t.Lines())
}

func BenchmarkShow(b *testing.B) {
	t := NewText(benchText(b))
	dst := make([]byte, 0, 2*t.Size())
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = t.Show(dst[:0], Range{1, t.Lines()}, Style{Width: DefaultWidth, MaxLine: MaxShown})
	}
	perLine(b, t.Lines())
}

func BenchmarkAppendHashes(b *testing.B) {
	t := NewText(benchText(b))
	dst := make([]Hash, 0, t.Lines())
	b.ReportAllocs()
	for b.Loop() {
		dst = t.AppendHashes(dst[:0], Range{1, t.Lines()})
	}
	perLine(b, t.Lines())
}

func BenchmarkDigest(b *testing.B) {
	src := benchText(b)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Sum(src)
	}
}

// changedText is 50,000 lines and the same lines with a few hunks.
func changedText() (old, new *Text) {
	h := newHistory(1, 50_000, 38)
	old = h.text()
	for range 8 {
		h.edit()
	}
	return old, h.text()
}

func BenchmarkMapLines(b *testing.B) {
	old, new := changedText()
	b.ReportAllocs()
	for b.Loop() {
		MapLines(old, new)
	}
	perLine(b, old.Lines())
}

func BenchmarkMapLinesManyHunks(b *testing.B) {
	h := newHistory(1, 50_000, 38)
	old := h.text()
	for range 2000 {
		h.edit()
	}
	new := h.text()
	for b.Loop() {
		MapLines(old, new)
	}
	perLine(b, old.Lines())
}

// BenchmarkMapLinesHostile compares texts made to be expensive.
func BenchmarkMapLinesHostile(b *testing.B) {
	for name, pair := range hostilePairs(50_000) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				MapLines(pair[0], pair[1])
			}
		})
	}
}

func BenchmarkApplyOneLine(b *testing.B) {
	t, _ := changedText()
	edits := []Edit{{Op: Replace, Start: 25_000, End: 25_000, Lines: []string{"one line"}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Apply(t, edits); err != nil {
			b.Fatal(err)
		}
	}
	perLine(b, t.Lines())
}
