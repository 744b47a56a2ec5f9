package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// BenchmarkRoundTrip compares a call with a bare echo of the same bytes over the
// same kind of socket, the two measured in turn. ratio is the quotient of the
// medians. A small request with a reply of so many bytes is what a read is; an
// echo has as many bytes of params.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{100, 10 << 10, 64 << 10, 1 << 20} {
		payload := json.RawMessage(`["` + strings.Repeat("x", size-len(`[""]`)) + `"]`)
		small := json.RawMessage(`{"path":"main.go","offset":100,"limit":2000}`)
		b.Run(fmt.Sprintf("reply=%d", size), func(b *testing.B) { benchmarkRoundTrip(b, small, payload) })
		b.Run(fmt.Sprintf("echo=%d", size), func(b *testing.B) { benchmarkRoundTrip(b, payload, payload) })
	}
}

func benchmarkRoundTrip(b *testing.B, params, result json.RawMessage) {
	served, ours := pair(b)
	server := conn.New(b.Context(), served, conn.Options{Lookup: func(string) (conn.Method, *wire.Error) {
		return conn.Method{Serve: func(context.Context, []byte) (conn.Reply, error) { return conn.Reply{Result: result}, nil }}, nil
	}})
	defer server.Close()
	l := newLink(ours, nil)
	defer l.close(net.ErrClosed)
	call := func() {
		if _, err := l.call(b.Context(), "mapd/read", params); err != nil {
			b.Fatal(err)
		}
	}
	request := 0
	for _, part := range message(1000, "mapd/read", params) {
		request += len(part)
	}
	reply := len("Content-Length: 1000\r\n\r\n"+`{"jsonrpc":"2.0","id":1000,"result":}`) + len(result)
	echo, end := rawEcho(b, request, reply)
	defer end()

	var calls, echoes []time.Duration
	timed := func(f func(), into *[]time.Duration) {
		start := time.Now()
		f()
		*into = append(*into, time.Since(start))
	}
	for b.Loop() {
		timed(call, &calls)
		timed(echo, &echoes)
	}
	slices.Sort(calls)
	slices.Sort(echoes)
	b.ReportMetric(float64(calls[len(calls)/2])/float64(echoes[len(echoes)/2]), "ratio")
	b.ReportMetric(float64(calls[len(calls)/2].Nanoseconds()), "p50-ns")
	b.SetBytes(int64(request + reply))
}

// rawEcho answers request bytes with reply bytes.
func rawEcho(b testing.TB, request, reply int) (echo func(), end func()) {
	served, ours := pair(b)
	done := make(chan struct{})
	go func() {
		defer close(done)
		in, out := make([]byte, request), make([]byte, reply)
		for {
			if _, err := io.ReadFull(served, in); err != nil {
				return
			}
			if _, err := served.Write(out); err != nil {
				return
			}
		}
	}()
	out, in := make([]byte, request), make([]byte, reply)
	echo = func() {
		if _, err := ours.Write(out); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(ours, in); err != nil {
			b.Fatal(err)
		}
	}
	return echo, func() {
		ours.Close()
		<-done
	}
}

// pair returns two connected unix sockets.
func pair(b testing.TB) (served, ours *net.UnixConn) {
	address := &net.UnixAddr{Name: filepath.Join(b.TempDir(), "s"), Net: "unix"}
	l, err := net.ListenUnix("unix", address)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	if ours, err = net.DialUnix("unix", nil, address); err != nil {
		b.Fatal(err)
	}
	if served, err = l.AcceptUnix(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ours.Close(); served.Close() })
	return served, ours
}
