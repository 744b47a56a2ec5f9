package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/socket"
	"mapd/rpc/wire"
)

// daemon is a small daemon of the tests: it serves until a client asks it to
// stop, or nobody is connected for a while.
func daemon(path string) int {
	if log := os.Getenv("MAPD_TEST_STARTS"); log != "" {
		f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 1
		}
		fmt.Fprintln(f, os.Getpid())
		f.Close()
	}
	if os.Getenv("MAPD_TEST_FAIL") != "" {
		return 3
	}
	l, err := socket.Listen(path)
	if err != nil {
		return 1
	}
	time.AfterFunc(time.Minute, func() { os.Exit(4) })
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		<-ctx.Done()
		l.Close()
	}()
	var serving sync.WaitGroup
	for {
		c, _, err := l.Accept(func(error) {})
		if err != nil {
			break
		}
		served := conn.New(context.Background(), c, conn.Options{Lookup: daemonMethods(stop)})
		serving.Go(func() { <-served.Done() })
		go func() {
			<-ctx.Done()
			served.Finish(nil)
		}()
	}
	serving.Wait()
	return 0
}

func daemonMethods(stop func()) func(string) (conn.Method, *wire.Error) {
	answer := func(f func() any) conn.Method {
		return conn.Method{Serve: func(context.Context, []byte) (conn.Reply, error) {
			encoded, err := json.Marshal(f())
			return conn.Reply{Result: encoded}, err
		}}
	}
	build := os.Getenv("MAPD_TEST_BUILD")
	if build == "" {
		build, _ = socket.Build()
	}
	var waiting atomic.Int64
	methods := map[string]conn.Method{
		"initialize": answer(func() any {
			var r wire.InitializeResult
			r.Capabilities.Experimental.Mapd.Build = build
			return r
		}),
		wire.MethodStatus: answer(func() any { return wire.StatusResult{PID: os.Getpid()} }),
		wire.MethodStop: {Serve: func(context.Context, []byte) (conn.Reply, error) {
			return conn.Reply{Result: fmt.Appendf(nil, `{"pid":%d}`, os.Getpid()), Queued: stop}, nil
		}},
		wire.MethodRead: {Serve: func(_ context.Context, params []byte) (conn.Reply, error) {
			return conn.Reply{}, wire.Errorf(wire.InvalidRange, "no such line").With("totalLines", 7)
		}},
		"waiting": answer(func() any { return waiting.Load() }),
		"wait": {Serve: func(ctx context.Context, _ []byte) (conn.Reply, error) {
			waiting.Add(1)
			defer waiting.Add(-1)
			<-ctx.Done()
			return conn.Reply{}, ctx.Err()
		}},
		"echo": {Serve: func(_ context.Context, params []byte) (conn.Reply, error) {
			return conn.Reply{Result: params, After: []conn.Notification{{Method: "echoed", Params: params}}}, nil
		}},
	}
	return func(name string) (conn.Method, *wire.Error) {
		m, ok := methods[name]
		if !ok {
			return m, wire.Errorf(wire.UnknownMethod, "no method %s", name)
		}
		return m, nil
	}
}
