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

// BenchmarkWrite changes one line of a file of 50,000 lines, and beside it the
// floor: read, write to a new file, rename, with the same fsync.
func BenchmarkWrite(b *testing.B) {
	for _, sync := range []bool{true, false} {
		c, f, dir := openFolder(b, Options{})
		path := filepath.Join(dir, "f.go")
		write(b, path, strings.Repeat("a line of a file that is edited\n", 50_000))
		n := 0
		edit := func(old []byte) []byte {
			n++
			return append(fmt.Appendf(make([]byte, 0, len(old)+32), "%032d", n), old[32:]...)
		}
		var floor time.Duration
		b.Run(fmt.Sprintf("floor/sync=%v", sync), func(b *testing.B) {
			for b.Loop() {
				old, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				file, err := os.Create(path + ".new")
				if err != nil {
					b.Fatal(err)
				}
				file.Write(edit(old))
				if sync {
					file.Sync()
				}
				file.Close()
				if err := os.Rename(path+".new", path); err != nil {
					b.Fatal(err)
				}
				if sync {
					d, _ := os.Open(dir)
					d.Sync()
					d.Close()
				}
			}
			floor = b.Elapsed() / time.Duration(b.N)
		})
		b.Run(fmt.Sprintf("write/sync=%v", sync), func(b *testing.B) {
			for b.Loop() {
				_, err := c.Write(b.Context(), f, "f.go", WriteOptions{NoSync: !sync}, func(v *Version) ([]byte, error) { return edit(v.Bytes()), nil })
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/float64(floor), "x-floor")
		})
	}
}
