package hashline

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		in, want []Range
	}{
		{nil, nil},
		{[]Range{{3, 4}}, []Range{{3, 4}}},
		{[]Range{{1, 5}, {6, 9}}, []Range{{1, 9}}},
		{[]Range{{1, 5}, {7, 9}}, []Range{{1, 5}, {7, 9}}},
		{[]Range{{10, 20}, {1, 2}}, []Range{{1, 2}, {10, 20}}},
		{[]Range{{1, 9}, {2, 3}, {9, 9}}, []Range{{1, 9}}},
		{[]Range{{4, 4}, {4, 4}, {5, 5}}, []Range{{4, 5}}},
	} {
		in := slices.Clone(c.in)
		if got := Merge(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Merge(%v) = %v, want %v", c.in, got, c.want)
		}
		if !slices.Equal(in, c.in) {
			t.Errorf("Merge changed its argument to %v", c.in)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		r     Range
		lines int
		want  Range
		ok    bool
	}{
		{Range{1, 5}, 10, Range{1, 5}, true},
		{Range{8, 15}, 10, Range{8, 10}, true},
		{Range{10, 10}, 10, Range{10, 10}, true},
		{Range{11, 15}, 10, Range{11, 10}, false},
		{Range{-3, 2}, 10, Range{1, 2}, true},
		{Range{1, 5}, 0, Range{1, 0}, false},
		{Range{5, 4}, 10, Range{5, 4}, false},
	} {
		if got, ok := c.r.Clip(c.lines); got != c.want || ok != c.ok {
			t.Errorf("%v.Clip(%d) = %v, %v; want %v, %v", c.r, c.lines, got, ok, c.want, c.ok)
		}
	}
}

func TestRangeMethods(t *testing.T) {
	if got := (Range{3, 3}).String(); got != "3" {
		t.Errorf("String of one line = %q", got)
	}
	if got := (Range{3, 7}).String(); got != "3-7" {
		t.Errorf("String = %q", got)
	}
	if (Range{0, 3}).Valid() || (Range{4, 3}).Valid() || !(Range{3, 3}).Valid() {
		t.Error("Valid must hold exactly when 1 <= Start <= End")
	}
	if got := Compact([]int{7, 5, 6, 5, 1}); !slices.Equal(got, []Range{{1, 1}, {5, 7}}) {
		t.Errorf("Compact = %v", got)
	}
}

// TestMergeIsTheSetOfLines holds Merge, Compact, Subtract and Intersect against
// sets of line numbers.
func TestMergeIsTheSetOfLines(t *testing.T) {
	ranges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
		start := rapid.IntRange(1, 30).Draw(t, "start")
		return Range{start, start + rapid.IntRange(0, 6).Draw(t, "more")}
	}), 0, 8)
	members := func(rs []Range) map[int]bool {
		set := map[int]bool{}
		for _, r := range rs {
			for n := r.Start; n <= r.End; n++ {
				set[n] = true
			}
		}
		return set
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := ranges.Draw(t, "a"), ranges.Draw(t, "b")
		inA, inB := members(a), members(b)
		check := func(what string, got []Range, want func(n int) bool) {
			var lines []int
			for n := range 40 {
				if want(n) {
					lines = append(lines, n)
				}
			}
			if !slices.Equal(got, Compact(lines)) {
				t.Fatalf("%s of %v and %v = %v, want %v", what, a, b, got, Compact(lines))
			}
			for i, r := range got {
				if !r.Valid() || i > 0 && r.Start <= got[i-1].End+1 {
					t.Fatalf("%s of %v and %v = %v is not compact", what, a, b, got)
				}
			}
		}
		check("Merge", Merge(a), func(n int) bool { return inA[n] })
		check("Subtract", Subtract(a, b), func(n int) bool { return inA[n] && !inB[n] })
		check("Intersect", Intersect(a, b), func(n int) bool { return inA[n] && inB[n] })
	})
}
