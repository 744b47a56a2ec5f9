package workspace

import "maps"

// A place is an open directory in which a file is written. It stays the same
// directory whatever happens to its path, and every name below is one element
// looked up in it, so that no link can lead a write elsewhere.
type place interface {
	// path returns the real path of the directory at this moment.
	path() (string, error)
	// look finds name without following a symbolic link.
	look(name string) (node, error)
	// openRead opens name, which was a regular file, for reading without
	// following a symbolic link and without blocking.
	openRead(name string) (node, error)
	// stat returns the stamp of name, of a symbolic link itself.
	stat(name string) (stamp, error)
	// names lists the directory as file.names does.
	names(most int) (names []string, more bool, err error)
	// mayChange returns nil if entries of the directory may be made and renamed.
	mayChange() error
	// create makes the new file name for writing.
	create(name string, mode uint32) (target, error)
	move(from, to string, how moveKind) error
	remove(name string) error
	// makeDir makes the directory name; removeDir removes it if it is empty.
	makeDir(name string, mode uint32) error
	removeDir(name string) error
	// enter opens the directory name, which must not be a symbolic link.
	enter(name string) (place, error)
	// sync makes renames in the directory durable.
	sync() error
	close()
}

// moveKind says what becomes of a file that stands at the new name.
type moveKind uint8

const (
	moveReplace  moveKind = iota // it is gone
	moveKeep                     // nothing is moved and the error is EEXIST
	moveExchange                 // it gets the old name
)

// A target is a file open for writing.
type target interface {
	stat() (stamp, error)
	// writeAt writes all of p at off.
	writeAt(p []byte, off int64) error
	// reserve makes sure that the file can grow to size without running out of
	// space, as far as the file system can tell. The size does not change.
	reserve(size int64) error
	truncate(size int64) error
	// adopt gives the file mode, owner, access lists and extended attributes.
	adopt(attributes) error
	// chmod sets the mode of a file without an inherited access list.
	chmod(mode uint32) error
	// touch sets the time of the last change of content, in nanoseconds.
	touch(mtime int64) error
	// sync makes the content durable.
	sync() error
	close()
}

// attributes are what a file keeps when its content is replaced.
type attributes struct {
	mode     uint32
	uid, gid uint32
	links    uint64
	xattrs   map[string]string // access lists included
	// frozen says why even the owner may not write: "immutable", "append-only",
	// or "" for the rest.
	frozen string
	// access is the answer to whether this process may write the file.
	access error
}

// same reports whether a replacement with attributes b stands for a file with
// attributes a.
func (a attributes) same(b attributes) bool {
	return a.mode == b.mode && a.uid == b.uid && a.gid == b.gid && a.links == b.links && maps.Equal(a.xattrs, b.xattrs)
}
