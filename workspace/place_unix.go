//go:build linux || darwin

package workspace

import (
	"errors"
	"maps"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// directoryFile is a place: a descriptor of a directory.
type directoryFile struct {
	fd  int
	sys *system
}

func (s *system) place(path string) (place, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, openDirectory, 0) })
	if err != nil {
		return nil, err
	}
	return directoryFile{fd, s}, nil
}

func (d directoryFile) close() { unix.Close(d.fd) }

func (d directoryFile) enter(name string) (place, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, openDirectory|unix.O_NOFOLLOW, 0) })
	if err != nil {
		return nil, err
	}
	return directoryFile{fd, d.sys}, nil
}

func (d directoryFile) stat(name string) (stamp, error) {
	var st unix.Stat_t
	err := d.call(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return stampOf(&st), err
}

func (d directoryFile) names(most int) ([]string, bool, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, false, err
	}
	return listNames(os.NewFile(uintptr(fd), "directory"), most)
}

func (d directoryFile) mayChange() error {
	return d.call(func() error { return unix.Faccessat(d.fd, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS) })
}

func (d directoryFile) create(name string, mode uint32) (target, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, flags, mode) })
	if err != nil {
		return nil, err
	}
	return writeFile(fd), nil
}

func (d directoryFile) move(from, to string, how moveKind) error {
	err := d.call(func() error {
		if how == moveReplace {
			return unix.Renameat(d.fd, from, d.fd, to)
		}
		return renameSpecial(d.fd, from, to, how)
	})
	if how == moveKeep && unsupported(err) {
		if err = d.call(func() error { return unix.Linkat(d.fd, from, d.fd, to, 0) }); err == nil {
			err = d.remove(from)
		}
	}
	return err
}

// unsupported reports whether a file system does not know a kind of rename.
func unsupported(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP)
}

func (d directoryFile) remove(name string) error {
	return d.call(func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d directoryFile) removeDir(name string) error {
	return d.call(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

// makeDir sets the mode afterwards, because the daemon's own umask is strict.
func (d directoryFile) makeDir(name string, mode uint32) error {
	if err := d.call(func() error { return unix.Mkdirat(d.fd, name, mode) }); err != nil {
		return err
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return writeFile(fd).chmod(mode)
}

func (d directoryFile) sync() error {
	fd, err := retry(func() (int, error) {
		return unix.Openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return syncFile(fd)
}

func (directoryFile) call(f func() error) error {
	_, err := retry(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// writeFile is a descriptor open for writing.
type writeFile int

func (w writeFile) close()               { unix.Close(int(w)) }
func (w writeFile) stat() (stamp, error) { return fstat(int(w)) }
func (w writeFile) sync() error          { return syncFile(int(w)) }

func (w writeFile) writeAt(p []byte, off int64) error {
	for len(p) > 0 {
		n, err := retry(func() (int, error) { return unix.Pwrite(int(w), p, off) })
		if err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

func (w writeFile) truncate(size int64) error {
	return directoryFile{}.call(func() error { return unix.Ftruncate(int(w), size) })
}

func (w writeFile) chmod(mode uint32) error {
	have, err := readXattrs(int(w))
	if err != nil {
		return err
	}
	if have[aclXattr] != "" { // inherited from the directory, and it decides
		return nil
	}
	return unix.Fchmod(int(w), mode)
}

// adopt changes only what differs. The owner comes first, because a new owner
// clears the set-id bits, and the access list last, because it sets some bits
// of the mode.
func (w writeFile) adopt(a attributes) error {
	s, err := w.stat()
	if err != nil {
		return err
	}
	if s.uid != a.uid || s.gid != a.gid {
		if err := unix.Fchown(int(w), int(a.uid), int(a.gid)); err != nil {
			return err
		}
	}
	have, err := readXattrs(int(w))
	if err != nil {
		return err
	}
	for name := range have {
		if _, kept := a.xattrs[name]; !kept {
			if err := unix.Fremovexattr(int(w), name); err != nil {
				return err
			}
		}
	}
	if s, err = w.stat(); err != nil {
		return err
	}
	if s.mode != a.mode {
		if err := unix.Fchmod(int(w), a.mode); err != nil {
			return err
		}
	}
	for name, value := range a.xattrs {
		if v, ok := have[name]; !ok || v != value {
			if err := unix.Fsetxattr(int(w), name, []byte(value), 0); err != nil {
				return err
			}
		}
	}
	now, err := readXattrs(int(w))
	if err != nil {
		return err
	}
	if s, err = w.stat(); err != nil {
		return err
	}
	if s.mode != a.mode || s.uid != a.uid || s.gid != a.gid || !maps.Equal(now, a.xattrs) {
		return errors.New("the system did not take over all attributes")
	}
	return nil
}

// readXattrs returns all extended attributes of an open file. A file system
// without them has none.
func readXattrs(fd int) (map[string]string, error) {
	list, err := sized(func(p []byte) (int, error) { return unix.Flistxattr(fd, p) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	out := map[string]string{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		value, err := sized(func(p []byte) (int, error) { return unix.Fgetxattr(fd, name, p) })
		if err != nil {
			return nil, err
		}
		out[name] = string(value)
	}
	return out, nil
}

// sized calls f with a buffer that is large enough for its answer.
func sized(f func([]byte) (int, error)) ([]byte, error) {
	var scratch [256]byte
	n, err := retry(func() (int, error) { return f(scratch[:]) })
	if err == nil {
		return scratch[:n], nil
	}
	for errors.Is(err, unix.ERANGE) {
		if n, err = f(nil); err != nil {
			return nil, err
		}
		b := make([]byte, n+64)
		if n, err = f(b); err == nil {
			return b[:n], nil
		}
	}
	return nil, err
}
