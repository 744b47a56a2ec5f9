package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const patience = 20 * time.Second

// listen listens on path and ends with the test.
func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// refusedBy counts what Accept refuses.
func refusedBy(t *testing.T) func(error) {
	return func(err error) { t.Logf("refused: %v", err) }
}

func TestOneDaemonPerPath(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	first := listen(t, path)
	if _, err := Listen(path); !errors.Is(err, ErrHeld) {
		t.Fatalf("second: %v", err)
	}
	// Somebody removes the lock file: the socket still answers.
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); !errors.Is(err, ErrHeld) {
		t.Fatalf("without the lock file: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	listen(t, path)
}

func TestLockHoldsPID(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	if err := os.WriteFile(path+".lock", []byte("12345678901234567890\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listen(t, path)
	if got, err := os.ReadFile(path + ".lock"); string(got) != fmt.Sprintln(os.Getpid()) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDeadSocketIsReplaced(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	l := listen(t, path)
	c, err := net.Dial("unix", l.Path())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestOthersFilesStay refuses to remove what is no socket, and a link to one.
func TestOthersFilesStay(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, "s")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a file: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "precious" {
		t.Errorf("the file now holds %q", got)
	}
	if err := os.Symlink(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path + "2"); err == nil {
		t.Error("a link: no error")
	}
	if err := os.Symlink(path, path+"3.lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path + "3"); err == nil {
		t.Error("a link as the lock: no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "precious" {
		t.Errorf("the file now holds %q", got)
	}
}

// TestListenRace lets many try at once, again and again with a dead socket in
// the way: one wins.
func TestListenRace(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	for round := range 20 {
		var won atomic.Pointer[Listener]
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				l, err := Listen(path)
				switch {
				case err == nil:
					if !won.CompareAndSwap(nil, l) {
						t.Errorf("round %d: two listen", round)
					}
				case !errors.Is(err, ErrHeld):
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		all.Wait()
		l := won.Load()
		if l == nil {
			t.Fatalf("round %d: nobody listens", round)
		}
		// As after a kill: the socket stays, the lock is gone.
		l.listener.Close()
		l.lock.Close()
	}
}

// TestSuccessorIsNotRemoved closes a listener whose path belongs to another one
// by now.
func TestSuccessorIsNotRemoved(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	first := listen(t, path)
	for _, name := range []string{path, path + ".lock"} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	listen(t, path)
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the successor is not reachable: %v", err)
	}
	c.Close()
}

func TestGone(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := listen(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	watch := func() { gone <- l.Gone(ctx, time.Millisecond) }
	go watch()
	cancel()
	if err := receive(t, gone); !errors.Is(err, context.Canceled) {
		t.Errorf("present: %v", err)
	}
	ctx = t.Context()
	go watch()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, gone); err != nil {
		t.Errorf("gone: %v", err)
	}
	// A path that leads to another socket is as good as none.
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if l.present() {
		t.Error("another file is taken for the socket")
	}
}

func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing comes")
		panic("unreachable")
	}
}

func TestAccept(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := listen(t, path)
	go func() {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		}
	}()
	c, peer, err := l.Accept(refusedBy(t))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if peer.UID != os.Getuid() || peer.PID != os.Getpid() {
		t.Errorf("%+v", peer)
	}
	accepted := make(chan error)
	go func() {
		_, _, err := l.Accept(refusedBy(t))
		accepted <- err
	}()
	l.Close()
	if err := receive(t, accepted); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestBuild(t *testing.T) {
	build, err := Build()
	if err != nil || len(build) != 12 || strings.Trim(build, "0123456789abcdef") != "" {
		t.Fatalf("%q, %v", build, err)
	}
}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		if err := play(role); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
