package hashline

import (
	"bytes"
	"fmt"
)

// Hunk is a run of lines that differ. One of the ranges may be empty; its Start
// is then the line before which the other text has more.
type Hunk struct{ Old, New Range }

// Hunks returns where two texts differ, their terminators included, by a map
// between them: what is not proven to stay counts as different, except for
// equal lines at the ends of a difference.
func Hunks(old, new *Text, m *LineMap) []Hunk {
	return hunks(old, new, m, []Range{{1, old.Lines()}})
}

// hunks is Hunks where of the lines that stay only those in touched, which is
// sorted and merged, may have another terminator.
func hunks(old, new *Text, m *LineMap, touched []Range) []Hunk {
	var out []Hunk
	at := Hunk{Old: Range{1, 0}, New: Range{1, 0}} // the difference being collected
	flush := func(nextOld, nextNew int) {
		h := trim(old, new, Hunk{Range{at.Old.Start, nextOld - 1}, Range{at.New.Start, nextNew - 1}})
		if h.Old.Len() > 0 || h.New.Len() > 0 {
			out = append(out, h)
		}
	}
	for _, i := range m.kept {
		for s := m.spans[i]; s.len > 0; {
			for len(touched) > 0 && touched[0].End < s.old {
				touched = touched[1:]
			}
			n := sameBytes(old, new, s, touched)
			if n > 0 {
				flush(s.old, s.new)
				at.Old.Start, at.New.Start = s.old+n, s.new+n
			}
			// The line after those differs in its terminator.
			s.old, s.new, s.len = s.old+n+1, s.new+n+1, s.len-n-1
		}
	}
	flush(old.Lines()+1, new.Lines()+1)
	return out
}

// sameBytes returns how many lines at the start of a kept span have the same
// terminators as well.
func sameBytes(old, new *Text, s span, touched []Range) int {
	bytesOf := func(t *Text, first, n int) []byte {
		start, _ := t.Span(first)
		_, end := t.Span(first + n - 1)
		return t.bytes[start:end]
	}
	for _, r := range touched {
		if r.Start >= s.old+s.len {
			break
		}
		n := max(r.Start, s.old) - s.old
		last := min(r.End, s.old+s.len-1) - s.old
		if bytes.Equal(bytesOf(old, s.old+n, last-n+1), bytesOf(new, s.new+n, last-n+1)) {
			continue
		}
		for ; n <= last; n++ {
			if !bytes.Equal(old.Terminator(s.old+n), new.Terminator(s.new+n)) {
				return n
			}
		}
	}
	return s.len
}

// trim takes equal lines off both ends of a hunk.
func trim(old, new *Text, h Hunk) Hunk {
	same := func(i, j int) bool {
		return bytes.Equal(old.Line(i), new.Line(j)) && bytes.Equal(old.Terminator(i), new.Terminator(j))
	}
	for h.Old.Len() > 0 && h.New.Len() > 0 && same(h.Old.Start, h.New.Start) {
		h.Old.Start++
		h.New.Start++
	}
	for h.Old.Len() > 0 && h.New.Len() > 0 && same(h.Old.End, h.New.End) {
		h.Old.End--
		h.New.End--
	}
	return h
}

// DiffContext is the usual number of unchanged lines around a hunk of a diff.
const DiffContext = 3

// UnifiedDiff returns the hunks as a unified diff with context unchanged lines
// around each, as diff -u and git write it: a line's "\r" is shown, and a last
// line without newline is followed by "\ No newline at end of file". Without
// hunks it is empty. The bytes of lines are verbatim and need not be UTF-8.
func UnifiedDiff(oldName, newName string, old, new *Text, hunks []Hunk, context int) []byte {
	if len(hunks) == 0 {
		return nil
	}
	out := fmt.Appendf(nil, "--- %s\n+++ %s\n", oldName, newName)
	for len(hunks) > 0 {
		n := 1 // hunks that share their context
		for n < len(hunks) && hunks[n].Old.Start-hunks[n-1].Old.End-1 <= 2*context {
			n++
		}
		out = appendGroup(out, old, new, hunks[:n], context)
		hunks = hunks[n:]
	}
	return out
}

// appendGroup appends one @@ section.
func appendGroup(out []byte, old, new *Text, hunks []Hunk, context int) []byte {
	first, last := hunks[0], hunks[len(hunks)-1]
	before := min(context, first.Old.Start-1)
	after := min(context, old.Lines()-last.Old.End)
	out = fmt.Appendf(out, "@@ -%s +%s @@\n",
		section(first.Old.Start-before, last.Old.End+after), section(first.New.Start-before, last.New.End+after))
	at := first.Old.Start - before
	for _, h := range hunks {
		out = appendLines(out, ' ', old, Range{at, h.Old.Start - 1})
		out = appendLines(out, '-', old, h.Old)
		out = appendLines(out, '+', new, h.New)
		at = h.Old.End + 1
	}
	return appendLines(out, ' ', old, Range{at, last.Old.End + after})
}

// section writes a range as start,length; a length of 1 is left out, and an
// empty range starts at the line before it.
func section(start, end int) string {
	switch n := end - start + 1; n {
	case 0:
		return fmt.Sprintf("%d,0", start-1)
	case 1:
		return fmt.Sprint(start)
	default:
		return fmt.Sprintf("%d,%d", start, n)
	}
}

func appendLines(out []byte, mark byte, t *Text, r Range) []byte {
	for n := r.Start; n <= r.End; n++ {
		start, end := t.Span(n)
		out = append(out, mark)
		out = append(out, t.bytes[start:end]...)
		if len(t.Terminator(n)) == 0 {
			out = append(out, "\n\\ No newline at end of file\n"...)
		}
	}
	return out
}
