package workspace

import (
	"context"

	"mapd/hashline"
	"mapd/workspace/names"
)

// NamesOf returns the names of a file also if there was no room for them in the
// index: they come from the store then, or from an outline that is made again,
// and are not kept. It reports false while the first outline is still to be made,
// and if there is none to be had before ctx ends.
func (w *Workspace) NamesOf(ctx context.Context, f *File) (names.Names, bool) {
	list, ok := f.Names()
	outlines := w.cache.outlines
	switch {
	case ok || f.Binary:
		return list, true
	case f.again.Load() == 0 || outlines.extract == nil || ctx.Err() != nil:
		return list, false
	}
	out, known := outlines.known(keyOf(f), int(f.Size))
	if !known {
		looker := w.Looker()
		defer looker.Close()
		got, err := looker.read(ctx, f.Path)
		if err != nil {
			return list, false
		}
		defer got.release()
		if hashline.Sum(got.bytes) != f.Digest {
			return list, false
		}
		body := got.buffer.take(len(got.bytes))
		if out, err = outlines.pass(ctx, newContent(f.Digest, body, nil), f.Language); err != nil {
			return list, false
		}
	}
	return names.Pack(out), true
}
