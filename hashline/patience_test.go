package hashline

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowAgreed enumerates all ascending subsequences.
func slowAgreed(pairs []pair) []pair {
	var longest [][]pair
	var extend func(chain []pair, rest []pair)
	extend = func(chain []pair, rest []pair) {
		if len(longest) == 0 || len(chain) > len(longest[0]) {
			longest = nil
		}
		if len(longest) == 0 || len(chain) == len(longest[0]) {
			longest = append(longest, slices.Clone(chain))
		}
		for i, p := range rest {
			if len(chain) == 0 || chain[len(chain)-1].new < p.new {
				extend(append(slices.Clone(chain), p), rest[i+1:])
			}
		}
	}
	extend(nil, pairs)
	var out []pair
	for _, p := range pairs {
		if !slices.ContainsFunc(longest, func(c []pair) bool { return !slices.Contains(c, p) }) {
			out = append(out, p)
		}
	}
	return out
}

func TestAgreedEqualsEveryLongestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "n")
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8}[:n]).Draw(t, "order")
		var pairs []pair
		for i, j := range order {
			pairs = append(pairs, pair{i, j})
		}
		if got, want := agreed(pairs), slowAgreed(pairs); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("agreed(%v) = %v, want %v", pairs, got, want)
		}
	})
}
