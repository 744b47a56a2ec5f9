package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// BenchmarkRead compares a warm read through a bridge on pipes with the same
// read over the socket, the two measured in turn: ratio is the quotient of the
// medians. The daemon is in this process, the bridge too.
func BenchmarkRead(b *testing.B) {
	for _, lines := range []int{10, 300, 2000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			h := newHouse(b)
			h.write("a.txt", strings.Repeat("a line of some length\n", lines))
			c := h.direct("")
			through, end := rawBridge(b, h.options())
			defer end()
			through(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n")
			params := json.RawMessage(`{"path":"a.txt","map":"never"}`)
			var bridged, direct []time.Duration
			size := 0
			for b.Loop() {
				start := time.Now()
				size = len(through(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"path":"a.txt","map":"never"}}}` + "\n"))
				bridged = append(bridged, time.Since(start))
				start = time.Now()
				if _, err := c.CallRaw(b.Context(), wire.MethodRead, params); err != nil {
					b.Fatal(err)
				}
				direct = append(direct, time.Since(start))
			}
			slices.Sort(bridged)
			slices.Sort(direct)
			b.ReportMetric(float64(bridged[len(bridged)/2])/float64(direct[len(direct)/2]), "ratio")
			b.ReportMetric(float64(bridged[len(bridged)/2].Microseconds()), "p50-µs")
			b.SetBytes(int64(size))
		})
	}
}

// rawBridge runs a bridge on two pipes of the system. through sends a line and
// returns the answer.
func rawBridge(b testing.TB, opt Options) (through func(string) []byte, end func()) {
	b.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(context.Background(), files{theirIn, theirOut}, opt) }()
	answers := bufio.NewReaderSize(out, 1<<20)
	through = func(line string) []byte {
		if _, err := io.WriteString(in, line); err != nil {
			b.Fatal(err)
		}
		answer, err := answers.ReadSlice('\n')
		if err != nil || !strings.Contains(string(answer[:min(len(answer), 60)]), `"result"`) {
			b.Fatalf("%v %.200q", err, answer)
		}
		return answer
	}
	return through, func() {
		in.Close()
		if err := errors.Join(<-ended, out.Close()); err != nil {
			b.Error(err)
		}
	}
}

type files struct{ in, out *os.File }

func (f files) Read(b []byte) (int, error)  { return f.in.Read(b) }
func (f files) Write(b []byte) (int, error) { return f.out.Write(b) }
func (f files) Close() error                { return errors.Join(f.in.Close(), f.out.Close()) }
