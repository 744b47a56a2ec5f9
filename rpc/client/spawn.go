package client

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// daemonFlag makes this program run as the daemon. A binary that does not know
// it, such as one of tests, ends with a usage error.
const daemonFlag = "-mapd.daemon"

// IsDaemon reports whether args, those of the process, ask it to be the daemon.
// The environment then holds MAPD_SOCKET.
func IsDaemon(args []string) bool { return len(args) == 2 && args[1] == daemonFlag }

// tryLock returns the locked file, or nil if somebody else has locked it.
func tryLock(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the socket directory: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start the daemon: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// spawn starts a daemon on path, in a session of its own and with nothing of
// this process but its environment. What ended it is sent on exited.
func spawn(path string) (exited <-chan error, err error) {
	executable, err := executable()
	if err != nil {
		return nil, err
	}
	if err := hideDescriptors(); err != nil {
		return nil, err
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAPD_SOCKET=") })
	cmd := &exec.Cmd{
		Path:        executable,
		Args:        []string{"mapd", daemonFlag},
		Env:         append(env, "MAPD_SOCKET="+path),
		Dir:         "/",
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	// Not waited for: it ends with the daemon, which may outlive the client.
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}
