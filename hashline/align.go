package hashline

// alignment is what the comparison of two texts yields before anything is
// proven: partners, in ascending order, and lines whose partner depends on how
// the change is read. Indexes are 0-based.
type alignment struct {
	match []int  // by old line; a new line, or unmatched
	loose []bool // by old line
}

const (
	// quickEdits bounds the first attempt, which sees whole texts at once.
	quickEdits = 100
	// stepsPerLine and stepsAtLeast bound all comparing of one pair of texts.
	stepsPerLine = 200
	stepsAtLeast = 1 << 21
	// maxDepth bounds the nesting of segments between unique lines.
	maxDepth = 32
)

// aligner compares two numbered texts.
type aligner struct {
	alignment
	text  *interned
	steps int // what is left of the bound
	// Scratch, by line number.
	count []occurrences
	where []int32
	index *places
}

// segment is a pair of half-open runs of lines that stand for each other.
type segment struct{ oldStart, oldEnd, newStart, newEnd int }

// align compares the lines of two texts.
func align(t *interned) alignment {
	a := newAligner(t)
	if core := a.core(); !a.shortest(core, quickEdits) {
		a.split(core, maxDepth)
	}
	return a.alignment
}

func newAligner(t *interned) *aligner {
	a := &aligner{
		text:  t,
		steps: stepsAtLeast + stepsPerLine*(len(t.old)+len(t.new)),
		count: make([]occurrences, len(t.in)),
		where: make([]int32, len(t.in)),
		index: newPlaces(len(t.in)),
	}
	a.match, a.loose = make([]int, len(t.old)), make([]bool, len(t.old))
	for i := range a.match {
		a.match[i] = unmatched
	}
	return a
}

// core matches the lines at both ends of the texts that are the same and that
// the change between them cannot reach, and returns what is left. A script that
// pairs a line from beyond n lines that are unique in both texts, and equal in
// place, with one on this side leaves all n unmatched: it has 2n edits more than
// the shortest. So beyond enough such lines no script that counts differs.
func (a *aligner) core() segment {
	old, new := a.text.old, a.text.new
	most := min(len(old), len(new))
	head := 0
	for head < most && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < most-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	if head == len(old) && head == len(new) {
		a.matchRun(0, 0, head)
		return segment{head, head, head, head}
	}
	const enough = slack/2 + 1
	for n := 0; head > 0 && n < enough; head-- {
		if a.text.unique(old[head-1]) {
			n++
		}
	}
	for n := 0; tail > 0 && n < enough; tail-- {
		if a.text.unique(old[len(old)-tail]) {
			n++
		}
	}
	a.matchRun(0, 0, head)
	a.matchRun(len(old)-tail, len(new)-tail, tail)
	return segment{head, len(old) - tail, head, len(new) - tail}
}

// matchRun matches n lines from line i of the old text and line j of the new.
func (a *aligner) matchRun(i, j, n int) {
	for k := range n {
		a.match[i+k] = j + k
	}
}

// split divides a segment at the lines that are unique on both sides of it and
// compares what is between them. Where that is not possible and the segment is
// not small either, its lines stay loose.
func (a *aligner) split(s segment, depth int) {
	pairs := uniquePairs(a.text.old[s.oldStart:s.oldEnd], a.text.new[s.newStart:s.newEnd], a.count, a.where)
	anchors := agreed(pairs)
	if len(anchors) == 0 || depth == 0 {
		if !a.shortest(s, maxEdits) {
			a.loosen(s)
		}
		return
	}
	at := s
	for _, p := range anchors {
		i, j := s.oldStart+p.old, s.newStart+p.new
		a.match[i] = j
		a.between(segment{at.oldStart, i, at.newStart, j}, depth)
		at.oldStart, at.newStart = i+1, j+1
	}
	a.between(at, depth)
}

// between compares what lies between two unique lines.
func (a *aligner) between(s segment, depth int) {
	if s.oldStart == s.oldEnd || s.newStart == s.newEnd {
		return
	}
	if !a.shortest(s, quickEdits) {
		a.split(s, depth-1)
	}
}

// loosen marks the lines of a segment that have any equal on the other side.
func (a *aligner) loosen(s segment) {
	for _, id := range a.text.new[s.newStart:s.newEnd] {
		a.count[id].new = 1
	}
	for i := s.oldStart; i < s.oldEnd; i++ {
		a.loose[i] = a.count[a.text.old[i]].new > 0
	}
	for _, id := range a.text.new[s.newStart:s.newEnd] {
		a.count[id].new = 0
	}
}

// shortest matches what all shortest edit scripts of the segment agree on, and
// reports false when there is none of at most limit edits. Lines without any
// equal on the other side take no part: no script can match them.
func (a *aligner) shortest(s segment, limit int) bool {
	for _, id := range a.text.old[s.oldStart:s.oldEnd] {
		a.count[id].old = 1
	}
	for _, id := range a.text.new[s.newStart:s.newEnd] {
		a.count[id].new = 1
	}
	oldIDs, oldAt := a.shared(a.text.old, s.oldStart, s.oldEnd)
	newIDs, newAt := a.shared(a.text.new, s.newStart, s.newEnd)
	for _, id := range a.text.old[s.oldStart:s.oldEnd] {
		a.count[id] = occurrences{}
	}
	for _, id := range a.text.new[s.newStart:s.newEnd] {
		a.count[id] = occurrences{}
	}
	f, toEnd, ok := forced(oldIDs, newIDs, limit, &a.steps)
	if !ok || toEnd.edits > 0 && !a.contest(&f, toEnd) {
		return false
	}
	for k, i := range oldAt {
		a.loose[i] = f.loose[k]
		if f.match[k] != unmatched {
			a.match[i] = newAt[f.match[k]]
		}
	}
	return true
}

// shared returns the lines from start to end that are counted on both sides,
// and their indexes.
func (a *aligner) shared(ids []int32, start, end int) (kept []int32, at []int) {
	isShared := func(id int32) bool { return a.count[id].old > 0 && a.count[id].new > 0 }
	n := 0
	for _, id := range ids[start:end] {
		if isShared(id) {
			n++
		}
	}
	kept, at = make([]int32, 0, n), make([]int, 0, n)
	for i := start; i < end; i++ {
		if isShared(ids[i]) {
			kept = append(kept, ids[i])
			at = append(at, i)
		}
	}
	return kept, at
}
