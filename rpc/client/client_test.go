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
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

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

func TestDialStartsDaemon(t *testing.T) {
	path := filepath.Join(filepath.Dir(socketPath(t)), "mapd", "s")
	if _, err := client.Dial(t.Context(), client.Options{Socket: path}); !errors.Is(err, client.ErrNoDaemon) {
		t.Fatalf("without Start: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("looking for a daemon made its directory: %v", err)
	}
	c := session(t, client.Options{Socket: path, Start: true})
	t.Cleanup(func() { end(path) })
	status, err := c.Status(t.Context())
	if err != nil || status.PID == 0 || status.PID == os.Getpid() {
		t.Fatalf("status %+v, %v", status, err)
	}
	other := session(t, client.Options{Socket: path})
	if again, err := other.Status(t.Context()); err != nil || again.PID != status.PID {
		t.Errorf("another client has daemon %d, %v; want %d", again.PID, err, status.PID)
	}
}

// TestDaemonIsDetached looks at what the daemon has of the client that started
// it: nothing.
func TestDaemonIsDetached(t *testing.T) {
	var pipe [2]int // as a shell leaves them: not closed on exec
	if err := syscall.Pipe(pipe[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	path := socketPath(t)
	c := session(t, client.Options{Socket: path, Start: true})
	status, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	syscall.Close(pipe[1])
	// Whoever else has the writing end keeps this from ending.
	if n, err := syscall.Read(pipe[0], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
	proc := filepath.Join("/proc", strconv.Itoa(status.PID))
	if cwd, err := os.Readlink(filepath.Join(proc, "cwd")); err == nil && cwd != "/" {
		t.Errorf("the daemon keeps %s busy", cwd)
	}
	for fd := range 3 {
		if target, err := os.Readlink(filepath.Join(proc, "fd", strconv.Itoa(fd))); err == nil && target != "/dev/null" {
			t.Errorf("descriptor %d of the daemon is %s", fd, target)
		}
	}
	if session, err := unix.Getsid(status.PID); err != nil || session != status.PID {
		t.Errorf("session %d of daemon %d, %v", session, status.PID, err)
	}
}

// TestStartRace lets many clients come at once where no daemon is, and where one
// was killed: all are served, by one daemon.
func TestStartRace(t *testing.T) {
	path := socketPath(t)
	log := filepath.Join(filepath.Dir(path), "starts")
	t.Setenv("MAPD_TEST_STARTS", log)
	const rounds, clients = 5, 64
	for round := range rounds {
		pids := make(chan int, clients)
		var all sync.WaitGroup
		for range clients {
			all.Go(func() {
				pid, err := askPID(t.Context(), path)
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				}
				pids <- pid
			})
		}
		all.Wait()
		pid := <-pids
		for range clients - 1 {
			if other := <-pids; other != pid {
				t.Errorf("round %d: daemons %d and %d", round, pid, other)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	starts, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	// One that starts before the killed one is quite gone finds the lock held.
	if n := strings.Count(string(starts), "\n"); n < rounds || n > 2*rounds {
		t.Errorf("%d daemons were started in %d rounds", n, rounds)
	}
}

func askPID(ctx context.Context, path string) (int, error) {
	c, err := client.Dial(ctx, client.Options{Socket: path, Start: true})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := c.Initialize(ctx, wire.InitializeParams{}); err != nil {
		return 0, err
	}
	status, err := c.Status(ctx)
	if err != nil {
		return 0, err
	}
	return status.PID, nil
}

func TestDaemonThatFails(t *testing.T) {
	path := socketPath(t)
	log := filepath.Join(filepath.Dir(path), "starts")
	t.Setenv("MAPD_TEST_STARTS", log)
	t.Setenv("MAPD_TEST_FAIL", "1")
	_, err := client.Dial(t.Context(), client.Options{Socket: path, Start: true})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "mapd serve") {
		t.Errorf("%v", err)
	}
	if starts, _ := os.ReadFile(log); strings.Count(string(starts), "\n") > 6 {
		t.Errorf("it was started again and again: %s", starts)
	}
}

// TestStartIsBounded gives up in time although another client holds the lock for
// starting and does not start anything.
func TestStartIsBounded(t *testing.T) {
	path := socketPath(t)
	lock, err := os.Create(path + ".start")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err = client.Dial(t.Context(), client.Options{Socket: path, Start: true, Timeout: 50 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = client.Dial(ctx, client.Options{Socket: path, Start: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestFullBacklog comes to a daemon that is alive but has not accepted those who
// came before.
func TestFullBacklog(t *testing.T) {
	path := socketPath(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	var first []net.Conn
	for err == nil {
		var c net.Conn
		if c, err = net.Dial("unix", path); err == nil {
			first = append(first, c)
			defer c.Close()
		}
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(err)
	}
	opt := client.Options{Socket: path, Timeout: 30 * time.Millisecond}
	if _, err := client.Dial(t.Context(), opt); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrNoDaemon) {
		t.Errorf("%v", err)
	}
	dialled := make(chan error)
	go func() {
		c, err := client.Connect(t.Context(), client.Options{Socket: path})
		if err == nil {
			c.Close()
		}
		dialled <- err
	}()
	for range first {
		accepted, _, err := unix.Accept(fd)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(accepted)
	}
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

// TestDaemonThatHangs connects to one that accepts nobody, as when it is stopped.
func TestDaemonThatHangs(t *testing.T) {
	path := socketPath(t)
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := client.Dial(t.Context(), client.Options{Socket: path, Start: true, Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Initialize(t.Context(), wire.InitializeParams{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), path+".lock") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Initialize(ctx, wire.InitializeParams{}); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), ".lock") {
		t.Errorf("%v", err)
	}
}

func TestUnsafeDirIsRefused(t *testing.T) {
	path := socketPath(t)
	if err := os.Chmod(filepath.Dir(path), 0o770); err != nil {
		t.Fatal(err)
	}
	var unsafe *socket.DirError
	for _, start := range []bool{false, true} {
		if _, err := client.Dial(t.Context(), client.Options{Socket: path, Start: start}); !errors.As(err, &unsafe) {
			t.Errorf("start %v: %v", start, err)
		}
	}
}

func TestBuildMismatch(t *testing.T) {
	path := socketPath(t)
	t.Setenv("MAPD_TEST_BUILD", "0123456789ab")
	c, err := client.Dial(t.Context(), client.Options{Socket: path, Start: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Initialize(t.Context(), wire.InitializeParams{})
	ours, _ := socket.Build()
	if !errors.Is(err, &wire.Error{Code: wire.BuildMismatch}) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"0123456789ab", ours, path, "mapd stop"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
	any := session(t, client.Options{Socket: path, AnyBuild: true})
	if _, err := any.Stop(t.Context()); err != nil {
		t.Error(err)
	}
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
	if _, err := client.Dial(t.Context(), client.Options{Socket: path}); !errors.Is(err, client.ErrNoDaemon) {
		t.Errorf("%v", err)
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
