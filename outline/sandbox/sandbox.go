// Package sandbox runs tree-sitter grammars in worker processes, because a
// grammar can abort its process, eat all memory or never return.
//
// A worker is this same program, started with a flag that RunIfWorker knows.
// It gets a grammar's name and bytes on its standard input and answers with
// the symbols, packed. It is stateless: each parse makes its own parser. Its
// memory and CPU time are limited, and a parse that takes too long ends with
// the kill of the process; the next parse gets a fresh one. What a worker
// answers is checked before it is believed.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"mapd/outline/grammar"
	"mapd/outline/symbol"
)

// The ways in which a worker can fail a file.
var (
	ErrTimeout = errors.New("parse: time limit")
	ErrMemory  = errors.New("parse: memory limit")
	ErrCrashed = errors.New("parse: worker died")
	// ErrUnsupported says that there is no table for the grammar; ErrClosed that
	// the Pool was closed.
	ErrUnsupported = errors.New("parse: no such grammar")
	ErrClosed      = errors.New("parse: pool closed")
)

// Options configure a Pool. The zero value of a field means its default.
type Options struct {
	Workers int           // processes at most; default GOMAXPROCS
	Timeout time.Duration // of the processor and on the clock, for one parse; default 2 s
	Memory  int64         // RLIMIT_DATA of a worker in bytes; default 1.5 GiB
	Idle    time.Duration // a worker unused for this long is ended; default 1 min
}

// startTimeout bounds the start of a worker, which no parse's time limit does.
const startTimeout = 20 * time.Second

// Supports reports whether Parse knows the named grammar.
func Supports(name string) bool { return grammar.Supports(name) }

// Version names the grammars and tables: it changes whenever the same bytes may
// give another outline, and is part of cache keys.
func Version() string { return "tree-sitter-20240827/" + grammar.Version }

// Pool keeps worker processes. It is safe for concurrent use.
type Pool struct {
	opt     Options
	slots   chan struct{} // one for each parse that runs; waiters are served in order
	closing chan struct{}
	spawn   chan spawnRequest
	running sync.WaitGroup // parses, processes, and the spawner

	mu      sync.Mutex // guards what follows
	closed  bool
	spawner bool
	idle    []*process        // the one used last is at the end
	live    map[*process]bool // all that were not waited for yet
	started int64
	failed  int64
}

// Stats is what a Pool counts, for status.
type Stats struct {
	Live    int   // worker processes
	Started int64 // since the start
	Failed  int64 // those that died or were killed in a parse that nobody had given up
}

// Stats returns the counters of this moment.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Stats{Live: len(p.live), Started: p.started, Failed: p.failed}
}

// NewPool returns a Pool that starts workers when they are needed.
func NewPool(opt Options) *Pool {
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.Timeout <= 0 {
		opt.Timeout = 2 * time.Second
	}
	if opt.Memory <= 0 {
		opt.Memory = 3 << 29
	}
	if opt.Idle <= 0 {
		opt.Idle = time.Minute
	}
	return &Pool{
		opt:     opt,
		slots:   make(chan struct{}, opt.Workers),
		closing: make(chan struct{}),
		spawn:   make(chan spawnRequest),
		live:    make(map[*process]bool),
	}
}

// Parse returns the symbols of src in the named grammar. It waits for a worker
// as long as ctx lasts; the time limit counts the parse alone. An error is
// ctx's, or wraps ErrTimeout, ErrMemory, ErrCrashed, ErrUnsupported or
// ErrClosed.
func (p *Pool) Parse(ctx context.Context, grammar string, src []byte) (symbol.List, error) {
	if err := p.enter(); err != nil {
		return symbol.List{}, err
	}
	defer p.running.Done()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return symbol.List{}, ctx.Err()
	case <-p.closing:
		return symbol.List{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return symbol.List{}, err
	}
	for {
		w, used, err := p.take(ctx)
		if err != nil {
			return symbol.List{}, p.reason(err)
		}
		list, err := w.parse(ctx, grammar, src, p.opt.Timeout)
		if err == nil || errors.Is(err, ErrUnsupported) {
			p.put(w)
			return list, err
		}
		w.kill()
		<-w.dead
		if used && errors.Is(err, errGone) {
			continue // it died while it was idle
		}
		if ctx.Err() == nil {
			p.mu.Lock()
			p.failed++
			p.mu.Unlock()
		}
		return symbol.List{}, p.reason(err)
	}
}

// reason returns err, or ErrClosed if Close is what killed the worker.
func (p *Pool) reason(err error) error {
	select {
	case <-p.closing:
		return ErrClosed
	default:
	}
	if errors.Is(err, errGone) {
		return wrap(ErrCrashed, "%v", err)
	}
	return err
}

// enter counts a parse, unless the Pool is closed.
func (p *Pool) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.running.Add(1)
	return nil
}

// take returns a worker, and whether it had been idle.
func (p *Pool) take(ctx context.Context) (w *process, used bool, err error) {
	p.mu.Lock()
	for len(p.idle) > 0 {
		w := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		w.timer.Stop()
		if w.alive() {
			p.mu.Unlock()
			return w, true, nil
		}
	}
	p.mu.Unlock()
	w, err = p.start(ctx)
	return w, false, err
}

// put keeps w for the next parse, until it has been idle for too long.
func (p *Pool) put(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || w.doomed {
		w.kill()
		return
	}
	p.idle = append(p.idle, w)
	w.timer = time.AfterFunc(p.opt.Idle, func() { p.expire(w) })
}

// expire ends w if no parse has taken it in the meantime.
func (p *Pool) expire(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			w.kill()
			return
		}
	}
}

// Close ends all workers, also those in a parse, and waits for them. The
// parses fail with ErrClosed.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		p.running.Wait()
		return nil
	}
	p.closed = true
	close(p.closing)
	for _, w := range p.idle {
		w.timer.Stop()
	}
	p.idle = nil
	for w := range p.live {
		w.kill()
	}
	p.mu.Unlock()
	p.running.Wait()
	return nil
}

func wrap(sentinel error, format string, args ...any) error {
	return fmt.Errorf("%w: %s", sentinel, fmt.Sprintf(format, args...))
}
