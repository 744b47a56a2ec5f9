package workspace

import (
	"slices"
	"sync"
)

// Counts is what the newest index of a workspace holds.
type Counts struct {
	Files   int64
	Pending int64 // files for which no try was made yet to make an outline
	Named   int64 // files whose names are held
	Symbols int64 // in the names that are held
	Lines   int64 // of the files whose names are held
	Bytes   int64 // memory of the names
	Source  int64 // bytes of all files
}

// tally counts what the files of the newest index hold, so that nobody has to
// walk through all of them.
type tally struct {
	mu     sync.Mutex // guards all below and File.live
	counts Counts
	batch  bool    // a large batch of outlines is being made, or has left memory behind
	fresh  []*File // came into the index since takeFresh, and have no outline
}

// publish notes the changes between two indexes. It returns the files that left.
func (t *tally) publish(old *Index, changes map[string]*File) (left []*File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for path, f := range changes {
		if was, known := old.Lookup(path); known && was.live {
			t.addLocked(was, -1)
			was.live = false
			left = append(left, was)
		}
		if f != nil {
			f.live = true
			t.addLocked(f, 1)
			if f.again.Load() == 0 {
				t.fresh = append(t.fresh, f)
			}
		}
	}
	t.batch = t.batch || len(t.fresh) >= largeBatch
	return left
}

// tidied notes that nothing is left of a large batch, unless the next one came.
func (t *tally) tidied() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batch = len(t.fresh) >= largeBatch
}

// ready reports whether all outlines are made and nothing is left to tidy up.
func (t *tally) ready() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts.Pending == 0 && !t.batch
}

// takeFresh returns the files that have come into the index and wait for an
// outline, each once.
func (t *tally) takeFresh() []*File {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.fresh
	t.fresh = nil
	return fresh
}

// living returns those of files that are in the newest index, in place.
func (t *tally) living(files []*File) []*File {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(files, func(f *File) bool { return !f.live })
}

func (t *tally) addLocked(f *File, sign int64) {
	c := &t.counts
	c.Files += sign
	c.Source += sign * f.Size
	if f.again.Load() == 0 {
		c.Pending += sign
	}
	if m := f.made.Load(); m != nil {
		c.Named += sign
		c.Symbols += sign * int64(m.names.Len())
		c.Lines += sign * int64(m.lines)
		c.Bytes += sign * (int64(m.names.Size()) + madeBytes)
	}
}

// note gives f its names, which are nil if there are none to be had, and says
// when to try again. Past limit, of all names in bytes, they are not held: who
// needs them makes the outline again, or reads it from the store.
func (t *tally) note(f *File, m *made, again, limit int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.live {
		t.addLocked(f, -1)
	}
	if m != nil && t.counts.Bytes+int64(m.names.Size()) > limit {
		m = nil
	}
	if m != nil {
		f.made.Store(m)
	}
	f.again.Store(again)
	if f.live {
		t.addLocked(f, 1)
	}
}
