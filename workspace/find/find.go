package find

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/workspace"
	"mapd/workspace/names"
)

// Search is one request. The zero value of a field that is not said to be needed
// is its default.
type Search struct {
	// Roots are the folders that are searched, in the order in which their files
	// come. A file of a folder inside another one is found once.
	Roots []Root
	// Glob says which paths count.
	Glob Glob
	// Kinds are the kinds of symbols that count, and those around lines that
	// count; none: all.
	Kinds []symbol.Kind
	// Limit is the number of hits, at least 1.
	Limit int
	// Patience is how long the search waits for indexes.
	Patience time.Duration
	// Slots has an element for each search at work, so that only so many are at
	// once; nil: any number. Who waits for an index has none.
	Slots chan struct{}
	// Near are absolute paths of files that were read; what is near to them comes
	// first.
	Near []string
	// Read reads the file at an absolute path. It is needed.
	Read func(ctx context.Context, path string) (*workspace.Version, error)
	// Outline makes the outline of a version. It is needed.
	Outline func(ctx context.Context, v *workspace.Version) (*outline.Outline, error)
}

// Hit is a symbol, or a line with the symbol around it. Lines are 1-based and
// inclusive.
type Hit struct {
	Version   *workspace.Version
	Name      string      // of the symbol; "" if a line is in none
	Kind      symbol.Kind // as Name
	Start     int         // of the symbol, or the line that was found
	End       int
	Container string // the symbol around the one that Name is of; "" if there is none
	Line      int    // the line that shows it
	Column    int    // the byte of that line where the match starts, 0 for a symbol
}

// Result is what a search found.
type Result struct {
	Hits      []Hit
	Truncated bool // there are more than Limit
	Degraded  []Degraded
}

// run is a search at work.
type run struct {
	*Search
	near    nearness
	workers int
	missing []int   // for each root how many files have no names that are known
	inner   [][]int // for each root those inside of it
	starts  []int   // number of the first file of each root, and of all files

	mu       sync.Mutex // guards what follows while files are verified
	verified map[int]*verified
	bytes    int64 // of the versions in it
	heavy    bool  // some were left out because of maxVersions
}

// verified is a file as it was read for the search.
type verified struct {
	version *workspace.Version // nil: it is gone, or no text any more
	changed bool               // it is not what the index says
	names   names.Names
}

// begin settles the roots, numbers their files and takes a slot, which end gives
// back.
func (s *Search) begin(ctx context.Context, outlines bool) (*run, []Degraded, error) {
	settled, degraded, err := settle(ctx, s.Roots, s.Patience, outlines)
	if err != nil {
		return nil, nil, err
	}
	search := *s
	search.Roots = settled
	r := &run{Search: &search, near: newNearness(s.Near), workers: runtime.GOMAXPROCS(0), verified: map[int]*verified{}}
	total := 0
	for i, root := range settled {
		r.starts = append(r.starts, total)
		total += len(root.index.Files())
		var inner []int
		for j, other := range settled {
			if i != j && strings.HasPrefix(other.Path, join(root.Path, "")) {
				inner = append(inner, j)
			}
		}
		r.inner = append(r.inner, inner)
	}
	r.starts = append(r.starts, total)
	if s.Slots != nil {
		select {
		case s.Slots <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return r, degraded, nil
}

func (r *run) end() {
	if r.Slots != nil {
		<-r.Slots
	}
}

// files returns the number of files.
func (r *run) files() int { return r.starts[len(r.starts)-1] }

// file returns file n and the number of its root.
func (r *run) file(n int) (*workspace.File, int) {
	root := 0
	for r.starts[root+1] <= n {
		root++
	}
	return r.Roots[root].index.Files()[n-r.starts[root]], root
}

// path returns the absolute path of file n.
func (r *run) path(n int) string {
	f, root := r.file(n)
	return join(r.Roots[root].Path, f.Path)
}

// counts reports whether file n is searched: the glob matches it, and it is not
// also in a root inside of its own.
func (r *run) counts(n int) bool {
	f, root := r.file(n)
	if !r.Glob.Match(r.Roots[root].Path, f.Path) {
		return false
	}
	for _, j := range r.inner[root] {
		inner := r.Roots[j]
		if rel, ok := strings.CutPrefix(join(r.Roots[root].Path, f.Path), join(inner.Path, "")); ok {
			if _, both := inner.index.Lookup(rel); both {
				return false
			}
		}
	}
	return true
}

// each calls do for runs of numbers from first up to but without end, which cover
// all below total, several at a time and in order, until all are done or ctx
// ends. worker is below r.workers.
func (r *run) each(ctx context.Context, total, size int, do func(worker, first, end int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range r.workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				first := int(next.Add(int64(size))) - size
				if first >= total {
					return
				}
				do(worker, first, min(first+size, total))
			}
		})
	}
	wg.Wait()
}

// readsAtOnce is how many files one search reads to verify what it found.
const readsAtOnce = 8

// maxVersions bounds the bytes of all versions that one search holds; hits in
// more do not count.
const maxVersions = 256 << 20

// verify reads those of files that were not read yet, and makes their names
// known. Names that are not there when outlines ends are left out; late reports
// whether that was so.
func (r *run) verify(ctx, outlines context.Context, files []int) (late bool, err error) {
	slots := make(chan struct{}, readsAtOnce)
	var wg sync.WaitGroup
	var once sync.Once
	var slow atomic.Bool
	for _, n := range files {
		if r.known(n) != nil {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			known, failed := r.read(ctx, n)
			if failed == nil && known.version != nil {
				failed = r.addNames(outlines, n, known)
			}
			switch {
			case ctx.Err() == nil && outlines.Err() != nil && errors.Is(failed, outlines.Err()):
				slow.Store(true)
			case failed != nil:
				once.Do(func() { err = failed })
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.verified[n] = known
		})
	}
	wg.Wait()
	return slow.Load(), err
}

// known returns what was read of file n, nil if it was not.
func (r *run) known(n int) *verified {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verified[n]
}

// read reads file n. That it cannot be read is no failure of the search: then it
// has no version.
func (r *run) read(ctx context.Context, n int) (*verified, error) {
	f, _ := r.file(n)
	path := r.path(n)
	v, err := r.Read(ctx, path)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, workspace.ErrClosed):
		return nil, err
	case err != nil || v.Binary() || v.Path() != path:
		return &verified{changed: true}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bytes += int64(v.Size()); r.bytes > maxVersions && len(r.verified) > 0 {
		r.heavy = true
		return &verified{changed: true}, nil
	}
	return &verified{version: v, changed: v.Digest() != f.Digest || v.Language() != f.Language}, nil
}

// addNames makes the names of file n known, as it was read.
func (r *run) addNames(ctx context.Context, n int, known *verified) error {
	if f, _ := r.file(n); !known.changed {
		if list, ok := f.Names(); ok {
			known.names = list
			return nil
		}
	}
	o, err := r.Outline(ctx, known.version)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, workspace.ErrClosed):
		return err
	case err == nil:
		known.names = names.Pack(o)
	}
	return nil // a file whose outline fails has no symbols
}

// hit returns the hit of a symbol of a version.
func hit(v *workspace.Version, list names.Names, i int) Hit {
	s := list.At(i)
	return Hit{
		Version: v, Name: s.Name, Kind: s.Kind, Start: s.Start, End: s.End, Container: container(list, s), Line: s.NameLine,
	}
}

func container(list names.Names, s names.Symbol) string {
	if s.Parent < 0 {
		return ""
	}
	return list.At(s.Parent).Name
}
