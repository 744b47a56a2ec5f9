package workspace

import (
	"cmp"
	"slices"
	"time"

	"mapd/hashline"
	"mapd/outline"
)

// outliner makes the outlines of a workspace, one after the other: those that
// somebody wants, then those of files that changed last, then the rest. It is
// one goroutine, so that requests, which make theirs themselves, always find a
// worker.
type outliner struct {
	w       *Workspace
	version uint64  // of the index that todo is for
	todo    []*File // the last comes first
	held    int64   // bytes of the outlines in the index
}

// makeOutlines runs until the workspace is closed.
func (w *Workspace) makeOutlines() {
	o := &outliner{w: w}
	again := time.NewTicker(w.cache.limits.FailedOutline)
	defer again.Stop()
	for {
		if f := o.next(); f != nil {
			w.yield()
			o.make(f)
			if w.ctx.Err() != nil {
				return
			}
			continue
		}
		select {
		case <-w.work:
		case <-again.C:
			o.version = 0 // what failed then may work now
		case <-w.ctx.Done():
			return
		}
	}
}

// next returns the file whose outline comes next, or nil. A file of an index
// that was replaced is dropped with it.
func (o *outliner) next() *File {
	ix := o.w.Index()
	if ix.Version != o.version {
		o.plan(ix)
	}
	for path := o.w.nextWanted(); path != ""; path = o.w.nextWanted() {
		if f, ok := ix.Lookup(path); ok && f.due() {
			return f
		}
	}
	for len(o.todo) > 0 {
		f := o.todo[len(o.todo)-1]
		o.todo = o.todo[:len(o.todo)-1]
		if f.due() {
			return f
		}
	}
	return nil
}

func (o *outliner) plan(ix *Index) {
	o.version, o.todo, o.held = ix.Version, nil, 0
	for _, f := range ix.files {
		o.held += f.cost.Load()
		if f.due() {
			o.todo = append(o.todo, f)
		}
	}
	slices.SortFunc(o.todo, func(a, b *File) int { return cmp.Compare(a.stamp.ctime, b.stamp.ctime) })
}

// nextWanted takes the path that was wanted first, "" if there is none.
func (w *Workspace) nextWanted() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wanted) == 0 {
		return ""
	}
	path := w.wanted[0]
	w.wanted = w.wanted[1:]
	return path
}

// make makes the outline of f. Whatever comes of it, f is not due any more.
func (o *outliner) make(f *File) {
	out, again := o.outline(f)
	if out != nil && o.held < o.w.set.Load().indexBytes {
		o.held -= f.cost.Load()
		f.cost.Store(outlineCost(out))
		o.held += f.cost.Load()
		f.outline.Store(out)
	}
	due := int64(never)
	if again {
		due = time.Now().Add(o.w.cache.limits.FailedOutline).UnixNano()
	}
	f.again.Store(due)
}

// outline returns the outline of what f says that its file holds, nil if there
// is none. again says that another try later may do better.
func (o *outliner) outline(f *File) (out *outline.Outline, again bool) {
	cache := o.w.cache
	if f.Binary || cache.outlines.extract == nil {
		return nil, false
	}
	out, known := cache.outlines.peek(f.Digest, f.Language)
	if !known {
		content := o.content(f)
		if content == nil {
			return nil, false // it changed, and its event comes
		}
		var err error
		if out, err = cache.outlines.get(o.w.ctx, content, f.Language); err != nil {
			return nil, true
		}
	}
	return out, out.Why.Transient()
}

// content reads the file of f, and returns nil unless it holds what f says.
func (o *outliner) content(f *File) *content {
	got, err := o.w.readFile(o.w.ctx, f.Path)
	if err != nil {
		return nil
	}
	defer got.release()
	if hashline.Sum(got.bytes) != f.Digest {
		return nil
	}
	return newContent(f.Digest, slices.Clone(got.bytes), nil)
}
