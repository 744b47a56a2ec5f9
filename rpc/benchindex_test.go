package rpc_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
	"mapd/workspace/watch"
)

// sources writes n files of source code into a directory, in two languages, of
// which one is outlined by a worker. No two files are alike, whatever seed and n.
func (d *daemon) sources(root string, seed, n int) {
	d.t.Helper()
	code := functions(30)
	for i := range n {
		path := filepath.Join(root, fmt.Sprintf("d%d/f%d.go", i%40, i))
		content := fmt.Sprintf("%s// %d %d\n", code, seed, i)
		if i%4 == 0 {
			path = filepath.Join(root, fmt.Sprintf("d%d/f%d.py", i%40, i))
			content = fmt.Sprintf("# %d %d\nclass A:\n    def f(self):\n        return 1\n", seed, i)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			d.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
}

// functions returns a Go file with n functions of five lines.
func functions(n int) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for i := range n {
		fmt.Fprintf(&b, "\nfunc f%d(a, b int) (int, error) {\n\tif a > b {\n\t\treturn a * %d, nil\n\t}\n\treturn g(a, b)\n}\n", i, i)
	}
	return b.String()
}

// BenchmarkReadWhileIndexing reads a file over a unix socket while another root
// is indexed. Its metric ratio is the median over that of reads without
// indexing, measured before and after it.
func BenchmarkReadWhileIndexing(b *testing.B) {
	d := newDaemon(b)
	d.write("a.go", sourceLike(500))
	c := dialLine(b, d.listen())
	c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file://%s"}}`, d.dir))
	const request = `{"jsonrpc":"2.0","id":2,"method":"mapd/read","params":{"path":"a.go"}}`
	watcher := d.session()
	watcher.workspaceAt(d.dir, ready)
	read := func() time.Duration {
		start := time.Now()
		c.call(request)
		return time.Since(start)
	}
	var idle, busy []time.Duration
	for i := 0; b.Loop(); i++ {
		root, err := filepath.EvalSymlinks(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		d.sources(root, i, 2000)
		for range 1000 {
			idle = append(idle, read())
		}
		a := d.connect()
		a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s"}`, root))
		for {
			for range 50 {
				busy = append(busy, read())
			}
			if w := watcher.workspaceAt(root, anyState); w.State == "ready" {
				break
			}
		}
		a.conn.Close()
	}
	b.ReportMetric(float64(median(busy))/float64(median(idle)), "ratio")
	b.ReportMetric(float64(median(idle).Microseconds()), "idle-p50-µs")
	b.ReportMetric(float64(len(busy)), "reads")
	b.ReportMetric(float64(busy[len(busy)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(idle[len(idle)*99/100].Microseconds()), "idle-p99-µs")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkNotice saves a file of a workspace of 2,000 until the client that
// holds its lines gets the notice. Its metrics are the ratios of median and 99th
// percentile over the floor, measured in turn: the event of a bare watcher, the
// file read, parsed.
func BenchmarkNotice(b *testing.B) {
	d := newDaemon(b)
	d.sources(d.dir, 0, 2000)
	const name = "d7/f7.go"
	path := filepath.Join(d.dir, name)
	a := d.session(`{"stale":"push"}`)
	a.workspaceAt(d.dir, ready)
	read := fmt.Sprintf(`{"path":%q,"limit":300,"map":"never"}`, name)
	a.read(read)

	bare := b.TempDir()
	w, err := watch.System()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(bare); err != nil {
		b.Fatal(err)
	}
	var ours, floor []time.Duration
	for n := 0; b.Loop(); n++ {
		content := []byte(functions(30) + fmt.Sprintln("//", n))
		start := time.Now()
		saveAtOnce(b, path, content)
		var s wire.Stale
		a.pushed("mapd/stale", &s)
		ours = append(ours, time.Since(start))
		a.read(read)

		start = time.Now()
		saveAtOnce(b, filepath.Join(bare, "f.go"), content)
		for e := range w.Events() {
			if filepath.Base(e.Path) == "f.go" {
				break
			}
		}
		got, err := os.ReadFile(filepath.Join(bare, "f.go"))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "f.go", got, parser.SkipObjectResolution); err != nil {
			b.Fatal(err)
		}
		floor = append(floor, time.Since(start))
	}
	b.ReportMetric(float64(median(ours))/float64(median(floor)), "ratio-p50")
	b.ReportMetric(float64(ours[len(ours)*99/100])/float64(floor[len(floor)*99/100]), "ratio-p99")
	b.ReportMetric(float64(median(ours).Microseconds()), "p50-µs")
	b.ReportMetric(float64(ours[len(ours)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(median(floor).Microseconds()), "floor-p50-µs")
	b.ReportMetric(0, "ns/op")
}

// saveAtOnce replaces a file in one step.
func saveAtOnce(b *testing.B, path string, content []byte) {
	b.Helper()
	next := path + ".new"
	if err := os.WriteFile(next, content, 0o644); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCheckout changes, adds and removes 3,000 files of a repository by a
// checkout of git until its workspace is ready again. Its metric ratio is that
// time over the time of the same checkout and a new session that scans and parses
// all of it in a daemon that knows nothing.
func BenchmarkCheckout(b *testing.B) {
	d := newDaemon(b)
	git := gitIn(b, d.dir)
	git("init", "-q", "-b", "one")
	d.sources(d.dir, 1, 3000)
	git("add", "-A")
	git("commit", "-qm", "one")
	git("checkout", "-q", "-b", "two")
	d.sources(d.dir, 2, 3000)
	if err := os.RemoveAll(filepath.Join(d.dir, "d3")); err != nil {
		b.Fatal(err)
	}
	git("add", "-A")
	git("commit", "-qm", "two")
	a := d.session()
	a.workspaceAt(d.dir, ready)
	var ours, floor []time.Duration
	for n := 0; b.Loop(); n++ {
		for i, branch := range []string{"one", "two"} {
			start := time.Now()
			git("checkout", "-q", branch)
			a.awaitFiles(3000 - 75*i)
			ours = append(ours, time.Since(start))
		}
		for i, branch := range []string{"one", "two"} {
			fresh := newDaemon(b)
			fresh.dir = d.dir
			start := time.Now()
			git("checkout", "-q", branch)
			fresh.session().awaitFiles(3000 - 75*i)
			floor = append(floor, time.Since(start))
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(floor)), "ratio")
	b.ReportMetric(float64(median(ours).Milliseconds()), "p50-ms")
	b.ReportMetric(float64(median(floor).Milliseconds()), "floor-p50-ms")
	b.ReportMetric(0, "ns/op")
}

// awaitFiles waits until the only workspace is ready with so many files. It asks
// as often as a client would that shows the progress.
func (a *agent) awaitFiles(n int) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range ticker.C {
		if w := a.status().Workspaces[0]; ready(w) && w.Files == n {
			return
		}
	}
}

// gitIn returns git in a directory, without the user's configuration.
func gitIn(t testing.TB, dir string) func(args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	return func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v %s", args, err, out)
		}
	}
}
