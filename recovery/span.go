package recovery

import (
	"iter"
	"slices"

	"mapd/hashline"
)

// Span is what became of the lines from one anchor to another.
type Span struct {
	Start, End Verdict
	// Lines are the live lines that the anchors enclose; meaningful if OK.
	Lines hashline.Range
	// Broken are verdicts on lines between the anchors that are not proven to
	// follow each other as they were shown. None of them is accepted.
	Broken []Verdict
	// Partial are those of Lines that the session has only seen cut or with bytes
	// replaced, Unseen those that it was never shown. Both are sorted and merged.
	Partial, Unseen []hashline.Range
}

// OK reports whether both anchors are accepted, in order, and every line
// between them is proven.
func (s Span) OK() bool {
	return s.Start.Accepted() && s.End.Accepted() && s.Lines.Valid() && len(s.Broken) == 0
}

// Verdicts returns the verdicts on the anchors, once if they are the same, and
// between them those on broken lines.
func (s Span) Verdicts() []Verdict {
	out := append([]Verdict{s.Start}, s.Broken...)
	if s.End.Anchor != s.Start.Anchor {
		out = append(out, s.End)
	}
	return out
}

// ResolveSpan judges the lines from one anchor to another, both included; for a
// single line they are equal. Beyond the anchors themselves every line between
// them must be proven to follow the one before it as it did when it was shown:
// a foreign line among them, or one missing, breaks the span. Two anchors that
// were never delivered, and are accepted, enclose whatever stands between.
func (s *Scene) ResolveSpan(start, end hashline.Anchor, snapshot string) Span {
	out := Span{Start: s.Resolve(start, snapshot)}
	out.End = out.Start
	if end != start {
		out.End = s.Resolve(end, snapshot)
	}
	if !out.Start.Accepted() || !out.End.Accepted() {
		out.Broken = s.lostBetween(out)
		return out
	}
	out.Lines = hashline.Range{Start: out.Start.Line, End: out.End.Line}
	if !out.Lines.Valid() {
		return out
	}
	if out.Start.Status != NeverServed || out.End.Status != NeverServed {
		out.Broken = s.broken(out, snapshot)
	}
	for n := out.Lines.Start; n <= out.Lines.End; n++ {
		switch s.Sight(n) {
		case Partial:
			out.Partial = append(out.Partial, hashline.Range{Start: n, End: n})
		case Unseen:
			out.Unseen = append(out.Unseen, hashline.Range{Start: n, End: n})
		case Whole:
		}
	}
	out.Partial, out.Unseen = hashline.Merge(out.Partial), hashline.Merge(out.Unseen)
	return out
}

// maxBroken is how many lines inside a span are described when it is broken.
const maxBroken = 64

// broken returns verdicts on the places inside the span where two live lines
// are not proven to have followed each other in a version that was delivered.
func (s *Scene) broken(span Span, snapshot string) []Verdict {
	views, follows := s.witnesses(span, snapshot)
	var out []Verdict
	for n := span.Lines.Start; n < span.Lines.End && len(out) < maxBroken; {
		next := n + 1
		if follows(n, next) {
			n = next
			continue
		}
		for next < span.Lines.End && !known(views, next) {
			next++
		}
		out = append(out, s.breach(n, next, views)...)
		n = next
	}
	return out
}

// lostBetween returns verdicts on the lines between two anchors of one version,
// not both of them accepted, that are not proven either: so that what is affected
// is the whole of it.
func (s *Scene) lostBetween(span Span) []Verdict {
	if span.Start.Snapshot == "" || span.Start.Snapshot != span.End.Snapshot {
		return nil
	}
	var v *view
	for v = range s.kept(anyVersion, span.Start.Snapshot) {
		break
	}
	var out []Verdict
	for n := span.Start.Anchor.Line + 1; n < span.End.Anchor.Line && len(out) < maxBroken; n++ {
		if fate := v.lines.Line(n); !fate.Status.Proven() {
			lost := s.lost(v, n, fate)
			lost.Aside = true
			out = append(out, lost)
		}
	}
	return out
}

// lost is the verdict on a line of a version that is not proven.
func (s *Scene) lost(v *view, line int, fate hashline.Fate) Verdict {
	return Verdict{
		Anchor: v.text.Anchor(line, s.width()), Status: Status(fate.Status.String()),
		Snapshot: v.held.Snapshot, Place: s.place(fate),
	}
}

// witnesses returns the versions that tell what stands between the ends of a
// span, and whether by them live line next followed live line n when they were
// shown. Ends that were shown together, in one version, name what stood between
// them in that version, and nothing that came there since, not even what the
// session was shown later: who sends those anchors did not have it in mind. Other
// ends need for each step a version in which both lines were shown.
func (s *Scene) witnesses(span Span, snapshot string) (views iter.Seq[*view], follows func(n, next int) bool) {
	views = s.kept(anyVersion, span.Start.Snapshot, span.End.Snapshot)
	together := s.together(span, snapshot)
	if together != nil {
		views = slices.Values([]*view{together})
	}
	return views, func(n, next int) bool {
		for v := range views {
			a, okA := v.lines.Old(n)
			b, okB := v.lines.Old(next)
			if okA && okB && b == a+1 && (v == together || hashline.ContainsLine(v.held.Lines, a) && hashline.ContainsLine(v.held.Lines, b)) {
				return true
			}
		}
		return false
	}
}

// together returns the most recent version in which both ends of a span have
// their anchors, or the one end that was delivered has; nil if there is none. A
// snapshot leaves no other version.
func (s *Scene) together(span Span, snapshot string) *view {
	has := func(text *hashline.Text, h *Held, v Verdict) bool {
		n := v.Anchor.Line
		return v.Status == NeverServed || hashline.ContainsLine(h.Lines, n) && v.Anchor.Matches(text.Hash(n))
	}
	for _, h := range s.Held {
		text, ok := s.Texts.Text(h.Snapshot)
		if !ok || snapshot != "" && h.Snapshot != snapshot || !has(text, h, span.Start) || !has(text, h, span.End) {
			continue
		}
		if v := s.view(h); v != nil && v.leads(span.Start) && v.leads(span.End) {
			return v
		}
	}
	return nil
}

// leads reports whether a verdict is also that of the view.
func (v *view) leads(to Verdict) bool {
	if to.Status == NeverServed {
		return true
	}
	old, ok := v.lines.Old(to.Line)
	return ok && old == to.Anchor.Line
}

// known reports whether a live line is proven to be a line of some version.
func known(views iter.Seq[*view], n int) bool {
	for v := range views {
		_, ok := v.lines.Old(n)
		if ok {
			return true
		}
	}
	return false
}

// breach describes what is between live lines n and next, which are further
// apart now, or closer, than when they were shown: by the lines that stood
// between them, else by the lines that stand there now.
func (s *Scene) breach(n, next int, views iter.Seq[*view]) []Verdict {
	for v := range views {
		a, okA := v.lines.Old(n)
		b, okB := v.lines.Old(next)
		if !okA || !okB {
			continue
		}
		var out []Verdict
		for old := a + 1; old < b && len(out) < maxBroken; old++ {
			out = append(out, s.lost(v, old, v.lines.Line(old)))
		}
		if len(out) > 0 {
			return out
		}
		// Lines came between two that followed each other.
		return []Verdict{{
			Anchor: v.text.Anchor(b, s.width()), Status: Changed, Snapshot: v.held.Snapshot,
			Place: hashline.Range{Start: n + 1, End: next - 1},
		}}
	}
	return []Verdict{{
		Anchor: s.Live.Anchor(n+1, s.width()), Status: NeverServed,
		Place: hashline.Range{Start: n + 1, End: max(n+1, next-1)},
	}}
}
