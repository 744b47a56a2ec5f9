package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mapd/hashline"
)

// target is a FILE argument: an absolute path, the lines asked for, and the
// roots that a session needs to read it.
type target struct {
	path   string
	ranges []hashline.Range
	roots  []folder
}

// folder is a folder of a session.
type folder struct {
	path  string // absolute
	bare  bool   // no repository: neither indexed nor watched
	large bool   // indexed even if it is the home directory or /
}

// parseTarget reads FILE or FILE:A-B,C. A file of that very name wins over a
// suffix that looks like ranges.
func parseTarget(arg string) (target, error) {
	if arg == "" {
		return target{}, errors.New("FILE is empty")
	}
	name, ranges := arg, []hashline.Range(nil)
	if _, err := os.Lstat(arg); err != nil {
		if before, suffix, ok := cutLast(arg, ":"); ok && before != "" {
			if rs, err := parseRanges(suffix); err == nil {
				name, ranges = before, rs
			} else if looksLikeRanges(suffix) {
				return target{}, err
			}
		}
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return target{}, err
	}
	return target{path: path, ranges: ranges, roots: rootsOf(path)}, nil
}

// parseFile reads a FILE argument that takes no lines.
func parseFile(arg string) (target, error) {
	t, err := parseTarget(arg)
	if err != nil {
		return t, &usageError{err}
	}
	if t.ranges != nil {
		return t, &usageError{fmt.Errorf("this command takes a FILE without lines, not %q", arg)}
	}
	return t, nil
}

func joinRanges(rs []hashline.Range) string {
	var out []string
	for _, r := range rs {
		out = append(out, r.String())
	}
	return strings.Join(out, ",")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// looksLikeRanges reports whether a suffix can only be meant as ranges.
func looksLikeRanges(s string) bool {
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789,-") == ""
}

// parseRanges reads "A-B,C-D,E": lines from 1, inclusive.
func parseRanges(s string) ([]hashline.Range, error) {
	var out []hashline.Range
	for _, part := range strings.Split(s, ",") {
		first, last, dash := strings.Cut(part, "-")
		if !dash {
			last = first
		}
		start, err1 := strconv.Atoi(first)
		end, err2 := strconv.Atoi(last)
		r := hashline.Range{Start: start, End: end}
		if err1 != nil || err2 != nil || !r.Valid() {
			return nil, fmt.Errorf("%q is no range of lines; write FILE:10-20 or FILE:10-20,40-60, counting from 1", part)
		}
		out = append(out, r)
	}
	return out, nil
}

// rootsOf returns the root of a path, and the root of the file behind it if
// the path leads there through symbolic links.
func rootsOf(path string) []folder {
	roots := []folder{rootOf(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		if r := rootOf(real); r != roots[0] {
			roots = append(roots, r)
		}
	}
	return roots
}

// rootOf returns the nearest ancestor of path that holds .git, else the
// directory of path, else the nearest ancestor that is a directory: as a bare
// root, without .git.
func rootOf(path string) folder {
	dir := path
	for !isDir(dir) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return folder{path: d}
		} else if !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			return folder{path: dir, bare: true}
		}
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}
