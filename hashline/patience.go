package hashline

import "sort"

// pair is a line of the old sequence and its partner in the new one.
type pair struct{ old, new int }

// uniquePairs returns the lines that occur once in a and once in b, in the order
// of a. count must be zero for every number and is left so.
func uniquePairs(a, b []int32, count []occurrences, where []int32) []pair {
	for _, id := range a {
		count[id].old++
	}
	for j, id := range b {
		count[id].new++
		where[id] = int32(j)
	}
	var pairs []pair
	for i, id := range a {
		if count[id] == (occurrences{1, 1}) {
			pairs = append(pairs, pair{i, int(where[id])})
		}
	}
	for _, id := range a {
		count[id] = occurrences{}
	}
	for _, id := range b {
		count[id] = occurrences{}
	}
	return pairs
}

// agreed returns those of pairs, which are in the order of their old lines, that
// belong to every longest subsequence in which the new lines ascend too. What a
// swap or a move of equal length leaves open is not among them.
func agreed(pairs []pair) []pair {
	before := chainLengths(pairs)
	longest := 0
	for _, n := range before {
		longest = max(longest, n)
	}
	mirrored := make([]pair, len(pairs))
	for i, p := range pairs {
		mirrored[len(pairs)-1-i] = pair{-p.old, -p.new}
	}
	after := chainLengths(mirrored)
	// A pair lies on some longest chain when the chains that end and start in it
	// add up; it lies on all of them when no other pair has its rank there.
	rank := make([]int, longest+1)
	onLongest := func(i int) bool { return before[i]+after[len(pairs)-1-i]-1 == longest }
	for i := range pairs {
		if onLongest(i) {
			rank[before[i]]++
		}
	}
	var out []pair
	for i, p := range pairs {
		if onLongest(i) && rank[before[i]] == 1 {
			out = append(out, p)
		}
	}
	return out
}

// chainLengths returns for each pair the length of the longest ascending
// subsequence of new lines that ends in it.
func chainLengths(pairs []pair) []int {
	lengths := make([]int, len(pairs))
	var tails []int // tails[n] is the smallest end of a chain of length n+1
	for i, p := range pairs {
		n := len(tails)
		if n > 0 && tails[n-1] > p.new {
			n = sort.SearchInts(tails, p.new)
		}
		if n == len(tails) {
			tails = append(tails, p.new)
		} else {
			tails[n] = p.new
		}
		lengths[i] = n + 1
	}
	return lengths
}
