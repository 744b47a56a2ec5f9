package recovery

import (
	"slices"
	"sort"

	"mapd/hashline"
)

// coverage counts for each line how often it was delivered, as runs of lines
// with equal counts. Counting makes a withdrawal exact, whatever else was
// delivered before or after it.
type coverage struct {
	runs []counted // ascending, without overlaps and without zero counts
}

type counted struct {
	start, end int32
	count      int32
}

// runBytes is the memory of one run.
const runBytes = 12

// add adds n, which may be negative, to the count of each line of r.
func (c *coverage) add(r hashline.Range, n int32) {
	start, end := int32(r.Start), int32(r.End)
	first := sort.Search(len(c.runs), func(i int) bool { return c.runs[i].end >= start-1 })
	last := first
	var out []counted
	at := start // the next line of r that is not in out
	for ; last < len(c.runs) && c.runs[last].start <= end+1; last++ {
		run := c.runs[last]
		if run.start < start {
			out = join(out, counted{run.start, min(run.end, start-1), run.count})
		}
		if at < run.start {
			out = join(out, counted{at, min(run.start-1, end), n})
			at = min(run.start-1, end) + 1
		}
		if lo, hi := max(run.start, start), min(run.end, end); lo <= hi {
			out = join(out, counted{lo, hi, run.count + n})
			at = hi + 1
		}
		if run.end > end {
			out = join(out, counted{max(run.start, end+1), run.end, run.count})
		}
	}
	if at <= end {
		out = join(out, counted{at, end, n})
	}
	c.runs = slices.Replace(c.runs, first, last, out...)
}

// join appends a run, as part of the one before where they touch and agree.
func join(runs []counted, r counted) []counted {
	if r.count <= 0 || r.start > r.end {
		return runs
	}
	if n := len(runs); n > 0 && runs[n-1].end+1 == r.start && runs[n-1].count == r.count {
		runs[n-1].end = r.end
		return runs
	}
	return append(runs, r)
}

// ranges returns the lines with a count, merged.
func (c *coverage) ranges() []hashline.Range {
	var out []hashline.Range
	for _, r := range c.runs {
		if n := len(out); n > 0 && out[n-1].End+1 == int(r.start) {
			out[n-1].End = int(r.end)
			continue
		}
		out = append(out, hashline.Range{Start: int(r.start), End: int(r.end)})
	}
	return out
}

// above returns the lines whose count is higher than in d, merged.
func (c *coverage) above(d coverage) []hashline.Range {
	var out []hashline.Range
	add := func(start, end int32) {
		if start <= end {
			out = append(out, hashline.Range{Start: int(start), End: int(end)})
		}
	}
	for _, r := range c.runs {
		at := r.start
		first := sort.Search(len(d.runs), func(i int) bool { return d.runs[i].end >= r.start })
		for _, less := range d.runs[first:] {
			if less.start > r.end {
				break
			}
			if less.count >= r.count {
				add(at, less.start-1)
				at = less.end + 1
			}
		}
		add(at, r.end)
	}
	return hashline.Merge(out)
}

func (c *coverage) empty() bool { return len(c.runs) == 0 }
