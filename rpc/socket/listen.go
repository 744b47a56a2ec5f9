package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mapd/rpc/wire"
)

// ErrHeld is returned by Listen while another daemon holds the path.
var ErrHeld = errors.New("another daemon holds the socket")

// Listener is the socket of the one daemon of its path.
type Listener struct {
	path     string
	listener *net.UnixListener
	lock     *os.File
	inode    inode
	close    sync.Once
	closed   chan struct{}
	err      error
}

// inode identifies a file as long as it is not removed.
type inode struct{ dev, ino uint64 }

func inodeOf(path string) (inode, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return inode{}, &os.PathError{Op: "lstat", Path: path, Err: err}
	}
	return inode{uint64(stat.Dev), stat.Ino}, nil //nolint:unconvert // Dev is int32 on darwin
}

// Listen makes this process the daemon of path, whose lock file path.lock then
// holds its pid. It returns an error that wraps
// ErrHeld if there is one already, and a *DirError if the directory of path is
// not safe.
func Listen(path string) (*Listener, error) {
	if err := checkLength(path, "set MAPD_SOCKET to a shorter path"); err != nil {
		return nil, err
	}
	if err := prepareDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := takeLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	l, err := listenLocked(path, lock)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return l, nil
}

// takeLock returns the locked lock file of a path. The file stays when the lock
// is dropped: removing it would let two daemons lock two files of one name. One
// that was removed by somebody else while it was locked here is not taken for
// the lock.
func takeLock(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the lock of the socket: %w", err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			file.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return nil, fmt.Errorf("%s: %w", path, ErrHeld)
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if sameFile(file, path) {
			return file, nil
		}
		file.Close()
	}
}

// writePID leaves the pid of the daemon in its lock file, for people and scripts.
func writePID(lock *os.File) error {
	if err := lock.Truncate(0); err != nil {
		return fmt.Errorf("write the lock of the socket: %w", err)
	}
	if _, err := lock.WriteAt(fmt.Appendln(nil, os.Getpid()), 0); err != nil {
		return fmt.Errorf("write the lock of the socket: %w", err)
	}
	return nil
}

func sameFile(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, named)
}

// listenLocked does what the lock is held for.
func listenLocked(path string, lock *os.File) (*Listener, error) {
	if err := removeDead(path); err != nil {
		return nil, err
	}
	if err := writePID(lock); err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	// Removed by Close, which looks whether it still is ours.
	listener.SetUnlinkOnClose(false)
	// The directory is 0700, so nobody else can have connected before this.
	err = os.Chmod(path, 0o600)
	var ours inode
	if err == nil {
		ours, err = inodeOf(path)
	}
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &Listener{path: path, listener: listener, lock: lock, inode: ours, closed: make(chan struct{})}, nil
}

// removeDead removes a socket that nobody answers on. A daemon that lost its lock
// file still answers, so it is asked although the lock is ours.
func removeDead(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check the socket: %w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket: remove it, or set MAPD_SOCKET to another path", path)
	}
	connection, err := net.Dial("unix", path)
	if err == nil {
		connection.Close()
		return fmt.Errorf("%s: %w", path, ErrHeld)
	}
	// A full backlog means that somebody is alive behind it.
	if errors.Is(err, syscall.EAGAIN) {
		return fmt.Errorf("%s: %w", path, ErrHeld)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the dead socket: %w", err)
	}
	return nil
}

// Path returns the path of the socket.
func (l *Listener) Path() string { return l.path }

// acceptPause is how long Accept waits when the process or the system has no
// descriptors left. The peers wait in the backlog.
const acceptPause = 50 * time.Millisecond

// Accept returns the next peer that may come in. One that may not is told why in
// one line and closed. That, and a lack of descriptors, which Accept waits for,
// is reported through refused. It returns net.ErrClosed after Close.
func (l *Listener) Accept(refused func(error)) (*net.UnixConn, Peer, error) {
	for {
		connection, err := l.listener.AcceptUnix()
		if err != nil {
			if !transient(err) {
				return nil, Peer{}, err
			}
			refused(err)
			select {
			case <-l.closed:
				return nil, Peer{}, net.ErrClosed
			case <-time.After(acceptPause):
			}
			continue
		}
		peer, err := CheckPeer(connection)
		if err == nil {
			return connection, peer, nil
		}
		tell(connection, err)
		connection.Close()
		refused(err)
	}
}

// tell sends a peer the reason for its refusal. The line fits into the buffer of
// a new socket, so this does not wait.
func tell(connection *net.UnixConn, reason error) {
	line, err := json.Marshal(struct {
		Version string            `json:"jsonrpc"`
		ID      *int              `json:"id"`
		Error   *wire.ErrorObject `json:"error"`
	}{"2.0", nil, wire.Errorf(wire.PermissionDenied, "%v", reason).Object()})
	if err == nil && connection.SetWriteDeadline(time.Now().Add(acceptPause)) == nil {
		_, _ = connection.Write(append(line, '\n'))
	}
}

// transient reports whether accepting may work again later.
func transient(err error) bool {
	for _, e := range []error{unix.EMFILE, unix.ENFILE, unix.ENOBUFS, unix.ENOMEM, unix.ECONNABORTED, unix.EINTR} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Gone returns when the socket at the path is no longer the one listened on, so
// that no new client can find this daemon, or with ctx.Err(). It looks every
// period.
func (l *Listener) Gone(ctx context.Context, period time.Duration) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if !l.present() {
				return nil
			}
		}
	}
}

// present reports whether the path still leads to this socket. An error other
// than absence proves nothing.
func (l *Listener) present() bool {
	now, err := inodeOf(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	return err != nil || now == l.inode
}

// Close stops listening, removes the socket if it is still this one, and lets
// the lock go. Connections that were accepted live on.
func (l *Listener) Close() error {
	l.close.Do(func() {
		close(l.closed)
		if now, err := inodeOf(l.path); err == nil && now == l.inode {
			l.err = os.Remove(l.path)
		}
		l.err = errors.Join(l.err, l.listener.Close(), l.lock.Close())
	})
	return l.err
}
