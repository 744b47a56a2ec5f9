package workspace

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// system is the real file system.
type system struct{}

// descriptor is an O_PATH descriptor.
type descriptor int

// openFile is a descriptor open for reading.
type openFile int

// retry calls f until it is not interrupted by a signal; FUSE and network file
// systems return EINTR.
func retry[T any](f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err != unix.EINTR {
			return v, err
		}
	}
}

func (system) find(path string) (node, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	return descriptor(fd), nil
}

func (d descriptor) close()               { unix.Close(int(d)) }
func (d descriptor) stat() (stamp, error) { return fstat(int(d)) }

// procPath is where the kernel keeps the file behind a descriptor: reading
// that link gives its path, opening it opens that very file.
func procPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// realPath asks the kernel for the path of the descriptor. For a file that was
// removed or replaced since, the kernel appends " (deleted)" to its former
// path; as a name may end so too, the suffix counts only if the path with it
// does not lead to this file.
func (d descriptor) realPath(s stamp) (string, error) {
	var buf [unix.PathMax]byte
	n, err := retry(func() (int, error) { return unix.Readlink(procPath(int(d)), buf[:]) })
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
	fd, err := retry(func() (int, error) { return unix.Open(procPath(int(d)), flags, 0) })
	if err != nil {
		return nil, err
	}
	return openFile(fd), nil
}

func (f openFile) close()               { unix.Close(int(f)) }
func (f openFile) stat() (stamp, error) { return fstat(int(f)) }

func (f openFile) readAt(p []byte, off int64) (int, error) {
	return retry(func() (int, error) { return unix.Pread(int(f), p, off) })
}

func (f openFile) names(most int) ([]string, bool, error) {
	fd, err := retry(func() (int, error) { return unix.FcntlInt(uintptr(f), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return nil, false, err
	}
	return listNames(os.NewFile(uintptr(fd), "directory"), most)
}

func fstat(fd int) (stamp, error) {
	var st unix.Stat_t
	_, err := retry(func() (struct{}, error) { return struct{}{}, unix.Fstat(fd, &st) })
	if err != nil {
		return stamp{}, err
	}
	return stampOf(&st), nil
}
