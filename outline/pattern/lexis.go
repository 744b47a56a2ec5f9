package pattern

import (
	"bytes"
)

// lexis is how a language writes what is no code.
type lexis struct {
	line   []string // what starts a comment to the end of the line
	column []string // the same, at the start of a line only
	block  []block
	quotes []block
	chars  bool // 'x' is a character, and a ' without an end is none
	here   bool // <<WORD starts lines of text that end with WORD
}

// block is a comment or a string.
type block struct {
	open, close string
	nests       bool // holds others of its kind
	escapes     bool // a backslash quotes the next byte
	lines       bool // goes on over lines
	column      bool // starts and ends a line
}

// masker blanks out what is no code, line by line.
type masker struct {
	lexis  *lexis
	starts [256]bool // first bytes of all that is not code
	inside *block    // what the line before left open
	depth  int       // of nested comments
	here   []byte    // the word that ends the lines of text
	text   bool      // the line masked last holds part of a string
	buf    []byte
}

func newMasker(l *lexis) *masker {
	m := &masker{lexis: l}
	mark := func(s string) {
		if s != "" {
			m.starts[s[0]] = true
		}
	}
	for _, s := range l.line {
		mark(s)
	}
	for _, b := range l.block {
		mark(b.open)
	}
	for _, b := range l.quotes {
		mark(b.open)
	}
	m.starts['\''] = m.starts['\''] || l.chars
	m.starts['<'] = m.starts['<'] || l.here
	return m
}

// mask returns line with blanks for what is no code; quotes stay. The result is
// valid until the next call. continued says that the line started inside a
// comment or string.
func (m *masker) mask(line []byte) (code []byte, continued bool) {
	m.text = m.here != nil || m.inside != nil && m.inQuotes()
	if m.here != nil {
		if bytes.Equal(bytes.TrimSpace(line), m.here) {
			m.here = nil
		}
		return nil, true
	}
	i := 0
	continued = m.inside != nil
	if !continued {
		if m.wholeLine(line) {
			return nil, false
		}
		if !m.any(line) {
			return line, false
		}
	}
	m.buf = append(m.buf[:0], line...)
	for i < len(line) {
		switch {
		case m.inside != nil:
			n := m.skip(line[i:])
			m.blank(i, n)
			i += n
		case !m.starts[line[i]]:
			i++
		default:
			i += m.start(line, i)
		}
	}
	if m.inside != nil && !m.inside.lines {
		m.inside = nil
	}
	return m.buf, continued
}

// wholeLine reports whether all of line is a comment by how it starts.
func (m *masker) wholeLine(line []byte) bool {
	for _, s := range m.lexis.column {
		if hasPrefix(line, s) {
			return true
		}
	}
	for k := range m.lexis.block {
		if b := &m.lexis.block[k]; b.column && hasPrefix(line, b.open) && (len(b.open) > 1 || len(line) > 1 && isWord(line[1])) {
			m.inside = b
			return true
		}
	}
	return false
}

func (m *masker) any(line []byte) bool {
	for _, c := range line {
		if m.starts[c] {
			return true
		}
	}
	return false
}

func (m *masker) blank(i, n int) {
	for j := i; j < i+n; j++ {
		m.buf[j] = ' '
	}
}

// start handles what may start at line[i] and returns how far it got.
func (m *masker) start(line []byte, i int) int {
	rest := line[i:]
	for k := range m.lexis.block {
		if b := &m.lexis.block[k]; !b.column && hasPrefix(rest, b.open) {
			m.inside, m.depth = b, 1
			m.blank(i, len(b.open))
			return len(b.open)
		}
	}
	for _, s := range m.lexis.line {
		if hasPrefix(rest, s) && (s != "#" || i == 0 || line[i-1] != '$' && line[i-1] != '{') {
			m.blank(i, len(rest))
			return len(rest)
		}
	}
	if rest[0] == '\'' && m.lexis.chars {
		n := character(rest)
		m.blank(i, n)
		return max(n, 1)
	}
	if rest[0] == '<' && m.lexis.here {
		if word := hereWord(rest); word != nil {
			m.here = word
			return 2
		}
	}
	for k := range m.lexis.quotes {
		if b := &m.lexis.quotes[k]; hasPrefix(rest, b.open) {
			m.inside, m.text = b, true
			return len(b.open)
		}
	}
	return 1
}

// inQuotes reports whether the line starts inside a string.
func (m *masker) inQuotes() bool {
	for k := range m.lexis.quotes {
		if m.inside == &m.lexis.quotes[k] {
			return true
		}
	}
	return false
}

// skip returns how much of rest belongs to the comment or string around it, and
// ends that where it ends.
func (m *masker) skip(rest []byte) int {
	b := m.inside
	if b.column {
		if hasPrefix(rest, b.close) {
			m.inside = nil
		}
		return len(rest)
	}
	for i := 0; i < len(rest); {
		switch {
		case b.escapes && rest[i] == '\\':
			i += 2
		case hasPrefix(rest[i:], b.close):
			i += len(b.close)
			if m.depth--; m.depth > 0 && b.nests {
				continue
			}
			m.inside, m.depth = nil, 0
			return i
		case b.nests && hasPrefix(rest[i:], b.open):
			m.depth++
			i += len(b.open)
		default:
			i++
		}
	}
	return len(rest)
}

func hasPrefix(b []byte, s string) bool {
	return len(b) >= len(s) && string(b[:len(s)]) == s
}

// character returns the length of the character literal that starts rest, 0 if
// the quote is something else: a lifetime, a prime, a quoted name.
func character(rest []byte) int {
	if len(rest) < 3 {
		return 0
	}
	if rest[1] == '\\' {
		for i := 3; i < min(len(rest), 12); i++ {
			if rest[i] == '\'' {
				return i + 1
			}
		}
		return 0
	}
	for i := 2; i < min(len(rest), 6); i++ { // a character has up to four bytes
		if rest[i] == '\'' {
			return i + 1
		}
		if rest[1] < 0x80 {
			break
		}
	}
	return 0
}

// hereWord returns WORD of <<WORD, <<-WORD, <<~'WORD'.
func hereWord(rest []byte) []byte {
	if !hasPrefix(rest, "<<") || len(rest) < 3 {
		return nil
	}
	rest = bytes.TrimLeft(rest[2:], "-~<")
	quote := len(rest) > 0 && (rest[0] == '\'' || rest[0] == '"')
	if quote {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && isWord(rest[n]) {
		n++
	}
	if n == 0 || rest[0] >= '0' && rest[0] <= '9' || !quote && rest[0] >= 'a' && rest[0] <= 'z' {
		return nil
	}
	return bytes.Clone(rest[:n])
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
