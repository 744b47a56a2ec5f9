package recovery

import (
	"slices"

	"mapd/hashline"
)

// Known is what a session holds of a file in terms of one version: the last one
// of which it knows what became of its lines. Each line is held from the newest
// version in which it was shown, so that a Known has at most as many holdings as
// the version has lines, however many versions were delivered. It is immutable;
// the zero value holds nothing.
type Known struct {
	snapshot string
	// elsewhere is the snapshot of a later version that has no lines, or Gone: then
	// nothing is to be said of them until it changes. It is empty if there is none.
	elsewhere string
	holds     []holding // ascending, without overlaps
	// lost are lines of the version that stand where lines stood that the session
	// was shown: it knows that they changed. Sorted and merged.
	lost []hashline.Range
}

// holding is lines that a session was shown.
type holding struct {
	from   string // the snapshot of the version in which they were shown
	served int    // the first one's number there
	now    hashline.Range
	// silent: the session was told that they are gone. If they come back, they
	// are held as before, but no news.
	silent bool
}

// at reports whether k is of that snapshot, which may be Gone.
func (k Known) at(snapshot string) bool {
	if k.elsewhere != "" {
		return k.elsewhere == snapshot
	}
	return k.snapshot == snapshot
}

// bytes is the memory of k.
func (k Known) bytes() int64 { return 64*int64(cap(k.holds)) + rangeBytes*int64(cap(k.lost)) }

// After returns what the session knows once it has itself made the version with
// snapshot to, by an edit that did that to the lines.
func (k Known) After(to string, edit *hashline.LineMap) Known {
	out := Known{snapshot: to, holds: make([]holding, 0, len(k.holds)+4)}
	for _, h := range k.holds {
		for run, now := range edit.Kept(h.now) {
			out.holds = append(out.holds, h.part(run, now))
		}
	}
	for _, r := range k.lost {
		if now := edit.Place(r); now.Valid() {
			out.lost = append(out.lost, now)
		}
	}
	out.lost = hashline.Merge(out.lost)
	return out
}

// part returns the lines run of h.now, of which the first one is at now.
func (h holding) part(run hashline.Range, now int) holding {
	h.served += run.Start - h.now.Start
	h.now = hashline.Range{Start: now, End: now + run.Len() - 1}
	return h
}

// lines returns the lines that are held, sorted and merged.
func (k Known) lines() []hashline.Range {
	var out []hashline.Range
	for _, h := range k.holds {
		out = append(out, h.now)
	}
	return hashline.Merge(out)
}

// asServed returns the lines in the version in which they were shown.
func (h holding) asServed() hashline.Range {
	return hashline.Range{Start: h.served, End: h.served + h.now.Len() - 1}
}

// parked returns k for a file that has no lines at that snapshot, or is Gone. With
// silent, what it holds is no news any more.
func (k Known) parked(snapshot string, silent bool) Known {
	k.elsewhere = snapshot
	k.holds = slices.Clone(k.holds)
	for i := range k.holds {
		k.holds[i].silent = k.holds[i].silent || silent
	}
	return k
}
