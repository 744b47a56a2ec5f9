package rpc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/rpc"
	"mapd/rpc/wire"
)

// BenchmarkCheck asks for 100 anchors of a file of 50,000 lines that has just
// changed. Its metric ratio is the median over the median of the floor, measured
// in turn: read the file, digest it, and compare its lines with the old ones.
func BenchmarkCheck(b *testing.B) {
	d := newDaemon(b)
	before := sourceLike(50_000)
	path := d.write("a.go", before)
	c := d.dialSession()
	request := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"mapd/check","params":{"path":"a.go","anchors":[%s]}}`, strings.Join(c.anchors(d, 100), ","))
	old := hashline.NewText([]byte(before))
	var ours, floor []time.Duration
	for n := 0; b.Loop(); n++ {
		d.write("a.go", before)
		c.call(`{"jsonrpc":"2.0","id":4,"method":"mapd/forget","params":{}}`)
		c.anchors(d, 100)
		changed := strings.Replace(before, "\treturn a*102 + b, nil\n", fmt.Sprintf("\tchanged(%d)\n\tand()\n", n), 1)
		changed = strings.Replace(changed, "\treturn 30004, nil }\n", fmt.Sprintf("\tchanged(%d)\n", n), 1)
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		reply := c.call(request)
		ours = append(ours, time.Since(start))
		if strings.Count(string(reply), `"status":"moved"`) < 90 {
			b.Fatalf("%.500s", reply)
		}

		start = time.Now()
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		digest := hashline.Sum(content)
		lines := hashline.MapLines(old, hashline.NewText(content))
		floor = append(floor, time.Since(start))
		if digest == (hashline.Digest{}) || lines.Lines() != old.Lines() {
			b.Fatal("no comparison")
		}
	}
	reportRatio(b, ours, floor)
}

// BenchmarkEdit replaces one line of a file of 50,000. Its metric ratio is the
// median over the median of the floor, measured in turn: read the file, write it
// to another one, and rename that over it, with the same fsync. cpu-ratio is the
// same of the time on a processor, of daemon and client together, which says more
// on a machine that has other work.
func BenchmarkEdit(b *testing.B) {
	for _, sync := range []bool{false, true} {
		b.Run(map[bool]string{false: "unsynced", true: "synced"}[sync], func(b *testing.B) {
			d := newDaemon(b, func(o *rpc.Options) { o.Sync = sync })
			path := d.write("a.go", sourceLike(50_000))
			c := d.dialSession()
			anchor := c.anchors(d, 1)[0]
			var ours, floor []time.Duration
			var ourCPU, floorCPU time.Duration
			for n := 0; b.Loop(); n++ {
				request := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"mapd/edit","params":{"path":"a.go","edits":[{"op":"replace","pos":%s,"lines":["changed(%d)"]}]}}`, anchor, n)
				start, busy := time.Now(), processorTime(b)
				reply := c.call(request)
				ours = append(ours, time.Since(start))
				ourCPU += processorTime(b) - busy
				var m struct{ Result wire.EditResult }
				if err := json.Unmarshal(reply, &m); err != nil || !m.Result.Applied {
					b.Fatalf("%v %.500s", err, reply)
				}
				shown := wire.ReadResult{Content: []wire.Content{{Text: m.Result.Anchors[0].Text}}}
				anchor = fmt.Sprintf("%q", anchors(shown)[m.Result.FirstChangedLine])
				start, busy = time.Now(), processorTime(b)
				replaceFile(b, path, sync)
				floor = append(floor, time.Since(start))
				floorCPU += processorTime(b) - busy
			}
			reportRatio(b, ours, floor)
			b.ReportMetric(float64(ourCPU)/float64(floorCPU), "cpu-ratio")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// replaceFile is what any program does to write a file safely.
func replaceFile(b *testing.B, path string, sync bool) {
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(path+"~", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		b.Fatal(err)
	}
	_, err = f.Write(content)
	if err == nil && sync {
		err = f.Sync()
	}
	f.Close()
	if err == nil {
		err = os.Rename(path+"~", path)
	}
	if err == nil && sync {
		var dir *os.File
		if dir, err = os.Open(filepath.Dir(path)); err == nil {
			err = dir.Sync()
			dir.Close()
		}
	}
	if err != nil {
		b.Fatal(err)
	}
}

func reportRatio(b *testing.B, ours, floor []time.Duration) {
	b.ReportMetric(float64(median(ours))/float64(median(floor)), "ratio")
	b.ReportMetric(float64(median(ours).Microseconds()), "p50-µs")
	b.ReportMetric(float64(median(floor).Microseconds()), "floor-µs")
	b.ReportMetric(0, "ns/op") // holds both sides
}

// dialSession opens a session over a unix socket.
func (d *daemon) dialSession() *lineClient {
	c := dialLine(d.t, d.listen())
	c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file://%s"}}`, d.dir))
	return c
}

// anchors reads that many lines all over a.go, of 50,000, and returns their
// anchors, quoted.
func (c *lineClient) anchors(d *daemon, n int) []string {
	var ranges []string
	for i := range n {
		line := 1003 + i*490
		ranges = append(ranges, fmt.Sprintf(`{"start":%d,"end":%[1]d}`, line))
	}
	reply := c.call(`{"jsonrpc":"2.0","id":3,"method":"mapd/read","params":{"path":"a.go","map":"never","ranges":[` + strings.Join(ranges, ",") + `]}}`)
	var m struct{ Result wire.ReadResult }
	if err := json.Unmarshal(reply, &m); err != nil {
		d.t.Fatal(err)
	}
	var out []string
	for _, anchor := range anchors(m.Result) {
		out = append(out, fmt.Sprintf("%q", anchor))
	}
	if len(out) != n {
		d.t.Fatalf("%d anchors, want %d", len(out), n)
	}
	return out
}

// BenchmarkSessions opens 1,000 sessions of which each is shown 1,000 ranges of
// two lines, and says what a session weighs.
func BenchmarkSessions(b *testing.B) {
	const sessions, ranges = 200, 1000
	for b.Loop() {
		d := newDaemon(b)
		d.write("a.go", sourceLike(5000))
		var rs []string
		for i := range ranges {
			rs = append(rs, fmt.Sprintf(`{"start":%d,"end":%d}`, 1+i*4, 2+i*4))
		}
		request := `{"path":"a.go","map":"never","maxBytes":10000000,"maxLines":10000,"ranges":[` + strings.Join(rs, ",") + `]}`
		before := heap()
		var agents []*agent
		for range sessions {
			a := d.session()
			agents = append(agents, a)
			a.send("mapd/read", request)
			if _, err := a.in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
			a.in = nil // the test's buffers are not what is weighed
		}
		weight := heap() - before
		for _, a := range agents {
			a.conn.Close()
		}
		b.ReportMetric(float64(weight)/sessions/1024, "KiB/session")
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
