package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"mapd/rpc"
	"mapd/rpc/wire"
)

// Every field of an answer comes from one buffer of one read, while another
// program truncates and rewrites the file as fast as it can.
func TestOneVersion(t *testing.T) {
	d := newDaemon(t)
	version := func(i int) string {
		lines := 1200 + i%7*100
		return strings.Repeat(fmt.Sprintf("func f%d() {}\n", i), lines)
	}
	path := d.write("a.go", version(0))
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
				if err := os.WriteFile(path, []byte(version(i)), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
	})
	a := d.session()
	stable := 0
	for range 300 {
		r := a.read(`{"path":"a.go","anchors":false,"maxBytes":1000000,"map":"always"}`)
		if r.Details.Unstable {
			continue
		}
		stable++
		checkOneVersion(t, r)
	}
	close(stop)
	writer.Wait()
	if stable == 0 {
		t.Skip("the file never held still: nothing was checked")
	}
}

func checkOneVersion(t *testing.T, r wire.ReadResult) {
	t.Helper()
	if r.Details.TotalLines == 0 { // between truncate and write
		if r.Details.TotalBytes != 0 || len(r.Details.Ranges) != 0 {
			t.Errorf("an empty file with %+v", r.Details)
		}
		return
	}
	body := r.Content[0].Text
	first, _, _ := strings.Cut(body, "\n")
	// A write may be cut short: then its last line is.
	whole := strings.Count(body, first+"\n")
	if shown := r.Details.Truncation.ShownLines; shown != strings.Count(body, "\n")+1 || shown != r.Details.TotalLines {
		t.Errorf("%d of %d lines are said to be shown, there are %d", shown, r.Details.TotalLines, strings.Count(body, "\n")+1)
	}
	if whole < r.Details.TotalLines-1 {
		t.Errorf("the answer mixes versions: %q stands in %d of %d lines", first, whole, r.Details.TotalLines)
	}
	if n := *r.Details.SymbolCount; n < whole || n > r.Details.TotalLines {
		t.Errorf("%d symbols in %d lines", n, r.Details.TotalLines)
	}
	if !strings.Contains(r.Content[1].Text, fmt.Sprintf("(%d lines, %d bytes", r.Details.TotalLines, r.Details.TotalBytes)) {
		t.Errorf("the map is of another version: %.80q; %+v", r.Content[1].Text, r.Details)
	}
}

// After the server has stopped nothing of it is left, whatever its clients were
// doing.
func TestQuietClose(t *testing.T) {
	before := goleak.IgnoreCurrent()
	descriptors := openDescriptors(t)
	t.Run("daemon", func(t *testing.T) {
		d := newDaemon(t)
		d.write("a.py", "def f():\n    pass\n")
		path := d.listen()
		for i := range 8 {
			c := dialLine(t, path)
			switch i % 3 {
			case 0: // says nothing
			case 1: // is in the middle of a frame
				if _, err := c.conn.Write([]byte(`{"jsonrpc":`)); err != nil {
					t.Fatal(err)
				}
			case 2: // has used a worker
				c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file://%s"}}`, d.dir))
				if reply := c.call(`{"jsonrpc":"2.0","id":2,"method":"mapd/map","params":{"path":"a.py"}}`); !strings.Contains(string(reply), `"f"`) {
					t.Errorf("map: %s", reply)
				}
			}
		}
	})
	goleak.VerifyNone(t, before)
	if after := openDescriptors(t); after > descriptors {
		t.Errorf("%d descriptors are open, %d were before", after, descriptors)
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("descriptors cannot be counted: %v", err)
	}
	return len(entries)
}

// The same bytes give the same answer, from memory and from a daemon that
// never saw them.
func TestPureDerivation(t *testing.T) {
	content := numbered(3000) + "func g() { h := func() {}; h() }\n"
	var answers []string
	for range 2 {
		d := newDaemon(t)
		d.write("a.go", "package other\n")
		a := d.session()
		a.read(`{"path":"a.go","map":"always"}`)
		d.write("a.go", content)
		for range 2 {
			r := a.read(`{"path":"a.go","map":"always"}`)
			answers = append(answers, text(r))
		}
	}
	for i, answer := range answers {
		if answer != answers[0] {
			t.Errorf("answer %d differs from the first", i)
		}
	}
}

// Limits are met to the byte, and past them is a typed error.
func TestBounded(t *testing.T) {
	d := newDaemonWithin(t, func(l *rpc.Limits) {
		l.Workspace.FileBytes = 1000
		l.Workspace.DirEntries = 3
		l.Outline.Bytes = 500
		l.LineShown = 10
		l.ImageBytes = 100
	})
	d.write("fits.go", strings.Repeat("x", 999)+"\n")
	d.write("large.go", strings.Repeat("x", 1000)+"\n")
	d.write("parsed.go", fill("package p\nfunc f() {}\n//", 500))
	d.write("unparsed.go", fill("package p\nfunc f() {}\n//", 501))
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	d.write("fits.png", fill(png, 100))
	d.write("large.png", fill(png, 101))
	d.write("lines.txt", "0123456789\n01234567890\n")
	for _, n := range []string{"a", "b", "c", "d", "e"} {
		d.write("dir/"+n, "")
	}
	a := d.session()
	a.read(`{"path":"fits.go","map":"never"}`)
	if code := a.call("mapd/read", `{"path":"large.go"}`).code(); code != "file_too_large" {
		t.Errorf("a file of 1,001 bytes: %q", code)
	}
	for name, why := range map[string]string{"parsed.go": "", "unparsed.go": "too_large"} {
		if r := a.read(`{"path":"` + name + `","map":"always"}`); r.Details.Outline.Why != why {
			t.Errorf("%s: outline %+v, want why %q", name, r.Details.Outline, why)
		}
	}
	a.read(`{"path":"fits.png","images":true}`)
	if code := a.call("mapd/read", `{"path":"large.png","images":true}`).code(); code != "file_too_large" {
		t.Errorf("an image of 101 bytes: %q", code)
	}
	cut := a.read(`{"path":"lines.txt"}`).Details.CutLines
	if len(cut) != 1 || cut[0] != (wire.CutLine{Line: 2, ShownBytes: 10, TotalBytes: 11}) {
		t.Errorf("lines of 10 and 11 bytes: %+v", cut)
	}
	m := a.call("mapd/read", `{"path":"dir"}`)
	var data struct{ Entries []string }
	if err := json.Unmarshal(m.Error.Data, &data); err != nil || len(data.Entries) != 3 || !strings.Contains(m.Error.Message, "2 more") {
		t.Errorf("five entries: %+v, %v", m.Error, data.Entries)
	}
}

func fill(s string, size int) string { return s + strings.Repeat(" ", size-len(s)) }

// A worker that dies or fills its memory costs one answer its tree: the answer
// says why, and the next parse works.
func TestWorkersCostOneTree(t *testing.T) {
	d := newDaemonWithin(t, func(l *rpc.Limits) { l.Outline.Memory = 1 << 30 })
	d.write("ok.c", "int f(void) { return 1; }\n")
	// A type that nests without an end makes the parser fork until its memory is full.
	d.write("Hostile.java", "class A { int ok() { return 1; } }\n"+strings.Repeat("a<", 30_000))
	a := d.session()
	why := func(name string) string {
		t.Helper()
		r := a.read(`{"path":"` + name + `","map":"only"}`)
		if r.Details.Outline.Why != "" && r.Details.Outline.Source != "pattern" {
			t.Errorf("%s: %+v", name, r.Details.Outline)
		}
		return r.Details.Outline.Why
	}
	if got := why("ok.c"); got != "" {
		t.Fatalf("before: %q", got)
	}
	if got := why("Hostile.java"); got != "memory" && got != "timeout" {
		t.Errorf("the hostile file: %q", got)
	}
	d.write("ok2.c", "int g(void) { return 2; }\n")
	if got := why("ok2.c"); got != "" {
		t.Errorf("after: %q", got)
	}
}

// newDaemonWithin is newDaemon with other limits, in every room.
func newDaemonWithin(t testing.TB, change func(*rpc.Limits)) *daemon {
	t.Helper()
	limits := rpc.DefaultLimits()
	change(&limits)
	return newDaemonOf(t, limits)
}

// A worker that is killed in the middle of a parse costs that answer its tree.
func TestKilledWorker(t *testing.T) {
	d := newDaemon(t)
	line := "int f(int a) { if (a) { return g(a, 1) + 2; } return 0; }\n"
	d.write("big.c", strings.Repeat(line, 150_000)) // 9 MB keep a worker busy for most of a second
	d.write("ok.c", line)
	a := d.session()
	a.read(`{"path":"ok.c","map":"only"}`) // a worker is there
	before := workersTime(t)
	id := a.send("mapd/read", `{"path":"big.c","map":"only"}`)
	for workersTime(t) < before+5 { // the parse has begun, and has most of its way before it
		runtime.Gosched()
	}
	for _, pid := range childWorkers(t) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	m := a.next()
	var r wire.ReadResult
	if err := json.Unmarshal(m.Result, &r); err != nil || *m.ID != id {
		t.Fatalf("%v %+v", err, m)
	}
	if o := r.Details.Outline; o.Source != "pattern" || o.Why != "crashed" || !strings.Contains(r.Content[0].Text, "f") {
		t.Errorf("outline %+v, map %.200q", o, r.Content[0].Text)
	}
	d.write("next.c", "int next(void) { return 1; }\n")
	if o := a.read(`{"path":"next.c","map":"only"}`).Details.Outline; o.Source != "parser" {
		t.Errorf("the next parse: %+v", o)
	}
}

// childWorkers returns the pids of this process's workers.
func childWorkers(t *testing.T) []int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(tasks) == 0 {
		t.Skip("the kernel does not list children")
	}
	var out []int
	for _, task := range tasks {
		children, _ := os.ReadFile(task) // a thread may have ended
		for _, field := range strings.Fields(string(children)) {
			cmdline, _ := os.ReadFile("/proc/" + field + "/cmdline")
			if pid, err := strconv.Atoi(field); err == nil && strings.Contains(string(cmdline), "-mapd.worker") {
				out = append(out, pid)
			}
		}
	}
	return out
}

// workersTime returns the processor time that all workers have used, in ticks
// of 10 ms.
func workersTime(t *testing.T) int {
	t.Helper()
	total := 0
	for _, pid := range childWorkers(t) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after) // from field 3 of proc(5) on
		user, err := strconv.Atoi(fields[11])
		if err != nil {
			t.Fatal(err)
		}
		total += user
	}
	return total
}
