package workspace

import "mapd/workspace/names"

// Names returns the symbols of a file as a search needs them, once its outline
// is made.
func (f *File) Names() (names.Names, bool) {
	o, ok := f.Outline()
	return names.Pack(o), ok
}
