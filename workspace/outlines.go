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
	"mapd/outline/packed"
	"mapd/outline/symbol"
	"mapd/workspace/store"
)

// outlines keeps outlines by digest and language within a bound, the least
// recently used goes first, and makes each at most once at a time.
type outlines struct {
	extract Extractor
	store   Store         // nil without one
	version string        // of extract; "" if it has none
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
	waiters int  // guarded by outlines.mu; at 0 the job is cancelled and forgotten
	keep    bool // guarded by outlines.mu: somebody wants it to stay in memory
}

// PanicError says that making an outline panicked. It is a defect of mapd.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: panic: %v", e.Value) }

var errNoExtractor = errors.New("this cache makes no outlines")

func newOutlines(closing context.Context, opt Options, l Limits) *outlines {
	o := &outlines{
		extract: opt.Outlines, limit: l.OutlineBytes, failed: l.FailedOutline, closing: closing,
		entries: map[outlineKey]*list.Element{}, recent: list.New(), running: map[outlineKey]*job{},
	}
	if o.version = opt.Version; o.version != "" {
		o.store = opt.Store
	}
	return o
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

// known returns the outline of size bytes if it was made before, from memory or
// from the store. One from the store is not kept in memory.
func (o *outlines) known(key outlineKey, size int) (*outline.Outline, bool) {
	if out, ok := o.peek(key.digest, key.language); ok {
		return out, true
	}
	out := o.stored(key, size)
	return out, out != nil
}

// get returns the outline of c, from memory, from the store, or from a job
// shared by all who ask for the same one. It is kept in memory.
func (o *outlines) get(ctx context.Context, c *content, lang outline.Language) (*outline.Outline, error) {
	return o.share(ctx, c, lang, true)
}

// pass is get, but for those who need the outline once: it is kept only if
// somebody else gets it meanwhile, or if it hit a limit.
func (o *outlines) pass(ctx context.Context, c *content, lang outline.Language) (*outline.Outline, error) {
	return o.share(ctx, c, lang, false)
}

func (o *outlines) share(ctx context.Context, c *content, lang outline.Language, keep bool) (*outline.Outline, error) {
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
	j.keep = j.keep || keep
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
	o.jobs.Go(func() {
		defer cancel()
		out, err := o.produce(ctx, key, text)
		o.finish(key, j, out, err)
	})
	return j
}

// produce gets an outline from the store, or makes it and stores it.
func (o *outlines) produce(ctx context.Context, key outlineKey, text *hashline.Text) (*outline.Outline, error) {
	if out := o.stored(key, text.Size()); out != nil {
		return out, nil
	}
	o.mu.Lock()
	o.made++
	o.mu.Unlock()
	out, err := o.run(ctx, key.language, text)
	if err == nil && o.store != nil && !out.Why.Transient() && out.Count > 0 {
		o.store.Put(o.storeKey(key), packed.Append(nil, out))
	}
	return out, err
}

// stored returns the outline that the store has, nil if it has none.
func (o *outlines) stored(key outlineKey, size int) *outline.Outline {
	if o.store == nil {
		return nil
	}
	value, ok := o.store.Get(o.storeKey(key))
	if !ok {
		return nil
	}
	out, err := packed.Decode(value)
	if err != nil || out.Language != key.language || out.Bytes != size {
		return nil
	}
	return out
}

func (o *outlines) storeKey(key outlineKey) store.Key {
	return store.Key{Digest: key.digest, Kind: string(key.language) + "\x00" + o.version}
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
	if err == nil && (j.keep || out.Why.Transient()) {
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

// halve drops the half that was not used for the longest time.
func (o *outlines) halve() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for half := o.bytes / 2; o.bytes > half; {
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
