package view

import (
	"encoding/base64"
	"encoding/binary"
	"errors"

	"mapd/hashline"
)

// Cursor is where a truncated view goes on, bound to the file and the content it
// was cut from. It holds no state of the daemon, so it outlives a restart.
type Cursor struct {
	Bound  hashline.Digest // see Bind
	Ranged bool            // the view was asked for as ranges, so an offset cannot resume it
	Rest   []Span
}

// ErrCursor is what every error of ParseCursor wraps.
var ErrCursor = errors.New("not a cursor of mapd")

const cursorVersion = 2

// Bind returns what a cursor of that content of that file is bound to.
func Bind(file string, content hashline.Digest) hashline.Digest {
	return hashline.Sum(append(content[:], file...))
}

// String returns the cursor in its opaque form, of letters, digits, - and _.
func (c Cursor) String() string {
	b := []byte{cursorVersion, 0}
	if c.Ranged {
		b[1] = 1
	}
	b = appendSpans(append(b, c.Bound[:]...), c.Rest)
	return base64.RawURLEncoding.EncodeToString(b)
}

// appendSpans appends sorted spans: for each the lines since the one before,
// the lines after its first, and the bytes skipped.
func appendSpans(b []byte, spans []Span) []byte {
	line := 0
	for _, s := range spans {
		b = binary.AppendUvarint(b, uint64(s.Start-line))
		b = binary.AppendUvarint(b, uint64(s.End-s.Start))
		b = binary.AppendUvarint(b, uint64(s.Skip))
		line = s.End
	}
	return b
}

// ParseCursor reads the form that String writes. The spans are sorted and do
// not overlap; whether they lie within a text is for Fits to say. Every error
// wraps ErrCursor.
func ParseCursor(s string) (Cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < 2+len(hashline.Digest{}) || b[0] != cursorVersion || b[1] > 1 {
		return Cursor{}, ErrCursor
	}
	c := Cursor{Ranged: b[1] == 1, Bound: hashline.Digest(b[2:])}
	b = b[2+len(c.Bound):]
	line := uint64(0)
	for len(b) > 0 {
		var v [3]uint64
		for i := range v {
			n := 0
			if v[i], n = binary.Uvarint(b); n <= 0 || v[i] > 1<<31 {
				return Cursor{}, ErrCursor
			}
			b = b[n:]
		}
		start := line + v[0]
		if v[0] == 0 || start+v[1] > 1<<31 {
			return Cursor{}, ErrCursor
		}
		line = start + v[1]
		c.Rest = append(c.Rest, Span{hashline.Range{Start: int(start), End: int(line)}, int(v[2])})
	}
	return c, nil
}

// Fits reports whether c was cut from text, to which bound belongs: that, and the
// bounds of its spans.
func (c Cursor) Fits(text *hashline.Text, bound hashline.Digest) bool {
	if c.Bound != bound || len(c.Rest) == 0 {
		return false
	}
	for _, s := range c.Rest {
		if s.End > text.Lines() || s.Skip > len(text.Line(s.Start)) {
			return false
		}
	}
	return true
}

// Key names a view of a file: everything that its Plan and its text depend on.
type Key struct {
	Bound  hashline.Digest // the file and its content
	Spans  string          // as SpansKey returns it
	Budget Budget
	Style  Style
	Ranged bool
}

// SpansKey returns spans in a comparable form.
func SpansKey(spans []Span) string { return string(appendSpans(nil, spans)) }
