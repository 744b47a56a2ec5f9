package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/zeebo/xxh3"

	"mapd/hashline"
)

// putBackTries is how many changes of other programs during the microseconds
// of a put-back are followed before the bytes are left beside the file.
const putBackTries = 16

// identity is what is compared to tell whether a name still has the file that
// was seen there: the inode, and for a regular file its bytes.
type identity struct {
	kind     kind
	dev, ino uint64
	digest   hashline.Digest // of a regular file
}

// identify returns the identity of name in the directory.
func (w *writing) identify(name string) (identity, error) {
	n, err := w.dir.look(name)
	if err != nil {
		return identity{}, err
	}
	defer n.close()
	s, err := n.stat()
	if err != nil {
		return identity{}, err
	}
	id := identity{kind: s.kind, dev: s.dev, ino: s.ino}
	if s.kind == regular {
		id.digest, err = w.cache.digestOf(n)
	}
	return id, err
}

// digestOf reads a regular file of any size.
func (c *Cache) digestOf(n node) (hashline.Digest, error) {
	file, err := n.open()
	if err != nil {
		return hashline.Digest{}, err
	}
	defer file.close()
	h := xxh3.New()
	piece := c.buffers.get(128 << 10)
	defer piece.release()
	for off := int64(0); ; {
		n, err := file.readAt(piece.b, off)
		if err != nil {
			return hashline.Digest{}, err
		}
		if n == 0 {
			return hashline.Digest(h.Sum128().Bytes()), nil
		}
		_, _ = h.Write(piece.b[:n]) // never fails
		off += int64(n)
	}
}

// replace writes the bytes to a new file beside the old one and exchanges the
// two. Whatever goes wrong before the exchange leaves the old file untouched;
// after it, what came off is compared with what update saw.
func (w *writing) replace(ctx context.Context) error {
	w.cache.leftovers.note(w.cache, w.path)
	temp, ours, err := w.prepare()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // the last moment to give up
		w.drop(temp)
		return err
	}
	switch err := w.dir.move(temp, w.base, moveExchange); {
	case err == nil:
		return w.settle(temp, ours)
	case unsupported(err):
		return w.replacePlain(temp)
	case errors.Is(err, syscall.ENOENT):
		w.drop(temp)
		return errConflict
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EBUSY):
		w.drop(temp) // a sticky directory, a file that is a mount point
		return &cannotReplace{"the file cannot be renamed"}
	default:
		w.drop(temp)
		return classify(err)
	}
}

// prepare writes the new file completely, with all attributes, under the name
// that it exchanges.
func (w *writing) prepare() (temp string, ours identity, err error) {
	draft := w.cache.leftovers.draftName()
	out, err := w.dir.create(draft, 0o600)
	if err != nil {
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) {
			return "", identity{}, &cannotReplace{"its directory cannot be changed"}
		}
		return "", identity{}, classify(err)
	}
	ours, err = w.fillDraft(out)
	out.close()
	if err != nil {
		w.drop(draft)
		return "", identity{}, err
	}
	temp = w.cache.leftovers.swapName(w.was.digest, ours.digest)
	if err := w.dir.move(draft, temp, moveReplace); err != nil {
		w.drop(draft)
		return "", identity{}, classify(err)
	}
	return temp, ours, nil
}

func (w *writing) fillDraft(out target) (identity, error) {
	w.digest = hashline.Sum(w.bytes)
	if err := out.writeAt(w.bytes, 0); err != nil {
		return identity{}, classify(err)
	}
	if err := out.adopt(w.attrs); err != nil {
		return identity{}, &cannotReplace{"its owner, access list or attributes cannot be given to a new file"}
	}
	if !w.opt.NoSync {
		if err := out.sync(); err != nil {
			return identity{}, classify(err)
		}
	}
	s, err := out.stat()
	if err != nil {
		return identity{}, classify(err)
	}
	return identity{kind: regular, dev: s.dev, ino: s.ino, digest: w.digest}, nil
}

// drop removes a file of ours that never was the file.
func (w *writing) drop(temp string) {
	if err := w.dir.remove(temp); err != nil && !errors.Is(err, syscall.ENOENT) {
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("%s was left behind: %v", temp, err))
	}
}

// settle ends an exchange: temp holds what came off the file's name. It is
// removed if it is what update saw, and put back if not.
func (w *writing) settle(temp string, ours identity) error {
	came, err := w.identify(temp)
	switch {
	case errors.Is(err, syscall.ENOENT):
		// Another daemon's sweep removes it only when it holds what update saw.
	case err != nil:
		// What came off cannot be read, so it cannot be judged either.
		if back := w.putBack(temp, ours, came); !errors.Is(back, errConflict) {
			return back
		}
		return classify(err)
	case came != w.was || !w.keptAttributes(temp):
		return w.putBack(temp, ours, came)
	default:
		w.drop(temp)
	}
	w.syncDir()
	return nil
}

// keptAttributes reports whether the file that came off still has the
// attributes that the new one was given.
func (w *writing) keptAttributes(temp string) bool {
	n, err := w.dir.look(temp)
	if err != nil {
		return false
	}
	defer n.close()
	now, err := attributesOf(n)
	return err == nil && now.same(w.attrs)
}

func (w *writing) syncDir() {
	if w.opt.NoSync {
		return
	}
	if err := w.dir.sync(); err != nil {
		w.result.Warnings = append(w.result.Warnings, fmt.Sprintf("written, but not known to be on the disk: %v", err))
	}
}

// putBack exchanges until the newest foreign file has its name again. top is
// what we know to be at the name, under is at temp. If something else than top
// comes off, another program replaced it in between; that is newer, and goes
// back in turn. It returns errConflict when all is as if nothing had happened.
func (w *writing) putBack(temp string, top, under identity) error {
	for range putBackTries {
		err := w.dir.move(temp, w.base, moveExchange)
		if errors.Is(err, syscall.ENOENT) {
			// Another program removed our file and meant its own.
			if err = w.dir.move(temp, w.base, moveKeep); err == nil {
				return errConflict
			}
			if errors.Is(err, syscall.EEXIST) {
				continue
			}
		}
		if err != nil {
			return &StrayError{Path: filepath.Join(filepath.Dir(w.path), temp), Err: err}
		}
		came, err := w.identify(temp)
		if err != nil {
			return &StrayError{Path: filepath.Join(filepath.Dir(w.path), temp), Err: err}
		}
		if came == top {
			w.drop(temp)
			return errConflict
		}
		top, under = under, came
	}
	return &StrayError{Path: filepath.Join(filepath.Dir(w.path), temp), Err: ErrBusy}
}

// replacePlain is for file systems that cannot exchange: it looks once more
// and renames.
func (w *writing) replacePlain(temp string) error {
	now, err := w.identify(w.base)
	if err != nil || now != w.was {
		w.drop(temp)
		return errConflict
	}
	if err := w.dir.move(temp, w.base, moveReplace); err != nil {
		w.drop(temp)
		return classify(err)
	}
	w.result.Plain = true
	w.cache.counters.plain.Add(1)
	w.syncDir()
	return nil
}
