package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	// lockRetry is how often a lock that another process holds is tried.
	lockRetry = 20 * time.Millisecond
)

// ErrLocked says that another daemon uses the file.
var ErrLocked = errors.New("another daemon uses the store")

// lockFile opens the file at path, which is made if need be, and locks it for
// this process alone. It waits so long for another process.
func lockFile(path string, wait time.Duration) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, err
	}
	for end := time.Now().Add(wait); ; {
		file, err := openRegular(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return nil, err
		}
		err = lockOpen(file, end)
		if err == nil {
			// Whoever had the lock may have removed the file.
			here, hereErr := file.Stat()
			there, thereErr := os.Lstat(path)
			if hereErr == nil && thereErr == nil && os.SameFile(here, there) {
				return file, nil
			}
			err = errors.New("the file is replaced all the time")
		}
		file.Close()
		if !time.Now().Before(end) || errors.Is(err, ErrLocked) {
			return nil, err
		}
		time.Sleep(lockRetry)
	}
}

// openRegular opens a regular file, and nothing else: not a link to one, and
// no pipe, which would block.
func openRegular(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, fileMode)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, errors.Join(err, fmt.Errorf("%s is no regular file", path))
	}
	return file, nil
}

// lockOpen locks an open file, until end at the latest.
func lockOpen(file *os.File, end time.Time) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		case !time.Now().Before(end):
			return ErrLocked
		default:
			time.Sleep(lockRetry)
		}
	}
}
