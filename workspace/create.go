package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// create makes a new file. Nothing that exists is touched: the name appears
// with its whole content or not at all, and of the directories that were made
// on the way none is left after a failure.
func (c *Cache) create(ctx context.Context, f Folders, name string, opt WriteOptions, update func(*Version) ([]byte, error)) (WriteResult, error) {
	path, err := f.join(name)
	if err != nil {
		return WriteResult{}, err
	}
	if strings.HasSuffix(path, "/") {
		return WriteResult{}, nameError("it ends in a slash; name a file")
	}
	at, missing, err := c.deepest(f, path)
	if err != nil {
		return WriteResult{}, err
	}
	defer func() { at.close() }()
	top, err := at.path()
	if err != nil {
		return WriteResult{}, classify(err)
	}
	base := missing[len(missing)-1]
	full := filepath.Join(append([]string{top}, missing...)...)
	leave, err := c.queues.enter(ctx, c.ctx, full)
	if err != nil {
		return WriteResult{}, err
	}
	defer leave()
	if len(missing) == 1 {
		if n, err := at.look(base); err == nil {
			n.close()
			return WriteResult{}, ErrExists
		}
	}
	b, err := update(nil)
	if err != nil {
		return WriteResult{}, &UpdateError{err}
	}
	if err := c.settingsAt(f, full).checkSize(int64(len(b))); err != nil {
		return WriteResult{}, err
	}
	res := WriteResult{Path: full}
	if opt.Rehearse {
		return res, classify(at.mayChange())
	}
	w := &writing{cache: c, base: base, path: full, opt: opt, bytes: b, result: &res}
	if w.opt.Mode == 0 {
		w.opt.Mode = 0o644
	}
	if err := w.createBelow(ctx, at, missing[:len(missing)-1]); err != nil {
		return WriteResult{}, err
	}
	res.Changed = true
	c.follow(f, full)
	res.After = c.versionOf(f, &reading{path: full, bytes: b})
	return res, nil
}

// deepest opens the deepest directory of path that exists, and returns the
// names below it that do not, the file's included.
func (c *Cache) deepest(f Folders, path string) (place, []string, error) {
	var missing []string
	for rest := path; ; {
		dir := parent(rest)
		base := strings.Trim(rest[len(dir):], "/")
		if base == "" || base == "." || base == ".." {
			return nil, nil, nameError("it does not end in the name of a file, or leads through a directory that does not exist")
		}
		missing = append(missing, base)
		at, err := c.source.place(dir)
		switch {
		case errors.Is(err, syscall.ENOENT) && dir != "/":
			rest = dir
			continue
		case err != nil:
			return nil, nil, classify(err)
		}
		real, err := at.path()
		if err == nil && !f.Contains(real) {
			err = ErrOutside
		}
		if err != nil {
			at.close()
			return nil, nil, classifyUnlessOutside(err)
		}
		slices.Reverse(missing)
		return at, missing, nil
	}
}

func classifyUnlessOutside(err error) error {
	if errors.Is(err, ErrOutside) {
		return err
	}
	return classify(err)
}

// createBelow makes the directories below at and the file in the last of them.
func (w *writing) createBelow(ctx context.Context, at place, dirs []string) (err error) {
	if len(dirs) == 0 {
		w.dir = at
		return w.createFile(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	mode := uint32(w.opt.Mode.Perm())
	mode |= mode&0o444>>2 | 0o700
	err = at.makeDir(dirs[0], mode)
	made := err == nil
	if err != nil && !errors.Is(err, syscall.EEXIST) {
		return classify(err)
	}
	defer func() {
		if err != nil && made {
			_ = at.removeDir(dirs[0]) // fails if another program uses it, as it should
		}
	}()
	if made {
		above := strings.Repeat("/..", len(dirs))
		w.result.madeDirs = append(w.result.madeDirs, filepath.Join(w.path, above))
	}
	below, err := at.enter(dirs[0])
	if err != nil {
		return classify(err)
	}
	defer below.close()
	if err := w.createBelow(ctx, below, dirs[1:]); err != nil {
		return err
	}
	if made {
		w.dir = at
		w.syncDir()
	}
	return nil
}

// createFile writes the file under a temporary name and gives it its own if
// that is still free.
func (w *writing) createFile(ctx context.Context) error {
	w.cache.leftovers.note(w.cache, w.path)
	draft := w.cache.leftovers.draftName()
	mode := uint32(w.opt.Mode.Perm())
	out, err := w.dir.create(draft, mode)
	if err != nil {
		return classify(err)
	}
	err = out.writeAt(w.bytes, 0)
	if err == nil {
		err = out.chmod(mode)
	}
	if err == nil && !w.opt.NoSync {
		err = out.sync()
	}
	out.close()
	if err == nil {
		err = ctx.Err() // the last moment to give up
	}
	if err == nil {
		err = w.dir.move(draft, w.base, moveKeep)
	}
	switch {
	case err == nil:
		w.syncDir()
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		w.drop(draft)
		return err
	default:
		w.drop(draft)
		return classify(err)
	}
}

// Uncreate takes back a write that created a file: it removes the file if it still
// is the version that was written, and then the directories that were made for it
// and are empty. If it is not, it is left alone and the error wraps ErrBusy.
func (c *Cache) Uncreate(ctx context.Context, f Folders, created WriteResult) error {
	if err := c.remove(ctx, f, created.After); err != nil {
		return fmt.Errorf("remove %s: %w", show(created.Path), err)
	}
	for _, dir := range slices.Backward(created.madeDirs) {
		if at, err := c.openPlace(dir); err == nil {
			_ = at.removeDir(filepath.Base(dir)) // fails if another program uses it, as it should
			at.close()
		}
	}
	return nil
}

func (c *Cache) remove(ctx context.Context, f Folders, expect *Version) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.leave()
	if !f.Contains(expect.Path()) {
		return ErrOutside
	}
	leave, err := c.queues.enter(ctx, c.ctx, expect.Path())
	if err != nil {
		return err
	}
	defer leave()
	dir, err := c.openPlace(expect.Path())
	if err != nil {
		return err
	}
	defer dir.close()
	w := &writing{cache: c, dir: dir, base: filepath.Base(expect.Path()), path: expect.Path(), result: &WriteResult{}}
	c.leftovers.note(c, w.path)
	// Off its name first, so that nobody can change it between look and removal.
	temp := c.leftovers.swapName(expect.Digest(), expect.Digest())
	if err := dir.move(w.base, temp, moveKeep); err != nil {
		return classify(err)
	}
	if now, err := w.identify(temp); err == nil && now.kind == regular && now.digest == expect.Digest() {
		w.drop(temp)
		w.syncDir()
		return nil
	}
	if err := dir.move(temp, w.base, moveKeep); err != nil {
		return &StrayError{Path: filepath.Join(filepath.Dir(w.path), temp), Err: err}
	}
	return ErrBusy
}
