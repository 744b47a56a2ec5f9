package hashline

import (
	"fmt"
	"iter"
	"sort"
)

// Status says what became of a line of an older text.
type Status uint8

const (
	// Current: the line is proven to stand in the newer text under the same
	// number. Its anchor may differ all the same, when a neighbour changed.
	Current Status = iota
	// Moved: the line is proven to stand in the newer text under another number.
	Moved
	// Changed: other lines stand where it stood.
	Changed
	// Deleted: nothing stands where it stood.
	Deleted
	// Ambiguous: the newer text has lines like it, and none is proven to be it.
	Ambiguous
)

// String returns the status in lower case, as it is written on the wire.
func (s Status) String() string {
	names := [...]string{"current", "moved", "changed", "deleted", "ambiguous"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// Proven reports whether the line is known to stand in the newer text.
func (s Status) Proven() bool { return s == Current || s == Moved }

// Fate is what a LineMap says about one line.
type Fate struct {
	Status Status
	// Now holds lines of the newer text. Current and Moved: exactly the line.
	// Changed: what stands in its place. Ambiguous: the lines among which it may
	// be. Deleted: an empty range whose Start is the line that follows the place
	// where it stood, and may be one more than there are lines.
	Now Range
}

// A LineMap says of every line of an older text which line of a newer text it
// provably is. It is immutable. See MapLines for what a proof is.
type LineMap struct {
	spans    []span // in the order of the old lines, without gaps
	kept     []int  // the indexes of the kept spans; their new lines ascend too
	newLines int
}

// span is a run of old lines with one kind of fate.
type span struct {
	old  int // first old line
	len  int // number of old lines
	kind spanKind
	// kept, changed: the new line of the first old line; each further old line
	// has the next new line. Others: the first line of an extent that all share.
	new int
	// changed: the number of new lines that the last old line stands for.
	// deleted, ambiguous: the length of the shared extent.
	extent int
}

type spanKind uint8

const (
	kept spanKind = iota
	changed
	deleted
	ambiguous
)

// Lines returns the number of lines of the older text.
func (m *LineMap) Lines() int {
	if len(m.spans) == 0 {
		return 0
	}
	last := m.spans[len(m.spans)-1]
	return last.old + last.len - 1
}

// NewLines returns the number of lines of the newer text.
func (m *LineMap) NewLines() int { return m.newLines }

// Proven returns how many lines of the older text provably stand in the newer
// one.
func (m *LineMap) Proven() int {
	n := 0
	for _, i := range m.kept {
		n += m.spans[i].len
	}
	return n
}

// Line returns the fate of line n of the older text. It panics unless
// 1 <= n <= Lines().
func (m *LineMap) Line(n int) Fate {
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].old > n }) - 1
	s := m.spans[i]
	if n >= s.old+s.len {
		panic(fmt.Sprintf("hashline: line %d of a map of %d lines", n, m.Lines()))
	}
	return s.fate(n - s.old)
}

// Old returns the line of the older text that provably is line n of the newer
// one, and false if there is none.
func (m *LineMap) Old(n int) (int, bool) {
	i := sort.Search(len(m.kept), func(i int) bool { return m.spans[m.kept[i]].new > n }) - 1
	if i < 0 {
		return 0, false
	}
	s := m.spans[m.kept[i]]
	if n >= s.new+s.len {
		return 0, false
	}
	return s.old + n - s.new, true
}

// Kept returns the lines of r, which are lines of the older text, that are proven,
// in ascending runs: each with the line of the newer text that its first one is.
// The others of a run follow it there.
func (m *LineMap) Kept(r Range) iter.Seq2[Range, int] {
	return func(yield func(Range, int) bool) {
		i := sort.Search(len(m.kept), func(i int) bool { s := m.spans[m.kept[i]]; return s.old+s.len > r.Start })
		for ; i < len(m.kept); i++ {
			s := m.spans[m.kept[i]]
			run := Range{max(r.Start, s.old), min(r.End, s.old+s.len-1)}
			if !run.Valid() || !yield(run, s.new+run.Start-s.old) {
				return
			}
		}
	}
}

// Place returns the lines of the newer text that stand where the lines of r, not
// empty, stood in the older one; it is empty if nothing does.
func (m *LineMap) Place(r Range) Range { return m.extent(r) }

// fate returns the fate of the line at offset i of the span.
func (s span) fate(i int) Fate {
	at := s.new + i
	switch s.kind {
	case kept:
		if at == s.old+i {
			return Fate{Current, Range{at, at}}
		}
		return Fate{Moved, Range{at, at}}
	case changed:
		if i == s.len-1 {
			return Fate{Changed, Range{at, at + s.extent - 1}}
		}
		return Fate{Changed, Range{at, at}}
	case deleted:
		return Fate{Deleted, Range{s.new, s.new - 1}}
	default:
		return Fate{Ambiguous, Range{s.new, s.new + s.extent - 1}}
	}
}

// Identity returns the map of a text of that many lines onto itself.
func Identity(lines int) *LineMap {
	b := mapBuilder{newLines: lines}
	b.keep(1, 1, lines)
	return b.done()
}

// Compose returns the map from the older text of m to the newer text of next,
// whose older text must be the newer text of m. It proves what both prove.
func (m *LineMap) Compose(next *LineMap) *LineMap {
	b := mapBuilder{newLines: next.newLines}
	var asked Range // the last range that was followed, and the answer
	var answer Fate
	for _, s := range m.spans {
		switch s.kind {
		case kept:
			next.appendKept(&b, s)
		case changed:
			for i := range s.len {
				b.place(s.old+i, next.follow(s.fate(i)))
			}
		case deleted, ambiguous:
			// All lines of the span share their fate, and so do neighbouring spans
			// of one change, whose extent can be as long as the text.
			if f := s.fate(0); f.Now != asked {
				asked, answer = f.Now, next.follow(f)
			}
			b.share(s.old, s.len, answer)
		}
	}
	return b.done()
}

// appendKept adds what next says of a kept span of an earlier map.
func (m *LineMap) appendKept(b *mapBuilder, s span) {
	for i := 0; i < s.len; {
		at := s.new + i
		j := sort.Search(len(m.spans), func(j int) bool { return m.spans[j].old > at }) - 1
		t := m.spans[j]
		skip := at - t.old
		n := min(t.len-skip, s.len-i)
		if t.kind == kept {
			b.keep(s.old+i, t.new+skip, n)
		} else {
			for k := range n {
				b.place(s.old+i+k, t.fate(skip+k))
			}
		}
		i += n
	}
}

// follow returns what becomes of a line that an earlier map did not prove:
// never more than it was, with its place carried on.
func (m *LineMap) follow(f Fate) Fate {
	if !f.Now.Valid() { // deleted: carry the seam
		return Fate{Deleted, m.seam(f.Now.Start)}
	}
	now := m.extent(f.Now)
	switch {
	case now.Valid():
		return Fate{f.Status, now}
	default:
		return Fate{Deleted, now}
	}
}

// extent returns the lines of the newer text that stand for the lines r of the
// older one; it is empty, at its seam, when nothing does.
func (m *LineMap) extent(r Range) Range {
	var out Range
	for n := r.Start; n <= r.End; n++ {
		now := m.Line(n).Now
		if !now.Valid() {
			continue
		}
		if !out.Valid() {
			out = now
		}
		out.Start, out.End = min(out.Start, now.Start), max(out.End, now.End)
	}
	if !out.Valid() {
		return m.seam(r.Start)
	}
	return out
}

// seam returns the empty range before the new place of old line n, which may be
// one past the last line.
func (m *LineMap) seam(n int) Range {
	at := m.newLines + 1
	if n <= m.Lines() {
		at = m.Line(n).Now.Start
	}
	return Range{at, at - 1}
}

// mapBuilder collects the spans of a map in the order of the old lines.
type mapBuilder struct {
	spans    []span
	newLines int
}

func (b *mapBuilder) done() *LineMap {
	m := &LineMap{spans: b.spans, newLines: b.newLines}
	for i, s := range m.spans {
		if s.kind == kept {
			m.kept = append(m.kept, i)
		}
	}
	return m
}

// add appends a span, joined with the one before where that says the same.
func (b *mapBuilder) add(s span) {
	if s.len == 0 {
		return
	}
	if n := len(b.spans); n > 0 {
		last := &b.spans[n-1]
		switch {
		case last.kind != s.kind:
		case s.kind == kept && s.new == last.new+last.len,
			s.kind == changed && last.extent == 1 && s.new == last.new+last.len,
			s.kind == deleted && s.new == last.new,
			s.kind == ambiguous && s.new == last.new && s.extent == last.extent:
			last.len += s.len
			last.extent = s.extent
			return
		}
	}
	b.spans = append(b.spans, s)
}

func (b *mapBuilder) keep(old, new, n int) {
	b.add(span{old: old, len: n, kind: kept, new: new})
}

// place adds one old line with its fate.
func (b *mapBuilder) place(old int, f Fate) {
	s := span{old: old, len: 1, new: f.Now.Start, extent: f.Now.Len()}
	switch f.Status {
	case Current, Moved:
		s.kind, s.extent = kept, 0
	case Changed:
		s.kind = changed
	case Deleted:
		s.kind, s.extent = deleted, 0
	case Ambiguous:
		s.kind = ambiguous
	}
	b.add(s)
}

// share adds n old lines with one fate, which is not a proven or a changed one.
func (b *mapBuilder) share(old, n int, f Fate) {
	s := span{old: old, len: n, kind: deleted, new: f.Now.Start}
	if f.Status == Ambiguous {
		s.kind, s.extent = ambiguous, f.Now.Len()
	}
	b.add(s)
}

// replace adds n old lines in whose place m new lines stand: each old line is
// paired with the new line of the same position, the last one with all that are
// left, and old lines without a partner are deleted.
func (b *mapBuilder) replace(old, n, new, m int) {
	pairs := min(n, m)
	if pairs > 0 {
		b.add(span{old: old, len: pairs - 1, kind: changed, new: new, extent: 1})
		last := pairs - 1
		extent := 1
		if n <= m {
			extent = m - last
		}
		b.add(span{old: old + last, len: 1, kind: changed, new: new + last, extent: extent})
	}
	b.add(span{old: old + pairs, len: n - pairs, kind: deleted, new: new + m})
}
