package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// bridge is a `mapd mcp` of its own process, with the daemon that it started.
type bridge struct {
	tb      testing.TB
	dir     string // its working directory, resolved
	env     []string
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

// startBridge starts a bridge. It and the daemon end with the test.
func startBridge(tb testing.TB, args ...string) *bridge {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	b := &bridge{tb: tb, dir: dir, env: clientEnvironment(tb)}
	b.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: append([]string{"mapd", "mcp"}, args...), Env: b.env, Dir: dir, Stderr: os.Stderr}
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		tb.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	b.answers = bufio.NewReaderSize(out, 4<<20)
	if err := b.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		b.in.Close()
		if err := b.cmd.Wait(); err != nil {
			tb.Errorf("mapd mcp: %v", err)
		}
	})
	b.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	return b
}

// clientEnvironment is an environment of its own for programs that start a
// daemon, which ends with the test.
func clientEnvironment(tb testing.TB) []string {
	tb.Helper()
	env, runtime := environment(tb)
	tb.Cleanup(func() { endDaemons(runtime) })
	return env
}

// ask sends a line and returns the answer, which is valid until the next one.
func (b *bridge) ask(line string) []byte {
	b.tb.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.tb.Fatal(err)
	}
	answer, err := b.answers.ReadSlice('\n')
	if err != nil || !strings.Contains(string(answer[:min(len(answer), 60)]), `"result"`) {
		b.tb.Fatalf("%v %.300q", err, answer)
	}
	return answer
}

// direct is a session beside the bridge, with the same daemon and folder.
func (b *bridge) direct() *client.Client {
	b.tb.Helper()
	runtime := ""
	for _, v := range b.env {
		if dir, ok := strings.CutPrefix(v, "XDG_RUNTIME_DIR="); ok {
			runtime = dir
		}
	}
	var sockets []string
	for deadline := time.Now().Add(patience); len(sockets) == 0; wait(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.tb.Fatal("the bridge has started no daemon")
		}
		sockets, _ = filepath.Glob(filepath.Join(runtime, "mapd", "*.sock"))
	}
	c, err := client.Dial(b.tb.Context(), client.Options{Socket: sockets[0], AnyBuild: true})
	if err != nil {
		b.tb.Fatal(err)
	}
	b.tb.Cleanup(func() { c.Close() })
	if _, err := c.Initialize(b.tb.Context(), wire.InitializeParams{WorkspaceFolders: []wire.WorkspaceFolder{{URI: fileURI(b.dir), Name: "it"}}}); err != nil {
		b.tb.Fatal(err)
	}
	return c
}

// rss returns the resident memory of the bridge in bytes.
func (b *bridge) rss() int64 {
	b.tb.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.cmd.Process.Pid))
	if err != nil {
		b.tb.Fatal(err)
	}
	var kib int64
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); !found || err != nil {
		b.tb.Fatal(errors.Join(errors.New("no VmRSS"), err))
	}
	return kib << 10
}

func readCall(id int, path string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":%q,"map":"never"}}}`, id, path)
}

// The bridge stays small, whatever went through it.
func TestMCPMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes more than all the rest")
	}
	const most = 30 << 20
	b := startBridge(t)
	if err := os.WriteFile(filepath.Join(b.dir, "a.txt"), []byte(strings.Repeat("a line of some length\n", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for id := range 200 {
		b.ask(readCall(id+2, "a.txt"))
	}
	b.ask(`{"jsonrpc":"2.0","id":300,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt","maxLines":20000,"maxBytes":5000000}}}`)
	for deadline := time.Now().Add(patience); b.rss() > most; wait(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("RSS stays at %d KiB, at most %d are allowed", b.rss()>>10, most>>10)
		}
	}
	t.Logf("RSS is %d KiB", b.rss()>>10)
}

// BenchmarkMCPRead compares a warm read through the bridge with the same read
// over the socket: three processes, the two reads in turn. ratio is the quotient
// of the medians.
func BenchmarkMCPRead(b *testing.B) {
	for _, lines := range []int{10, 300, 2000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			br := startBridge(b)
			if err := os.WriteFile(filepath.Join(br.dir, "a.txt"), []byte(strings.Repeat("a line of some length\n", lines)), 0o600); err != nil {
				b.Fatal(err)
			}
			c := br.direct()
			path := "a.txt"
			never := wire.ReadParams{Path: path, Map: wire.MapNever}
			var bridged, direct []time.Duration
			for b.Loop() {
				start := time.Now()
				br.ask(readCall(2, path))
				bridged = append(bridged, time.Since(start))
				start = time.Now()
				if _, err := c.CallRaw(b.Context(), wire.MethodRead, never); err != nil {
					b.Fatal(err)
				}
				direct = append(direct, time.Since(start))
			}
			through, over := percentile(bridged, 50), percentile(direct, 50)
			b.ReportMetric(float64(through)/float64(over), "ratio")
			b.ReportMetric(float64(through.Microseconds()), "p50-µs")
			b.ReportMetric(float64(br.rss()>>10), "RSS-KiB")
		})
	}
}
