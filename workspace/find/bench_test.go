package find

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mapd/outline"
	"mapd/workspace"
	"mapd/workspace/grep"
	"mapd/workspace/names"
)

// sources indexes the Go distribution's sources.
func sources(b testing.TB) (*tree, []string) {
	b.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatalf("go env GOROOT: %v", err)
	}
	root, err := filepath.EvalSymlinks(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	if err != nil {
		b.Fatal(err)
	}
	tr := &tree{t: b, dir: root, cache: workspace.NewCache(workspace.Options{})}
	b.Cleanup(func() { tr.cache.Close() })
	w, err := tr.cache.Open(root, workspace.WorkspaceOptions{Cookies: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	folders, err := tr.cache.Folders(root)
	if err != nil {
		b.Fatal(err)
	}
	tr.Search = &Search{
		Roots: []Root{{Path: root, Workspace: w}}, Limit: 50, Patience: patience,
		Read: func(ctx context.Context, path string) (*workspace.Version, error) {
			return tr.cache.Read(ctx, folders, path)
		},
		Outline: noOutline,
	}
	ix, err := w.Settle(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var paths []string
	for _, f := range ix.Files() {
		paths = append(paths, join(root, f.Path))
	}
	return tr, paths
}

func noOutline(context.Context, *workspace.Version) (*outline.Outline, error) {
	return &outline.Outline{}, nil
}

// bareScan reads files on all processors and looks for text in them. It returns
// the processor time.
func bareScan(b testing.TB, paths []string, text string) time.Duration {
	b.Helper()
	start := processorTime()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			buf := make([]byte, 1<<20)
			for n := next.Add(1) - 1; int(n) < len(paths); n = next.Add(1) - 1 {
				f, err := os.Open(paths[n])
				if err != nil {
					b.Error(err)
					return
				}
				for {
					k, err := f.Read(buf)
					bytes.Contains(buf[:k], []byte(text))
					if err != nil {
						break
					}
				}
				f.Close()
			}
		})
	}
	wg.Wait()
	return processorTime() - start
}

// BenchmarkText compares the processor time of a search for text with that of a
// bare scan of the same files.
func BenchmarkText(b *testing.B) {
	tr, paths := sources(b)
	for _, c := range []struct {
		name, pattern string
		regexp        bool
	}{
		{"absent", "Zyzzyva", false}, {"fold", "zyzzyva", false}, {"some", "ErrBufferFull", false}, {"expression", `func \w+Reader\(`, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			floor := bareScan(b, paths, c.pattern)
			for range 2 {
				floor = min(floor, bareScan(b, paths, c.pattern))
			}
			p, err := grep.Compile(c.pattern, c.regexp)
			if err != nil {
				b.Fatal(err)
			}
			var cpu time.Duration
			for b.Loop() {
				used := processorTime()
				if _, err := tr.Text(b.Context(), p); err != nil {
					b.Fatal(err)
				}
				if took := processorTime() - used; cpu == 0 || took < cpu {
					cpu = took
				}
			}
			b.ReportMetric(float64(cpu.Microseconds())/1000, "cpu-ms")
			b.ReportMetric(float64(floor.Microseconds())/1000, "floor-ms")
			b.ReportMetric(float64(cpu)/float64(floor), "x-scan")
		})
	}
}

// BenchmarkSymbols compares searches over all symbols of a generated tree with a
// bare scan of the same names: for each name, whether it holds the letters in one
// piece. MAPD_FIND_FILES sets the number of files.
func BenchmarkSymbols(b *testing.B) {
	files, _ := strconv.Atoi(os.Getenv("MAPD_FIND_FILES"))
	if files == 0 {
		files = 2000
	}
	tr, flat := generated(b, files)
	queries := []string{"NewBuffer", "readhandle", "rdHdl", "servq", "Token", "zzz", "Lock.cache", "stor", "GetSetNew", "twrlst"}
	floor := time.Duration(1 << 62)
	for range 3 {
		start := processorTime()
		found := 0
		for _, query := range queries {
			for _, name := range flat {
				if strings.Contains(name, query) {
					found++
				}
			}
		}
		floor = min(floor, (processorTime()-start)/time.Duration(len(queries)))
	}
	var wall, cpu []time.Duration
	for i := 0; b.Loop(); i++ {
		start, used := time.Now(), processorTime()
		if _, err := tr.Symbols(b.Context(), queries[i%len(queries)], names.Subsequence); err != nil {
			b.Fatal(err)
		}
		wall, cpu = append(wall, time.Since(start)), append(cpu, processorTime()-used)
	}
	slices.Sort(wall)
	var total time.Duration
	for _, c := range cpu {
		total += c
	}
	b.ReportMetric(float64(wall[len(wall)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(wall[len(wall)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(total.Microseconds())/1000/float64(len(cpu)), "cpu-ms")
	b.ReportMetric(float64(total)/float64(len(cpu))/float64(floor), "x-scan")
	b.ReportMetric(float64(len(flat)), "symbols")
}

// generated indexes a tree of Go files, and returns the names of its symbols too.
func generated(b *testing.B, files int) (*tree, []string) {
	b.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	words := strings.Fields("Get Set New Server Client Read Write File Name Index Buffer Handle Request Close Open Parse Token Node Tree List Map Value Key Error State Event Queue Worker Lock Time Cache Store Config Option")
	word := func() string { return words[rng.IntN(len(words))] }
	var flat []string
	sources := map[string]string{}
	for i := range files {
		var s strings.Builder
		s.WriteString("package a\n\n")
		for j := range 20 {
			name := fmt.Sprintf("%s%s%s%d", word(), word(), word(), j)
			if j%3 == 0 {
				name = strings.ToLower(name[:1]) + name[1:]
			}
			fmt.Fprintf(&s, "func %s() {\n}\n", name)
			flat = append(flat, name)
		}
		sources[fmt.Sprintf("d%03d/f%05d.go", i/50, i)] = s.String()
	}
	tr := newTree(b, sources)
	tr.symbols("x") // waits until all is indexed
	return tr, flat
}

// processorTime is what this process used so far, which other processes do not
// disturb.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
