package format

import "bytes"

// blankComments returns body with // and /* */ comments, # comments at the
// start of a line, and commas before a closing bracket replaced by spaces. Line
// ends and offsets stay. It reports whether anything was replaced; if not, it
// returns body itself.
func blankComments(body []byte) ([]byte, bool) {
	b := blanker{in: body}
	for i := 0; i < len(body); {
		i = b.token(i)
	}
	if b.out == nil {
		return body, false
	}
	return b.out, true
}

type blanker struct {
	in    []byte
	out   []byte // a copy of in, once something is blanked
	comma int    // 1 + offset of a comma after which only space and comments came
}

// token passes over the token at i and returns where the next one starts.
func (b *blanker) token(i int) int {
	switch c := b.in[i]; {
	case c == '"' || c == '\'': // ' is of JSON5
		b.comma = 0
		return endOfString(b.in, i)
	case c == ',':
		b.comma = i + 1
		return i + 1
	case (c == ']' || c == '}') && b.comma > 0:
		b.blank(b.comma-1, b.comma)
		b.comma = 0
		return i + 1
	case c == '/' && i+1 < len(b.in) && b.in[i+1] == '/', c == '#' && startsLine(b.in, i):
		return b.blank(i, lineEndFrom(b.in, i))
	case c == '/' && i+1 < len(b.in) && b.in[i+1] == '*':
		end := len(b.in)
		if n := bytes.Index(b.in[i+2:], []byte("*/")); n >= 0 {
			end = i + 2 + n + 2
		}
		return b.blank(i, end)
	case c > ' ':
		b.comma = 0
	}
	return i + 1
}

func (b *blanker) blank(from, to int) int {
	if b.out == nil {
		b.out = bytes.Clone(b.in)
	}
	for i := from; i < to; i++ {
		if c := b.out[i]; c != '\n' && c != '\r' {
			b.out[i] = ' '
		}
	}
	return to
}

// endOfString returns the offset after the closing quote of the string that
// opens at i. A string that is not closed ends with its line.
func endOfString(b []byte, i int) int {
	quote := b[i]
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i = escapeEnd(b, i)
		case quote:
			return i + 1
		case '\n':
			return i
		}
	}
	return len(b)
}

// escapeEnd returns the offset of the last byte of the character behind the
// backslash at i.
func escapeEnd(b []byte, i int) int {
	if i+2 < len(b) && b[i+1] == '\r' && b[i+2] == '\n' {
		return i + 2
	}
	return i + 1
}

// startsLine reports whether only blanks stand before i on its line.
func startsLine(b []byte, i int) bool {
	for i--; i >= 0; i-- {
		switch b[i] {
		case '\n':
			return true
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return true
}

// lineEndFrom returns the offset of the next "\n" at or after i, or the end.
func lineEndFrom(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(b)
}
