package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// found is a regular file inside a session's folders, not yet open.
type found struct {
	node
	path  string // real
	stamp stamp  // from before it was opened
	set   *inForce
	// judged: a stamp too young to tell whether the bytes mix two states need not
	// cost a second read, because who asked finds that out.
	judged bool
}

// find is the one way to a file. It resolves name to a node without touching
// it, asks the node where it lies, and lets only regular files inside the
// folders pass. All questions go to the node and none to the path again, so
// that a link or a file swapped in between changes nothing. The caller closes
// the node.
//
// A node tells where it lies at that moment: if it was exchanged for another one
// since name led to it, that is the name of a temporary file or a backup, where
// nobody may read it from or write it to. A path that is not the name itself
// therefore counts when name leads there twice.
func (c *Cache) find(f Folders, name string) (found, error) {
	path, err := f.join(name)
	if err != nil {
		return found{}, err
	}
	clean, before := filepath.Clean(path), ""
	for range findTries {
		n, err := c.source.find(path)
		if err != nil {
			return found{}, c.explainMissing(f, path, err)
		}
		at, err := c.inside(f, n)
		if err != nil {
			n.close()
			return found{}, err
		}
		if at.path == clean || at.path == before {
			return at, nil
		}
		at.close()
		before = at.path
	}
	return found{}, ErrBusy
}

// findTries is how often a name may lead somewhere else than the time before.
const findTries = 16

func (c *Cache) inside(f Folders, n node) (found, error) {
	s, err := n.stat()
	if err != nil {
		return found{}, classify(err)
	}
	path, err := n.realPath(s)
	if err != nil {
		return found{}, classify(err)
	}
	switch {
	case !f.Contains(path):
		return found{}, ErrOutside
	case s.kind == directory:
		return found{}, c.list(n, path)
	case s.kind != regular:
		return found{}, &NotFileError{Kind: kindNames[s.kind]}
	}
	return found{node: n, path: path, stamp: s, set: c.settingsAt(f, path)}, nil
}

// explainMissing turns the failure to find path into this package's error. A
// name that leads out of the folders gets ErrOutside whether or not something
// exists there.
func (c *Cache) explainMissing(f Folders, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrPermission) {
		return classify(err)
	}
	for dir := path; dir != "/"; {
		dir = parent(dir)
		n, ferr := c.source.find(dir)
		if ferr != nil {
			continue
		}
		defer n.close()
		s, serr := n.stat()
		if serr != nil {
			return classify(serr)
		}
		if real, rerr := n.realPath(s); rerr == nil && !f.Contains(real) && !aboveRoot(f, path, real) {
			return ErrOutside
		}
		return classify(err)
	}
	return classify(err)
}

// aboveRoot reports whether a folder itself is gone: path lies in it by name
// and the deepest directory that is left is above it. The file is then not
// found rather than outside.
func aboveRoot(f Folders, path, left string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool {
		return within(left, root) && within(root, filepath.Clean(path))
	})
}

// parent returns path without its last element. It leaves "." and ".."
// elements alone: what they mean depends on links.
func parent(path string) string {
	path = strings.TrimRight(path, "/")
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// list returns the *DirectoryError for the directory n.
func (c *Cache) list(n node, path string) error {
	dir, err := n.open()
	if err != nil {
		return classify(err)
	}
	defer dir.close()
	names, more, err := dir.names(c.limits.DirScan)
	if err != nil {
		return classify(err)
	}
	slices.Sort(names)
	e := &DirectoryError{Path: path, Entries: names, AtLeast: more}
	if more {
		e.More = 1
	}
	if extra := len(names) - c.limits.DirEntries; extra > 0 {
		e.Entries = slices.Clone(names[:c.limits.DirEntries])
		e.More += extra
	}
	return e
}
