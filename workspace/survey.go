package workspace

import (
	"runtime"
	"sync"
	"sync/atomic"

	"mapd/hashline"
)

// surveyed is what inspecting one file gave.
type surveyed struct {
	path string
	file *File
	err  error
}

// survey inspects files, whose paths are sorted, on all processors and calls
// found for each, in no order but one at a time. It ends early when the
// workspace is closed.
func (w *Workspace) survey(paths []string, found func(surveyed)) {
	const run = 32 // files next to each other that one goroutine reads
	var next atomic.Int64
	var mu sync.Mutex // serializes found
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (len(paths)+run-1)/run) {
		all.Go(func() {
			looker := w.Looker()
			defer looker.Close()
			for from := int(next.Add(run)) - run; from < len(paths); from = int(next.Add(run)) - run {
				for _, path := range paths[from:min(from+run, len(paths))] {
					if w.ctx.Err() != nil {
						return
					}
					w.yield()
					f, err := w.inspect(looker, path, true)
					mu.Lock()
					found(surveyed{path, f, err})
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
}

// inspect reads the file at path, relative to the root, and identifies it. Its
// content goes into no cache, because indexing must not push out what was
// served, but it may be left for the outliner: then whoever drops the file takes
// it.
func (w *Workspace) inspect(l *Looker, path string, leave bool) (*File, error) {
	got, err := l.read(w.ctx, path)
	if err != nil {
		return nil, err
	}
	defer got.release()
	f := &File{
		Path: path, Digest: hashline.Sum(got.bytes), Size: int64(len(got.bytes)), stamp: got.stamp,
		Language: got.set.language(got.path, got.bytes),
	}
	switch _, f.Binary = sniff(got.bytes); {
	case f.Binary:
		f.again.Store(never)
	case !w.recall(f) && leave:
		w.leaveBody(f, got)
	}
	return f, nil
}

// leaveBody leaves what was read of f for the outliner, which then need not read
// it again, if the budget has room.
func (w *Workspace) leaveBody(f *File, got *reading) {
	n := int64(len(got.bytes))
	if w.cache.outlines.extract == nil || w.cache.pressed.Load() || w.ctx.Err() != nil {
		return
	}
	if w.cache.bodies.Add(n) > w.cache.limits.ScanBytes {
		w.cache.bodies.Add(-n)
		return
	}
	w.bodies.Add(n)
	body := got.buffer.take(len(got.bytes))
	f.body.Store(&body)
}

// takeBody takes what was left of f, nil if nothing was.
func (w *Workspace) takeBody(f *File) []byte {
	body := f.body.Swap(nil)
	if body == nil {
		return nil
	}
	w.giveBack(int64(len(*body)))
	return *body
}

// giveBack returns bytes that were left for the outliner to the budget.
func (w *Workspace) giveBack(n int64) {
	w.bodies.Add(-n)
	w.cache.bodies.Add(-n)
}
