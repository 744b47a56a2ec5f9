package workspace

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

const openDirectory = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

// aclXattr holds the access list of a file.
const aclXattr = "system.posix_acl_access"

func (d directoryFile) path() (string, error) {
	n := descriptor{d.fd, d.sys.proc}
	s, err := n.stat()
	if err != nil {
		return "", err
	}
	return n.realPath(s)
}

func (d directoryFile) look(name string) (node, error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })
	if err != nil {
		return nil, err
	}
	return descriptor{fd, d.sys.proc}, nil
}

func (d directoryFile) openRead(name string) (node, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })
	if err != nil {
		return nil, err
	}
	return readNode{descriptor{fd, d.sys.proc}}, nil
}

// readNode is a node that is open for reading already.
type readNode struct{ descriptor }

func (n readNode) open() (file, error) { return lentFile{openFile(n.descriptor)}, nil }

// lentFile is a file that ends with its node.
type lentFile struct{ openFile }

func (lentFile) close() {}

func renameSpecial(fd int, from, to string, how moveKind) error {
	flag := uint(unix.RENAME_NOREPLACE)
	if how == moveExchange {
		flag = unix.RENAME_EXCHANGE
	}
	return unix.Renameat2(fd, from, fd, to, flag)
}

func (d descriptor) openWrite() (target, error) {
	const flags = unix.O_WRONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.proc, strconv.Itoa(d.fd), flags, 0) })
	if err != nil {
		return nil, err
	}
	return writeFile(fd), nil
}

func (f openFile) attributes() (attributes, error) {
	s, err := f.stat()
	if err != nil {
		return attributes{}, err
	}
	a := attributes{mode: s.mode, uid: s.uid, gid: s.gid, links: s.links}
	if a.xattrs, err = readXattrs(f.fd); err != nil {
		return attributes{}, err
	}
	a.access = unix.Faccessat(f.proc, strconv.Itoa(f.fd), unix.W_OK, unix.AT_EACCESS)
	var sx unix.Statx_t
	if err := unix.Statx(f.fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &sx); err == nil {
		switch {
		case sx.Attributes&unix.STATX_ATTR_IMMUTABLE != 0:
			a.frozen = "immutable"
		case sx.Attributes&unix.STATX_ATTR_APPEND != 0:
			a.frozen = "append-only"
		}
	}
	return a, nil
}

// reserve does nothing on a file system that cannot reserve.
func (w writeFile) reserve(size int64) error {
	err := directoryFile{}.call(func() error { return unix.Fallocate(int(w), unix.FALLOC_FL_KEEP_SIZE, 0, size) })
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || size == 0 {
		return nil
	}
	return err
}

func syncFile(fd int) error {
	return directoryFile{}.call(func() error { return unix.Fsync(fd) })
}

func (w writeFile) touch(mtime int64) error {
	t := unix.NsecToTimespec(mtime)
	path := "/proc/self/fd/" + strconv.Itoa(int(w))
	return directoryFile{}.call(func() error {
		return unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Nsec: unix.UTIME_OMIT}, t}, 0)
	})
}
