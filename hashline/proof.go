package hashline

// MapLines compares two texts and returns which lines of old provably are which
// lines of new. Terminators and a byte order mark play no part. What is proven,
// and where a proof ends:
//
//   - A line is matched only if all shortest edit scripts pair it with the same
//     line (texts with many changes are first divided at the lines that are
//     unique in both and whose order every longest common order agrees on). So a
//     block that could as well have been inserted or deleted a few lines higher
//     or lower matches nothing where the readings differ: nothing slides.
//   - A matched line stands in a run of adjacent matched lines. The run counts
//     as evidence if it holds a line that is unique in both texts, or is longer
//     than each of the changes around it.
//   - In such a run a line is proven if both its neighbours are matched next to
//     it as well, or one of them is and the line is unique in both texts. The
//     beginning and the end of a text count as neighbours.
//   - A unique line of which both neighbours changed is proven if, up to the
//     nearest proven line above or below, lines were only added, only removed, or
//     replaced by as many.
//   - Everything else that has an equal in new is Ambiguous. A line that was
//     moved past others matches nothing: it is Deleted or Changed in its place.
//
// A line that was deleted and typed again between the same neighbours cannot be
// told from one that was never touched, and is the same line here.
//
// Cost is linear in the texts for changes that are small or that leave unique
// lines between them. Comparing is bounded by a multiple of the texts' lines;
// what that does not settle is Ambiguous.
func MapLines(old, new *Text) *LineMap {
	b := mapBuilder{newLines: new.Lines()}
	mapRun(&b, old, Range{1, old.Lines()}, new, Range{1, new.Lines()})
	return b.done()
}

// mapRun adds what became of the lines oldRun in newRun, either of which may be
// empty, given that what is before and after the two runs is the same.
func mapRun(b *mapBuilder, old *Text, oldRun Range, new *Text, newRun Range) {
	if oldRun.Len() == 0 || newRun.Len() == 0 {
		b.replace(oldRun.Start, oldRun.Len(), newRun.Start, newRun.Len())
		return
	}
	t := intern(old, oldRun, new, newRun)
	p := prover{text: t, alignment: align(t)}
	p.findRuns()
	p.prove()
	p.emit(b, oldRun.Start, newRun.Start)
}

// run is a maximal sequence of adjacent matched lines. Indexes are 0-based.
type run struct {
	old, new, len int
	// before and after are the changes around it.
	before, after gap
	// evidence: the run's interior is believed.
	evidence bool
	// isolated: a single unique line between changes; proven once an even gap is
	// known to lie between it and a proven line.
	isolated, proven bool
}

// gap is a change between runs: so many old lines, so many new.
type gap struct{ old, new int }

// even reports whether the gap leaves no doubt about the order of the lines
// around it: lines were only added, only removed, or replaced by as many.
func (g gap) even() bool { return g.old == g.new || g.old == 0 || g.new == 0 }

func (g gap) none() bool { return g == gap{} }

// size is the amount of change in the gap.
func (g gap) size() int { return max(g.old, g.new) }

type prover struct {
	alignment
	text *interned
	runs []run
}

func (p *prover) findRuns() {
	endOld, endNew := 0, 0
	for i, j := range p.match {
		if j == unmatched {
			continue
		}
		unique := p.text.unique(p.text.old[i])
		if n := len(p.runs); n > 0 && i == endOld && j == endNew {
			p.runs[n-1].len++
			p.runs[n-1].evidence = p.runs[n-1].evidence || unique
		} else {
			p.runs = append(p.runs, run{old: i, new: j, len: 1, evidence: unique, before: gap{i - endOld, j - endNew}})
		}
		endOld, endNew = i+1, j+1
	}
	for i := range p.runs {
		r := &p.runs[i]
		if i+1 < len(p.runs) {
			r.after = p.runs[i+1].before
		} else {
			r.after = gap{len(p.text.old) - endOld, len(p.text.new) - endNew}
		}
		r.isolated = r.len == 1 && r.evidence && !r.before.none() && !r.after.none()
		r.evidence = r.evidence || r.len > max(r.before.size(), r.after.size())
	}
}

// nearEdge is how far the beginning or the end of the texts may be from an
// isolated line that rests on it.
const nearEdge = 8

// prove decides the isolated lines: first from above, then from below, so that
// each can rest on the one decided before it.
func (p *prover) prove() {
	for i := range p.runs {
		r := &p.runs[i]
		if r.isolated && r.before.even() {
			r.proven = i == 0 && r.before.size() <= nearEdge || i > 0 && p.provesLast(p.runs[i-1])
		}
	}
	for i := len(p.runs) - 1; i >= 0; i-- {
		r := &p.runs[i]
		last := i == len(p.runs)-1
		if r.isolated && !r.proven && r.after.even() {
			r.proven = last && r.after.size() <= nearEdge || !last && p.provesFirst(p.runs[i+1])
		}
	}
}

func (p *prover) provesFirst(r run) bool { return p.provesLine(r, 0) }
func (p *prover) provesLast(r run) bool  { return p.provesLine(r, r.len-1) }

// provesLine reports whether the line at offset k of the run is proven.
func (p *prover) provesLine(r run, k int) bool {
	if r.isolated || !r.evidence {
		return r.proven
	}
	above := k > 0 || r.before.none()
	below := k < r.len-1 || r.after.none()
	return above && below || (above || below) && p.text.unique(p.text.old[r.old+k])
}

// emit adds the fates of all lines; the texts' first lines have the numbers
// given.
func (p *prover) emit(b *mapBuilder, oldStart, newStart int) {
	endOld, endNew := 0, 0
	for _, r := range p.runs {
		p.emitGap(b, oldStart+endOld, newStart+endNew, r.before, endOld)
		inner := 0 // lines from the second to the last but one need no asking
		for k := 0; k < r.len; k++ {
			old, new := oldStart+r.old+k, newStart+r.new+k
			switch {
			case k > 0 && k < r.len-1 && r.evidence:
				inner = r.len - 1 - k
				b.keep(old, new, inner)
				k += inner - 1
			case p.provesLine(r, k):
				b.keep(old, new, 1)
			default:
				b.place(old, Fate{Ambiguous, Range{new, new}})
			}
		}
		endOld, endNew = r.old+r.len, r.new+r.len
	}
	rest := gap{len(p.text.old) - endOld, len(p.text.new) - endNew}
	p.emitGap(b, oldStart+endOld, newStart+endNew, rest, endOld)
}

// emitGap adds the lines of a change: old and new are its first line numbers,
// at the index of its first old line.
func (p *prover) emitGap(b *mapBuilder, old, new int, g gap, at int) {
	var loose bool
	for _, l := range p.loose[at : at+g.old] {
		loose = loose || l
	}
	if !loose || g.new == 0 {
		b.replace(old, g.old, new, g.new)
		return
	}
	pairs := mapBuilder{}
	pairs.replace(old, g.old, new, g.new)
	plain := pairs.done()
	for i := range g.old {
		if p.loose[at+i] {
			b.place(old+i, Fate{Ambiguous, Range{new, new + g.new - 1}})
		} else {
			b.place(old+i, plain.Line(old+i))
		}
	}
}
