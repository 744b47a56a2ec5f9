package hashline

import (
	"bytes"
	"math"
	"slices"
)

// writer puts the pieces of a batch into the bytes of a text.
type writer struct {
	old *Text
	out []byte
	// bare: out ends with the last line of old, which has no terminator.
	bare  bool
	usual string // the terminator of most lines, once asked for
}

// write returns the new bytes.
func (w *writer) write(pieces []piece) ([]byte, error) {
	t := w.old
	size := t.Size()
	for _, p := range pieces {
		for _, line := range p.lines {
			size += len(line) + 2
		}
	}
	if size >= math.MaxUint32 {
		return nil, ErrTooLong
	}
	w.out = make([]byte, 0, size)
	w.out = append(w.out, t.bytes[:t.bom]...)
	next := 1        // the next line of t that is not written
	newLast := false // the last line written is new, and not blank
	for _, p := range pieces {
		if next < p.old.Start {
			w.keep(Range{next, p.old.Start - 1})
			newLast = false
		}
		if len(p.lines) > 0 && w.bare { // the line that was last gets one after it
			end := w.fallback(p)
			if bytes.HasSuffix(w.out, []byte("\r")) {
				end = "\r\n" // with "\n" the line's own "\r" would become its end
			}
			w.out = append(w.out, end...)
			w.bare = false
		}
		for i, line := range p.lines {
			w.out = append(w.out, line...)
			w.out = append(w.out, w.terminator(p, i)...)
			newLast = line != ""
		}
		next = max(next, p.old.End+1)
	}
	if next <= t.Lines() {
		w.keep(Range{next, t.Lines()})
		newLast = false
	}
	if newLast && w.open() {
		w.out = w.out[:len(w.out)-len(terminator(w.out))]
	}
	return w.out, nil
}

// keep writes lines of the old text as they are.
func (w *writer) keep(r Range) {
	start, _ := w.old.Span(r.Start)
	_, end := w.old.Span(r.End)
	w.out = append(w.out, w.old.bytes[start:end]...)
	w.bare = r.End == w.old.Lines() && w.open()
}

// open reports whether the old text has lines and no final newline.
func (w *writer) open() bool {
	n := w.old.Lines()
	return n > 0 && len(w.old.Terminator(n)) == 0
}

// terminator returns the terminator of the i-th new line of a piece; it is never
// empty.
func (w *writer) terminator(p piece, i int) string {
	if replaced := p.old.Start + i; p.old.Contains(replaced) {
		if end := w.old.Terminator(replaced); len(end) > 0 {
			return string(end)
		}
	}
	return w.fallback(p)
}

// fallback returns the terminator of a new line that replaces none.
func (w *writer) fallback(p piece) string {
	for _, n := range [...]int{p.neighbour, p.old.Start - 1, p.old.End + 1} {
		if n >= 1 && n <= w.old.Lines() {
			if end := w.old.Terminator(n); len(end) > 0 {
				return string(end)
			}
		}
	}
	if w.usual == "" {
		w.usual = w.old.UsualTerminator()
	}
	return w.usual
}

// UsualTerminator returns the terminator that most lines have: "\r\n", or "\n",
// also when both are as frequent and when no line has one.
func (t *Text) UsualTerminator() string {
	lf, crlf := 0, 0
	for n := 1; n <= t.Lines(); n++ {
		switch len(t.Terminator(n)) {
		case 1:
			lf++
		case 2:
			crlf++
		}
	}
	if crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// mapPieces returns what a batch did to the lines of a text: which stayed, and
// how the numbers shift.
func mapPieces(old, new *Text, pieces []piece) (*LineMap, []Shift) {
	b := mapBuilder{newLines: new.Lines()}
	var shifts []Shift
	next, delta := 1, 0 // the next old line, and what its number grows by
	for _, p := range pieces {
		b.keep(next, next+delta, p.old.Start-next)
		start := p.old.Start + delta
		mapRun(&b, old, p.old, new, Range{start, start + len(p.lines) - 1})
		if d := len(p.lines) - p.old.Len(); d != 0 {
			delta += d
			if n := len(shifts); n > 0 && shifts[n-1].After == p.old.End {
				shifts[n-1].Delta += d
			} else {
				shifts = append(shifts, Shift{p.old.End, d})
			}
		}
		next = p.old.End + 1
	}
	b.keep(next, next+delta, old.Lines()-next+1)
	return b.done(), slices.DeleteFunc(shifts, func(s Shift) bool { return s.Delta == 0 })
}
