package outline

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/testdata/corpus"
)

// BenchmarkColdOutline makes outlines of files of 100 KB and more from their
// bytes. Its ratio is the time for that through that for a bare parse of the
// same bytes, measured in turns in the same run.
func BenchmarkColdOutline(b *testing.B) {
	b.Run("go", func(b *testing.B) {
		x := New(Options{})
		for _, name := range []string{"net/http/h2_bundle.go", "cmd/compile/internal/ssa/rewritegeneric.go", "go/types/infer.go", "reflect/all_test.go"} {
			src, err := os.ReadFile(corpus.GoRoot(b, "src", name))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(filepath.Base(name), func(b *testing.B) {
				coldOutline(b, x, Go, src, func() {
					if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	})
}

// coldOutline times outlines against what floor does, in turns, and compares
// the shortest times: other work on the machine only ever adds.
func coldOutline(b *testing.B, x *Extractor, lang Language, src []byte, floor func()) {
	b.SetBytes(int64(len(src)))
	bare, cold := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		floor()
		bare = min(bare, time.Since(start))
		start = time.Now()
		if _, err := x.Extract(context.Background(), lang, hashline.NewText(src)); err != nil {
			b.Fatal(err)
		}
		cold = min(cold, time.Since(start))
	}
	b.ReportMetric(float64(cold)/float64(bare), "ratio")
	b.ReportMetric(cold.Seconds()*1000, "cold-ms")
}
