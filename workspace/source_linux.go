package workspace

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// system is the real file system.
type system struct {
	// proc is an O_PATH descriptor of /proc/self/fd: reading the link named by a
	// descriptor's number gives its path, opening it opens that very file. Kept
	// open, it saves a sixth of a warm read. Negative if there is no /proc.
	proc int
}

func newSystem() *system {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Open("/proc/self/fd", flags, 0) })
	if err != nil {
		fd = -1
	}
	return &system{proc: fd}
}

func (s *system) close() {
	if s.proc >= 0 {
		unix.Close(s.proc)
		s.proc = -1
	}
}

// descriptor is an O_PATH descriptor.
type descriptor struct {
	fd   int
	proc int
}

// openFile is a descriptor open for reading.
type openFile struct {
	fd   int
	proc int
}

func (s *system) find(path string) (node, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	return descriptor{fd, s.proc}, nil
}

func (d descriptor) close()               { unix.Close(d.fd) }
func (d descriptor) stat() (stamp, error) { return fstat(d.fd) }

// realPath asks the kernel for the path of the descriptor. For a file that was
// removed or replaced since, the kernel appends " (deleted)" to its former
// path; as a name may end so too, the suffix counts only if the path with it
// does not lead to this file.
func (d descriptor) realPath(s stamp) (string, error) {
	var buf [unix.PathMax]byte
	n, err := retry(func() (int, error) { return unix.Readlinkat(d.proc, strconv.Itoa(d.fd), buf[:]) })
	if err != nil {
		return "", err
	}
	path := string(buf[:n])
	former, cut := strings.CutSuffix(path, " (deleted)")
	if !cut {
		return path, nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err == nil && st.Ino == s.ino && uint64(st.Dev) == s.dev {
		return path, nil
	}
	return former, nil
}

// open opens the very node that was found. O_NONBLOCK keeps a file of a
// pseudo file system from blocking; O_NOCTTY and the check for a regular file
// before it keep devices out.
func (d descriptor) open() (file, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.proc, strconv.Itoa(d.fd), flags, 0) })
	if err != nil {
		return nil, err
	}
	return openFile{fd, d.proc}, nil
}

func (f openFile) close()               { unix.Close(f.fd) }
func (f openFile) stat() (stamp, error) { return fstat(f.fd) }

func (f openFile) readAt(p []byte, off int64) (int, error) {
	return retry(func() (int, error) { return unix.Pread(f.fd, p, off) })
}

func (f openFile) names(most int) ([]string, bool, error) {
	fd, err := retry(func() (int, error) { return unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return nil, false, err
	}
	return listNames(os.NewFile(uintptr(fd), "directory"), most)
}
