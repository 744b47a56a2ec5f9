package find

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// ErrGlob is what every error of NewGlob wraps.
var ErrGlob = errors.New("not a glob of paths")

// MaxGlob is the longest glob, in bytes.
const MaxGlob = 1 << 10

// Glob matches paths, which have slashes and are relative to their folder. A star stands for any characters of one name, ** for any
// number of directories, ? for one character, [a-z] and [!a-z] for one of some,
// {a,b} for a or b, and a backslash takes the meaning from what follows. A glob
// without a slash is matched with names in any directory, one with a slash with
// whole paths; one that starts with a slash may also be a whole absolute path.
// "." is everything. What matches a directory matches all that is below it. The case
// of letters matters.
//
// It is translated to a regular expression, whose time is linear whatever the
// glob; matchers that try alternatives one after the other take exponential time
// for {a,b}{a,b}….
type Glob struct {
	re       *regexp.Regexp // nil: everything
	absolute bool           // it may be about absolute paths
}

// NewGlob compiles a glob; the empty one matches everything. The error wraps
// ErrGlob and says what is wrong.
func NewGlob(glob string) (Glob, error) {
	switch {
	case glob == "":
		return Glob{}, nil
	case len(glob) > MaxGlob:
		return Glob{}, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrGlob, len(glob), MaxGlob)
	case !utf8.ValidString(glob):
		return Glob{}, fmt.Errorf("%w: it is not UTF-8", ErrGlob)
	}
	absolute := glob[0] == '/'
	if glob = strings.TrimPrefix(glob, "./"); strings.Trim(glob, "/") == "" || glob == "." {
		return Glob{}, nil
	}
	anchored := strings.Contains(strings.TrimSuffix(glob, "/"), "/")
	t := translator{rest: strings.Trim(glob, "/")}
	if !anchored {
		t.out.WriteString("(?:.*/)?")
	}
	if err := t.translate(); err != nil {
		return Glob{}, fmt.Errorf("%w: %w", ErrGlob, err)
	}
	re, err := regexp.Compile(`(?s)\A(?:` + t.out.String() + `)(?:/.*)?\z`)
	if err != nil {
		return Glob{}, fmt.Errorf("%w: it is too complex", ErrGlob)
	}
	return Glob{re, absolute}, nil
}

// Match reports whether the glob matches the file at path in the folder root.
func (g Glob) Match(root, path string) bool {
	return g.re == nil || g.re.MatchString(path) || g.absolute && g.re.MatchString(strings.TrimPrefix(join(root, path), "/"))
}

// join returns the absolute path of a path relative to root.
func join(root, path string) string { return strings.TrimSuffix(root, "/") + "/" + path }

// translator writes a glob as a regular expression.
type translator struct {
	rest  string
	out   strings.Builder
	depth int  // of open braces
	name  bool // something of the current name was written
}

func (t *translator) translate() error {
	for t.rest != "" {
		if err := t.next(); err != nil {
			return err
		}
	}
	if t.depth > 0 {
		return errors.New("a { is not closed")
	}
	return nil
}

// next translates one element.
func (t *translator) next() error {
	r, size := utf8.DecodeRuneInString(t.rest)
	if r == '*' {
		t.stars()
		return nil
	}
	t.rest = t.rest[size:]
	switch r {
	case '?':
		t.write("[^/]")
	case '[':
		return t.class()
	case '{':
		t.depth++
		t.out.WriteString("(?:")
	case ',':
		if t.depth == 0 {
			t.write(",")
			break
		}
		t.out.WriteByte('|')
		t.name = false
	case '}':
		if t.depth == 0 {
			return errors.New(`a } closes nothing; write \} for the character`)
		}
		t.depth--
		t.out.WriteByte(')')
		t.name = true
	case '\\':
		if t.rest == "" {
			return errors.New("it ends in a backslash")
		}
		r, size = utf8.DecodeRuneInString(t.rest)
		t.rest = t.rest[size:]
		fallthrough
	default:
		t.write(regexp.QuoteMeta(string(r)))
		t.name = r != '/'
	}
	return nil
}

func (t *translator) write(expression string) {
	t.out.WriteString(expression)
	t.name = true
}

// stars translates a run of stars. Two that stand alone between slashes are any
// directories; in any other place they are like one.
func (t *translator) stars() {
	after := strings.TrimLeft(t.rest, "*")
	many := len(t.rest)-len(after) >= 2 && !t.name
	t.rest = after
	switch {
	case many && strings.HasPrefix(after, "/"):
		t.rest = after[1:]
		t.out.WriteString("(?:.*/)?")
	case many && (after == "" || t.depth > 0 && strings.ContainsAny(after[:1], ",}")):
		t.write(".*")
	default:
		t.write("[^/]*")
	}
}

// class translates what follows a [.
func (t *translator) class() error {
	body, negated := strings.CutPrefix(t.rest, "!")
	if !negated {
		body, negated = strings.CutPrefix(t.rest, "^")
	}
	var set strings.Builder
	for first := true; ; first = false {
		r, size := utf8.DecodeRuneInString(body)
		if size == 0 || r == '/' {
			return errors.New(`a [ is not closed; write \[ for the character`)
		}
		body = body[size:]
		switch {
		case r == ']' && !first:
			t.rest = body
			if negated {
				t.write("[^/" + set.String() + "]")
			} else {
				t.write("[" + set.String() + "]")
			}
			return nil
		case r == '-' && !first && body != "" && body[0] != ']':
			set.WriteByte('-')
			continue
		case r == '\\':
			if r, size = utf8.DecodeRuneInString(body); size == 0 {
				return errors.New("it ends in a backslash")
			}
			body = body[size:]
		}
		fmt.Fprintf(&set, `\x{%x}`, r)
	}
}
