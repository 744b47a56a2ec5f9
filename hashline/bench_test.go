package hashline

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// benchText is a large Go file of this toolchain, or generated lines where it
// is missing.
func benchText(b *testing.B) []byte {
	b.Helper()
	src, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/cmd/compile/internal/ssa/rewriteARM64.go"))
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
