package client_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mapd/rpc/client"
	"mapd/rpc/socket"
	"mapd/rpc/wire"
)

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
