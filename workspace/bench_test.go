package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/hashline"
)

// BenchmarkWarmRead reads a file whose bytes are known, and beside it the
// floor: open, fstat, read into a reused buffer, digest.
func BenchmarkWarmRead(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20, 8 << 20} {
		c, f, dir := openFolder(b, Options{})
		path := filepath.Join(dir, "f.go")
		write(b, path, strings.Repeat("a line of a file that is read\n", size/30))
		for start := time.Now(); time.Since(start) < 30*time.Millisecond; { // until its stamp is old
			mustRead(b, c, f, "f.go")
		}
		var floor time.Duration
		b.Run(fmt.Sprintf("floor/%dK", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			buf := make([]byte, size+1)
			for b.Loop() {
				file, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				file.Stat()
				n, _ := file.Read(buf)
				hashline.Sum(buf[:n])
				file.Close()
			}
			floor = b.Elapsed() / time.Duration(b.N)
		})
		b.Run(fmt.Sprintf("read/%dK", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				mustRead(b, c, f, "f.go")
			}
			b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/float64(floor), "x-floor")
		})
	}
}
