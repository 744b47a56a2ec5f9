package recovery

import (
	"cmp"
	"slices"

	"mapd/hashline"
)

// follower collects what became of lines on the way to one version.
type follower struct {
	change  Change
	shown   []hashline.Range // lines of that version that were shown in it
	claimed []hashline.Range // lines of that version that are held
	holds   []holding
	lost    []hashline.Range
	news    []staleLines
}

// staleLines is what became of lines of a delivered version.
type staleLines struct {
	from string
	StaleRange
	moved bool // they are still there
}

// through follows holdings of one version, which are older than those that were
// followed before.
func (f *follower) through(holds []holding, way *hashline.LineMap, superseded func(n int) bool) {
	first := len(f.holds)
	for _, h := range holds {
		next := h.now.Start
		for run, now := range way.Kept(h.now) {
			f.unproven(h, hashline.Range{Start: next, End: run.Start - 1}, way, superseded)
			f.proven(h, run, now)
			next = run.End + 1
		}
		f.unproven(h, hashline.Range{Start: next, End: h.now.End}, way, superseded)
	}
	f.claim(first)
}

// claim notes the holdings from the first-th on as held.
func (f *follower) claim(first int) {
	for _, h := range f.holds[first:] {
		f.claimed = append(f.claimed, h.now)
	}
	f.claimed = hashline.Merge(f.claimed)
}

// proven takes lines run of a holding that are proven to be at now, as far as they
// were not shown later.
func (f *follower) proven(h holding, run hashline.Range, now int) {
	at := hashline.Range{Start: now, End: now + run.Len() - 1}
	for _, free := range hashline.Subtract([]hashline.Range{at}, overlapping(f.claimed, at)) {
		part := h.part(hashline.Range{Start: run.Start + free.Start - now, End: run.Start + free.End - now}, free.Start)
		f.holds = append(f.holds, part)
		if now != run.Start && !h.silent {
			f.report(h.from, StaleRange{Served: part.asServed(), Status: Moved, Now: &free, At: free})
		}
	}
}

// overlapping returns those of rs, sorted and merged, that share lines with r.
func overlapping(rs []hashline.Range, r hashline.Range) []hashline.Range {
	first, _ := slices.BinarySearchFunc(rs, r.Start, func(s hashline.Range, n int) int { return cmp.Compare(s.End, n) })
	last := first
	for last < len(rs) && rs[last].Start <= r.End {
		last++
	}
	return rs[first:last]
}

// unproven takes lines of a holding that are not proven.
func (f *follower) unproven(h holding, lines hashline.Range, way *hashline.LineMap, superseded func(n int) bool) {
	for n := lines.Start; n <= lines.End; n++ {
		if superseded(n) {
			continue
		}
		fate := way.Line(n)
		f.lose(fate.Now)
		if h.silent || fate.Now.Valid() && len(hashline.Subtract([]hashline.Range{fate.Now}, overlapping(f.shown, fate.Now))) == 0 {
			continue
		}
		served := h.served + n - h.now.Start
		stale := StaleRange{Served: hashline.Range{Start: served, End: served}, Status: Status(fate.Status.String()), At: fate.Now}
		if fate.Now.Valid() {
			stale.Now = &fate.Now
		}
		f.report(h.from, stale)
	}
}

// lose notes lines that stand where others stood; none if they are not valid.
func (f *follower) lose(r hashline.Range) {
	if !r.Valid() {
		return
	}
	if n := len(f.lost); n > 0 && f.lost[n-1].End+1 >= r.Start && f.lost[n-1].Start <= r.Start {
		f.lost[n-1].End = max(f.lost[n-1].End, r.End)
		return
	}
	f.lost = append(f.lost, r)
}

func (f *follower) report(from string, stale StaleRange) {
	f.news = append(f.news, staleLines{from, stale, stale.Status == Moved})
}

// known returns what is held.
func (f *follower) known() Known {
	slices.SortFunc(f.holds, func(a, b holding) int { return cmp.Compare(a.now.Start, b.now.Start) })
	return Known{snapshot: f.change.Snapshot, holds: f.holds, lost: hashline.Subtract(f.lost, f.claimed)}
}

// told returns what was reported as it is told, by version. What was delivered of
// a version that the ledger does not hold any more is left out.
func (f *follower) told(to *string) []Stale {
	if len(f.news) == 0 {
		return nil
	}
	age := map[string]int{}
	for i, h := range f.change.File.Held {
		age[h.Snapshot] = i
	}
	news := slices.DeleteFunc(f.news, func(n staleLines) bool { _, held := age[n.from]; return !held })
	slices.SortStableFunc(news, func(a, b staleLines) int {
		return cmp.Or(cmp.Compare(age[b.from], age[a.from]), cmp.Compare(a.Served.Start, b.Served.Start))
	})
	var out []Stale
	for _, n := range news {
		if len(out) == 0 || out[len(out)-1].From != n.from {
			out = append(out, Stale{Path: f.change.File.Path, From: n.from, To: to})
		}
		last := &out[len(out)-1]
		last.Ranges = appendStale(last.Ranges, n.StaleRange)
	}
	return out
}

// appendStale adds lines to those before them where both say the same.
func appendStale(out []StaleRange, r StaleRange) []StaleRange {
	if len(out) > 0 {
		last := &out[len(out)-1]
		if last.Status == r.Status && last.Served.End+1 == r.Served.Start && joins(last.Now, r.Now, r.Status) {
			last.Served.End = r.Served.End
			if r.Now != nil {
				now := hashline.Range{Start: last.Now.Start, End: max(last.Now.End, r.Now.End)}
				last.Now, last.At = &now, now
			}
			return out
		}
	}
	return append(out, r)
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
