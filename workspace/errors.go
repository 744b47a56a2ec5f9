package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// The ways in which a path can fail a caller. Every error of this package that
// is about a file wraps one of them or a *DirectoryError, except the errors of
// a context. The texts say what to do.
var (
	ErrNotFound   = errors.New("no such file; check the name, or read its directory to see what is there")
	ErrNotFile    = errors.New("not a regular file; only regular files can be read")
	ErrTooLarge   = errors.New("the file is too large")
	ErrPermission = errors.New("permission denied; change the file's mode or owner, or run the daemon as a user who may open it")
	ErrOutside    = errors.New("outside the folders of this session; add its folder to the session, or copy the file into one")
	ErrName       = errors.New("invalid name")
	ErrExists     = errors.New("it exists already; edit it, or choose another name")
	ErrBusy       = errors.New("other programs kept changing the file; try again")
	ErrIO         = errors.New("input/output error; try again")
	ErrReadOnly   = errors.New("read-only; make the file or its file system writable first")
	ErrBinary     = errors.New("a binary file has no outline")
	ErrClosed     = errors.New("the daemon is shutting down; try again")
)

// NotFileError says what stands at a path where a regular file is needed. It
// wraps ErrNotFile.
type NotFileError struct {
	Kind string // "a named pipe", "a socket", "a character device", …
}

func (e *NotFileError) Error() string {
	return e.Kind + ", not a regular file; only regular files can be read"
}

// Unwrap returns ErrNotFile.
func (e *NotFileError) Unwrap() error { return ErrNotFile }

// SizeError says that a file is larger than what is read. It wraps ErrTooLarge.
type SizeError struct {
	Size  int64 // bytes, as far as they are known
	Limit int64 // bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("the file has %d bytes and at most %d are read; split it, or use a tool that reads a part of it", e.Size, e.Limit)
}

// Unwrap returns ErrTooLarge.
func (e *SizeError) Unwrap() error { return ErrTooLarge }

// DirectoryError says that a path names a directory, and what is in it.
type DirectoryError struct {
	Path    string   // absolute and resolved
	Entries []string // sorted names, with a slash after those of directories
	// More is the number of names left out of Entries. When AtLeast is set
	// there are still more, which nobody counted.
	More    int
	AtLeast bool
}

// Error returns a text that starts with EISDIR and holds the listing, one name
// a line. A name that holds control characters or is not UTF-8 is quoted.
func (e *DirectoryError) Error() string {
	var b strings.Builder
	b.WriteString("EISDIR: a directory; read one of its files:")
	for _, name := range e.Entries {
		b.WriteString("\n" + show(name))
	}
	switch {
	case len(e.Entries) == 0:
		b.WriteString("\n(empty)")
	case e.AtLeast:
		fmt.Fprintf(&b, "\n… and at least %d more", e.More)
	case e.More > 0:
		fmt.Fprintf(&b, "\n… and %d more", e.More)
	}
	return b.String()
}

// failure is a sentinel of this package together with the cause that the
// system gave. Its text is the sentinel's, with the cause where that helps.
type failure struct {
	is    error
	cause error
}

func (e *failure) Error() string {
	if e.is == ErrIO || e.is == ErrName || e.is == ErrReadOnly {
		return e.is.Error() + ": " + e.cause.Error()
	}
	return e.is.Error()
}

func (e *failure) Unwrap() []error { return []error{e.is, e.cause} }

// classify turns what a system call reported into an error of this package.
func classify(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &failure{ErrNotFound, err}
	case errors.Is(err, fs.ErrExist):
		return &failure{ErrExists, err}
	case errors.Is(err, syscall.EROFS):
		return &failure{ErrReadOnly, err}
	case errors.Is(err, fs.ErrPermission):
		return &failure{ErrPermission, err}
	case errors.Is(err, syscall.ELOOP):
		return &NotFileError{Kind: "a symbolic link that leads in a circle"}
	case errors.Is(err, syscall.ENAMETOOLONG):
		return nameError("it is longer than the system allows")
	default:
		return &failure{ErrIO, err}
	}
}

func nameError(why string) error { return &failure{ErrName, errors.New(why)} }

// show returns a path for an error message: as it is, or quoted when it holds
// what a terminal or a line-based reader would take for something else.
func show(path string) string {
	const most = 300
	if len(path) > most {
		path = path[:most] + "…"
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}
