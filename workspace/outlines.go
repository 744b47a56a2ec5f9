package workspace

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
	"unsafe"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
)

// outlines keeps outlines by digest and language within a bound, the least
// recently used goes first, and makes each at most once at a time.
type outlines struct {
	extract Extractor
	limit   int64         // bytes
	failed  time.Duration // how long an outline that hit a limit is kept
	closing context.Context
	jobs    sync.WaitGroup

	mu      sync.Mutex // guards all below
	closed  bool
	bytes   int64
	made    int64
	entries map[outlineKey]*list.Element // of *outlineEntry
	recent  *list.List                   // most recently used first
	running map[outlineKey]*job
}

// outlineKey is everything an outline is a function of, within one build.
type outlineKey struct {
	digest   hashline.Digest
	language outline.Language
}

type outlineEntry struct {
	key     outlineKey
	outline *outline.Outline
	cost    int64
	expires time.Time // zero: never
}

// A job makes one outline for all who wait for it.
type job struct {
	done    chan struct{} // closed when outline and err are set
	outline *outline.Outline
	err     error
	cancel  context.CancelFunc
	waiters int // guarded by outlines.mu; at 0 the job is cancelled and forgotten
}

// PanicError says that making an outline panicked. It is a defect of mapd.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: panic: %v", e.Value) }

var errNoExtractor = errors.New("this cache makes no outlines")

func newOutlines(closing context.Context, x Extractor, l Limits) *outlines {
	return &outlines{
		extract: x, limit: l.OutlineBytes, failed: l.FailedOutline, closing: closing,
		entries: map[outlineKey]*list.Element{}, recent: list.New(), running: map[outlineKey]*job{},
	}
}

func (o *outlines) peek(digest hashline.Digest, lang outline.Language) (*outline.Outline, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := o.lookupLocked(outlineKey{digest, lang})
	return out, out != nil
}

func (o *outlines) lookupLocked(key outlineKey) *outline.Outline {
	at := o.entries[key]
	if at == nil {
		return nil
	}
	e := at.Value.(*outlineEntry)
	if !e.expires.IsZero() && !time.Now().Before(e.expires) {
		o.removeLocked(at)
		return nil
	}
	o.recent.MoveToFront(at)
	return e.outline
}

// get returns the outline of c, from memory or from a job shared by all who
// ask for the same one.
func (o *outlines) get(ctx context.Context, c *content, lang outline.Language) (*outline.Outline, error) {
	if o.extract == nil {
		return nil, errNoExtractor
	}
	key := outlineKey{c.digest, lang}
	o.mu.Lock()
	if out := o.lookupLocked(key); out != nil {
		o.mu.Unlock()
		return out, nil
	}
	if err := ctx.Err(); err != nil || o.closed {
		o.mu.Unlock()
		return nil, cmpErr(err, ErrClosed)
	}
	j := o.running[key]
	if j == nil {
		j = o.startLocked(key, c.text)
	}
	j.waiters++
	o.mu.Unlock()

	select {
	case <-j.done:
		return j.outline, j.err
	case <-ctx.Done():
		o.abandon(key, j)
		return nil, ctx.Err()
	}
}

// cmpErr returns the first error that is not nil.
func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// abandon takes one waiter from j and ends j when it was the last. Who asks
// later starts a new job rather than joining one that is ending.
func (o *outlines) abandon(key outlineKey, j *job) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if j.waiters--; j.waiters == 0 {
		j.cancel()
		if o.running[key] == j {
			delete(o.running, key)
		}
	}
}

func (o *outlines) startLocked(key outlineKey, text *hashline.Text) *job {
	ctx, cancel := context.WithCancel(o.closing)
	j := &job{done: make(chan struct{}), cancel: cancel}
	o.running[key] = j
	o.made++
	o.jobs.Go(func() {
		defer cancel()
		out, err := o.run(ctx, key.language, text)
		o.finish(key, j, out, err)
	})
	return j
}

func (o *outlines) run(ctx context.Context, lang outline.Language, text *hashline.Text) (out *outline.Outline, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return o.extract.Extract(ctx, lang, text)
}

func (o *outlines) finish(key outlineKey, j *job, out *outline.Outline, err error) {
	if err != nil && o.closing.Err() != nil {
		err = ErrClosed
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	j.outline, j.err = out, err
	if o.running[key] == j {
		delete(o.running, key)
	}
	if err == nil {
		o.keepLocked(key, out)
	}
	close(j.done)
}

func (o *outlines) keepLocked(key outlineKey, out *outline.Outline) {
	if at := o.entries[key]; at != nil {
		o.removeLocked(at)
	}
	e := &outlineEntry{key: key, outline: out, cost: outlineCost(out)}
	if e.cost > o.limit {
		return
	}
	if out.Why.Transient() {
		e.expires = time.Now().Add(o.failed)
	}
	o.entries[key] = o.recent.PushFront(e)
	o.bytes += e.cost
	for o.bytes > o.limit {
		o.removeLocked(o.recent.Back())
	}
}

func (o *outlines) removeLocked(at *list.Element) {
	e := o.recent.Remove(at).(*outlineEntry)
	delete(o.entries, e.key)
	o.bytes -= e.cost
}

// close ends all jobs and waits for them. The closing context has ended.
func (o *outlines) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.jobs.Wait()
}

// outlineCost estimates the memory of an outline in bytes.
func outlineCost(out *outline.Outline) int64 {
	n := int64(256)
	symbol.Walk(out.Symbols, func(s *symbol.Symbol, _ int) bool {
		n += int64(unsafe.Sizeof(*s)) + int64(len(s.Name)+len(s.Signature)+len(s.Docstring))
		for _, m := range s.Modifiers {
			n += int64(unsafe.Sizeof(m)) + int64(len(m))
		}
		return true
	})
	for _, i := range out.Imports {
		n += int64(unsafe.Sizeof(i)) + int64(len(i.Path))
	}
	return n
}
