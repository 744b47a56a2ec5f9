package rpc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/rpc"
)

// BenchmarkWarmRead reads 2,000 lines of a file that the daemon knows, over a
// unix socket. Its metric ratio is the median over the median of the floor,
// measured in turn: read and digest the file, and get the same bytes of reply
// from a socket that does nothing else.
func BenchmarkWarmRead(b *testing.B) {
	for _, lines := range []int{2000, 50_000} {
		b.Run(fmt.Sprintf("2000of%d", lines), func(b *testing.B) { benchmarkWarmRead(b, lines) })
	}
}

func benchmarkWarmRead(b *testing.B, lines int) {
	d := newDaemon(b)
	path := d.write("a.go", sourceLike(lines))
	socket := d.listen()
	c := dialLine(b, socket)
	c.call(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":"file://%s"}}`, d.dir))
	const request = `{"jsonrpc":"2.0","id":2,"method":"mapd/read","params":{"path":"a.go","maxBytes":1000000,"map":"never"}}`
	reply := slices.Clone(c.call(request))
	if !strings.Contains(string(reply), `"shownLines":2000`) {
		b.Fatalf("the reply has no 2,000 lines: %.300s", reply)
	}
	echo := dialLine(b, echoServer(b, reply))

	var ours, floor []time.Duration
	for b.Loop() {
		start := time.Now()
		n := len(c.call(request))
		ours = append(ours, time.Since(start))
		if n != len(reply) {
			b.Fatalf("a reply of %d bytes, want %d", n, len(reply))
		}

		start = time.Now()
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		digest := hashline.Sum(content)
		echo.call(request)
		floor = append(floor, time.Since(start))
		if digest == (hashline.Digest{}) {
			b.Fatal("no digest")
		}
	}
	b.ReportMetric(float64(median(ours))/float64(median(floor)), "ratio")
	b.ReportMetric(float64(median(ours).Microseconds()), "p50-µs")
	b.ReportMetric(float64(len(reply)), "reply-B")
	b.ReportMetric(0, "ns/op") // holds both sides
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// sourceLike returns a Go file whose lines are as long as those of real code.
func sourceLike(lines int) string {
	var b strings.Builder
	b.WriteString("package p\n")
	for i := 2; i <= lines; i++ {
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "func f%d(a, b int) (int, error) {\n", i)
		case 1:
			fmt.Fprintf(&b, "\tif a > %d && len(\"%d\") > b {\n", i, i)
		case 2:
			fmt.Fprintf(&b, "\t\treturn a*%d + b, nil\n", i)
		case 3:
			b.WriteString("\t}\n")
		default:
			fmt.Fprintf(&b, "\treturn %d, nil }\n", i)
		}
	}
	return b.String()
}

// listen serves the daemon on a unix socket and returns its path.
func (d *daemon) listen() string {
	path := socketPath(d.t)
	l, err := net.Listen("unix", path)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- d.server.Serve(ctx, func() (io.ReadWriteCloser, rpc.Peer, error) {
			c, err := l.Accept()
			return c, rpc.Peer{PID: os.Getpid()}, err
		}, func() { l.Close() })
	}()
	d.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			d.t.Error(err)
		}
	})
	return path
}

func socketPath(t testing.TB) string {
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// echoServer answers each line with reply.
func echoServer(t testing.TB, reply []byte) string {
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for in := bufio.NewReader(c); ; {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := c.Write(reply); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return path
}

// lineClient sends a line and reads a line, with no decoding.
type lineClient struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	buf  []byte
}

func dialLine(t testing.TB, path string) *lineClient {
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &lineClient{t: t, conn: c, in: bufio.NewReaderSize(c, 64<<10)}
}

// call returns the reply with its newline; it is valid until the next call.
func (c *lineClient) call(request string) []byte {
	if _, err := io.WriteString(c.conn, request+"\n"); err != nil {
		c.t.Fatal(err)
	}
	c.buf = c.buf[:0]
	for {
		part, err := c.in.ReadSlice('\n')
		c.buf = append(c.buf, part...)
		if err == nil {
			return c.buf
		}
		if err != bufio.ErrBufferFull {
			c.t.Fatal(err)
		}
	}
}
