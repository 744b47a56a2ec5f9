package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mapd/outline/symbol"
)

func TestMain(m *testing.M) {
	runIfWorker(testAnswer)
	runIfParent()
	goleak.VerifyTestMain(m)
}

// testAnswer is the answer of the workers of these tests: that of real ones,
// and misbehaviour on request.
func testAnswer(grammar string, src []byte) []byte {
	switch grammar {
	case "hang":
		select {}
	case "spin":
		for runtime.NumCPU() > 0 { // always: to use the processor is the point
		}
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "exit":
		os.Exit(3)
	case "inherited":
		return encodeList([]byte{statusOK}, &symbol.List{Source: symbol.Parser, Symbols: descriptors()})
	case "nothing":
		return encodeList([]byte{statusOK}, &symbol.List{Source: symbol.Parser})
	case "raw":
		return src
	case "cut":
		os.Stdout.Write([]byte{statusOK, 100, 0, 0, 0, 1, 2, 3})
		os.Exit(0)
	case "flood":
		os.Stdout.Write([]byte{statusOK, 0xff, 0xff, 0xff, 0xff})
		select {}
	}
	return outline(grammar, src)
}

// descriptors returns a symbol for each open descriptor of this process that
// exec handed over, beyond the standard ones.
func descriptors() []symbol.Symbol {
	var found []symbol.Symbol
	for fd := uintptr(3); fd < 256; fd++ {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0)
		if errno == 0 && flags&syscall.FD_CLOEXEC == 0 {
			found = append(found, symbol.Symbol{Name: fmt.Sprint(fd), Kind: symbol.Number, Start: 1, End: 1})
		}
	}
	return found
}

func newPool(t *testing.T, opt Options) *Pool {
	t.Helper()
	p := NewPool(opt)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if n := len(p.live); n != 0 {
			t.Errorf("%d workers left", n)
		}
	})
	return p
}

const goodSource = "def f(x):\n    return x\n\nclass C:\n    a = 1\n"

// mustParse checks that a good file gets its outline.
func mustParse(t *testing.T, p *Pool) {
	t.Helper()
	list, err := p.Parse(t.Context(), "python", []byte(goodSource))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(list.Symbols); n != 2 || list.Symbols[0].Name != "f" || list.Symbols[1].End != 5 || list.Source != symbol.Parser {
		t.Fatalf("outline: %+v", list)
	}
}

func TestParse(t *testing.T) {
	p := newPool(t, Options{})
	mustParse(t, p)
	mustParse(t, p)
	if n := len(p.live); n != 1 {
		t.Errorf("%d workers for one parse after the other", n)
	}
	if list, err := p.Parse(t.Context(), "c", nil); err != nil || len(list.Symbols) != 0 {
		t.Errorf("empty file: %+v, %v", list, err)
	}
	if _, err := p.Parse(t.Context(), "klingon", []byte("x")); !errors.Is(err, ErrUnsupported) {
		t.Errorf("unknown grammar: %v", err)
	}
	if !Supports("python") || Supports("klingon") || Version() == "" {
		t.Error("Supports or Version is wrong")
	}
}

func TestFailuresAreNamed(t *testing.T) {
	p := newPool(t, Options{Timeout: 200 * time.Millisecond})
	garbage := []byte{statusOK, 0, 0, 0, 200}
	for _, c := range []struct {
		grammar string
		src     []byte
		want    error
	}{
		{"hang", nil, ErrTimeout},
		{"spin", nil, ErrTimeout},
		{"exit", nil, ErrCrashed},
		{"cut", nil, ErrCrashed},
		{"flood", nil, ErrCrashed},
		{"raw", garbage, ErrCrashed},
	} {
		_, err := p.Parse(t.Context(), c.grammar, c.src)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.grammar, err, c.want)
		}
		mustParse(t, p)
	}
}

// TestMemoryLimit uses the input that makes the Java grammar take more than
// 6 GB and abort.
func TestMemoryLimit(t *testing.T) {
	hostile := []byte("class A { void f() { " + strings.Repeat("a<", 30<<10) + " } }")
	for _, memory := range []int64{0, 512 << 20} {
		p := newPool(t, Options{Memory: memory, Timeout: 30 * time.Second})
		_, err := p.Parse(t.Context(), "java", hostile)
		if !errors.Is(err, ErrMemory) {
			t.Errorf("limit %d: %v", memory, err)
		}
		mustParse(t, p)
	}
}

func TestKilledWorker(t *testing.T) {
	p := newPool(t, Options{Timeout: time.Minute})
	mustParse(t, p)
	if _, err := p.Parse(t.Context(), "kill", nil); !errors.Is(err, ErrCrashed) {
		t.Errorf("killed in a parse: %v", err)
	}
	mustParse(t, p)
	idle := p.idle[0]
	idle.kill()
	<-idle.dead
	mustParse(t, p)
}

func TestContext(t *testing.T) {
	p := newPool(t, Options{Workers: 1, Timeout: time.Minute})
	mustParse(t, p)
	busy, stop := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := p.Parse(busy, "hang", nil)
		first <- err
	}()
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p.Parse(short, "hang", nil) // one of the two waits for the other
	waiting, cancelWaiting := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancelWaiting()
	if _, err := p.Parse(waiting, "python", []byte(goodSource)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a parse that waits: %v", err)
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a parse that runs: %v", err)
	}
	if _, err := p.Parse(busy, "python", []byte(goodSource)); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	mustParse(t, p)
}

func TestConcurrent(t *testing.T) {
	p := newPool(t, Options{Workers: 2})
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			src := strings.Repeat("\n", i) + goodSource
			list, err := p.Parse(t.Context(), "python", []byte(src))
			if err != nil || len(list.Symbols) != 2 || list.Symbols[0].Start != i+1 {
				t.Errorf("parse %d: %v, %v", i, list, err)
			}
		})
	}
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.live) > 2 {
		t.Errorf("%d workers, want at most 2", len(p.live))
	}
}

func TestIdle(t *testing.T) {
	p := newPool(t, Options{Idle: time.Millisecond})
	mustParse(t, p)
	p.mu.Lock()
	var live []*process
	for w := range p.live {
		live = append(live, w)
	}
	p.mu.Unlock()
	for _, w := range live {
		<-w.dead // else the test hangs
	}
	mustParse(t, p)
}

func TestClose(t *testing.T) {
	p := NewPool(Options{Workers: 2, Timeout: time.Minute})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := p.Parse(t.Context(), "hang", nil); !errors.Is(err, ErrClosed) {
				t.Errorf("parse across Close: %v", err)
			}
		})
	}
	mustParseUnless(t, p, ErrClosed)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if _, err := p.Parse(t.Context(), "python", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("parse after Close: %v", err)
	}
	if err := p.Close(); err != nil || len(p.live) != 0 {
		t.Errorf("second Close: %v, %d workers left", err, len(p.live))
	}
}

// mustParseUnless parses with a short patience, behind parses that hang.
func mustParseUnless(t *testing.T, p *Pool, allowed error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := p.Parse(ctx, "python", []byte(goodSource)); err != nil && !errors.Is(err, allowed) && ctx.Err() == nil {
		t.Error(err)
	}
}
