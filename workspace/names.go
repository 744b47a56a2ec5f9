package workspace

import (
	"context"

	"mapd/workspace/names"
)

// Names returns the symbols of a file as a search needs them, once its outline
// is made.
func (f *File) Names() (names.Names, bool) {
	o, ok := f.Outline()
	return names.Pack(o), ok
}

// Look reads the file at path, relative to the root, and calls see with its
// bytes of this moment, which see must not keep. It is for searches: nothing is
// remembered of the file, so that looking at all files pushes out none that was
// served. The error is ctx's or wraps one of those of this package.
func (w *Workspace) Look(ctx context.Context, path string, see func(text []byte)) error {
	got, err := w.readFile(ctx, path)
	if err != nil {
		return err
	}
	defer got.release()
	see(got.bytes)
	return nil
}
