//go:build unix

package conn

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// writeNow writes what the kernel takes without waiting. It reports no error:
// the caller tries again and meets it there.
func writeNow(raw syscall.RawConn, vector [][]byte) (written int) {
	_ = raw.Write(func(fd uintptr) bool {
		if n, err := unix.Writev(int(fd), vector); err == nil {
			written = n
		}
		return true
	})
	return written
}

// writeSome waits until the kernel takes something.
func writeSome(raw syscall.RawConn, vector [][]byte) (written int, err error) {
	failed := raw.Write(func(fd uintptr) bool {
		for err = unix.EINTR; err == unix.EINTR; {
			written, err = unix.Writev(int(fd), vector)
		}
		return err != unix.EAGAIN
	})
	if failed != nil {
		return 0, failed
	}
	return max(written, 0), err
}

// awaitHangup waits until the peer has closed both directions. It returns false
// when the read deadline passes or the descriptor is closed first. The bytes
// that are still unread stay unread.
func awaitHangup(raw syscall.RawConn) (hungUp bool) {
	_ = raw.Read(func(fd uintptr) bool {
		hungUp = isHungUp(fd)
		return hungUp
	})
	return hungUp
}

// isHungUp tells a closed peer from one that only ended its own direction.
func isHungUp(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd)}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
}
