package format

import (
	"bytes"
	"strings"
)

// sqlKind is the kind of a token.
type sqlKind uint8

const (
	sqlEOF    sqlKind = iota
	sqlWord           // a keyword or a bare name
	sqlName           // a quoted name
	sqlString         // a string, dollar-quoted ones included
	sqlDollar         // a dollar-quoted string
	sqlPunct          // any other character
	sqlEnd            // the delimiter of statements, or GO on its own line
)

// sqlToken lies at [start, end) of the text.
type sqlToken struct {
	kind       sqlKind
	start, end int
}

// maxSQLUnclosed is how many quotes of a file may be unclosed until quotes of
// that sort mean nothing: each costs a scan to the end.
const maxSQLUnclosed = 16

// sqlLexer splits SQL of PostgreSQL, MySQL and SQLite into tokens.
type sqlLexer struct {
	b         []byte
	i         int
	delimiter string
	mysql     bool // backslashes escape in strings, # starts a comment
	batches   bool // GO ends statements
	unclosed  int
	words     map[string]string // keywords so far, so that each is one string

	// The comments since the token before the latest one.
	comment, commentEnd int // offsets; comment is -1 if there are none
}

func newSQLLexer(b []byte, from int) *sqlLexer {
	const look = 256 << 10
	head := b[from:min(len(b), from+look)]
	return &sqlLexer{
		b: b, i: from, delimiter: ";", comment: -1, words: map[string]string{},
		mysql:   bytes.IndexByte(head, '`') >= 0 || containsFold(head, "engine=") || containsFold(head, "delimiter "),
		batches: containsFold(head, "\ngo\n") || containsFold(head, "\ngo\r\n"),
	}
}

// next returns the next token.
func (l *sqlLexer) next() sqlToken {
	l.skip()
	start := l.i
	if l.i >= len(l.b) {
		return sqlToken{sqlEOF, start, start}
	}
	if bytes.HasPrefix(l.b[l.i:], []byte(l.delimiter)) {
		l.i += len(l.delimiter)
		return sqlToken{sqlEnd, start, l.i}
	}
	kind := sqlPunct
	switch c := l.b[l.i]; {
	case c == '\'':
		kind = l.quoted(c, l.mysql || l.escapeString())
	case c == '"':
		kind = l.quoted(c, false)
	case c == '`':
		kind = l.quoted(c, false)
	case c == '[' && l.bracketName():
		kind = sqlName
	case c == '$':
		kind = l.dollar()
	case wordByte(c):
		for l.i < len(l.b) && sqlWordBytes[l.b[l.i]] && !l.atDelimiter() {
			l.i++
		}
		kind = sqlWord
		if l.batches && strings.EqualFold(string(l.b[start:min(l.i, start+3)]), "go") && startsLine(l.b, start) && endsLine(l.b, l.i) {
			kind = sqlEnd
		}
	default:
		l.i++
	}
	return sqlToken{kind, start, l.i}
}

// batch reports whether the token is a GO.
func (l *sqlLexer) batch(t sqlToken) bool {
	return t.kind == sqlEnd && l.batches && l.b[t.start]|0x20 == 'g'
}

func (l *sqlLexer) atDelimiter() bool {
	return l.delimiter[0] == l.b[l.i] && bytes.HasPrefix(l.b[l.i:], []byte(l.delimiter))
}

var sqlWordBytes = func() *byteSet {
	set := bytesOf("$")
	for c := range set {
		set[c] = set[c] || wordByte(byte(c))
	}
	return set
}()

func wordByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '_' || c >= 0x80 }

func endsLine(b []byte, i int) bool {
	return len(bytes.TrimSpace(b[i:lineEndFrom(b, i)])) == 0
}

// skip passes over blanks and comments. A conditional comment of MySQL is code:
// only its marks are passed over.
func (l *sqlLexer) skip() {
	l.comment = -1
	for l.i < len(l.b) {
		rest := l.b[l.i:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			l.i++
			continue
		case bytes.HasPrefix(rest, []byte("--")), c == '#' && l.mysql:
			l.note(lineEndFrom(l.b, l.i))
		case bytes.HasPrefix(rest, []byte("/*!")) && l.mysql:
			l.i += 3
			for l.i < len(l.b) && '0' <= l.b[l.i] && l.b[l.i] <= '9' {
				l.i++
			}
		case bytes.HasPrefix(rest, []byte("*/")) && l.mysql:
			l.i += 2
		case bytes.HasPrefix(rest, []byte("/*")):
			end := blockCommentEnd(rest, !l.mysql)
			if end < 0 || l.unclosed > maxSQLUnclosed {
				l.unclosed++
				end = 2
			}
			l.note(l.i + end)
		default:
			return
		}
	}
}

func (l *sqlLexer) note(end int) {
	if l.comment < 0 {
		l.comment = l.i
	}
	l.i, l.commentEnd = end, end
}

// blockCommentEnd returns the length of the comment that starts b, -1 if it is
// not closed. A nested one that is not closed does not count.
func blockCommentEnd(b []byte, nested bool) int {
	first := -1
	for depth, i := 1, 2; ; {
		k := bytes.IndexByte(b[i:], '*')
		if k < 0 || i+k+1 >= len(b) {
			return first
		}
		i += k
		switch {
		case b[i+1] == '/':
			if depth--; depth == 0 || !nested {
				return i + 2
			}
			if first < 0 {
				first = i + 2
			}
			i += 2
		case b[i-1] == '/' && i > 2:
			depth++
			i++
		default:
			i++
		}
	}
}

// quoted passes over a quoted string or name; a doubled quote is part of it.
func (l *sqlLexer) quoted(quote byte, backslash bool) sqlKind {
	start := l.i
	if l.unclosed > maxSQLUnclosed {
		l.i++
		return sqlPunct
	}
	for i := start + 1; i < len(l.b); i++ {
		switch {
		case l.b[i] == '\\' && backslash:
			i++
		case l.b[i] != quote:
		case i+1 < len(l.b) && l.b[i+1] == quote:
			i++
		default:
			l.i = i + 1
			if quote == '\'' {
				return sqlString
			}
			return sqlName
		}
	}
	l.unclosed++
	l.i = start + 1
	return sqlPunct
}

// escapeString reports whether the quote at hand follows the E of E'…'.
func (l *sqlLexer) escapeString() bool {
	return l.i > 0 && l.b[l.i-1]|0x20 == 'e' && (l.i == 1 || !wordByte(l.b[l.i-2]))
}

// bracketName passes over [name], which must not look like a subscript.
func (l *sqlLexer) bracketName() bool {
	if l.i > 0 && (wordByte(l.b[l.i-1]) || l.b[l.i-1] == ']' || l.b[l.i-1] == ')') {
		return false
	}
	const longest = 130
	end := bytes.IndexAny(l.b[l.i:min(len(l.b), l.i+longest)], "]\n")
	if end < 2 || l.b[l.i+end] != ']' || !isLetter(l.b[l.i+1]) && l.b[l.i+1] != '_' {
		return false
	}
	l.i += end + 1
	return true
}

// dollar passes over $tag$…$tag$.
func (l *sqlLexer) dollar() sqlKind {
	start := l.i
	l.i++
	end := start + 1
	for end < len(l.b) && wordByte(l.b[end]) {
		end++
	}
	if end >= len(l.b) || l.b[end] != '$' || '0' <= l.b[start+1] && l.b[start+1] <= '9' || l.unclosed > maxSQLUnclosed {
		return sqlPunct
	}
	tag := l.b[start : end+1]
	n := bytes.Index(l.b[end+1:], tag)
	if n < 0 {
		l.unclosed++
		return sqlPunct
	}
	l.i = end + 1 + n + len(tag)
	return sqlDollar
}

// is reports whether the token is the keyword, given in upper case.
func (l *sqlLexer) is(t sqlToken, keyword string) bool {
	return t.kind == sqlWord && t.end-t.start == len(keyword) && strings.EqualFold(string(l.b[t.start:t.end]), keyword)
}

// keyword returns a word of ASCII in upper case, "" for what is no short word.
func (l *sqlLexer) keyword(t sqlToken) string {
	const longest = 16
	if t.kind != sqlWord || t.end-t.start > longest {
		return ""
	}
	var upper [longest]byte
	n := copy(upper[:], l.b[t.start:t.end])
	for i, c := range upper[:n] {
		if 'a' <= c && c <= 'z' {
			upper[i] = c - 'a' + 'A'
		}
	}
	if s, ok := l.words[string(upper[:n])]; ok {
		return s
	}
	if len(l.words) >= 4096 {
		return string(upper[:n])
	}
	s := string(upper[:n])
	l.words[s] = s
	return s
}

// isByte reports whether the token is the one character c.
func (l *sqlLexer) isByte(t sqlToken, c byte) bool {
	return t.kind == sqlPunct && l.b[t.start] == c
}
