package hashline

// maxEdits is the longest shortest edit script that forced looks for. Its table
// has maxEdits² entries, so it bounds memory (4 MiB) as well as time.
const maxEdits = 1000

// unmatched marks a line without a partner.
const unmatched = -1

// forcing is what the short edit scripts between two sequences agree on.
type forcing struct {
	// match[i] is the element of the new sequence that every shortest script
	// pairs with element i of the old one, or unmatched.
	match []int
	// loose[i] is set when match[i] is unmatched although some script may pair
	// element i: its fate depends on how the change is read.
	loose []bool
}

// slack is by how many edits a script may be longer than the shortest and still
// be a reading of the change that counts: so many lines less in common, twice.
const slack = 4

// forced compares a and b and returns what all shortest edit scripts between
// them agree on, with the distances it computed. It gives up, with false, when a
// shortest script has more than limit edits, or when steps, which it counts
// down, runs out.
//
// The scripts are paths through the edit graph from (0,0) to (len(a), len(b)).
// The shortest ones form a lattice: of two that cross, the outer parts and the
// inner parts are shortest paths too. So there is one outermost path on each
// side, every other one lies between these two, and where the two share a
// diagonal all of them do. The reverse pass of Myers' greedy algorithm yields
// the distance to the end of every point near such a path; with it each
// outermost path is one walk that always takes the outermost step from which
// the end is still near enough.
func forced(a, b []int32, limit int, steps *int) (f forcing, toEnd *distances, ok bool) {
	toEnd = &distances{a: a, b: b}
	if !toEnd.fill(min(limit, maxEdits), steps) {
		return forcing{}, nil, false
	}
	lower, lowerAt := toEnd.walk(true)
	upper, upperAt := toEnd.walk(false)
	f = forcing{match: make([]int, len(a)), loose: make([]bool, len(a))}
	for i := range a {
		f.match[i] = unmatched
		switch {
		case lower[i] == upper[i]:
			f.match[i] = lower[i]
			f.loose[i] = lower[i] == unmatched && lowerAt[i] != upperAt[i]
		default:
			f.loose[i] = true
		}
	}
	return f, toEnd, true
}

// distances knows how far points of the edit graph of a and b are from its end.
type distances struct {
	a, b []int32
	// rows[d] describes the points from which the end is reached with at most d
	// edits: on the diagonal k, which is x-y-(len(a)-len(b)), those whose x is at
	// least rows[d][(k+d)/2]. Only diagonals whose k has the parity of d count.
	rows [][]int32
	// edits is the length of a shortest script. There are slack rows after it.
	edits int
}

// fill computes rows until the start of the graph is reached, and slack more.
func (t *distances) fill(limit int, steps *int) bool {
	n, m := len(t.a), len(t.b)
	found := false
	for d := 0; d <= limit || found && d <= t.edits+slack; d++ {
		row := make([]int32, d+1)
		for k := -d; k <= d; k += 2 {
			x := t.step(d, k)
			y := x - k - (n - m)
			for x > 0 && y > 0 && x <= n && y <= m && t.a[x-1] == t.b[y-1] {
				x--
				y--
				*steps--
			}
			row[(k+d)/2] = int32(x)
		}
		t.rows = append(t.rows, row)
		if !found && t.reaches(d, 0, 0) {
			t.edits, found = d, true
		}
		if *steps -= d; *steps < 0 {
			return false
		}
		if found && d == t.edits+slack {
			break
		}
	}
	return found
}

// never is an x that no point has.
const never = 1 << 30

// step returns the smallest x on diagonal k from which the end is reached with
// at most d edits, before any further matches are followed.
func (t *distances) step(d, k int) int {
	n, m := len(t.a), len(t.b)
	if d == 0 {
		return n
	}
	best := never
	prev := t.rows[d-1]
	if k+1 <= d-1 { // delete a[x], then go on from the diagonal above
		best = int(prev[(k+d)/2]) - 1
	}
	if k-1 >= -(d - 1) { // insert b[y], then go on from the diagonal below
		best = min(best, int(prev[(k-2+d)/2]))
	}
	if d >= 2 && -(d-2) <= k && k <= d-2 {
		best = min(best, int(t.rows[d-2][(k+d-2)/2]))
	}
	// The point may lie outside the graph; the end is reached from every point
	// after it on the diagonal too.
	best = max(best, 0, k+n-m)
	if best > n || best-k-(n-m) > m {
		return never
	}
	return best
}

// reaches reports whether the end is reached from (x, y) with at most d edits.
func (t *distances) reaches(d, x, y int) bool {
	if d < 0 || x > len(t.a) || y > len(t.b) {
		return false
	}
	k := x - y - (len(t.a) - len(t.b))
	return -d <= k && k <= d && (k+d)%2 == 0 && x >= int(t.rows[d][(k+d)/2])
}

// walk follows the outermost shortest path: the one that deletes as early as
// possible, or the one that inserts as early as possible. It returns for each
// element of a its partner, and the y at which the path passes it.
func (t *distances) walk(deleteFirst bool) (match, at []int) {
	match, at = make([]int, len(t.a)), make([]int, len(t.a))
	x, y, left := 0, 0, t.edits
	for x < len(t.a) || y < len(t.b) {
		canDelete := t.reaches(left-1, x+1, y)
		canInsert := t.reaches(left-1, x, y+1)
		canMatch := x < len(t.a) && y < len(t.b) && t.a[x] == t.b[y] && t.reaches(left, x+1, y+1)
		switch {
		case canDelete && (deleteFirst || !canInsert && !canMatch):
			match[x], at[x] = unmatched, y
			x++
			left--
		case canInsert && (!deleteFirst || !canMatch):
			y++
			left--
		default:
			match[x], at[x] = y, y
			x++
			y++
		}
	}
	return match, at
}
