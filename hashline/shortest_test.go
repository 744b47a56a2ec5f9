package hashline

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// slowForced enumerates every shortest script with a full table.
func slowForced(a, b []int32) (match []int, deleted []bool, edits int) {
	n, m := len(a), len(b)
	dist := make([][]int, n+1) // to the end
	for x := n; x >= 0; x-- {
		dist[x] = make([]int, m+1)
		for y := m; y >= 0; y-- {
			switch {
			case x == n:
				dist[x][y] = m - y
			case y == m:
				dist[x][y] = n - x
			default:
				dist[x][y] = 1 + min(dist[x+1][y], dist[x][y+1])
				if a[x] == b[y] {
					dist[x][y] = min(dist[x][y], dist[x+1][y+1])
				}
			}
		}
	}
	// Visit all points on shortest paths and collect the partners of each x.
	partners := make([]map[int]bool, n)
	for i := range partners {
		partners[i] = map[int]bool{}
	}
	seen := map[[2]int]bool{}
	var visit func(x, y int)
	visit = func(x, y int) {
		if seen[[2]int{x, y}] {
			return
		}
		seen[[2]int{x, y}] = true
		d := dist[x][y]
		if x < n && y < m && a[x] == b[y] && dist[x+1][y+1] == d {
			partners[x][y] = true
			visit(x+1, y+1)
		}
		if x < n && dist[x+1][y] == d-1 {
			partners[x][unmatched] = true
			visit(x+1, y)
		}
		if y < m && dist[x][y+1] == d-1 {
			visit(x, y+1)
		}
	}
	visit(0, 0)
	match, deleted = make([]int, n), make([]bool, n)
	for x, p := range partners {
		match[x] = unmatched
		deleted[x] = len(p) == 1 && p[unmatched]
		if len(p) == 1 {
			for y := range p {
				match[x] = y
			}
		}
	}
	return match, deleted, dist[0][0]
}

func TestForcedEqualsEveryShortestScript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.Int32Range(0, rapid.SampledFrom([]int32{1, 3, 8}).Draw(t, "letters"))
		a := rapid.SliceOfN(letters, 0, 14).Draw(t, "a")
		b := rapid.SliceOfN(letters, 0, 14).Draw(t, "b")
		want, deleted, edits := slowForced(a, b)
		steps := 1 << 20
		got, _, ok := forced(a, b, 1000, &steps)
		if !ok || fmt.Sprint(got.match) != fmt.Sprint(want) {
			t.Fatalf("forced(%v, %v) = %v, %v; want %v", a, b, got.match, ok, want)
		}
		for i, m := range got.match {
			if m == unmatched && !got.loose[i] && !deleted[i] {
				t.Fatalf("forced(%v, %v): element %d is not loose, but some script matches it", a, b, i)
			}
			if m != unmatched && got.loose[i] {
				t.Fatalf("forced(%v, %v): element %d is matched and loose", a, b, i)
			}
		}
		steps = 1 << 20
		if _, _, ok := forced(a, b, edits, &steps); !ok {
			t.Fatalf("forced(%v, %v) gives up at its own %d edits", a, b, edits)
		}
		if _, _, ok := forced(a, b, edits-1, &steps); ok {
			t.Fatalf("forced(%v, %v) found fewer than %d edits", a, b, edits)
		}
	})
}
