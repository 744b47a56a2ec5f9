package conn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/socket"
	"mapd/rpc/wire"
)

// The process under test is this binary with serverEnv set to its socket.
// descriptorsEnv limits its descriptors.
const (
	serverEnv      = "MAPD_TEST_CONN_SERVER"
	descriptorsEnv = "MAPD_TEST_CONN_DESCRIPTORS"
)

const patience = 20 * time.Second

func init() {
	if path := os.Getenv(serverEnv); path != "" {
		if err := serve(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// serve answers until its stdin ends, and then ends itself with everything it
// has: a goroutine that is left behind is an error.
func serve(path string) error {
	if n, err := strconv.ParseUint(os.Getenv(descriptorsEnv), 10, 64); err == nil {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	l, err := socket.Listen(path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
		l.Close()
	}()
	fmt.Println("ready")
	var connections sync.WaitGroup
	var state state
	for {
		c, _, err := l.Accept(func(error) { state.refused.Add(1) })
		if err != nil {
			break
		}
		connections.Go(func() { <-conn.New(ctx, c, conn.Options{Lookup: state.lookup()}).Done() })
	}
	connections.Wait()
	return nil
}

// state is what the methods of the server count.
type state struct{ ended, disorder, refused atomic.Int64 }

func (s *state) lookup() func(string) (conn.Method, *wire.Error) {
	next := int64(0)
	page := []byte(`"` + strings.Repeat("x", 10_000) + `"`)
	methods := map[string]conn.Method{
		"page": {Serve: func(context.Context, []byte) (conn.Reply, error) { return conn.Reply{Result: page}, nil }},
		"wait": {Serve: func(ctx context.Context, _ []byte) (conn.Reply, error) {
			<-ctx.Done()
			s.ended.Add(1)
			return conn.Reply{}, ctx.Err()
		}},
		"panic": {Serve: func(context.Context, []byte) (conn.Reply, error) { panic("boom") }},
		"fail":  {Notification: true, Serve: func(context.Context, []byte) (conn.Reply, error) { return conn.Reply{}, errors.New("failed") }},
		"next": {Notification: true, Serve: func(_ context.Context, params []byte) (conn.Reply, error) {
			if got, _ := strconv.ParseInt(strings.Trim(string(params), "[]"), 10, 64); got != next {
				s.disorder.Add(1)
			}
			next++
			return conn.Reply{}, nil
		}},
		"counts": {Serial: true, Serve: func(context.Context, []byte) (conn.Reply, error) {
			return conn.Reply{Result: fmt.Appendf(nil, `{"goroutines":%d,"ended":%d,"disorder":%d,"refused":%d,"next":%d}`,
				runtime.NumGoroutine(), s.ended.Load(), s.disorder.Load(), s.refused.Load(), next)}, nil
		}},
	}
	return func(name string) (conn.Method, *wire.Error) {
		m, ok := methods[name]
		if !ok {
			return m, wire.Errorf(wire.UnknownMethod, "no method %.50q", name)
		}
		return m, nil
	}
}

type counts struct{ Goroutines, Ended, Disorder, Refused, Next int }
