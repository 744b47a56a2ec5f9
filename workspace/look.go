package workspace

import (
	"context"
	"strings"
)

// Looker reads many files of a workspace one after the other, for a search:
// nothing is remembered of them, so that looking at all files pushes out none
// that was served. It keeps the directory of the last file open, which makes the
// files next to it cheap; its owner calls Close. It is not for concurrent use.
type Looker struct {
	w   *Workspace
	dir string // absolute path of at
	at  place  // nil if none is open
}

// Looker returns a new Looker of w.
func (w *Workspace) Looker() *Looker { return &Looker{w: w} }

// Close closes the directory that is open.
func (l *Looker) Close() {
	if l.at != nil {
		l.at.close()
		l.at = nil
	}
}

// Look reads the file at path, which is relative to the root, and calls see with
// its bytes of this moment, which see must not keep. Links are not followed. The
// error is ctx's or wraps one of those of this package.
func (l *Looker) Look(ctx context.Context, path string, see func(text []byte)) error {
	got, err := l.read(ctx, path)
	if err != nil {
		return err
	}
	defer got.release()
	see(got.bytes)
	return nil
}

// read reads the file at path, relative to the root. The caller releases the
// reading.
func (l *Looker) read(ctx context.Context, path string) (*reading, error) {
	c := l.w.cache
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	full := joinPath(l.w.root, path)
	slash := strings.LastIndexByte(full, '/')
	return c.readStable(ctx, func() (found, error) { return l.find(full[:max(slash, 1)], full[slash+1:]) })
}

// find finds a regular file by its name in a directory. What it is is asked
// before it is opened, and asked of what was opened again.
func (l *Looker) find(dir, name string) (found, error) {
	at, err := l.enter(dir)
	if err != nil {
		return found{}, err
	}
	s, err := at.stat(name)
	if err != nil {
		return found{}, classify(err)
	}
	if s.kind != regular {
		return found{}, &NotFileError{Kind: kindNames[s.kind]}
	}
	n, err := at.openRead(name)
	if err != nil {
		return found{}, classify(err)
	}
	if s, err = n.stat(); err != nil {
		n.close()
		return found{}, classify(err)
	}
	if s.kind != regular {
		n.close()
		return found{}, &NotFileError{Kind: kindNames[s.kind]}
	}
	return found{node: n, path: joinPath(dir, name), stamp: s, set: l.w.set.Load()}, nil
}

// enter returns the directory at an absolute path, which no link leads to. The
// one of the last file is not asked again where it is: a search reads what it
// found once more by its path.
func (l *Looker) enter(dir string) (place, error) {
	if l.at != nil && l.dir == dir {
		return l.at, nil
	}
	l.Close()
	at, err := l.w.cache.source.place(dir)
	if err != nil {
		return nil, classify(err)
	}
	real, err := at.path()
	if err != nil || real != dir {
		at.close()
		if err == nil {
			err = ErrNotFound
		}
		return nil, classify(err)
	}
	l.dir, l.at = dir, at
	return at, nil
}
