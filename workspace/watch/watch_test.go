package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a Stream that a test feeds.
type fake struct{ events chan Event }

func (f *fake) Add(string) error     { return nil }
func (f *fake) Events() <-chan Event { return f.events }
func (f *fake) Close() error         { close(f.events); return nil }

// The collector drains whatever comes, coalesces by path, and says when it
// lost something.
func TestCollector(t *testing.T) { synctest.Test(t, testCollector) }

func testCollector(t *testing.T) {
	f := &fake{make(chan Event)}
	c := Collect(f, 3)
	select {
	case <-c.Ready():
		t.Error("ready without an event")
	default:
	}
	for _, e := range []Event{{"/a", false}, {"/b", true}, {"/a", true}, {"/b", false}} {
		f.events <- e // nobody takes, and nothing blocks
	}
	for range 1000 {
		f.events <- Event{Path: "/c"}
	}
	synctest.Wait()
	<-c.Ready()
	if b := c.Take(); b.Lost || len(b.Dirty) != 3 || !b.Dirty["/a"] || !b.Dirty["/b"] || b.Dirty["/c"] {
		t.Errorf("%+v", b)
	}
	if b := c.Take(); b.Lost || b.Dirty != nil {
		t.Errorf("taken twice: %+v", b)
	}
	for i := range 4 {
		f.events <- Event{Path: fmt.Sprint("/", i)}
	}
	f.events <- Event{Path: "/x"}
	synctest.Wait()
	if b := c.Take(); !b.Lost || b.Dirty != nil {
		t.Errorf("past the limit: %+v", b)
	}
	f.events <- Event{}
	synctest.Wait()
	if b := c.Take(); !b.Lost {
		t.Errorf("an overflow: %+v", b)
	}
	f.Close()
	c.Wait()
	synctest.Wait()
	<-c.Ready()
	if b := c.Take(); !b.Lost {
		t.Errorf("after the end of the stream: %+v", b)
	}
}

// What the system reports arrives, for each way in which a file changes.
func TestSystem(t *testing.T) {
	dir := t.TempDir()
	s, err := System()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := Collect(s, 1000)
	if err := s.Add(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	for _, step := range []struct {
		name string
		act  func() error
		gone bool
	}{
		{"create", func() error { return os.WriteFile(path, nil, 0o644) }, false},
		{"write", func() error { return os.WriteFile(path, []byte("x"), 0o644) }, false},
		{"rename", func() error { return os.Rename(path, path+"2") }, true},
		{"back", func() error { return os.Rename(path+"2", path) }, false},
		{"remove", func() error { return os.Remove(path) }, true},
	} {
		if err := step.act(); err != nil {
			t.Fatal(err)
		}
		await(t, c, path, step.gone)
	}
	if err := s.Add(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that does not exist is watched")
	}
}

// await takes batches until path is in one as wanted.
func await(t *testing.T, c *Collector, path string, gone bool) {
	t.Helper()
	timeout := time.After(5 * time.Second)
	for {
		if g, ok := c.Take().Dirty[path]; ok && g == gone {
			return
		}
		select {
		case <-c.Ready():
		case <-timeout:
			t.Fatalf("no event at %s", path)
		}
	}
}

// Closing while events pour in leaves nothing behind.
func TestQuietClose(t *testing.T) {
	dir := t.TempDir()
	for range 20 {
		s, err := System()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add(dir); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o644)
		}
		// Nobody reads the events.
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, ok := <-s.Events(); ok {
			t.Error("an event after Close")
		}
	}
}

func TestLimit(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if err := limit(errno); !errors.Is(err, ErrLimit) || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if err := limit(syscall.ENOENT); errors.Is(err, ErrLimit) {
		t.Error("a missing directory is taken for a limit")
	}
}
