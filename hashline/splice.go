package hashline

import (
	"bytes"
	"math"
	"slices"
)

// writer puts the pieces of a batch into the bytes of a text.
type writer struct {
	old  *Text
	out  []byte
	ends []uint32 // the index of out, see Text
	// bare: out ends with the last line of old, which has no terminator.
	bare  bool
	usual string // the terminator of most lines, once asked for
}

// write returns the new text. Its index is made of the old one, so that the work
// besides two copies is that of the changed lines.
func (w *writer) write(pieces []piece) (*Text, error) {
	t := w.old
	size, lines := t.Size(), t.Lines()
	for _, p := range pieces {
		for _, line := range p.lines {
			size += len(line) + 2
		}
		lines += len(p.lines)
	}
	if size >= math.MaxUint32 {
		return nil, ErrTooLong
	}
	w.out, w.ends = make([]byte, 0, size), make([]uint32, 0, lines)
	w.out = append(w.out, t.bytes[:t.bom]...)
	next := 1        // the next line of t that is not written
	newLast := false // the last line written is new, and not blank
	for _, p := range pieces {
		if next < p.old.Start {
			w.keep(Range{next, p.old.Start - 1})
			newLast = false
		}
		if len(p.lines) > 0 {
			w.close(p)
		}
		for i, line := range p.lines {
			w.out = append(w.out, line...)
			w.out = append(w.out, w.terminator(p, i)...)
			w.ends = append(w.ends, uint32(len(w.out)))
			newLast = line != ""
		}
		next = max(next, p.old.End+1)
	}
	if next <= t.Lines() {
		w.keep(Range{next, t.Lines()})
		newLast = false
	}
	if newLast && w.open() {
		w.cut(len(w.out) - len(terminator(w.out)))
	}
	if bytes.HasPrefix(w.out, []byte(BOM)) != t.HasBOM() {
		return NewText(w.out), nil // lines are not where they were written
	}
	return &Text{bytes: w.out, ends: w.ends, bom: t.bom}, nil
}

// keep writes lines of the old text as they are.
func (w *writer) keep(r Range) {
	start, _ := w.old.Span(r.Start)
	_, end := w.old.Span(r.End)
	shift := uint32(len(w.out) - start) // modulo 2³², as the sums below
	w.out = append(w.out, w.old.bytes[start:end]...)
	w.bare = r.End == w.old.Lines() && w.open()
	ends := w.old.ends[r.Start-1 : r.End]
	from := len(w.ends)
	w.ends = append(w.ends, ends...)
	if shift != 0 {
		for i := range w.ends[from:] {
			w.ends[from+i] += shift
		}
	}
}

// close gives the line that was last an end before a piece comes after it.
func (w *writer) close(p piece) {
	if !w.bare {
		return
	}
	end := w.fallback(p)
	if bytes.HasSuffix(w.out, []byte("\r")) {
		end = "\r\n" // with "\n" the line's own "\r" would become its end
	}
	w.out = append(w.out, end...)
	w.ends[len(w.ends)-1] = uint32(len(w.out))
	w.bare = false
}

// cut shortens the last line.
func (w *writer) cut(size int) {
	w.out = w.out[:size]
	w.ends[len(w.ends)-1] = uint32(size)
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

// mapPieces returns which lines of a text stayed, by the pieces that made the new
// one.
func mapPieces(old, new *Text, pieces []piece) *LineMap {
	b := mapBuilder{newLines: new.Lines()}
	next, delta := 1, 0 // the next old line, and what its number grows by
	for _, p := range pieces {
		b.keep(next, next+delta, p.old.Start-next)
		start := p.old.Start + delta
		mapRun(&b, old, p.old, new, Range{start, start + len(p.lines) - 1})
		delta += len(p.lines) - p.old.Len()
		next = p.old.End + 1
	}
	b.keep(next, next+delta, old.Lines()-next+1)
	return b.done()
}

// shifts returns how the numbers of old lines shift by the pieces.
func shifts(pieces []piece) []Shift {
	var out []Shift
	for _, p := range pieces {
		d := len(p.lines) - p.old.Len()
		if n := len(out); n > 0 && out[n-1].After == p.old.End {
			out[n-1].Delta += d
		} else {
			out = append(out, Shift{p.old.End, d})
		}
	}
	return slices.DeleteFunc(out, func(s Shift) bool { return s.Delta == 0 })
}
