package recovery

import (
	"slices"

	"mapd/hashline"
)

// Stale is what became of lines that a session holds, in the shape of the
// notification mapd/stale.
type Stale struct {
	Path string `json:"path"`
	// From is the version in which the lines were delivered, To the live one;
	// nil if the file is gone.
	From   string       `json:"from"`
	To     *string      `json:"to"`
	Ranges []StaleRange `json:"ranges"`
	// By names who changed the file, where it is known.
	By string `json:"by,omitzero"`
}

// StaleRange is a run of delivered lines with one fate.
type StaleRange struct {
	Served hashline.Range  `json:"served"` // lines of Stale.From
	Status Status          `json:"status"`
	Now    *hashline.Range `json:"now,omitzero"` // live lines; nil if deleted
	// At is where to look in the live text: Now, or for deleted lines the empty
	// range before the line that follows them.
	At hashline.Range `json:"-"`
}

// Change is a file as a session should know it.
type Change struct {
	File File
	// Snapshot and Live are the live version; Live is nil if the file is gone.
	Snapshot string
	Live     *hashline.Text
	// Map returns which lines of one version are which lines of another, and
	// false if one of them is not kept any more.
	Map func(from, to string) (*hashline.LineMap, bool)
	// Told and Tell remember what a session was told of a version: which of its
	// lines were which of the version that it was told of, and were so ever since.
	// Without them, or when Told does not know, that is asked of Map; it costs a
	// comparison for each version that the session holds.
	Told func(from, to string) (*hashline.LineMap, bool)
	Tell func(from, to string, lines *hashline.LineMap)
}

// Staleness returns what became of the lines that the session holds since it
// was last told, one object for each delivered version, the oldest first;
// nothing if it knows all of it. Lines whose live state was itself delivered are
// left out, and lines of which the session was already told that they are gone
// or changed. The caller passes on what is returned and calls Ledger.Tell with
// the live snapshot, or with Gone.
//
// A version that is no longer kept is left out: its anchors count as never
// delivered.
func (c Change) Staleness() []Stale {
	var out []Stale
	for i, h := range slices.Backward(c.File.Held) {
		if h.Snapshot == c.Snapshot && c.Live != nil {
			continue
		}
		if ranges := c.ranges(h, c.superseded(h, c.File.Held[:i])); len(ranges) > 0 {
			s := Stale{Path: c.File.Path, From: h.Snapshot, Ranges: ranges}
			if c.Live != nil {
				to := c.Snapshot
				s.To = &to
			}
			out = append(out, s)
		}
	}
	return out
}

// Standing returns what of the lines that the session holds is not as it was
// shown, whatever it was told, one object for each delivered version, the oldest
// first. Lines that it changed itself are left out, and so is what others had
// changed before its last edit, which the reply to that told.
func (c Change) Standing() []Stale {
	c.File.told, c.File.toldAt, c.File.gone = c.File.own, c.File.ownAt, 0
	c.Told, c.Tell = nil, nil
	return c.Staleness()
}

// maxNewer is how many newer versions a line is looked for in, to speak only of
// its newest showing.
const maxNewer = 8

// superseded returns whether a line of a delivered version was shown again in
// one that was delivered later: then what becomes of it is told of that one.
func (c Change) superseded(h *Held, newer []*Held) func(n int) bool {
	type showing struct {
		lines []hashline.Range
		of    *hashline.LineMap
	}
	var again []showing
	for _, later := range newer[:min(len(newer), maxNewer)] {
		if m, ok := c.Map(h.Snapshot, later.Snapshot); ok {
			again = append(again, showing{later.Lines, m})
		}
	}
	return func(n int) bool {
		for _, s := range again {
			if f := s.of.Line(n); f.Status.Proven() && hashline.ContainsLine(s.lines, f.Now.Start) {
				return true
			}
		}
		return false
	}
}

// ranges returns the news about one delivered version: what became, since the
// session was last told, of the lines that were proven to be there still and were
// not shown again in a newer version.
func (c Change) ranges(h *Held, superseded func(n int) bool) []StaleRange {
	if c.File.Told(h) == Gone {
		return nil
	}
	before, since := c.known(h)
	fate := func(int) hashline.Fate { return hashline.Fate{Status: hashline.Deleted} }
	if c.Live != nil {
		m, ok := c.Map(since, c.Snapshot)
		if !ok && since != h.Snapshot { // what it was told of is not kept any more
			before, since = asServed(h)
			m, ok = c.Map(since, c.Snapshot)
		}
		if !ok {
			return nil
		}
		fate = m.Line
		if c.Tell != nil {
			c.Tell(h.Snapshot, c.Snapshot, before.Compose(m))
		}
	}
	shown := c.shownLive()
	var out []StaleRange
	for _, r := range h.Lines {
		for n := r.Start; n <= r.End; n++ {
			was := before.Line(n)
			if !was.Status.Proven() {
				continue
			}
			f := fate(was.Now.Start)
			if f.Status == hashline.Current || seen(f, shown) || superseded(n) {
				continue
			}
			out = appendStale(out, n, f)
		}
	}
	return out
}

// known returns what the session was told last of a delivered version: which of
// its lines are which of a later version, or of itself, that it was told of.
func (c Change) known(h *Held) (lines *hashline.LineMap, since string) {
	if told := c.File.Told(h); told != "" && told != h.Snapshot {
		for _, ask := range []func(string, string) (*hashline.LineMap, bool){c.Told, c.Map} {
			if ask == nil {
				continue
			}
			if lines, ok := ask(h.Snapshot, told); ok {
				return lines, told
			}
		}
	}
	return asServed(h)
}

func asServed(h *Held) (lines *hashline.LineMap, since string) {
	last := 0
	if n := len(h.Lines); n > 0 {
		last = h.Lines[n-1].End
	}
	return hashline.Identity(last), h.Snapshot
}

// seen reports whether the live lines of a fate are among those shown.
func seen(f hashline.Fate, shown []hashline.Range) bool {
	i, ok := slices.BinarySearchFunc(shown, f.Now.Start, func(r hashline.Range, n int) int {
		switch {
		case r.End < n:
			return -1
		case r.Start > n:
			return 1
		default:
			return 0
		}
	})
	return ok && f.Now.Valid() && f.Now.End <= shown[i].End
}

// shownLive returns the live lines that the session was shown as they are now.
func (c Change) shownLive() []hashline.Range {
	if c.Live == nil {
		return nil
	}
	for _, h := range c.File.Held {
		if h.Snapshot == c.Snapshot {
			return h.Lines
		}
	}
	return nil
}

// appendStale adds line n to the run before it where both say the same.
func appendStale(out []StaleRange, n int, f hashline.Fate) []StaleRange {
	status := Status(f.Status.String())
	if f.Status == hashline.Current { // back where it was before it moved
		status = Moved
	}
	var now *hashline.Range
	if f.Now.Valid() {
		now = &hashline.Range{Start: f.Now.Start, End: f.Now.End}
	}
	if len(out) > 0 {
		last := &out[len(out)-1]
		if last.Status == status && last.Served.End+1 == n && joins(last.Now, now, status) {
			last.Served.End = n
			if now != nil {
				last.Now.End = max(last.Now.End, now.End)
				last.At = *last.Now
			}
			return out
		}
	}
	return append(out, StaleRange{Served: hashline.Range{Start: n, End: n}, Status: status, Now: now, At: f.Now})
}

// joins reports whether the live lines of two neighbours are one run.
func joins(a, b *hashline.Range, status Status) bool {
	if a == nil || b == nil {
		return a == b
	}
	if status == Ambiguous {
		return b.Start <= a.End+1
	}
	return b.Start == a.End+1
}

// Survey is the state of what a session holds of a file, in live lines.
type Survey struct {
	// Ranges are the live lines that stand for what was delivered: reading them
	// restores what the session knew of the file. Stale are those of them that
	// are not proven to be lines it was shown.
	Ranges, Stale []hashline.Range
}

// Survey returns the state of what was delivered. Without a live text both
// Ranges and Stale are the lines of the version delivered last, which are all
// gone.
func (c Change) Survey() Survey {
	var out Survey
	if c.Live == nil {
		if len(c.File.Held) > 0 {
			out.Ranges = c.File.Held[0].Lines
			out.Stale = out.Ranges
		}
		return out
	}
	var proven, others []hashline.Range
	for _, h := range c.File.Held {
		m, ok := c.Map(h.Snapshot, c.Snapshot)
		if !ok {
			continue
		}
		for _, r := range h.Lines {
			for n := r.Start; n <= r.End; n++ {
				f := m.Line(n)
				switch {
				case f.Status.Proven():
					proven = appendLine(proven, f.Now)
				case f.Now.Valid():
					others = appendLine(others, f.Now)
				}
			}
		}
	}
	out.Ranges = hashline.Merge(append(slices.Clone(proven), others...))
	out.Stale = hashline.Subtract(others, proven)
	return out
}

// appendLine adds lines that follow the last ones, as one range with them.
func appendLine(rs []hashline.Range, r hashline.Range) []hashline.Range {
	if n := len(rs); n > 0 && rs[n-1].End+1 == r.Start {
		rs[n-1].End = r.End
		return rs
	}
	return append(rs, r)
}
