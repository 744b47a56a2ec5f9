package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// system is the real file system. Darwin has no O_PATH: what stands at the
// path is looked at first, and a FIFO or device swapped in between is opened
// without blocking and then refused. Untested, therefore unsupported.
type system struct{}

func newSystem() *system { return &system{} }

func (*system) close() {}

// openFile is a descriptor open for reading.
type openFile struct{ f *os.File }

func (*system) find(path string) (node, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, err
	}
	if s := stampOf(&st); s.kind != regular && s.kind != directory {
		return special{path, s}, nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return openNode{openFile{os.NewFile(uintptr(fd), path)}}, nil
}

// special is a node that is never opened.
type special struct {
	path string
	s    stamp
}

func (s special) stat() (stamp, error)           { return s.s, nil }
func (s special) realPath(stamp) (string, error) { return s.path, nil }
func (s special) open() (file, error)            { return nil, unix.EPERM }
func (s special) openWrite() (target, error)     { return nil, unix.EPERM }
func (s special) close()                         {}

// openNode is a regular file or a directory, open already.
type openNode struct{ openFile }

func (n openNode) open() (file, error) {
	fd, err := unix.FcntlInt(n.f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return openFile{os.NewFile(uintptr(fd), n.f.Name())}, nil
}

func (n openNode) realPath(stamp) (string, error) {
	return pathOf(n.f.Fd())
}

func (f openFile) close() { f.f.Close() }

func (f openFile) stat() (stamp, error) {
	return fstat(int(f.f.Fd()))
}

func (f openFile) readAt(p []byte, off int64) (int, error) {
	return unix.Pread(int(f.f.Fd()), p, off)
}

func (f openFile) names(most int) ([]string, bool, error) {
	fd, err := unix.FcntlInt(f.f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, false, err
	}
	return listNames(os.NewFile(uintptr(fd), f.f.Name()), most)
}
