package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"mapd/rpc/client"
	"mapd/rpc/conn"
	"mapd/rpc/socket"
	"mapd/rpc/wire"
)

func TestMain(m *testing.M) {
	if client.IsDaemon(os.Args) {
		os.Exit(daemon(os.Getenv("MAPD_SOCKET")))
	}
	goleak.VerifyTestMain(m)
}

// socketPath returns the path of a socket in a directory of the test, whose
// daemon is ended with the test.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else a daemon takes a second to end
	t.Cleanup(func() {
		end(path)
		os.RemoveAll(dir)
	})
	return path
}

// end kills the daemon on path.
func end(path string) {
	if pid, err := lockedPID(path); err == nil && pid != os.Getpid() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func lockedPID(path string) (int, error) {
	b, err := os.ReadFile(path + ".lock")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

// session starts or joins the daemon on path.
func session(t *testing.T, opt client.Options) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := c.Initialize(t.Context(), wire.InitializeParams{}); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCalls(t *testing.T) {
	notes := make(chan string, 1000)
	c := session(t, client.Options{Socket: socketPath(t), Start: true, Notify: func(method string, params []byte) {
		notes <- method + string(params)
	}})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			params := json.RawMessage(fmt.Sprintf(`["%d-%s"]`, i, strings.Repeat("x", i*i*20)))
			got, err := c.CallRaw(t.Context(), "echo", params)
			if err != nil || string(got) != string(params) {
				t.Errorf("call %d: %.50s, %v", i, got, err)
			}
		})
	}
	all.Wait()
	for range 50 {
		if note := <-notes; !strings.HasPrefix(note, `echoed["`) {
			t.Errorf("%.50s", note)
		}
	}
	for name, params := range map[string]any{"nothing": nil, "object": map[string]int{"x": 1}, "text": []string{`"ä`}} {
		want, _ := json.Marshal(params)
		if got, err := c.CallRaw(t.Context(), "echo", params); err != nil || string(got) != string(want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if err := c.Call(t.Context(), "echo", []int{1}, nil); err != nil {
		t.Error(err)
	}
	var wrong struct{}
	if err := c.Call(t.Context(), "echo", []int{1}, &wrong); err == nil {
		t.Error("an array was decoded into a struct")
	}
	if err := c.Call(t.Context(), "echo", func() {}, nil); err == nil {
		t.Error("a function was encoded")
	}
	if err := c.Notify("nobody", nil); err != nil {
		t.Error(err)
	}
}

func TestErrorReplies(t *testing.T) {
	c := session(t, client.Options{Socket: socketPath(t), Start: true})
	_, err := c.Read(t.Context(), wire.ReadParams{Path: "x"})
	var failure *wire.Error
	if !errors.As(err, &failure) || failure.Code != wire.InvalidRange || failure.Message != "no such line" || string(failure.Fields["totalLines"].(json.RawMessage)) != "7" || len(failure.Fields) != 1 {
		t.Errorf("%#v", err)
	}
	if err := c.Call(t.Context(), "mapd/nothing", nil, nil); !errors.Is(err, &wire.Error{Code: wire.UnknownMethod}) {
		t.Errorf("%v", err)
	}
}

func TestCancelledCall(t *testing.T) {
	c := session(t, client.Options{Socket: socketPath(t), Start: true})
	reason := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	returned := make(chan error)
	go func() { returned <- c.Call(ctx, "wait", nil, nil) }()
	waiting := func() (n int) {
		if err := c.Call(t.Context(), "waiting", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for waiting() == 0 {
	}
	cancel(reason)
	if err := <-returned; err != reason {
		t.Errorf("%v", err)
	}
	for waiting() != 0 { // the daemon was told
	}
	if err := c.Call(ctx, "echo", nil, nil); err != reason {
		t.Errorf("with a context that has ended: %v", err)
	}
	var pid int
	if err := c.Call(t.Context(), "echo", 7, &pid); err == nil {
		t.Error("params that are no structure were sent")
	}
	if err := c.Call(t.Context(), "echo", []int{7}, nil); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
}

func TestCloseEndsCalls(t *testing.T) {
	c := session(t, client.Options{Socket: socketPath(t), Start: true})
	returned := make(chan error)
	for range 3 {
		go func() { returned <- c.Call(context.Background(), "wait", nil, nil) }()
	}
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	for range 3 {
		if err := <-returned; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	if err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	<-c.Done()
}

func TestKilledDaemon(t *testing.T) {
	path := socketPath(t)
	c := session(t, client.Options{Socket: path, Start: true})
	returned := make(chan error)
	go func() { returned <- c.Call(t.Context(), "wait", nil, nil) }()
	if err := c.Call(t.Context(), "echo", nil, nil); err != nil {
		t.Fatal(err)
	}
	end(path)
	if err := <-returned; !errors.Is(err, client.ErrConnectionLost) {
		t.Errorf("%v", err)
	}
	<-c.Done()
	if err := c.Call(t.Context(), "echo", nil, nil); !errors.Is(err, client.ErrConnectionLost) {
		t.Errorf("after the end: %v", err)
	}
}

func TestStopEndsDaemon(t *testing.T) {
	path := socketPath(t)
	c := session(t, client.Options{Socket: path, Start: true})
	result, err := c.Stop(t.Context())
	if err != nil || result.PID == 0 {
		t.Fatal(result, err)
	}
	<-c.Done()
	// The daemon closes its socket beside its connections.
	for {
		next, err := client.Dial(t.Context(), client.Options{Socket: path})
		if errors.Is(err, client.ErrNoDaemon) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		<-next.Done()
	}
	if _, err := askPID(t.Context(), path); err != nil {
		t.Errorf("the next client: %v", err)
	}
}

// TestDaemonOnItsWayOut serves initialize twice with what a daemon that ends may
// do, and then properly.
func TestDaemonOnItsWayOut(t *testing.T) {
	path := socketPath(t)
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	build, err := socket.Build()
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for i := range 3 {
			c, _, err := l.Accept(func(error) {})
			if err != nil {
				t.Error(err)
				return
			}
			if i == 0 {
				c.Close()
				continue
			}
			server := conn.New(t.Context(), c, conn.Options{Lookup: func(string) (conn.Method, *wire.Error) {
				if i == 1 {
					return conn.Method{}, wire.Errorf(wire.ShuttingDown, "draining")
				}
				return conn.Method{Serve: func(context.Context, []byte) (conn.Reply, error) {
					var r wire.InitializeResult
					r.Capabilities.Experimental.Mapd.Build = build
					encoded, err := json.Marshal(r)
					return conn.Reply{Result: encoded}, err
				}}, nil
			}})
			<-server.Done()
		}
	})
	c, err := client.Dial(t.Context(), client.Options{Socket: path, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), wire.InitializeParams{}); err != nil {
		t.Error(err)
	}
	c.Close()
	served.Wait()
}

// TestLastWord has the daemon take the session away.
func TestLastWord(t *testing.T) {
	path := socketPath(t)
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	served := make(chan *conn.Conn, 1)
	go func() {
		c, _, err := l.Accept(func(error) {})
		if err != nil {
			t.Error(err)
			close(served)
			return
		}
		served <- conn.New(context.Background(), c, conn.Options{Lookup: func(string) (conn.Method, *wire.Error) {
			return conn.Method{Serve: func(context.Context, []byte) (conn.Reply, error) { return conn.Reply{}, nil }}, nil
		}})
	}()
	c, err := client.Dial(t.Context(), client.Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server := <-served
	if err := c.Call(t.Context(), "anything", nil, nil); err != nil {
		t.Fatal(err)
	}
	server.Finish(wire.Errorf(wire.SessionTaken, "another connection has the session now"))
	<-c.Done()
	if err := c.Call(t.Context(), "anything", nil, nil); !errors.Is(err, &wire.Error{Code: wire.SessionTaken}) {
		t.Errorf("%v", err)
	}
	<-server.Done()
}
