package hashline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Op is what an edit does.
type Op uint8

const (
	// Replace puts Lines in the place of the lines Start to End; no Lines delete
	// them.
	Replace Op = iota
	// Append puts Lines after line Start; 0 is the end of the text.
	Append
	// Prepend puts Lines before line Start; 0 is the start of the text.
	Prepend
	// Delete removes the lines Start to End.
	Delete
)

// Edit is a change to a text by line numbers of that text, 1-based and
// inclusive, whatever other edits of the batch do.
type Edit struct {
	Op         Op
	Start, End int // End is for Replace and Delete
	// Lines are the new lines, without terminators, byte for byte.
	Lines []string
}

// An OverlapError says that two edits of a batch change the same lines, or that
// one inserts lines strictly inside what the other replaces.
type OverlapError struct {
	First, Second int // indexes into the batch, First < Second
	Line          int // a line that both concern
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("edits %d and %d overlap at line %d", e.First+1, e.Second+1, e.Line)
}

// A RangeError says that an edit names lines that the text does not have.
type RangeError struct {
	Edit  int // index into the batch
	Range Range
	Lines int // lines of the text
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("edit %d: lines %d to %d of a text of %d lines", e.Edit+1, e.Range.Start, e.Range.End, e.Lines)
}

// A PayloadError says that a new line holds a byte that no line can have.
type PayloadError struct {
	Edit, Line int // indexes into the batch and its Lines
	Byte       byte
}

func (e *PayloadError) Error() string {
	name := map[byte]string{'\n': "a line feed", '\r': "a carriage return", 0: "a NUL"}[e.Byte]
	return fmt.Sprintf("edit %d: lines[%d] holds %s; give each line as an element of its own, without its end", e.Edit+1, e.Line, name)
}

// ErrTooLong is returned for a result of 4 GiB and more.
var ErrTooLong = errors.New("the text would be 4 GiB or more")

// Applied is the result of Apply. It is immutable.
type Applied struct {
	Old, New *Text
	// Map says which lines of Old are which lines of New. It follows the edits,
	// not a comparison; only inside a replaced range are lines compared, so that
	// one that was replaced by itself is not called changed.
	Map *LineMap
	// Hunks are the lines that differ, ascending and not touching each other.
	Hunks []Hunk
	// Renumber says how the numbers of the lines after each edit shift.
	Renumber []Shift
}

// A Shift says that the numbers of the old lines greater than After grow by
// Delta. Shifts add up: a line is shifted by all entries whose After is less
// than its old number.
type Shift struct {
	After int `json:"after"`
	Delta int `json:"delta"`
}

// Apply makes all edits of a batch at once. What no edit names stays byte for
// byte: terminators, a byte order mark, a missing final newline, invalid UTF-8.
//
// A new line takes the terminator of the line it replaces, line by line; else
// that of its neighbour (the line it is appended to or put before, or the last
// line that is replaced, then the line on the other side); else the one that
// most lines have; else "\n". If the text has lines and no final newline, a new
// last line has none either, unless it is blank and would be no line without; a
// line that was last and is not any more gets a terminator by the same rule. A
// text without lines gets a final newline.
//
// Edits may touch, but not overlap. What is inserted at one place keeps the
// order of the batch. Where a text is replaced and something is inserted right
// before or after it, the inserted lines are before or after the new ones.
//
// The errors are *RangeError, *PayloadError, *OverlapError and ErrTooLong.
func Apply(t *Text, edits []Edit) (*Applied, error) {
	pieces, err := plan(t, edits)
	if err != nil {
		return nil, err
	}
	w := writer{old: t}
	a := &Applied{Old: t, Renumber: shifts(pieces)}
	if a.New, err = w.write(pieces); err != nil {
		return nil, err
	}
	if a.New.HasBOM() != t.HasBOM() {
		// A line that started with U+FEFF has become the first one, and that is a
		// byte order mark now: the lines are no longer those that the edits made.
		a.Map = MapLines(t, a.New)
		a.Hunks = Hunks(t, a.New, a.Map)
		return a, nil
	}
	a.Map = mapPieces(t, a.New, pieces)
	touched := make([]Range, 0, len(pieces)+1)
	for _, p := range pieces {
		if !p.inserts() {
			touched = append(touched, p.old)
		}
	}
	if n := t.Lines(); w.open() && (len(touched) == 0 || touched[len(touched)-1].End < n) {
		touched = append(touched, Range{n, n}) // it may have got a terminator
	}
	a.Hunks = hunks(t, a.New, a.Map, touched)
	return a, nil
}

// Changed reports whether the bytes differ.
func (a *Applied) Changed() bool { return len(a.Hunks) > 0 || a.Old.bom != a.New.bom }

// FirstChangedLine returns the first line of New that differs: the line after a
// deletion, the last line if there is none after it, 1 for a text without lines;
// 0 if nothing changed.
func (a *Applied) FirstChangedLine() int {
	if len(a.Hunks) == 0 {
		return 0
	}
	return max(1, min(a.Hunks[0].New.Start, a.New.Lines()))
}

// Around returns the lines of New that hunks changed, with context lines on each
// side, sorted and merged.
func (a *Applied) Around(context int) []Range {
	var out []Range
	for _, h := range a.Hunks {
		wide := Range{h.New.Start - context, h.New.End + context}
		if wide, ok := wide.Clip(a.New.Lines()); ok {
			out = append(out, wide)
		}
	}
	return Merge(out)
}

// piece is one place of a text where a batch changes it: the lines old are taken
// out, or none when old.End is old.Start-1, and the lines come in.
type piece struct {
	old   Range
	lines []string
	// neighbour is the line whose terminator new lines take that replace none; 0
	// if there is none.
	neighbour int
	order     int // index into the batch
}

func (p piece) inserts() bool { return p.old.Len() == 0 }

// plan checks a batch and returns it as pieces in the order of the text.
func plan(t *Text, edits []Edit) ([]piece, error) {
	pieces := make([]piece, 0, len(edits))
	for i, e := range edits {
		p, ok := place(t, e)
		if !ok {
			return nil, &RangeError{i, Range{e.Start, e.End}, t.Lines()}
		}
		for k, line := range p.lines {
			if at := strings.IndexAny(line, "\n\r\x00"); at >= 0 {
				return nil, &PayloadError{i, k, line[at]}
			}
		}
		if p.inserts() && len(p.lines) == 0 {
			continue
		}
		p.order = i
		pieces = append(pieces, p)
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		// What is inserted before a line comes before what replaces it.
		return cmp.Or(cmp.Compare(a.old.Start, b.old.Start), cmp.Compare(a.old.End, b.old.End))
	})
	var last *piece // the replacement that reaches furthest
	for i := range pieces {
		p := &pieces[i]
		if last != nil && p.old.Start <= last.old.End {
			return nil, &OverlapError{min(last.order, p.order), max(last.order, p.order), p.old.Start}
		}
		if !p.inserts() {
			last = p
		}
	}
	return pieces, nil
}

// place returns an edit as a piece, and false if the text does not have its
// lines.
func place(t *Text, e Edit) (piece, bool) {
	n := t.Lines()
	switch e.Op {
	case Append:
		at := e.Start
		if at == 0 {
			at = n
		}
		return piece{old: Range{at + 1, at}, lines: e.Lines, neighbour: at}, 0 <= e.Start && e.Start <= n
	case Prepend:
		at := max(e.Start, 1)
		return piece{old: Range{at, at - 1}, lines: e.Lines, neighbour: min(at, n)}, 0 <= e.Start && e.Start <= n
	case Delete:
		e.Lines = nil
	}
	r := Range{e.Start, e.End}
	if !r.Valid() || r.End > n {
		return piece{}, false
	}
	neighbour := r.End
	if r.Len() > 1 && len(t.Terminator(r.End)) == 0 {
		neighbour--
	}
	return piece{old: r, lines: e.Lines, neighbour: neighbour}, true
}
