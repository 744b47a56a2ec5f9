package hashline

import (
	"cmp"
	"fmt"
	"slices"
)

// Range is a run of lines from Start to End, 1-based and inclusive.
type Range struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Valid reports whether 1 <= Start <= End.
func (r Range) Valid() bool { return r.Start >= 1 && r.End >= r.Start }

// Len returns the number of lines in r.
func (r Range) Len() int { return r.End - r.Start + 1 }

// Contains reports whether line n lies in r.
func (r Range) Contains(n int) bool { return r.Start <= n && n <= r.End }

// String returns "A-B", or "A" for a single line.
func (r Range) String() string {
	if r.Start == r.End {
		return fmt.Sprint(r.Start)
	}
	return fmt.Sprintf("%d-%d", r.Start, r.End)
}

// Clip returns the part of r within lines 1 to lines, and false if there is
// none.
func (r Range) Clip(lines int) (Range, bool) {
	r.Start, r.End = max(r.Start, 1), min(r.End, lines)
	return r, r.Start <= r.End
}

// Merge returns the same lines as valid ranges rs, sorted, with ranges that
// overlap or touch ({1,5} and {6,9}) made one. rs is not modified.
func Merge(rs []Range) []Range {
	sorted := slices.Clone(rs)
	slices.SortFunc(sorted, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	var out []Range
	for _, r := range sorted {
		if n := len(out); n > 0 && r.Start <= out[n-1].End+1 {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Compact returns lines, in any order and with repetitions, as the fewest
// sorted ranges. lines is not modified.
func Compact(lines []int) []Range {
	var rs []Range
	for _, n := range lines {
		rs = append(rs, Range{n, n})
	}
	return Merge(rs)
}
