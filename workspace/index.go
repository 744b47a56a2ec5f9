package workspace

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"mapd/hashline"
	"mapd/outline"
)

// State says how far an Index can be trusted.
type State string

// The states. In all of them the files are those that were there when the
// index was published.
const (
	Indexing State = "indexing" // outlines are still being made
	Ready    State = "ready"    // and all are there
	Degraded State = "degraded" // changes are noticed by sweeps only, as Why says
)

// Index is what one workspace holds: all files that no rule ignores. It is
// immutable, except that outlines appear in it as they are made; these follow
// from the digest.
type Index struct {
	// Generation counts the scans of the whole tree, from 1. It is 0 before the
	// first one is done, when there are no files.
	Generation uint64
	// Version counts the indexes that were published.
	Version uint64
	// Why says why the index is degraded; "" if it is not.
	Why string
	// Watched is how many directories have a watch.
	Watched int
	// Skipped counts what is not in the index, ignored files aside.
	Skipped map[Skip]int

	files []*File // by path
}

// File is one file of an Index.
type File struct {
	Path     string // relative to the root, with slashes
	Digest   hashline.Digest
	Size     int64
	Language outline.Language
	Binary   bool

	stamp   stamp
	outline atomic.Pointer[outline.Outline]
	cost    atomic.Int64 // of the outline, in bytes
	again   atomic.Int64 // when to try for an outline; 0: no try was made yet
}

// never is a time at which nothing is tried.
const never = math.MaxInt64

// due reports whether the outline of f should be made now.
func (f *File) due() bool {
	again := f.again.Load()
	return again == 0 || again != never && time.Now().UnixNano() >= again
}

// Outline returns the outline of a text once it is made.
func (f *File) Outline() (*outline.Outline, bool) {
	o := f.outline.Load()
	return o, o != nil
}

// Files returns all files, sorted by path. The slice must not be modified.
func (ix *Index) Files() []*File { return ix.files }

// Lookup returns the file at path, which is relative to the root.
func (ix *Index) Lookup(path string) (*File, bool) {
	i, found := slices.BinarySearchFunc(ix.files, path, func(f *File, path string) int { return cmp.Compare(f.Path, path) })
	if !found {
		return nil, false
	}
	return ix.files[i], true
}

// Pending returns for how many files no try was made yet to make an outline.
func (ix *Index) Pending() int {
	n := 0
	for _, f := range ix.files {
		if f.again.Load() == 0 {
			n++
		}
	}
	return n
}

// Indexed returns how many files have an outline.
func (ix *Index) Indexed() int {
	n := 0
	for _, f := range ix.files {
		if f.outline.Load() != nil {
			n++
		}
	}
	return n
}

// State says how far the index can be trusted.
func (ix *Index) State() State {
	switch {
	case ix.Why != "":
		return Degraded
	case ix.Generation == 0 || ix.Pending() > 0:
		return Indexing
	default:
		return Ready
	}
}

// with returns the files of ix with changes: a nil File is one that is gone.
func (ix *Index) with(changes map[string]*File) []*File {
	files := make([]*File, 0, len(ix.files)+len(changes))
	paths := sortedKeys(changes)
	for _, f := range ix.files {
		for len(paths) > 0 && paths[0] < f.Path {
			if c := changes[paths[0]]; c != nil {
				files = append(files, c)
			}
			paths = paths[1:]
		}
		if len(paths) > 0 && paths[0] == f.Path {
			if c := changes[paths[0]]; c != nil {
				files = append(files, c)
			}
			paths = paths[1:]
			continue
		}
		files = append(files, f)
	}
	for _, path := range paths {
		if c := changes[path]; c != nil {
			files = append(files, c)
		}
	}
	return files
}
