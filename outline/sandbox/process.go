package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"mapd/outline/symbol"
)

// workerFlag is the first argument of a worker. A test binary without the hook
// does not know the flag and exits, so that it never runs its tests in a loop.
const workerFlag = "-mapd.worker"

// exitNoMemory is the exit status of a worker whose allocation failed, as
// walk.c of package grammar has it.
const exitNoMemory = 86

// A process is a running worker. One parse at a time uses it.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // what it reads
	out    *os.File // what it writes
	stderr *tail
	timer  *time.Timer   // ends it when it is idle; guarded by the Pool's mu
	dead   chan struct{} // closed once it was waited for
	state  error         // of Wait; valid once dead is closed

	doomed   bool // ctx's end has killed it, or is about to
	killOnce sync.Once
}

// errGone says that the worker was dead before it got the request.
var errGone = errors.New("worker is gone")

type spawnRequest struct {
	cmd  *exec.Cmd
	done chan error
}

// spawnLoop starts processes, all from one thread: the kernel sends a worker
// its death signal when the thread that started it ends, not the process.
func (p *Pool) spawnLoop() {
	defer p.running.Done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case r := <-p.spawn:
			r.done <- r.cmd.Start()
		case <-p.closing:
			return
		}
	}
}

// start returns a new worker that has said that it is ready.
func (p *Pool) start(ctx context.Context) (*process, error) {
	w, err := p.launch()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, w.kill)
	w.out.SetReadDeadline(time.Now().Add(startTimeout))
	hello := make([]byte, len(greeting))
	_, err = io.ReadFull(w.out, hello)
	if stop() && err == nil && string(hello) == greeting {
		return w, nil
	}
	w.kill()
	<-w.dead
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, wrap(ErrTimeout, "a worker did not start within %v", startTimeout)
	}
	if failure := w.failure(); errors.Is(failure, ErrMemory) {
		return nil, failure
	}
	return nil, wrap(ErrCrashed, "a worker did not start: %v: %s", w.state, w.stderr)
}

// launch starts a process with pipes to it.
func (p *Pool) launch() (*process, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	if !p.spawner {
		p.spawner = true
		p.running.Add(1)
		go p.spawnLoop()
	}
	p.running.Add(1)
	p.mu.Unlock()
	w, err := p.exec()
	if err != nil {
		p.running.Done()
		if errors.Is(err, ErrClosed) {
			return nil, err
		}
		return nil, wrap(ErrCrashed, "start a worker: %v", err)
	}
	p.mu.Lock()
	p.live[w] = true
	p.started++
	if p.closed {
		w.kill()
	}
	p.mu.Unlock()
	go p.reap(w)
	return w, nil
}

// reap waits for the end of w.
func (p *Pool) reap(w *process) {
	defer p.running.Done()
	w.state = w.cmd.Wait()
	w.in.Close()
	w.out.Close()
	p.mu.Lock()
	delete(p.live, w)
	p.mu.Unlock()
	close(w.dead)
}

func (p *Pool) exec() (*process, error) {
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	out, childOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return nil, err
	}
	defer childOut.Close()
	widen(in, out)
	w := &process{in: in, out: out, stderr: &tail{}, dead: make(chan struct{})}
	w.cmd = &exec.Cmd{
		Path: executable(),
		Args: []string{"mapd", workerFlag,
			strconv.FormatInt(p.opt.Memory, 10), strconv.FormatInt(int64(p.opt.Timeout), 10)},
		// A build with the race detector would sleep for a second before it exits.
		Env:         []string{"GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0", "GOMAXPROCS=" + strconv.Itoa(runtime.GOMAXPROCS(0))},
		Dir:         "/",
		Stdin:       childIn,
		Stdout:      childOut,
		Stderr:      w.stderr,
		SysProcAttr: attributes(),
	}
	r := spawnRequest{w.cmd, make(chan error, 1)}
	select {
	case p.spawn <- r:
		err = <-r.done
	case <-p.closing:
		err = ErrClosed
	}
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	return w, nil
}

// kill ends the process at once; nothing in it needs a goodbye.
func (w *process) kill() { w.killOnce.Do(func() { w.cmd.Process.Kill() }) }

func (w *process) alive() bool {
	select {
	case <-w.dead:
		return false
	default:
		return true
	}
}

// parse sends a file and returns the answer. After any error but
// ErrUnsupported the process must not be used again.
func (w *process) parse(ctx context.Context, grammar string, src []byte, timeout time.Duration) (symbol.List, error) {
	stop := context.AfterFunc(ctx, w.kill)
	unlimit := w.limit(timeout)
	answer, err := w.exchange(grammar, src)
	unlimit()
	w.doomed = !stop()
	if err == nil {
		return decodeAnswer(answer, src)
	}
	w.kill()
	<-w.dead
	switch {
	case ctx.Err() != nil:
		return symbol.List{}, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return symbol.List{}, wrap(ErrTimeout, "after %v", timeout)
	case errors.Is(err, errGone):
		return symbol.List{}, err
	case errors.Is(err, errGarbage):
		return symbol.List{}, wrap(ErrCrashed, "%v", err)
	}
	return symbol.List{}, w.failure()
}

// patience is how many times its limit a parse may take on the clock, if the
// machine is too busy to give it that much processor time.
const patience = 5

// limit ends the exchange when it has taken timeout, on the clock and of the
// processor. The returned function ends the limit.
func (w *process) limit(timeout time.Duration) (end func()) {
	start := time.Now()
	last := start.Add(patience * timeout)
	w.in.SetWriteDeadline(last)
	w.out.SetReadDeadline(last)
	pid := w.cmd.Process.Pid
	before, known := processorTime(pid)
	var mu sync.Mutex // guards timer and ended
	var timer *time.Timer
	ended := false
	check := func() {
		mu.Lock()
		defer mu.Unlock()
		now, ok := processorTime(pid)
		switch left := timeout - (now - before); {
		case ended, known && !ok: // a process that is gone closes its pipes
		case !known || left <= 0:
			w.in.SetWriteDeadline(start)
			w.out.SetReadDeadline(start)
		default:
			timer.Reset(max(left, time.Millisecond))
		}
	}
	mu.Lock()
	timer = time.AfterFunc(timeout, check)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// exchange writes the request and reads the answer to it.
func (w *process) exchange(grammar string, src []byte) ([]byte, error) {
	if _, err := w.in.Write(requestHead(grammar, len(src))); err != nil {
		return nil, errors.Join(errGone, err)
	}
	if _, err := w.in.Write(src); err != nil {
		return nil, err
	}
	var head [answerHead]byte
	if _, err := io.ReadFull(w.out, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[1:]))
	if n > maxAnswer(len(src)) {
		return nil, fmt.Errorf("%w: %d bytes for a file of %d", errGarbage, n, len(src))
	}
	answer := make([]byte, 1+n)
	answer[0] = head[0]
	if _, err := io.ReadFull(w.out, answer[1:]); err != nil {
		return nil, err
	}
	return answer, nil
}

// failure says why a dead process died.
func (w *process) failure() error {
	var exit *exec.ExitError
	if errors.As(w.state, &exit) {
		status, _ := exit.Sys().(syscall.WaitStatus)
		switch {
		case status.Exited() && status.ExitStatus() == exitNoMemory, w.stderr.saysNoMemory():
			return wrap(ErrMemory, "%v", w.state)
		case status.Signaled() && status.Signal() == syscall.SIGXCPU:
			return wrap(ErrTimeout, "%v", w.state)
		}
	}
	return wrap(ErrCrashed, "%v: %s", w.state, w.stderr)
}

// tail keeps the end of what a worker writes to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if len(t.text) > tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// String returns the first line, which is where a runtime says what happened.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, _, _ := bytes.Cut(bytes.TrimSpace(t.text), []byte("\n"))
	return string(line)
}

// saysNoMemory recognises the last words of Go's runtime, of the C library and
// of tree-sitter when memory or a thread is refused.
func (t *tail) saysNoMemory() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, words := range []string{"out of memory", "cannot allocate memory", "pthread_create failed", "failed to allocate", "failed to create new os thread"} {
		if bytes.Contains(bytes.ToLower(t.text), []byte(words)) {
			return true
		}
	}
	return false
}
