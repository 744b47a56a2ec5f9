package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/workspace/watch"
)

// BenchmarkWarmRead reads a file whose bytes are known, and beside it the
// floor: open, fstat, read into a reused buffer, digest.
func BenchmarkWarmRead(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10, 1 << 20, 8 << 20} {
		c, f, dir := openDiskFolder(b, Options{})
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
		c, f, dir := openDiskFolder(b, Options{})
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

// BenchmarkSave saves a file of a workspace of 2,000 files until the index has
// it, and beside it the floor: an event of a bare watcher, read, digest.
func BenchmarkSave(b *testing.B) {
	dir := memoryDir(b)
	for i := range 2000 {
		write(b, filepath.Join(dir, fmt.Sprintf("d%d/f%d.go", i%40, i)), fmt.Sprintln("file", i))
	}
	path := filepath.Join(dir, "d7/f7.go")
	n := 0
	save := func() {
		n++
		if err := os.WriteFile(path, fmt.Appendln(nil, "saved", n), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var floor time.Duration
	b.Run("floor", func(b *testing.B) {
		s, err := watch.System()
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		s.Add(filepath.Dir(path))
		for b.Loop() {
			save()
			for want := fmt.Sprintln("saved", n); ; {
				<-s.Events()
				got, _ := os.ReadFile(path)
				hashline.Sum(got)
				if string(got) == want {
					break
				}
			}
		}
		floor = b.Elapsed() / time.Duration(b.N)
	})
	b.Run("index", func(b *testing.B) {
		c := NewCache(Options{})
		defer c.Close()
		saved := make(chan *Index, 1000)
		w := openWorkspace(b, c, dir, WorkspaceOptions{Changed: func(ix *Index, _ []string) { saved <- ix }})
		settle(b, w)
		for b.Loop() {
			save()
			for want := hashline.Sum(fmt.Appendln(nil, "saved", n)); ; {
				ix := <-saved
				if f, _ := ix.Lookup("d7/f7.go"); f.Digest == want {
					break
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/float64(floor), "x-floor")
	})
	b.Run("settle", func(b *testing.B) {
		c := NewCache(Options{})
		defer c.Close()
		w := openWorkspace(b, c, dir, WorkspaceOptions{})
		settle(b, w)
		for b.Loop() {
			save()
			if f, _ := settle(b, w).Lookup("d7/f7.go"); f.Digest != hashline.Sum(fmt.Appendln(nil, "saved", n)) {
				b.Fatal("stale")
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		c := NewCache(Options{})
		defer c.Close()
		for b.Loop() {
			w := openWorkspace(b, c, dir, WorkspaceOptions{})
			settle(b, w)
			w.Close()
		}
	})
}
