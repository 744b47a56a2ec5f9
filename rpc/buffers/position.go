package buffers

import "unicode/utf8"

// Encoding is the unit in which characters of a line are counted, by its name
// in LSP.
type Encoding string

// The encodings of LSP. Any other counts as UTF16, which every client knows.
const (
	UTF8  Encoding = "utf-8"  // bytes
	UTF16 Encoding = "utf-16" // code units; two for a character past U+FFFF
	UTF32 Encoding = "utf-32" // characters
)

// Width returns the number of units of a character.
func (e Encoding) Width(r rune) int {
	switch {
	case e == UTF8:
		return utf8.RuneLen(r)
	case e != UTF32 && r > 0xffff:
		return 2
	default:
		return 1
	}
}

// Units returns the length of s. Each byte of it that is not UTF-8 counts as one
// character.
func (e Encoding) Units(s []byte) int {
	if e == UTF8 {
		return len(s)
	}
	n := utf8.RuneCount(s)
	if e == UTF32 || n == len(s) {
		return n
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if r > 0xffff {
			n++
		}
		i += size
	}
	return n
}

// Position is a place between two characters, as LSP counts: lines from 0, and
// units of the Encoding from the start of the line. A line past the last one
// stands for the end of the text, a character past the end of the line for the
// end of the line, before its terminator.
type Position struct {
	Line, Character uint64
}

// before reports whether p stands before q.
func (p Position) before(q Position) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Character < q.Character
}

// Range is the text from Start up to End, which does not belong to it.
type Range struct {
	Start, End Position
}

// Change replaces a range of a text, or all of it if Range is nil.
type Change struct {
	Range *Range
	Text  string // valid UTF-8
}
