package workspace

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"os"
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

// BenchmarkIndex indexes the sources of the Go distribution: cold, beside a walk
// that reads and parses the same files; and warm, after a restart, beside one
// that reads and digests them.
func BenchmarkIndex(b *testing.B) {
	root := corpus.GoRoot(b, "src")
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
