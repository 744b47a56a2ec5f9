package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

const (
	logSize  = 10 << 20 // bytes of one log file
	logFiles = 3        // mapd.log, mapd.log.1, mapd.log.2
)

// logFile is a log of bounded size: when the current file is full it becomes
// path.1, path.1 becomes path.2, and the oldest is dropped.
type logFile struct {
	path string

	mu   sync.Mutex // guards the fields below
	file *os.File
	size int64
}

// stateDir returns $XDG_STATE_HOME/mapd, by default below ~/.local/state.
func stateDir(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return "", errors.New("neither XDG_STATE_HOME nor HOME is set")
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "mapd"), nil
}

// openLog opens mapd.log in the state directory for appending.
func openLog(getenv func(string) string) (*logFile, error) {
	dir, err := stateDir(getenv)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	l := &logFile{path: filepath.Join(dir, "mapd.log")}
	return l, l.openLocked()
}

// openLocked opens the current file. The caller holds l.mu or is alone.
func (l *logFile) openLocked() error {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends one record, which is never split over two files.
func (l *logFile) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return 0, os.ErrClosed
	}
	if l.size > 0 && l.size+int64(len(record)) > logSize {
		if err := l.rotateLocked(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(record)
	l.size += int64(n)
	return n, err
}

func (l *logFile) rotateLocked() error {
	err := l.file.Close()
	l.file = nil
	for i := logFiles - 1; i > 0; i-- {
		from := l.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", l.path, i-1)
		}
		if e := os.Rename(from, fmt.Sprintf("%s.%d", l.path, i)); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, l.openLocked())
}

// Close closes the current file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// newLogger returns a logger in slog's text format; MAPD_LOG=debug logs every
// request.
func newLogger(w interface{ Write([]byte) (int, error) }, getenv func(string) string) *slog.Logger {
	level := slog.LevelInfo
	if getenv("MAPD_LOG") == "debug" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
