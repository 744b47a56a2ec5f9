package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"mapd/hashline"
)

// writeTries is how often an update runs on fresh bytes when other programs
// change the file between its reading and its replacement.
const writeTries = 8

// errConflict says that the file is no longer what the update saw, and that it
// is untouched.
var errConflict = errors.New("the file changed under the update")

// WriteOptions say how a file is written.
type WriteOptions struct {
	// Create makes a new file and its missing directories; a file that exists
	// is ErrExists. Without Create a missing file is ErrNotFound.
	Create bool
	// Mode is the permission of a created file, the client's umask taken off;
	// 0 means 0644. Created directories may be searched by whoever may read.
	Mode fs.FileMode
	// Edit, if not nil, returns how update made what it returned last of the live
	// text, so that what is known of that is not found out again. It may return
	// nil.
	Edit func() *hashline.Applied
	// Rehearse does all that comes before the first change, and then stops:
	// WriteResult says what was about to be.
	Rehearse bool
	// NoSync leaves it to the system when the bytes reach the disk.
	NoSync bool
}

// WriteResult is what a write did.
type WriteResult struct {
	Path   string   // the real path of the file
	Before *Version // what update saw; nil for a created file
	After  *Version // what the file holds; equal to Before if nothing changed
	// Changed is false if update returned the bytes that were there. Nothing
	// was written then.
	Changed bool
	// InPlace says why the file was overwritten rather than replaced; "" if it
	// was replaced.
	InPlace string
	// Plain says that the file system cannot exchange two files, so that a
	// change of another program in the last microseconds was not noticed.
	Plain bool
	// Warnings are troubles after the bytes were in place.
	Warnings []string

	madeDirs []string // real paths of directories made for the file, outermost first
}

// An UpdateError is what an update returned. Nothing was written.
type UpdateError struct{ Err error }

func (e *UpdateError) Error() string { return e.Err.Error() }

// Unwrap returns the update's own error.
func (e *UpdateError) Unwrap() error { return e.Err }

// A StrayError says that bytes of another program could not be put back
// because the file kept changing, and where they are.
type StrayError struct {
	Path string // absolute
	Err  error
}

func (e *StrayError) Error() string {
	return fmt.Sprintf("bytes that another program wrote meanwhile are in %s and not in the file; compare the two: %v", show(e.Path), e.Err)
}

// Unwrap returns the cause.
func (e *StrayError) Unwrap() error { return e.Err }

// Write replaces the content of a file by what update makes of its live bytes,
// as one step: other programs see the old bytes or the new ones. Writes of one
// file queue up, each update sees what the one before left.
//
// update may run several times, because the replacement is undone when the
// file turns out to have been changed since it was read: no foreign bytes are
// lost. The slice that it returns must not be modified any more. With opt.Create
// it gets nil.
//
// An error of update comes back as an *UpdateError. After any error but a
// *StrayError the file is what it was: same bytes, inode, mode and times. The
// file keeps mode, owner, access lists and extended attributes, and stays the
// target of its links; what a replacement cannot keep is written in place, as
// WriteResult.InPlace says.
func (c *Cache) Write(ctx context.Context, f Folders, name string, opt WriteOptions, update func(live *Version) ([]byte, error)) (WriteResult, error) {
	res, err := c.write(ctx, f, name, opt, update)
	var own *UpdateError
	var stray *StrayError
	switch {
	case err == nil, errors.As(err, &own):
		return res, err
	case errors.As(err, &stray):
		return res, fmt.Errorf("write %s: %w", show(name), err)
	default:
		return WriteResult{}, fmt.Errorf("write %s: %w; nothing was written", show(name), err)
	}
}

func (c *Cache) write(ctx context.Context, f Folders, name string, opt WriteOptions, update func(*Version) ([]byte, error)) (WriteResult, error) {
	if err := c.enter(); err != nil {
		return WriteResult{}, err
	}
	defer c.leave()
	if opt.Create {
		return c.create(ctx, f, name, opt, update)
	}
	for try := range writeTries {
		res, err := c.writeOnce(ctx, f, name, opt, update)
		if !errors.Is(err, errConflict) {
			return res, err
		}
		c.counters.conflicts.Add(1)
		select {
		case <-time.After(time.Millisecond << try / 2):
		case <-ctx.Done():
			return WriteResult{}, ctx.Err()
		case <-c.ctx.Done():
			return WriteResult{}, ErrClosed
		}
	}
	return WriteResult{}, ErrBusy
}

// writing is one try to write one file.
type writing struct {
	cache *Cache
	dir   place
	base  string // name in dir
	path  string // real path of the file
	opt   WriteOptions

	live   *Version        // what update saw
	unsure bool            // live may mix two states, which put would find out
	was    identity        // the file that update saw
	set    *inForce        // for that file
	attrs  attributes      // of that file
	bytes  []byte          // what the file shall hold
	from   *origin         // of bytes; may be nil
	digest hashline.Digest // of bytes, once they are being written; else zero
	result *WriteResult
}

func (c *Cache) writeOnce(ctx context.Context, f Folders, name string, opt WriteOptions, update func(*Version) ([]byte, error)) (WriteResult, error) {
	at, err := c.find(f, name)
	if err != nil {
		return WriteResult{}, err
	}
	at.close()
	leave, err := c.queues.enter(ctx, c.ctx, at.path)
	if err != nil {
		return WriteResult{}, err
	}
	defer leave()
	dir, err := c.openPlace(at.path)
	if err != nil {
		return WriteResult{}, err
	}
	defer dir.close()
	res := WriteResult{Path: at.path}
	w := &writing{cache: c, dir: dir, base: filepath.Base(at.path), path: at.path, opt: opt, result: &res}
	same, err := w.update(ctx, f, update)
	if err != nil {
		return WriteResult{}, err
	}
	res.Before, res.After = w.live, w.live
	if same {
		return res, nil
	}
	if err := w.set.checkSize(int64(len(w.bytes))); err != nil {
		return WriteResult{}, err
	}
	if opt.Rehearse {
		return res, nil
	}
	share := c.budget.of(int64(len(w.bytes)))
	if err := share.take(ctx, c.ctx, int64(len(w.bytes))); err != nil {
		return WriteResult{}, err
	}
	defer share.give(int64(len(w.bytes)))
	if err := w.put(ctx); err != nil {
		return WriteResult{}, err
	}
	res.Changed = true
	c.follow(f, at.path)
	res.After = c.versionOf(f, &reading{path: at.path, bytes: w.bytes, digest: w.digest, from: w.from})
	return res, nil
}

// update reads the file and runs update on it, and reports whether the bytes stay
// the same. Live bytes that put does not come to judge are read until they are
// sure.
func (w *writing) update(ctx context.Context, f Folders, update func(*Version) ([]byte, error)) (same bool, err error) {
	for judged := true; ; judged = false {
		if err := w.readLive(ctx, f, judged); err != nil {
			return false, err
		}
		if err := w.mayWrite(); err != nil {
			return false, err
		}
		if w.bytes, err = update(w.live); err != nil {
			err = &UpdateError{err}
		} else {
			if w.from = nil; w.opt.Edit != nil {
				w.from = originOf(w.bytes, w.live, w.opt.Edit())
			}
			same = w.from.same() || w.from == nil && bytes.Equal(w.bytes, w.live.Bytes())
		}
		if !w.unsure || err == nil && !same {
			return same, err
		}
	}
}

// openPlace opens the directory of the real path, and returns errConflict if
// it is no longer there: then a name on the way was swapped.
func (c *Cache) openPlace(path string) (place, error) {
	want := filepath.Dir(path)
	dir, err := c.source.place(want)
	if err != nil {
		return nil, classify(err)
	}
	have, err := dir.path()
	if err == nil && have == want {
		return dir, nil
	}
	dir.close()
	if err != nil {
		return nil, classify(err)
	}
	return nil, errConflict
}

// readLive reads the file through its directory, so that what is read is what
// will be replaced. judged: if it is replaced, put compares the bytes again.
func (w *writing) readLive(ctx context.Context, f Folders, judged bool) error {
	got, err := w.cache.readStable(ctx, func() (found, error) {
		n, err := w.dir.look(w.base)
		if err != nil {
			return found{}, errConflict // it is gone; find says what to make of that
		}
		s, err := n.stat()
		if err == nil && s.kind != regular {
			err = errConflict
		}
		if err == nil {
			w.attrs, err = attributesOf(n)
		}
		if err != nil {
			n.close()
			return found{}, classifyUnlessConflict(err)
		}
		return found{node: n, path: w.path, stamp: s, set: w.cache.settingsAt(f, w.path), judged: judged}, nil
	})
	if err != nil {
		return err
	}
	defer got.release()
	if got.unstable {
		return errConflict
	}
	w.unsure = got.unsure
	w.was = identity{kind: regular, dev: got.stamp.dev, ino: got.stamp.ino, digest: got.sum()}
	w.live = w.cache.versionIn(f, got)
	w.set = got.set
	return nil
}

func classifyUnlessConflict(err error) error {
	if errors.Is(err, errConflict) {
		return err
	}
	return classify(err)
}

func attributesOf(n node) (attributes, error) {
	file, err := n.open()
	if err != nil {
		return attributes{}, err
	}
	defer file.close()
	return file.attributes()
}

// mayWrite refuses what is meant to stay as it is, before anything happens. A
// file without any write permission is refused to root as well.
func (w *writing) mayWrite() error {
	switch {
	case w.attrs.frozen != "":
		return &failure{ErrReadOnly, fmt.Errorf("the file is marked %s", w.attrs.frozen)}
	case w.attrs.mode&0o222 == 0:
		return &failure{ErrReadOnly, fmt.Errorf("the mode is %04o", w.attrs.mode)}
	default:
		return classify(w.attrs.access)
	}
}

// put makes the file hold w.bytes: by a replacement, or in place where a
// replacement would lose a link or an attribute.
func (w *writing) put(ctx context.Context) error {
	if w.attrs.links > 1 {
		return w.putInPlace(ctx, "the file has several hard links")
	}
	if err := w.dir.mayChange(); err != nil {
		return w.putInPlace(ctx, "its directory cannot be changed")
	}
	err := w.replace(ctx)
	var keep *cannotReplace
	if errors.As(err, &keep) {
		return w.putInPlace(ctx, keep.why)
	}
	return err
}

// cannotReplace says that the file must be written in place, and why. Nothing
// has changed.
type cannotReplace struct{ why string }

func (e *cannotReplace) Error() string { return e.why }

// follow notes the inode of a file that was just written, so that the file is
// known again if it is renamed before it is read.
func (c *Cache) follow(f Folders, path string) {
	if at, err := c.find(f, path); err == nil {
		at.close()
		if at.path == path {
			c.fileOf(path, at.stamp)
		}
	}
}

// versionOf returns the version that bytes make which were written, and keeps
// it.
func (c *Cache) versionOf(f Folders, wrote *reading) *Version {
	wrote.buffer = &buffer{b: wrote.bytes}
	wrote.set = c.settingsAt(f, wrote.path)
	return c.versionIn(f, wrote)
}
