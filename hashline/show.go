package hashline

import (
	"strconv"
	"unicode/utf8"
)

// MaxShown is the usual limit of a shown line, in bytes; see Style.MaxLine.
const MaxShown = 2000

// Style says how lines are shown.
type Style struct {
	// Width is the width of the anchors, or 0 for lines without anchors.
	Width Width
	// MaxLine is the most bytes of a line that are shown; the rest is cut at a
	// character. 0 means no limit.
	MaxLine int
	// MaxBytes is the most bytes that Show appends, separators included. 0
	// means no limit.
	MaxBytes int
}

// Shown says what Show appended.
type Shown struct {
	// Lines is the number of lines appended, from the first one asked for.
	Lines int
	// Cut holds the lines that were cut, in order.
	Cut []CutLine
	// Lossy holds the numbers of the lines in which invalid UTF-8 was replaced,
	// in order.
	Lossy []int
}

// CutLine is a line of which only the beginning was shown.
type CutLine struct {
	Line       int `json:"line"`
	ShownBytes int `json:"shownBytes"` // bytes of the file, from the line's start
	TotalBytes int `json:"totalBytes"` // without the terminator
}

// AppendAnchored appends the lines of r as LINE#HASH:content, joined by "\n",
// without a newline at the end. The bytes of a line are verbatim: nothing is
// cut, and invalid UTF-8 stays. It panics unless 1 <= r.Start and
// r.End <= Lines(); an r that is not Valid has no lines.
func (t *Text) AppendAnchored(dst []byte, r Range, w Width) []byte {
	if !r.Valid() {
		return dst
	}
	var win window
	win.start(t, r.Start)
	for n := r.Start; n <= r.End; n++ {
		if n > r.Start {
			dst = append(dst, '\n')
		}
		dst = appendAnchor(dst, n, win.sum(), w)
		dst = append(dst, win.line...)
		win.advance()
	}
	return dst
}

// AppendPlain appends the lines of r verbatim, joined by "\n", without a
// newline at the end. It panics unless 1 <= r.Start and r.End <= Lines(); an r
// that is not Valid has no lines.
func (t *Text) AppendPlain(dst []byte, r Range) []byte {
	for n := r.Start; n <= r.End; n++ {
		if n > r.Start {
			dst = append(dst, '\n')
		}
		dst = append(dst, t.Line(n)...)
	}
	return dst
}

// Show appends the lines of r in style s, joined by "\n", without a newline at
// the end, as valid UTF-8: a byte that is not part of a character becomes
// U+FFFD. It stops before the first line that would pass s.MaxBytes, so it may
// append nothing. Hashes are always those of the whole line, whatever is cut or
// replaced. It panics unless 1 <= r.Start and r.End <= Lines(); an r that is
// not Valid has no lines.
func (t *Text) Show(dst []byte, r Range, s Style) ([]byte, Shown) {
	var shown Shown
	if !r.Valid() {
		return dst, shown
	}
	var win window
	if s.Width > 0 {
		win.start(t, r.Start)
	}
	base := len(dst)
	for n := r.Start; n <= r.End; n++ {
		mark := len(dst)
		if n > r.Start {
			dst = append(dst, '\n')
		}
		if s.Width > 0 {
			dst = appendAnchor(dst, n, win.sum(), s.Width)
			win.advance()
		}
		whole := t.Line(n)
		line := whole
		if s.MaxLine > 0 && len(line) > s.MaxLine {
			line = line[:CutAt(line, s.MaxLine)]
		}
		valid := utf8.Valid(line)
		if valid {
			dst = append(dst, line...)
		} else {
			dst = AppendValid(dst, line)
		}
		if s.MaxBytes > 0 && len(dst)-base > s.MaxBytes {
			return dst[:mark], shown
		}
		shown.Lines++
		if len(line) < len(whole) {
			shown.Cut = append(shown.Cut, CutLine{n, len(line), len(whole)})
		}
		if !valid {
			shown.Lossy = append(shown.Lossy, n)
		}
	}
	return dst, shown
}

// appendAnchor appends "n#HASH:".
func appendAnchor(dst []byte, n int, h Hash, w Width) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = h.Append(append(dst, '#'), w)
	return append(dst, ':')
}

// CutAt returns the length of the longest beginning of b that has at most most
// bytes and does not split a UTF-8 character. If b starts with a character
// longer than most, it returns that character's length, so that cutting always
// makes progress; it returns 0 only for an empty b.
func CutAt(b []byte, most int) int {
	if len(b) <= most {
		return len(b)
	}
	if most <= 0 {
		_, size := utf8.DecodeRune(b)
		return size
	}
	// Only a character that starts in the last three bytes can span the limit.
	for i := most - 1; i >= 0 && i > most-utf8.UTFMax; i-- {
		if !utf8.RuneStart(b[i]) {
			continue
		}
		_, size := utf8.DecodeRune(b[i:])
		switch {
		case i+size <= most:
			return most
		case i > 0:
			return i
		default:
			return size
		}
	}
	return most
}

// AppendValid appends b with each byte that is not part of a valid UTF-8
// character replaced by U+FFFD.
func AppendValid(dst, b []byte) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		dst = utf8.AppendRune(dst, r)
		b = b[size:]
	}
	return dst
}
