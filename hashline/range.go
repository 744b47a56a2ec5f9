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

// Subtract returns the lines of valid ranges a that are not in b, sorted and
// merged. Neither is modified.
func Subtract(a, b []Range) []Range {
	holes := Merge(b)
	var out []Range
	for _, r := range Merge(a) {
		for len(holes) > 0 && holes[0].End < r.Start {
			holes = holes[1:]
		}
		for _, hole := range holes {
			if hole.Start > r.End {
				break
			}
			if r.Start < hole.Start {
				out = append(out, Range{r.Start, hole.Start - 1})
			}
			r.Start = hole.End + 1
		}
		if r.Start <= r.End {
			out = append(out, r)
		}
	}
	return out
}

// Intersect returns the lines that valid ranges a and b share, sorted and
// merged. Neither is modified.
func Intersect(a, b []Range) []Range {
	a, b = Merge(a), Merge(b)
	var out []Range
	for len(a) > 0 && len(b) > 0 {
		r := Range{max(a[0].Start, b[0].Start), min(a[0].End, b[0].End)}
		if r.Start <= r.End {
			out = append(out, r)
		}
		if a[0].End < b[0].End {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}

// ContainsLine reports whether line n lies in one of rs, which must be sorted
// and merged.
func ContainsLine(rs []Range, n int) bool {
	_, found := slices.BinarySearchFunc(rs, n, func(r Range, n int) int {
		switch {
		case r.End < n:
			return -1
		case r.Start > n:
			return 1
		default:
			return 0
		}
	})
	return found
}
