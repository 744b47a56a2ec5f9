package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxPath is the longest path of a unix socket on Linux, in bytes, without the
// terminating NUL. Longer ones fail at bind with an error that names nothing.
const maxPath = 107

// Path returns where the daemon of this build has its socket: $MAPD_SOCKET, else
// $XDG_RUNTIME_DIR/mapd/<build>.sock, else <os temp>/mapd-<uid>/<build>.sock.
func Path(getenv func(string) string) (string, error) {
	path := getenv("MAPD_SOCKET")
	if path != "" {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return "", fmt.Errorf("MAPD_SOCKET=%q: %w", path, err)
		}
		return absolute, checkLength(absolute, "set MAPD_SOCKET to a shorter path")
	}
	build, err := Build()
	if err != nil {
		return "", err
	}
	temp := getenv("TMPDIR")
	if temp == "" {
		temp = "/tmp"
	}
	dir := filepath.Join(temp, "mapd-"+strconv.Itoa(os.Getuid()))
	if runtime := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		dir = filepath.Join(runtime, "mapd")
	}
	// A daemon has another working directory than its client.
	path, err = filepath.Abs(filepath.Join(dir, build+".sock"))
	if err != nil {
		return "", fmt.Errorf("TMPDIR=%q: %w", temp, err)
	}
	return path, checkLength(path, "set MAPD_SOCKET to a shorter path, or XDG_RUNTIME_DIR to a shorter directory")
}

func checkLength(path, remedy string) error {
	if len(path) > maxPath {
		return fmt.Errorf("the socket path %s has %d bytes, unix sockets allow %d: %s", path, len(path), maxPath, remedy)
	}
	return nil
}

// DirError says why the directory of the socket cannot be trusted.
type DirError struct {
	Dir     string
	Problem string
	Remedy  string
}

func (e *DirError) Error() string {
	return fmt.Sprintf("the socket directory %s %s: %s", e.Dir, e.Problem, e.Remedy)
}

// prepareDir makes the directory of the socket, or checks the one that is there.
// Only its last element is made: the ones above belong to the system.
func prepareDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make the socket directory: %w", err)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the socket directory: %w", err)
		}
	}
	return CheckDir(dir)
}

// CheckDir returns a *DirError unless dir is a directory of this user that
// nobody else may enter.
func CheckDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check the socket directory: %w", err)
	}
	owner := -1
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		owner = int(stat.Uid)
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return &DirError{dir, "is a symbolic link", "remove it, or set MAPD_SOCKET to a path in a directory of your own"}
	case !mode.IsDir():
		return &DirError{dir, "is not a directory", "remove it, or set MAPD_SOCKET to a path in a directory of your own"}
	case owner != os.Getuid():
		return &DirError{dir, fmt.Sprintf("belongs to user %d, not to you (%d)", owner, os.Getuid()), "set MAPD_SOCKET to a path in a directory of your own"}
	case mode.Perm()&0o077 != 0:
		return &DirError{dir, fmt.Sprintf("is open to others (mode %04o)", mode.Perm()), fmt.Sprintf("run chmod 700 %q", dir)}
	}
	return nil
}
