package workspace

import (
	"bytes"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const openDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

// aclXattr has no counterpart: access lists are not extended attributes here,
// so a file with one is replaced by a file without. Another reason for which
// this system is unsupported.
const aclXattr = "\x00none"

func (d directoryFile) path() (string, error) { return pathOf(uintptr(d.fd)) }

func pathOf(fd uintptr) (string, error) {
	var buf [unix.PathMax]byte
	_, _, errno := unix.Syscall(unix.SYS_FCNTL, fd, unix.F_GETPATH, uintptr(unsafe.Pointer(&buf[0])))
	if errno != 0 {
		return "", errno
	}
	path, _, _ := bytes.Cut(buf[:], []byte{0})
	return string(path), nil
}

func (d directoryFile) look(name string) (node, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, err
	}
	if s := stampOf(&st); s.kind != regular && s.kind != directory {
		return special{name, s}, nil
	}
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd, name, flags, 0) })
	if err != nil {
		return nil, err
	}
	return openNode{openFile{os.NewFile(uintptr(fd), name)}}, nil
}

func (d directoryFile) openRead(name string) (node, error) { return d.look(name) }

func renameSpecial(fd int, from, to string, how moveKind) error {
	flag := uint32(unix.RENAME_EXCL)
	if how == moveExchange {
		flag = unix.RENAME_SWAP
	}
	return unix.RenameatxNp(fd, from, fd, to, flag)
}

func (n openNode) openWrite() (target, error) {
	path, err := pathOf(n.f.Fd())
	if err != nil {
		return nil, err
	}
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	want, err := n.stat()
	if have, ferr := fstat(fd); err != nil || ferr != nil || have.ino != want.ino || have.dev != want.dev {
		unix.Close(fd)
		return nil, unix.ESTALE
	}
	return writeFile(fd), nil
}

func (f openFile) attributes() (attributes, error) {
	fd := int(f.f.Fd())
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return attributes{}, err
	}
	s := stampOf(&st)
	a := attributes{mode: s.mode, uid: s.uid, gid: s.gid, links: s.links}
	var err error
	if a.xattrs, err = readXattrs(fd); err != nil {
		return attributes{}, err
	}
	path, err := pathOf(f.f.Fd())
	if err != nil {
		return attributes{}, err
	}
	a.access = unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	const immutable, appendOnly = 0x00020002, 0x00040004 // system and user flags of chflags
	switch {
	case st.Flags&immutable != 0:
		a.frozen = "immutable"
	case st.Flags&appendOnly != 0:
		a.frozen = "append-only"
	}
	return a, nil
}

// reserve does nothing: running out of space shows in the write.
func (w writeFile) reserve(int64) error { return nil }

// syncFile flushes the drive as well; fsync alone does not here.
func syncFile(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	return err
}

func (w writeFile) touch(mtime int64) error {
	t := unix.NsecToTimeval(mtime)
	return directoryFile{}.call(func() error { return unix.Futimes(int(w), []unix.Timeval{t, t}) })
}
