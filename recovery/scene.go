package recovery

import (
	"bytes"

	"mapd/hashline"
)

// Status is what became of an anchor, as it is written on the wire.
type Status string

// The first five are the fates of a proven delivery, see hashline.LineMap.
const (
	Current   Status = "current"
	Moved     Status = "moved"
	Changed   Status = "changed"
	Deleted   Status = "deleted"
	Ambiguous Status = "ambiguous"
	// NeverServed: the anchor was not delivered to the session, as far as it is
	// known. It is accepted if the live line at its number has its hash.
	NeverServed Status = "never_served"
	// BadHash: the session was shown a line of that number, never with that
	// hash, and the live line does not have it either.
	BadHash Status = "bad_hash"
)

// Texts gives access to the versions that are still kept.
type Texts interface {
	// Text returns the text of a version, and false if it is not kept any more.
	Text(snapshot string) (*hashline.Text, bool)
	// Map returns which lines of the version are which lines of the live text,
	// and false if the version is not kept any more.
	Map(snapshot string) (*hashline.LineMap, bool)
}

// Scene is one file at the moment of a request: what the session was shown of
// it, and its live text. Its methods do not modify it, but it caches what it
// asked for and must not be used concurrently.
type Scene struct {
	// Held is what the session was shown, the most recent version first; see
	// Ledger.File.
	Held []*Held
	// Live is the text that the file has now.
	Live *hashline.Text
	// Texts gives the older versions.
	Texts Texts
	// Width is the width of the anchors that are made; 0 means
	// hashline.DefaultWidth.
	Width hashline.Width

	// Careful makes an anchor ambiguous whose letters fit lines of different text
	// in delivered versions, if they lead to different live lines: the most recent
	// need not be the one that is meant, and an edit of the other one cannot be
	// taken back. A line that was shown as it is live is never in doubt, so that
	// who reads again gets on.
	Careful bool

	views    map[string]*view
	followed []*view  // those of views that are kept, in the order of following
	others   []*other // see kept; nil before it was needed
}

// view is a delivered version with its way to the live text.
type view struct {
	held  *Held
	text  *hashline.Text
	lines *hashline.LineMap
}

// view returns the view of a delivered version, or nil if it is not kept.
func (s *Scene) view(h *Held) *view {
	if v, ok := s.views[h.Snapshot]; ok {
		return v
	}
	var v *view
	if text, ok := s.Texts.Text(h.Snapshot); ok {
		if lines, ok := s.Texts.Map(h.Snapshot); ok {
			v = &view{h, text, lines}
			s.followed = append(s.followed, v)
		}
	}
	if s.views == nil {
		s.views = map[string]*view{}
	}
	s.views[h.Snapshot] = v
	return v
}

func (s *Scene) width() hashline.Width {
	if s.Width == 0 {
		return hashline.DefaultWidth
	}
	return s.Width
}

// Verdict is what became of one anchor.
type Verdict struct {
	Anchor hashline.Anchor
	Status Status
	// Line is the live line that the anchor names, if it is accepted; else 0.
	Line int
	// Now is the live anchor of Line at the scene's width; its Line is 0 if Line
	// is.
	Now hashline.Anchor
	// Snapshot is the delivered version that the verdict rests on; empty for
	// NeverServed and BadHash.
	Snapshot string
	// Place holds the live lines to look at: Line, or what stands where the line
	// stood. It is not Valid when the live text has no lines.
	Place hashline.Range
	// Aside marks a line between two anchors of which one is refused already: it
	// adds to what is affected, but not to what is refused.
	Aside bool
}

// Accepted reports whether the anchor names a live line.
func (v Verdict) Accepted() bool { return v.Line > 0 }

// Resolve judges one anchor on its own. Candidates are the versions delivered
// to the session in which that line was shown and carries that hash; the most
// recent one decides. With a snapshot only that version is a candidate.
func (s *Scene) Resolve(a hashline.Anchor, snapshot string) Verdict {
	shown := false
	for _, h := range s.Held {
		if snapshot != "" && h.Snapshot != snapshot || !hashline.ContainsLine(h.Lines, a.Line) {
			continue
		}
		text, ok := s.Texts.Text(h.Snapshot)
		if !ok {
			continue
		}
		shown = true
		if !a.Matches(text.Hash(a.Line)) {
			continue
		}
		if v := s.view(h); v != nil {
			out := s.verdict(a, v)
			if s.Careful && out.Accepted() && v.text != s.Live && s.doubtful(out, v, snapshot) {
				return Verdict{Anchor: a, Status: Ambiguous, Snapshot: h.Snapshot, Place: out.Place}
			}
			return out
		}
	}
	return s.unserved(a, shown)
}

// doubtful reports whether the anchor of a verdict also fits a line of another
// delivered version that had other text and is not the same live line.
func (s *Scene) doubtful(found Verdict, by *view, snapshot string) bool {
	n := found.Anchor.Line
	for _, h := range s.Held {
		if h.Snapshot == by.held.Snapshot || snapshot != "" || !hashline.ContainsLine(h.Lines, n) {
			continue
		}
		text, ok := s.Texts.Text(h.Snapshot)
		if !ok || !found.Anchor.Matches(text.Hash(n)) || sameAround(text, by.text, n) {
			continue
		}
		if other := s.view(h); other != nil {
			if fate := other.lines.Line(n); !fate.Status.Proven() || fate.Now.Start != found.Line {
				return true
			}
		}
	}
	return false
}

// sameAround reports whether line n and its neighbours are equal in two texts.
func sameAround(a, b *hashline.Text, n int) bool {
	for k := n - 1; k <= n+1; k++ {
		inA, inB := k >= 1 && k <= a.Lines(), k >= 1 && k <= b.Lines()
		if inA != inB || inA && !bytes.Equal(a.Line(k), b.Line(k)) {
			return false
		}
	}
	return true
}

// verdict follows the anchor's line from a version in which it was delivered.
func (s *Scene) verdict(a hashline.Anchor, v *view) Verdict {
	fate := v.lines.Line(a.Line)
	out := Verdict{Anchor: a, Status: Status(fate.Status.String()), Snapshot: v.held.Snapshot, Place: s.place(fate)}
	if fate.Status.Proven() {
		s.accept(&out, fate.Now.Start)
	}
	return out
}

// unserved judges an anchor that was not delivered.
func (s *Scene) unserved(a hashline.Anchor, shown bool) Verdict {
	out := Verdict{Anchor: a, Status: NeverServed}
	if n := s.Live.Lines(); n > 0 {
		at := min(a.Line, n)
		out.Place = hashline.Range{Start: at, End: at}
	}
	switch {
	case a.Line <= s.Live.Lines() && a.Matches(s.Live.Hash(a.Line)):
		s.accept(&out, a.Line)
	case shown:
		out.Status = BadHash
	}
	return out
}

func (s *Scene) accept(v *Verdict, line int) {
	v.Line = line
	v.Now = s.Live.Anchor(line, s.width())
	v.Place = hashline.Range{Start: line, End: line}
}

// place returns the live lines to look at for a fate: where nothing stands any
// more, the line that follows, or the last one.
func (s *Scene) place(f hashline.Fate) hashline.Range {
	if f.Now.Valid() {
		return f.Now
	}
	n := s.Live.Lines()
	if n == 0 {
		return hashline.Range{}
	}
	at := min(f.Now.Start, n)
	return hashline.Range{Start: at, End: at}
}

// Report is what became of the anchors of one request.
type Report struct {
	Results []Verdict
	// Remaps holds, for each accepted anchor whose live form differs, the one by
	// the other, in their canonical forms.
	Remaps map[string]string
	// Affected are the live lines to look at for the anchors that were not
	// accepted, sorted and merged.
	Affected []hashline.Range
	// Fresh: every anchor still stands at its number.
	Fresh bool
}

// Check judges anchors, each alone.
func (s *Scene) Check(anchors []hashline.Anchor, snapshot string) Report {
	results := make([]Verdict, len(anchors))
	for i, a := range anchors {
		results[i] = s.Resolve(a, snapshot)
	}
	return s.report(results)
}

func (s *Scene) report(results []Verdict) Report {
	r := Report{Results: results, Remaps: map[string]string{}, Fresh: true}
	for _, v := range results {
		if !v.Accepted() {
			r.Fresh = false
			if v.Place.Valid() {
				r.Affected = append(r.Affected, v.Place)
			}
			continue
		}
		r.Fresh = r.Fresh && v.Line == v.Anchor.Line
		if v.Renamed() {
			r.Remaps[v.Anchor.String()] = v.Now.String()
		}
	}
	r.Affected = hashline.Merge(r.Affected)
	return r
}

// Renamed reports whether an accepted anchor's live form is not the one that
// was sent; a longer hash of the same line does not count.
func (v Verdict) Renamed() bool {
	return v.Accepted() && (v.Line != v.Anchor.Line || !v.sameHash())
}

// sameHash compares the letters that both anchors have.
func (v Verdict) sameHash() bool {
	w := min(v.Anchor.Width, v.Now.Width)
	mask := hashline.Hash(1<<(4*w) - 1)
	return v.Anchor.Hash&mask == v.Now.Hash&mask
}

// Sight says of live lines how the session has seen them, in any version from
// which they are proven.
type Sight uint8

const (
	Unseen  Sight = iota // never shown
	Partial              // shown only cut, or with bytes replaced
	Whole                // shown complete
)

// Sight returns how the session has seen a live line.
func (s *Scene) Sight(line int) Sight {
	best := Unseen
	shows := func(o *other) bool { return o.shows(s.Live.Line(line)) }
	for v := range s.kept(shows) {
		old, ok := v.lines.Old(line)
		switch {
		case !ok || !hashline.ContainsLine(v.held.Lines, old):
		case hashline.ContainsLine(v.held.Whole, old):
			return Whole
		default:
			best = Partial
		}
	}
	return best
}
