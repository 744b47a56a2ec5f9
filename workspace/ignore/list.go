package ignore

import (
	"bytes"
	"strings"
)

// Verdict is what a list of patterns says about a path.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // no pattern names the path
	Ignored
	Included // a pattern that starts with "!" names it
)

// List is the patterns of one file, for the paths below the directory that the
// file stands for. It is immutable.
type List struct {
	patterns []pattern
}

type pattern struct {
	negated bool
	dirOnly bool
	byName  bool // no slash inside: compared with the last element of a path
	glob    glob
}

// Parse reads the patterns of an ignore file. fold makes them ignore case, as
// core.ignoreCase does.
func Parse(text []byte, fold bool) *List {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	l := &List{}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		// For git the pattern ends at a NUL.
		line, _, _ = bytes.Cut(line, []byte{0})
		if p, ok := parsePattern(trimSpaces(string(line)), fold); ok {
			l.patterns = append(l.patterns, p)
		}
	}
	return l
}

// trimSpaces removes the spaces at the end that no backslash protects.
func trimSpaces(s string) string {
	end := len(s)
	inSpaces := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			if i++; i == len(s) {
				return s
			}
			inSpaces = false
		case s[i] != ' ':
			inSpaces = false
		case !inSpaces:
			inSpaces, end = true, i
		}
	}
	if inSpaces {
		return s[:end]
	}
	return s
}

func parsePattern(s string, fold bool) (pattern, bool) {
	var p pattern
	s, p.negated = strings.CutPrefix(s, "!")
	s, p.dirOnly = strings.CutSuffix(s, "/")
	if s == "" {
		return pattern{}, false
	}
	p.byName = strings.IndexByte(s, '/') < 0
	p.glob = compile(strings.TrimPrefix(s, "/"), !p.byName, fold)
	return p, true
}

// Match returns what the last pattern says that names path, which is relative
// to the list's directory, with slashes. Whether a directory above path is
// ignored is not its matter.
func (l *List) Match(path string, isDir bool) Verdict {
	if l == nil {
		return Undecided
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(l.patterns) - 1; i >= 0; i-- {
		p := &l.patterns[i]
		text := path
		if p.byName {
			text = name
		}
		if p.dirOnly && !isDir || !p.glob.match(text) {
			continue
		}
		if p.negated {
			return Included
		}
		return Ignored
	}
	return Undecided
}
