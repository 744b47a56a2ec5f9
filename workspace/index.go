package workspace

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/names"
)

// State says how far an Index can be trusted.
type State string

// The states. In all of them the files are those that were there when the
// index was published.
const (
	Indexing State = "indexing" // outlines are still being made
	Ready    State = "ready"    // and all are there; the memory of a large batch was given back
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
	tally *tally  // of the workspace; nil before the first scan
}

// File is one file of an Index.
type File struct {
	Path     string // relative to the root, with slashes
	Digest   hashline.Digest
	Size     int64
	Language outline.Language
	Binary   bool

	stamp stamp
	made  atomic.Pointer[made]
	again atomic.Int64           // when to try for an outline; 0: no try was made yet
	body  atomic.Pointer[[]byte] // read by the scan and not used yet; may be nil

	live bool // guarded by tally.mu: the newest index has the file
}

// made is what the index keeps of an outline.
type made struct {
	names names.Names
	lines int
}

// madeBytes is what a made takes besides its names.
const madeBytes = 48

// never is a time at which nothing is tried.
const never = math.MaxInt64

// due reports whether the outline of f should be made now.
func (f *File) due() bool {
	again := f.again.Load()
	return again == 0 || again != never && time.Now().UnixNano() >= again
}

// Names returns the symbols of a file as a search needs them, once its outline
// is made.
func (f *File) Names() (names.Names, bool) {
	m := f.made.Load()
	if m == nil {
		return names.Names{}, false
	}
	return m.names, true
}

// Files returns all files, sorted by path. The slice must not be modified.
func (ix *Index) Files() []*File { return ix.files }

// Lookup returns the file at path, which is relative to the root.
func (ix *Index) Lookup(path string) (*File, bool) {
	i, found := slices.BinarySearchFunc(ix.files, path, byPath)
	if !found {
		return nil, false
	}
	return ix.files[i], true
}

// Pending returns for how many files no try was made yet to make an outline. It
// and the other counts are those of the newest index.
func (ix *Index) Pending() int { return int(ix.Counts().Pending) }

// Indexed returns how many files have their names in the index.
func (ix *Index) Indexed() int { return int(ix.Counts().Named) }

// Counts returns what the newest index of the workspace holds.
func (ix *Index) Counts() Counts {
	if ix.tally == nil {
		return Counts{}
	}
	ix.tally.mu.Lock()
	defer ix.tally.mu.Unlock()
	return ix.tally.counts
}

// State says how far the index can be trusted.
func (ix *Index) State() State {
	switch {
	case ix.Why != "":
		return Degraded
	case ix.Generation == 0 || !ix.tally.ready():
		return Indexing
	default:
		return Ready
	}
}

// with returns the files of ix with changes: a nil File is one that is gone. It
// compares paths only around the changes, and copies the rest.
func (ix *Index) with(changes map[string]*File) []*File {
	files := make([]*File, 0, len(ix.files)+len(changes))
	rest := ix.files
	for _, path := range sortedKeys(changes) {
		at, found := slices.BinarySearchFunc(rest, path, byPath)
		files = append(files, rest[:at]...)
		if rest = rest[at:]; found {
			rest = rest[1:]
		}
		if c := changes[path]; c != nil {
			files = append(files, c)
		}
	}
	return append(files, rest...)
}

func byPath(f *File, path string) int { return cmp.Compare(f.Path, path) }
