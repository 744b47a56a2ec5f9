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
	// Snapshot is the live version; it is Gone if there is none.
	Snapshot string
	// Binary: the live version has no lines, so that they are no question until it
	// has.
	Binary bool
	// Map returns which lines of one version are which lines of another, and
	// false if one of them is not kept any more.
	Map func(from, to string) (*hashline.LineMap, bool)
}

// News is what a session has to be told of a file.
type News struct {
	// Stale is what became of the lines that the session holds, one object for
	// each delivered version, the oldest first; nothing if it knows all of it.
	Stale []Stale
	// Known is for Ledger.Tell, once the session is told.
	Known Known
}

// maxFresh is how many versions that were delivered since the session was last
// told are looked at, the most recent ones.
const maxFresh = 256

// News returns what became of the lines that the session holds since it was last
// told. Lines whose live state was itself delivered are left out, and lines of
// which the session was already told that they are gone or changed.
func (c Change) News() News {
	switch {
	case c.Binary:
		return News{Known: c.last().known().parked(c.Snapshot, false)}
	case c.Snapshot == Gone:
		return c.goneNews()
	default:
		f := c.follow()
		return News{Stale: f.told(&c.Snapshot), Known: f.known()}
	}
}

// Standing returns what of the lines that the session holds is not as it was
// shown, whatever it was told, one object for each delivered version, the oldest
// first. Lines that it changed itself are left out, and so is what others had
// changed before its last edit, which the reply to that told.
func (c Change) Standing() []Stale {
	c.File.known, c.File.toldAt = c.File.own, c.File.ownAt
	return c.News().Stale
}

// goneNews is News of a file that does not exist.
func (c Change) goneNews() News {
	if c.File.known.at(Gone) && len(c.File.fresh()) == 0 {
		return News{Known: c.File.known}
	}
	f := c.last()
	known := f.known()
	for i, n := range f.news {
		f.news[i].StaleRange = StaleRange{Served: n.Served, Status: Deleted}
	}
	f.news = slices.DeleteFunc(f.news, func(n staleLines) bool { return n.moved })
	for _, h := range known.holds {
		if !h.silent {
			f.report(h.from, StaleRange{Served: h.asServed(), Status: Deleted})
		}
	}
	return News{Stale: f.told(nil), Known: known.parked(Gone, true)}
}

// last follows all that the session holds to the version that it saw last, for a
// file that has no lines now.
func (c Change) last() *follower {
	c.Snapshot = c.File.known.snapshot
	if fresh := c.File.fresh(); len(fresh) > 0 {
		c.Snapshot = fresh[0].Snapshot
	}
	return c.follow()
}

// follow follows all that the session holds to the version c.Snapshot: newest
// first, so that a line is held from its newest showing.
func (c Change) follow() *follower {
	f := &follower{change: c}
	for _, h := range c.File.Held {
		if h.Snapshot == c.Snapshot {
			f.shown = h.Lines
			f.holds = asHeld(h)
			f.claim(0)
			break
		}
	}
	known := c.File.known
	fresh := c.File.fresh()
	since, ok := c.way(known.snapshot)
	if !ok { // what it was told of is not kept any more
		known, fresh = Known{}, c.File.Held
	}
	for i, h := range fresh[:min(len(fresh), maxFresh)] {
		if way, ok := c.way(h.Snapshot); ok && h.Snapshot != c.Snapshot {
			f.through(asHeld(h), way, c.superseded(h.Snapshot, fresh[:i]))
		}
	}
	if since != nil {
		f.through(known.holds, since, c.superseded(known.snapshot, fresh))
		for _, r := range known.lost {
			f.lose(since.Place(r))
		}
	}
	return f
}

// way returns the map from a version to c.Snapshot; nil and true for none.
func (c Change) way(from string) (*hashline.LineMap, bool) {
	if from == "" {
		return nil, true
	}
	return c.Map(from, c.Snapshot)
}

func asHeld(h *Held) (out []holding) {
	for _, r := range h.Lines {
		out = append(out, holding{from: h.Snapshot, served: r.Start, now: r})
	}
	return out
}

// maxNewer is how many newer versions a line is looked for in, to speak only of
// its newest showing.
const maxNewer = 8

// superseded returns whether a line of a version was shown again in one that was
// delivered later: then what becomes of it is told of that one.
func (c Change) superseded(snapshot string, newer []*Held) func(n int) bool {
	type showing struct {
		lines []hashline.Range
		of    *hashline.LineMap
	}
	var again []showing
	asked := false
	return func(n int) bool {
		if !asked {
			asked = true
			for _, later := range newer[:min(len(newer), maxNewer)] {
				if m, ok := c.Map(snapshot, later.Snapshot); ok {
					again = append(again, showing{later.Lines, m})
				}
			}
		}
		for _, s := range again {
			if f := s.of.Line(n); f.Status.Proven() && hashline.ContainsLine(s.lines, f.Now.Start) {
				return true
			}
		}
		return false
	}
}

// Survey is the state of what a session holds of a file, in live lines.
type Survey struct {
	// Ranges are the live lines that stand for what was delivered: reading them
	// restores what the session knew of the file. Stale are those of them that
	// are not proven to be lines it was shown.
	Ranges, Stale []hashline.Range
}

// Survey returns the state of what was delivered. Of a file that is gone both
// Ranges and Stale are the lines of the version delivered last.
func (c Change) Survey() Survey {
	var out Survey
	if c.Snapshot == Gone {
		if len(c.File.Held) > 0 {
			out.Ranges = c.File.Held[0].Lines
			out.Stale = out.Ranges
		}
		return out
	}
	known := c.follow().known()
	proven := known.lines()
	out.Ranges = hashline.Merge(append(slices.Clone(proven), known.lost...))
	out.Stale = hashline.Subtract(known.lost, proven)
	return out
}
