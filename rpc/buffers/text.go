package buffers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Sizes of pieces in bytes. Pieces are made of about pieceSize; a change that
// leaves less than pieceLeast joins a neighbour, one that leaves more than
// pieceMost splits.
const (
	pieceSize  = 8 << 10
	pieceLeast = 2 << 10
	pieceMost  = 16 << 10
)

// Text is the text of a document. It is immutable but for the mark of MarkStored.
type Text struct {
	pieces []piece
	size   int
	stored atomic.Bool
}

// MarkStored notes that the file of the document has held this text. A text that
// comes of it by a change does not have the mark.
func (t *Text) MarkStored() { t.stored.Store(true) }

// Stored reports whether the text was marked.
func (t *Text) Stored() bool { return t.stored.Load() }

// piece is a run of a text: never empty, and no character and no \r\n stands
// partly in it.
type piece struct {
	s     string
	ends  int // of lines
	runes int
	wide  int // characters past U+FFFF
}

// units returns the length of the piece in the encoding.
func (p *piece) units(e Encoding) int {
	switch e {
	case UTF8:
		return len(p.s)
	case UTF32:
		return p.runes
	default:
		return p.runes + p.wide
	}
}

// NewText returns the text s, which must be valid UTF-8.
func NewText(s string) *Text {
	return &Text{pieces: split(s), size: len(s)}
}

// Size returns the number of bytes.
func (t *Text) Size() int { return t.size }

// Bytes returns a copy of the whole text.
func (t *Text) Bytes() []byte {
	out := make([]byte, 0, t.size)
	for i := range t.pieces {
		out = append(out, t.pieces[i].s...)
	}
	return out
}

// Equal reports whether the text is b.
func (t *Text) Equal(b []byte) bool {
	if len(b) != t.size {
		return false
	}
	for i := range t.pieces {
		s := t.pieces[i].s
		if string(b[:len(s)]) != s {
			return false
		}
		b = b[len(s):]
	}
	return true
}

// HasBOM reports whether the text starts with a byte order mark.
func (t *Text) HasBOM() bool {
	return len(t.pieces) > 0 && strings.HasPrefix(t.pieces[0].s, "\ufeff")
}

// split cuts s into pieces of about the same size. They do not keep s alive.
func split(s string) []piece {
	if s == "" {
		return nil
	}
	if len(s) <= pieceMost {
		return []piece{measure(s)}
	}
	count := (len(s) + pieceSize - 1) / pieceSize
	size := (len(s) + count - 1) / count
	out := make([]piece, 0, count)
	for s != "" {
		at := boundary(s, min(size, len(s)))
		out = append(out, measure(strings.Clone(s[:at])))
		s = s[at:]
	}
	return out
}

// boundary returns the offset nearest to at where s may be cut.
func boundary(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	if at < len(s) && s[at-1] == '\r' && s[at] == '\n' {
		at++
	}
	return at
}

func measure(s string) piece {
	p := piece{s: s, ends: strings.Count(s, "\n"), runes: utf8.RuneCountInString(s)}
	for rest := s; ; {
		i := strings.IndexByte(rest, '\r')
		if i < 0 {
			break
		}
		if i+1 == len(rest) || rest[i+1] != '\n' {
			p.ends++
		}
		rest = rest[i+1:]
	}
	if p.runes < len(s) {
		p.wide = UTF16.Units([]byte(s)) - p.runes
	}
	return p
}

// pastEnd returns the offset just past the n-th line end of the piece, counted
// from 1. The piece has as many.
func (p *piece) pastEnd(n int) int {
	for i := 0; i < len(p.s); i++ {
		switch p.s[i] {
		case '\r':
			if i+1 < len(p.s) && p.s[i+1] == '\n' {
				i++
			}
		case '\n':
		default:
			continue
		}
		if n--; n == 0 {
			return i + 1
		}
	}
	return len(p.s)
}

// place is a point between two bytes of a text: the offset of the byte after it in
// its piece. The end of the text is the start of a piece that is not there.
type place struct{ piece, at int }

// errInside says that a position lies inside a character.
var errInside = errors.New("it lies inside a character")

// find returns where a position is.
func (t *Text) find(p Position, e Encoding) (place, error) {
	return t.column(t.line(p.Line), p.Character, e)
}

// line returns where a line starts, which may be the end of a piece; past the last
// line, the end of the text.
func (t *Text) line(n uint64) place {
	if n == 0 {
		return place{}
	}
	for i := range t.pieces {
		ends := uint64(t.pieces[i].ends)
		if n <= ends {
			return place{i, t.pieces[i].pastEnd(int(n))}
		}
		n -= ends
	}
	return place{len(t.pieces), 0}
}

// column returns the place that lies left units behind at, but not past the end
// of the line.
func (t *Text) column(at place, left uint64, e Encoding) (place, error) {
	for ; at.piece < len(t.pieces); at = (place{at.piece + 1, 0}) {
		p := &t.pieces[at.piece]
		if units := uint64(p.units(e)); p.ends == 0 && units <= left {
			left -= units
			continue
		}
		for off, r := range p.s[at.at:] {
			here := place{at.piece, at.at + off}
			width := uint64(e.Width(r))
			switch {
			case left == 0, r == '\n', r == '\r':
				return here, nil
			case width > left:
				return here, errInside
			}
			left -= width
		}
	}
	return at, nil
}

// ChangeError says which change of a batch cannot be applied, and why.
type ChangeError struct {
	Change int // from 0
	Why    string
}

func (e *ChangeError) Error() string { return fmt.Sprintf("change %d: %s", e.Change+1, e.Why) }

// Apply returns the text after the changes, of which each sees what those before
// it left. The error is a *ChangeError.
func (t *Text) Apply(changes []Change, e Encoding) (*Text, error) {
	next := &Text{pieces: slices.Clone(t.pieces), size: t.size}
	for i, c := range changes {
		if c.Range == nil {
			next = NewText(c.Text)
			continue
		}
		if c.Range.End.before(c.Range.Start) {
			return nil, &ChangeError{i, "the end of its range stands before the start"}
		}
		start, err := next.find(c.Range.Start, e)
		if err != nil {
			return nil, &ChangeError{i, fmt.Sprintf("the start of its range: %v", err)}
		}
		end, err := next.find(c.Range.End, e)
		if err != nil {
			return nil, &ChangeError{i, fmt.Sprintf("the end of its range: %v", err)}
		}
		next.splice(start, end, c.Text)
	}
	return next, nil
}

// splice replaces what lies between two places. The pieces are t's own.
func (t *Text) splice(start, end place, s string) {
	w := window{t: t, from: start.piece, to: end.piece}
	if start.piece < len(t.pieces) {
		w.before = t.pieces[start.piece].s[:start.at]
	}
	if end.piece < len(t.pieces) {
		w.after = t.pieces[end.piece].s[end.at:]
		w.to++
	}
	old := -len(w.before) - len(w.after)
	for _, p := range t.pieces[w.from:w.to] {
		old += len(p.s)
	}
	w.widen(s)
	t.pieces = slices.Replace(t.pieces, w.from, w.to, split(w.before+s+w.after)...)
	t.size += len(s) - old
}

// window is the pieces that a splice replaces, and what it keeps of them.
type window struct {
	t             *Text
	from, to      int // pieces [from, to)
	before, after string
}

// widen takes in a neighbour where little would be left, and the one before where
// a \r\n would come to stand in two pieces. The piece behind needs no such look: a
// window keeps its last byte, unless it ends with the text.
func (w *window) widen(s string) {
	pieces := w.t.pieces
	if len(w.before)+len(s)+len(w.after) < pieceLeast {
		if w.to < len(pieces) {
			w.after += pieces[w.to].s
			w.to++
		} else if w.from > 0 {
			w.from--
			w.before = pieces[w.from].s + w.before
		}
	}
	if firstByte(w.before, s, w.after) == '\n' && w.from > 0 && strings.HasSuffix(pieces[w.from-1].s, "\r") {
		w.from--
		w.before = pieces[w.from].s + w.before
	}
}

// firstByte returns the first byte of a concatenation, 0 if it is empty.
func firstByte(ss ...string) byte {
	for _, s := range ss {
		if s != "" {
			return s[0]
		}
	}
	return 0
}
