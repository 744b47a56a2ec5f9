package workspace

import "golang.org/x/sys/unix"

func stampOf(st *unix.Stat_t) stamp {
	return stamp{
		dev: uint64(st.Dev), ino: st.Ino, kind: kindOf(uint32(st.Mode)), size: st.Size,
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
