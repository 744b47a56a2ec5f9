package recovery

import "mapd/hashline"

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
// those on broken lines between them.
func (s Span) Verdicts() []Verdict {
	out := []Verdict{s.Start}
	if s.End.Anchor != s.Start.Anchor {
		out = append(out, s.End)
	}
	return append(out, s.Broken...)
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
		return out
	}
	out.Lines = hashline.Range{Start: out.Start.Line, End: out.End.Line}
	if !out.Lines.Valid() {
		return out
	}
	if out.Start.Status != NeverServed || out.End.Status != NeverServed {
		out.Broken = s.broken(out)
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

// broken returns verdicts on the places inside the span where two live lines
// are not proven to have followed each other in a version that was delivered.
func (s *Scene) broken(span Span) []Verdict {
	var views []*view
	for _, h := range s.Held {
		if v := s.view(h); v != nil {
			views = append(views, v)
		}
	}
	var out []Verdict
	for n := span.Lines.Start; n < span.Lines.End; n++ {
		follows := false
		for _, v := range views {
			a, okA := v.lines.Old(n)
			b, okB := v.lines.Old(n + 1)
			if okA && okB && b == a+1 {
				follows = true
				break
			}
		}
		if !follows {
			out = append(out, s.breach(span, n, views))
		}
	}
	return out
}

// breach describes the place after live line n, where the span is broken, by
// the line that was shown to follow it.
func (s *Scene) breach(span Span, n int, views []*view) Verdict {
	next := n + 1
	out := Verdict{Anchor: s.Live.Anchor(next, s.width()), Status: Changed, Place: hashline.Range{Start: next, End: next}}
	for _, v := range views {
		if v.held.Snapshot != span.Start.Snapshot && v.held.Snapshot != span.End.Snapshot {
			continue
		}
		old, ok := v.lines.Old(n)
		if !ok || old == v.text.Lines() {
			continue
		}
		fate := v.lines.Line(old + 1)
		out.Anchor, out.Snapshot = v.text.Anchor(old+1, s.width()), v.held.Snapshot
		if !fate.Status.Proven() {
			out.Status, out.Place = Status(fate.Status.String()), s.place(fate)
		} else { // lines came between
			out.Place = hashline.Range{Start: next, End: max(next, fate.Now.Start-1)}
		}
		return out
	}
	return out
}
