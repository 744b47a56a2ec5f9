package config

import (
	"bytes"
	"fmt"
	"path/filepath"

	"mapd/outline"
)

// The names of the files.
const (
	// ProjectFile lies in a root.
	ProjectFile = ".mapd.toml"
	// UserFile is relative to the user's directory of configuration.
	UserFile = "mapd/config.toml"
)

// Settings are what one file sets. Fields that it does not set are zero.
type Settings struct {
	Ignore    []string                    // patterns as in a .gitignore, for the paths below each root
	Languages map[string]outline.Language // by extension without its first dot, or by name of the file; in lower case
	Limits    map[string]int64            // by the names of mapd status

	// Of the user's file alone:
	Roots   []string // absolute; nil: any
	Log     string   // "info" or "debug"
	Session string   // of commands
	Color   string   // "auto", "always" or "never"
	Fsync   string   // "1" or "0"
}

// A Warning says why a field does not count.
type Warning struct {
	File   string
	Line   int    // from 1
	Field  string // "limits.file_bytes"; "" where the file as a whole is meant
	Reason string // and what to do
}

// String is the warning for people: file, line, field, reason.
func (w Warning) String() string {
	if w.Field == "" {
		return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Reason)
	}
	return fmt.Sprintf("%s:%d: %s: %s; ignored", w.File, w.Line, w.Field, w.Reason)
}

// UserPath returns where the user's file is: in $XDG_CONFIG_HOME, by default in
// ~/.config. It is "" if neither is known.
func UserPath(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, UserFile)
}

// User reads the user's file. limits are those that are built in: their names
// are the ones that may be set. home stands for ~ in roots.
func User(file string, text []byte, limits map[string]int64, home string) (Settings, []Warning) {
	p := &parser{file: file, text: text, limits: limits, home: home, user: true}
	s := p.parse()
	if s.Roots == nil && p.broken && bytes.Contains(text, []byte("roots")) {
		s.Roots = []string{nowhere}
	}
	return s, p.warnings
}

// Lowerable are the limits that a project may lower.
var Lowerable = []string{"file_bytes", "index_bytes", "index_files"}

// Project reads a project's file. limits are those in force without it, fixed
// those that the environment sets, which outranks the file.
func Project(file string, text []byte, limits map[string]int64, fixed func(name string) bool) (Settings, []Warning) {
	p := &parser{file: file, text: text, limits: limits, fixed: fixed}
	return p.parse(), p.warnings
}

// nowhere is a root in which no file is.
const nowhere = "/dev/null"
