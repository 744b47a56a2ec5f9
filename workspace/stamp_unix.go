//go:build linux || darwin

package workspace

import "golang.org/x/sys/unix"

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, kind: kindOf(uint32(st.Mode)), size: st.Size,
		mode: uint32(st.Mode) & 0o7777, uid: st.Uid, gid: st.Gid, links: uint64(st.Nlink),
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

func kindOf(mode uint32) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return regular
	case unix.S_IFDIR:
		return directory
	case unix.S_IFIFO:
		return pipe
	case unix.S_IFSOCK:
		return socket
	case unix.S_IFCHR:
		return charDevice
	case unix.S_IFBLK:
		return blockDevice
	case unix.S_IFLNK:
		return symlink
	default:
		return unknownKind
	}
}

func fstat(fd int) (stamp, error) {
	var st unix.Stat_t
	_, err := retry(func() (struct{}, error) { return struct{}{}, unix.Fstat(fd, &st) })
	if err != nil {
		return stamp{}, err
	}
	return stampOf(&st), nil
}

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
