package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
)

// putInPlace overwrites the file, for the cases that why names. Other programs
// may see a half-written file meanwhile, and a change that one of them makes
// in the microseconds between the last look and the first byte is lost: that
// is the price of keeping the inode.
//
// Old and new bytes are first written to an undo file beside it, so that a
// daemon that is killed in the middle leaves a file that the next one can
// restore; in a directory that cannot be changed there is none.
func (w *writing) putInPlace(ctx context.Context, why string) error {
	inode := fmt.Sprintf("inode %d:%d", w.was.dev, w.was.ino)
	leave, err := w.cache.queues.enter(ctx, w.cache.ctx, inode)
	if err != nil {
		return err
	}
	defer leave()
	undo, err := w.writeUndo()
	if err != nil {
		return err
	}
	if err := w.overwrite(ctx); err != nil {
		var damaged *damagedError
		if !errors.As(err, &damaged) {
			w.dropUndo(undo)
			return err
		}
		if undo != "" {
			return &StrayError{Path: filepath.Join(filepath.Dir(w.path), undo), Err: err}
		}
		return &StrayError{Path: w.path, Err: err}
	}
	w.dropUndo(undo)
	w.result.InPlace = why
	return nil
}

// damagedError says that neither the new bytes nor the old ones could be
// written.
type damagedError struct{ err error }

func (e *damagedError) Error() string {
	return "the file is damaged; its old content was there before the first new byte: " + e.err.Error()
}

func (e *damagedError) Unwrap() error { return e.err }

// writeUndo writes the old bytes and the new ones to a file and returns its
// name, or "" when the directory cannot be changed.
func (w *writing) writeUndo() (string, error) {
	w.cache.leftovers.note(w.cache, w.path)
	draft := w.cache.leftovers.draftName()
	out, err := w.dir.create(draft, 0o600)
	if err != nil {
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) {
			return "", nil
		}
		return "", classify(err)
	}
	old := w.live.Bytes()
	err = out.writeAt(old, 0)
	if err == nil {
		err = out.writeAt(w.bytes, int64(len(old)))
	}
	if err == nil && !w.opt.NoSync {
		err = out.sync()
	}
	out.close()
	undo := w.cache.leftovers.undoName(w.was.ino, len(old))
	if err == nil {
		err = w.dir.move(draft, undo, moveReplace)
	}
	if err != nil {
		w.drop(draft)
		return "", classify(err)
	}
	return undo, nil
}

func (w *writing) dropUndo(undo string) {
	if undo != "" {
		w.drop(undo)
	}
}

// overwrite replaces the bytes of the file that update saw. Its error is a
// *damagedError if the old bytes are not there any more.
func (w *writing) overwrite(ctx context.Context) error {
	n, err := w.dir.look(w.base)
	if err != nil {
		return errConflict
	}
	defer n.close()
	s, err := n.stat()
	if err != nil || s.ino != w.was.ino || s.dev != w.was.dev {
		return errConflict
	}
	out, err := n.openWrite()
	if err != nil {
		return classify(err)
	}
	defer out.close()
	if err := ctx.Err(); err != nil { // the last moment to give up
		return err
	}
	if digest, err := w.cache.digestOf(n); err != nil || digest != w.was.digest {
		return errConflict
	}
	if err := overwriteBytes(out, s, w.live.Bytes(), w.bytes); err != nil {
		return err
	}
	if !w.opt.NoSync {
		if err := out.sync(); err != nil {
			w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("written, but not known to be on the disk: %v", err))
		}
	}
	if now, err := attributesOf(n); err == nil && !now.same(w.attrs) {
		// Writing clears set-id bits and capabilities.
		if err := out.adopt(w.attrs); err != nil {
			w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("the mode or attributes of the file changed and could not be set again: %v", err))
		}
	}
	return nil
}

// overwriteBytes makes out, which holds old, hold b; or puts old back.
func overwriteBytes(out target, s stamp, old, b []byte) error {
	if len(b) > len(old) {
		if err := out.reserve(int64(len(b))); err != nil {
			return undoBytes(out, s, old, err)
		}
	}
	if err := out.writeAt(b, 0); err != nil {
		return undoBytes(out, s, old, err)
	}
	if len(b) < len(old) {
		if err := out.truncate(int64(len(b))); err != nil {
			return undoBytes(out, s, old, err)
		}
	}
	return nil
}

// undoBytes puts old back after the failure cause, which it returns.
func undoBytes(out target, s stamp, old []byte, cause error) error {
	err := out.writeAt(old, 0)
	if err == nil {
		err = out.truncate(int64(len(old)))
	}
	if err != nil {
		return &damagedError{fmt.Errorf("%w, and the old bytes could not be put back: %w", cause, err)}
	}
	if err := out.touch(s.mtime); err != nil {
		return classify(fmt.Errorf("%w; the time of the file could not be set back: %w", cause, err))
	}
	return classify(cause)
}

// halfWritten reports whether live is what is left of a write of b over old
// that was cut off: the start of b, and from there on old. It is false for
// either of the two themselves.
func halfWritten(live, old, b []byte) bool {
	k := 0 // at least so many bytes of b arrived
	for k < len(live) && k < len(b) && live[k] == b[k] {
		k++
	}
	return k > 0 && len(live) == max(k, len(old)) &&
		bytes.Equal(live[k:], old[min(k, len(old)):]) && !bytes.Equal(live, b) && !bytes.Equal(live, old)
}

// finish ends the write in place of b over old in the file of dir with the
// inode ino, which a daemon began that was killed: if the file is half written,
// the rest of b is written too. That way round, being killed again leaves a
// half-written file of the same kind.
func finish(dir place, names []string, ino uint64, old, b []byte) error {
	for _, name := range names {
		n, err := dir.look(name)
		if err != nil {
			continue
		}
		s, err := n.stat()
		if err != nil || s.kind != regular || s.ino != ino {
			n.close()
			continue
		}
		defer n.close()
		if s.size > int64(max(len(old), len(b))) {
			return nil
		}
		live, err := readAllOf(n, s.size)
		if err != nil || !halfWritten(live, old, b) {
			return err
		}
		return finishNode(n, b)
	}
	return nil
}

func finishNode(n node, b []byte) error {
	out, err := n.openWrite()
	if err != nil {
		return err
	}
	defer out.close()
	if err := out.writeAt(b, 0); err != nil {
		return err
	}
	if err := out.truncate(int64(len(b))); err != nil {
		return err
	}
	return out.sync()
}

// readAllOf reads up to size bytes of a regular file.
func readAllOf(n node, size int64) ([]byte, error) {
	file, err := n.open()
	if err != nil {
		return nil, err
	}
	defer file.close()
	b := make([]byte, size)
	for at := 0; at < len(b); {
		m, err := file.readAt(b[at:], int64(at))
		if err != nil {
			return nil, err
		}
		if m == 0 {
			return b[:at], nil
		}
		at += m
	}
	return b, nil
}

func parseUndo(fields []string) (ino uint64, oldSize int, ok bool) {
	if len(fields) != 2 {
		return 0, 0, false
	}
	ino, err1 := strconv.ParseUint(fields[0], 16, 64)
	size, err2 := strconv.ParseUint(fields[1], 16, 32)
	return ino, int(size), err1 == nil && err2 == nil
}
