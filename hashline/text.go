package hashline

import (
	"bytes"
	"slices"
)

// BOM is the UTF-8 byte order mark. It precedes line 1 and belongs to no line.
const BOM = "\xef\xbb\xbf"

// Text is an immutable sequence of bytes together with the index of its lines.
// The bytes must not be modified after NewText.
type Text struct {
	bytes []byte
	// ends[i] is the offset just past line i+1, its terminator included.
	ends []uint32
	bom  int
}

// NewText indexes the lines of b, which it keeps. b must be shorter than 4 GiB.
func NewText(b []byte) *Text {
	t := &Text{bytes: b}
	if bytes.HasPrefix(b, []byte(BOM)) {
		t.bom = len(BOM)
	}
	t.ends = lineEnds(b, t.bom)
	return t
}

// lineEnds sizes the index from a sample, so that a large file costs one pass
// and one allocation and not a count of its own.
func lineEnds(b []byte, at int) []uint32 {
	const sample = 64 << 10
	guess := bytes.Count(b[:min(len(b), sample)], []byte{'\n'})
	if len(b) > sample {
		guess = int(int64(guess+1) * int64(len(b)) / sample)
	}
	ends := make([]uint32, 0, guess+guess/8+1)
	for at < len(b) {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			at = len(b)
		} else {
			at += i + 1
		}
		ends = append(ends, uint32(at))
	}
	return ends
}

// Bytes returns the whole content, byte order mark included. It must not be
// modified.
func (t *Text) Bytes() []byte { return t.bytes }

// Size returns the number of bytes.
func (t *Text) Size() int { return len(t.bytes) }

// Lines returns the number of lines.
func (t *Text) Lines() int { return len(t.ends) }

// HasBOM reports whether the content starts with a UTF-8 byte order mark.
func (t *Text) HasBOM() bool { return t.bom > 0 }

// Span returns the byte offsets [start, end) of line n, its terminator
// included. It panics unless 1 <= n <= Lines().
func (t *Text) Span(n int) (start, end int) {
	start = t.bom
	if n > 1 {
		start = int(t.ends[n-2])
	}
	return start, int(t.ends[n-1])
}

// Line returns the content of line n without its terminator. It must not be
// modified. It panics unless 1 <= n <= Lines().
func (t *Text) Line(n int) []byte {
	start, end := t.Span(n)
	return t.bytes[start : end-len(terminator(t.bytes[start:end]))]
}

// Terminator returns the terminator of line n: "\n", "\r\n", or "" for a last
// line that has none. It panics unless 1 <= n <= Lines().
func (t *Text) Terminator(n int) []byte {
	start, end := t.Span(n)
	return terminator(t.bytes[start:end])
}

func terminator(line []byte) []byte {
	n := len(line)
	switch {
	case n == 0 || line[n-1] != '\n':
		return nil
	case n > 1 && line[n-2] == '\r':
		return line[n-2:]
	default:
		return line[n-1:]
	}
}

// LineAt returns the line that holds the byte at offset; an offset in the byte
// order mark belongs to line 1, one at or past the end to the last line. It
// returns 0 for a text without lines.
func (t *Text) LineAt(offset int) int {
	if offset >= len(t.bytes) {
		return len(t.ends)
	}
	i, found := slices.BinarySearch(t.ends, uint32(max(offset, 0)))
	if found {
		i++
	}
	return min(i+1, len(t.ends))
}
