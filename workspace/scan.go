package workspace

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"mapd/workspace/ignore"
	"mapd/workspace/watch"
)

// maxDepth is how deep below its root a workspace is scanned.
const maxDepth = 256

// A Skip is a reason for which something below a root is not indexed.
type Skip string

// The reasons. Files that ignore rules name are not counted.
const (
	SkipUnreadable Skip = "unreadable" // a directory or file without permission
	SkipSpecial    Skip = "special"    // pipes, sockets, devices; symbolic links are followed by nobody
	SkipTooLarge   Skip = "too_large"
	SkipTooDeep    Skip = "too_deep"
	SkipTooMany    Skip = "too_many" // past the limit of files
)

// scanned is what a walk of a tree found.
type scanned struct {
	files   map[string]stamp         // by path relative to the root
	dirs    map[string]scannedDir    // by absolute path; the root included
	skipped map[Skip]map[string]bool // paths by reason
	watch   error                    // the first watch that could not be had
}

// scannedDir is a directory that belongs to the workspace.
type scannedDir struct {
	rules *ignore.Dir // for its entries; nil in a repository inside another
	ino   uint64
	mode  uint32
}

func newScanned() *scanned {
	return &scanned{files: map[string]stamp{}, dirs: map[string]scannedDir{}, skipped: map[Skip]map[string]bool{}}
}

func (s *scanned) skip(why Skip, path string) {
	if s.skipped[why] == nil {
		s.skipped[why] = map[string]bool{}
	}
	s.skipped[why][path] = true
}

// counts returns how many paths were skipped, by reason.
func (s *scanned) counts() map[Skip]int {
	n := map[Skip]int{}
	for why, paths := range s.skipped {
		if len(paths) > 0 {
			n[why] = len(paths)
		}
	}
	return n
}

// merge adds what t found.
func (s *scanned) merge(t *scanned) {
	maps.Copy(s.files, t.files)
	maps.Copy(s.dirs, t.dirs)
	for why, paths := range t.skipped {
		for path := range paths {
			s.skip(why, path)
		}
	}
	if s.watch == nil {
		s.watch = t.watch
	}
}

// A walk says which tree is scanned, and how.
type walk struct {
	root    string
	rel     string                 // the directory to begin with; "" for the root
	own     *ignore.Dir            // rules for its entries, or
	parent  *ignore.Dir            // those of its parent, which did not skip it
	limit   int                    // of files
	add     func(dir string) error // watches a directory before it is listed; may be nil
	pause   func()                 // called before each directory
	exclude string                 // a directory that does not belong to the tree
}

// walker walks a tree with several goroutines.
type walker struct {
	walk
	ctx   context.Context
	slots chan struct{}
	all   sync.WaitGroup

	mu  sync.Mutex // guards out
	out *scanned
}

// scan walks a tree. It returns an error only if the directory to begin with
// cannot be opened, or when ctx ends. It leaves a processor to those who ask.
func (c *Cache) scan(ctx context.Context, t walk) (*scanned, error) {
	w := &walker{ctx: ctx, walk: t, slots: make(chan struct{}, max(0, runtime.GOMAXPROCS(0)-2)), out: newScanned()}
	path := w.path(t.rel)
	dir, err := c.source.place(path)
	if err != nil {
		return nil, classify(err)
	}
	real, err := dir.path()
	if err == nil && real != path {
		err = syscall.ENOENT // a link stands in its place
	}
	if err != nil {
		dir.close()
		return nil, classify(err)
	}
	w.list(dir, t.own, t.parent, t.rel, 0)
	w.all.Wait()
	return w.out, ctx.Err()
}

// path returns the absolute path of what is at rel.
func (w *walk) path(rel string) string {
	if rel == "" {
		return w.root
	}
	return joinPath(w.root, rel)
}

func joinPath(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// list lists dir, which it closes, and walks what is below. Either its own
// rules or those of its parent are given.
func (w *walker) list(dir place, own, parent *ignore.Dir, rel string, depth int) {
	defer dir.close()
	w.pause()
	path := w.path(rel)
	if w.add != nil {
		w.addWatch(path)
	}
	self, err := dir.stat(".")
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			w.skip(SkipUnreadable, rel)
		}
		return
	}
	names, more, err := dir.names(1 << 20)
	if err != nil {
		w.skip(SkipUnreadable, rel)
		return
	}
	if more {
		w.skip(SkipTooMany, "")
	}
	var marks ignore.Marks
	for _, name := range names {
		marks.Note(strings.TrimSuffix(name, "/"))
	}
	if own == nil {
		own, _ = parent.Enter(rel[strings.LastIndexByte(rel, '/')+1:], marks)
	}
	w.mu.Lock()
	w.out.dirs[path] = scannedDir{rules: own, ino: self.ino, mode: self.mode}
	w.mu.Unlock()
	if own == nil {
		return
	}
	for _, name := range names {
		if w.ctx.Err() != nil {
			return
		}
		w.entry(dir, own, rel, name, depth)
	}
}

// entry deals with one name of a listing.
func (w *walker) entry(dir place, rules *ignore.Dir, rel, name string, depth int) {
	name, isDir := strings.CutSuffix(name, "/")
	if IsTemp(name) || rules.Skip(name, isDir) {
		return
	}
	below := name
	if rel != "" {
		below = rel + "/" + name
	}
	if isDir && w.path(below) == w.exclude {
		return
	}
	if !isDir {
		w.file(dir, below, name)
		return
	}
	if depth >= maxDepth {
		w.skip(SkipTooDeep, below)
		return
	}
	sub, err := dir.enter(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			w.skip(SkipUnreadable, below)
		}
		return // else it is gone, and its event comes
	}
	select {
	case w.slots <- struct{}{}:
		w.all.Go(func() {
			defer func() { <-w.slots }()
			w.list(sub, nil, rules, below, depth+1)
		})
	default:
		w.list(sub, nil, rules, below, depth+1)
	}
}

func (w *walker) file(dir place, rel, name string) {
	s, err := dir.stat(name)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.kind == symlink || s.kind == directory:
	case s.kind != regular:
		w.out.skip(SkipSpecial, rel)
	case len(w.out.files) >= w.limit:
		w.out.skip(SkipTooMany, "") // their names would have no limit
	default:
		w.out.files[rel] = s
	}
}

func (w *walker) skip(why Skip, path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out.skip(why, path)
}

// addWatch notes that the system has no more watches; a directory that is gone
// is no reason.
func (w *walker) addWatch(path string) {
	err := w.add(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	if errors.Is(err, fs.ErrPermission) {
		return // the listing fails too, and says so
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.out.watch == nil || errors.Is(err, watch.ErrLimit) {
		w.out.watch = err
	}
}

// sortedKeys returns the keys of m in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
