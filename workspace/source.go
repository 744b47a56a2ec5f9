package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// A source is the file system as this package reads it. The real one is
// system; tests wrap it to hold a stamp still, to change a file between two
// steps, or to fail one.
type source interface {
	// find resolves path, symbolic links included, to what it names, without
	// any effect on it: nothing blocks and no device is touched.
	find(path string) (node, error)
	// place opens the directory at path in order to write into it.
	place(path string) (place, error)
	// close ends the use of the source, not of what was found.
	close()
}

// A node is what stands at a path. It stays the same object whatever happens
// to the path.
type node interface {
	// stat returns the stamp of the node.
	stat() (stamp, error)
	// realPath returns the path of the node, free of symbolic links. s is the
	// node's stamp.
	realPath(s stamp) (string, error)
	// open opens a regular file or a directory for reading.
	open() (file, error)
	// openWrite opens a regular file for writing in place.
	openWrite() (target, error)
	// close releases the node; a file opened from it stays open.
	close()
}

// A file is a regular file or a directory, open for reading.
type file interface {
	stat() (stamp, error)
	// readAt reads up to len(p) bytes at off. It returns 0, nil at the end.
	readAt(p []byte, off int64) (int, error)
	// names returns up to most names of a directory in no order, those of
	// directories with a slash at the end, and whether there are more.
	names(most int) (names []string, more bool, err error)
	// attributes returns what a replacement of the file must take over.
	attributes() (attributes, error)
	close()
}

// kind is what a node is.
type kind uint8

const (
	regular kind = iota
	directory
	pipe
	socket
	charDevice
	blockDevice
	symlink
	unknownKind
)

var kindNames = [...]string{
	regular: "a regular file", directory: "a directory", pipe: "a named pipe", socket: "a socket",
	charDevice: "a character device", blockDevice: "a block device", symlink: "a symbolic link",
	unknownKind: "something unknown",
}

// stamp is what the system says about a node.
type stamp struct {
	dev, ino     uint64
	kind         kind
	mode         uint32 // permission bits, set-id and sticky bits
	uid, gid     uint32
	links        uint64
	size         int64 // bytes
	mtime, ctime int64 // nanoseconds of the wall clock
}

// same reports whether nothing that the system notes changed between two
// stamps of one node.
func (s stamp) same(t stamp) bool {
	return s.ino == t.ino && s.dev == t.dev && s.size == t.size && s.mtime == t.mtime && s.ctime == t.ctime
}

// young reports whether a change after now could leave the stamp as it is,
// because its clock has not moved on. Kernels tick in 1 to 10 ms; a file
// system that stores whole seconds (or two) shows it by zeros. A stamp of the
// future tells nothing.
func (s stamp) young(now time.Time) bool {
	granule := 20 * time.Millisecond
	if s.ctime%int64(time.Second) == 0 {
		granule = 2100 * time.Millisecond
	}
	return now.UnixNano()-s.ctime < int64(granule)
}

// listNames reads and closes dir.
func listNames(dir *os.File, most int) (names []string, more bool, err error) {
	defer dir.Close()
	for len(names) <= most {
		entries, err := dir.ReadDir(min(1024, most+1-len(names)))
		for _, e := range entries {
			name := e.Name()
			if e.Type() == fs.ModeDir {
				name += "/"
			}
			names = append(names, name)
		}
		if errors.Is(err, io.EOF) {
			return names, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return names[:most], true, nil
}
