package workspace

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/sandbox"
	"mapd/testdata/corpus"
	"mapd/workspace/store"
)

// measured is the time that something took, of the clock and of all processors
// of this process and its workers.
type measured struct{ wall, cpu time.Duration }

func measure(f func()) measured {
	before, start := cpuTime(), time.Now()
	f()
	return measured{time.Since(start), cpuTime() - before}
}

func cpuTime() time.Duration {
	var sum int64
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(who, &r) == nil {
			sum += r.Utime.Nano() + r.Stime.Nano()
		}
	}
	return time.Duration(sum)
}

// over reports how often as long as floor m took.
func (m measured) over(b *testing.B, floor measured, unit string) {
	b.ReportMetric(m.wall.Seconds()/floor.wall.Seconds(), unit)
	b.ReportMetric(m.cpu.Seconds()/floor.cpu.Seconds(), unit+"-cpu")
}

// onAll calls f for each path of the files below root on all processors.
func onAll(tb testing.TB, root string, f func(path string, b []byte)) {
	tb.Helper()
	paths := make(chan string, 1000)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					tb.Error(err)
				}
				f(path, b)
			}
		})
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			paths <- path
		}
		return err
	})
	close(paths)
	all.Wait()
	if err != nil {
		tb.Fatal(err)
	}
}

func readAndDigest(tb testing.TB, root string) measured {
	return measure(func() { onAll(tb, root, func(_ string, b []byte) { hashline.Sum(b) }) })
}

// hashAll finds the lines of all files and hashes them.
func hashAll(tb testing.TB, root string) {
	onAll(tb, root, func(_ string, b []byte) {
		t := hashline.NewText(b)
		t.AppendHashes(nil, hashline.Range{Start: 1, End: t.Lines()})
	})
}

func readAndParse(tb testing.TB, root string) measured {
	return measure(func() {
		onAll(tb, root, func(path string, b []byte) {
			if strings.HasSuffix(path, ".go") {
				_, _ = parser.ParseFile(token.NewFileSet(), path, b, parser.ParseComments|parser.SkipObjectResolution)
			}
		})
	})
}

// kit is a Cache as a daemon has it, with a store in dir.
type kit struct {
	cache *Cache
	store *store.Store
	pool  *sandbox.Pool
}

func openKit(tb testing.TB, dir string, limits Limits) *kit {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	k := &kit{pool: sandbox.NewPool(outline.DefaultLimits().Sandbox())}
	x := outline.New(outline.Options{Pool: k.pool, Log: log})
	opt := Options{Limits: limits, Outlines: x, Version: x.Version()}
	if dir != "" {
		k.store = store.Open(store.Options{Path: filepath.Join(dir, "outlines.db"), Log: log})
		opt.Store, opt.Shelf = k.store, store.Blobs{Dir: filepath.Join(dir, "names")}
	}
	k.cache = NewCache(opt)
	return k
}

func (k *kit) close() {
	k.cache.Close()
	if k.store != nil {
		k.store.Close()
	}
	k.pool.Close()
}

// ready opens a root and waits until all outlines are made.
func (k *kit) ready(tb testing.TB, root string) *Workspace {
	tb.Helper()
	w, err := k.cache.Open(root, WorkspaceOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Minute); w.Index().State() == Indexing; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("%+v", w.Index().Counts())
		}
	}
	if ix := w.Index(); ix.State() != Ready {
		tb.Fatalf("%s: %s", ix.State(), ix.Why)
	}
	return w
}

// resident returns the bytes of this process that are in memory, after giving
// back what is not needed.
func resident() int64 {
	debug.FreeOSMemory()
	status, _ := os.ReadFile("/proc/self/status")
	var kb int64
	if at := strings.Index(string(status), "VmRSS:"); at >= 0 {
		fmt.Sscan(string(status[at+6:]), &kb)
	}
	return kb << 10
}

// indexRoot returns the tree that BenchmarkIndex takes: the sources of the Go
// distribution, with MAPD_SUITE=linux those of Linux as Debian packages them.
func indexRoot(b *testing.B) string {
	if os.Getenv("MAPD_SUITE") != "linux" {
		return corpus.GoRoot(b, "src")
	}
	found, err := filepath.Glob("/usr/src/linux-source-*/Makefile")
	if err != nil || len(found) == 0 {
		b.Fatal("MAPD_SUITE=linux wants the package linux-source, unpacked in /usr/src")
	}
	return filepath.Dir(found[len(found)-1])
}

// BenchmarkIndex indexes a tree: cold, beside a walk that reads all files and
// parses those of Go; warm, after a restart, beside one that reads and digests
// them; and with MAPD_SUITE=ctags beside ctags.
func BenchmarkIndex(b *testing.B) {
	root := indexRoot(b)
	dir := b.TempDir()
	readAndDigest(b, root) // into the page cache
	b.Run("cold", func(b *testing.B) {
		var floor, cold measured
		before := resident()
		for b.Loop() {
			floor = readAndParse(b, root)
			os.RemoveAll(dir)
			k := openKit(b, dir, Limits{})
			var w *Workspace
			cold = measure(func() { w = k.ready(b, root) })
			counts := w.Index().Counts()
			hashes := measure(func() { hashAll(b, root) }).cpu - readAndDigest(b, root).cpu
			b.ReportMetric(float64(hashes.Nanoseconds())/float64(counts.Lines), "hash-ns/line")
			rss := resident()
			flush := measure(k.store.Flush)
			b.ReportMetric(float64(rss)/float64(counts.Source), "rss/source")
			b.ReportMetric(float64(rss-before)/float64(counts.Source), "rss-grown/source")
			b.ReportMetric(float64(counts.Bytes)/float64(counts.Symbols), "B/symbol")
			b.ReportMetric(float64(counts.Bytes)/float64(counts.Lines), "B/line")
			st := k.store.Stats()
			b.ReportMetric(float64((st.FlushTime).Milliseconds()), "flush-ms")
			b.Logf("floor %v, cold %v, last flush %v, %+v, store %+v", floor, cold, flush.wall, counts, st)
			k.close()
		}
		cold.over(b, floor, "x-parse")
	})
	if os.Getenv("MAPD_SUITE") == "ctags" {
		b.Run("ctags", func(b *testing.B) {
			var peer, cold measured
			for b.Loop() {
				peer = measure(func() {
					out, err := exec.Command("ctags", "-R", "-f", filepath.Join(b.TempDir(), "tags"), root).CombinedOutput()
					if err != nil {
						b.Fatalf("%v\n%s", err, out)
					}
				})
				k := openKit(b, "", Limits{})
				cold = measure(func() { k.ready(b, root) })
				b.Logf("ctags %v, cold %v", peer, cold)
				k.close()
			}
			cold.over(b, peer, "x-ctags")
		})
	}
	b.Run("warm", func(b *testing.B) {
		var floor, warm measured
		for b.Loop() {
			floor = readAndDigest(b, root)
			k := openKit(b, dir, Limits{})
			warm = measure(func() { k.ready(b, root) })
			st := k.store.Stats()
			b.Logf("floor %v, warm %v, made %d, store %+v", floor, warm, k.cache.Stats().OutlinesMade, st)
			k.close()
		}
		warm.over(b, floor, "x-digest")
	})
}

// generate makes a tree of n files of Go, 20 in a directory, all different.
func generate(tb testing.TB, root string, n int) {
	tb.Helper()
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("p%02d", i/2000), fmt.Sprintf("q%03d", i/20))
		if i%20 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				tb.Fatal(err)
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "// Package q%03d is generated.\npackage q%03d\n\n", i/20, i/20)
		for j := range 12 {
			fmt.Fprintf(&b, "// Handle%d_%d does it.\nfunc (s *Server%d) Handle%d_%d(ctx context.Context, name string) error {\n\tif name == \"\" {\n\t\treturn errors.New(%q)\n\t}\n\treturn s.next(ctx, name)\n}\n\n", i, j, i%7, i, j, fmt.Sprint("no name ", i))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%05d.go", i)), []byte(b.String()), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// heap returns the bytes that live on the heap, without what pools hold.
func heap() int64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// scaled is what one file of a tree of some size costs.
type scaled struct{ cold, warm, memory, save float64 }

// scaleOf indexes a tree of n files, cold and warm, and changes one of them.
func scaleOf(b *testing.B, n int) (s scaled) {
	root, dir := b.TempDir(), b.TempDir()
	generate(b, root, n)
	readAndDigest(b, root)
	k := openKit(b, dir, Limits{})
	var w *Workspace
	m := measure(func() { w = k.ready(b, root) })
	s.cold = float64(m.cpu.Nanoseconds()) / float64(n)
	ix := w.Index()
	file := ix.Files()[n/2]
	change := map[string]*File{file.Path: {Path: file.Path}}
	start := time.Now()
	const saves = 50
	for range saves {
		ix.with(change)
		ix.State()
	}
	s.save = float64(time.Since(start).Nanoseconds()) / saves
	b.Logf("%d files: cold %v, %+v, store %+v", n, m, ix.Counts(), k.store.Stats())
	k.close()
	k, w, ix, file, change = nil, nil, nil, nil, nil
	before := heap()
	k = openKit(b, dir, Limits{})
	m = measure(func() { w = k.ready(b, root) })
	s.warm = float64(m.cpu.Nanoseconds()) / float64(n)
	s.memory = float64(heap()-before-w.Index().Counts().Bytes) / float64(n)
	b.Logf("%d files: warm %v", n, m)
	k.close()
	return s
}

// BenchmarkScale compares what a file costs in a small and in a large tree:
// time of all processors to index it cold and warm, and memory besides the names. MAPD_SUITE=scale
// takes 10,000 and 75,000 files.
func BenchmarkScale(b *testing.B) {
	few, many := 800, 6000
	if os.Getenv("MAPD_SUITE") == "scale" {
		few, many = 10_000, 75_000
	}
	for b.Loop() {
		small, large := scaleOf(b, few), scaleOf(b, many)
		b.ReportMetric(large.cold/small.cold, "cold-x-small")
		b.ReportMetric(large.warm/small.warm, "warm-x-small")
		b.ReportMetric(large.memory/small.memory, "memory-x-small")
		b.ReportMetric(large.cold/1000, "cold-us/file")
		b.ReportMetric(large.warm/1000, "warm-us/file")
		b.ReportMetric(large.memory, "B/file")
		b.ReportMetric(large.save/1000, "save-us")
	}
}
