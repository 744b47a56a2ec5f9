package hashline

import (
	"slices"
	"sort"
)

// contest takes back matches that have a rival: a pair of equal elements, one of
// them matched elsewhere and one not matched at all, which belongs to a script
// that is hardly longer than the shortest. A copy that is more complete than
// its original has one. Only lines that occur once in one of the texts are asked
// for rivals, since for lines as common as "}" there is always one; but a rival
// takes with it the equal lines around it, whatever they are. A single line is
// no rival, unless the run that it disputes has lost other lines to one.
//
// It reports false when the bound of steps is reached.
func (a *aligner) contest(f *forcing, toEnd *distances) bool {
	c := contested{forcing: f, old: toEnd.a, new: toEnd.b, run: make([]int, len(toEnd.b))}
	c.number()
	fromStart := &distances{a: reversed(c.old), b: reversed(c.new)}
	if !fromStart.fill(toEnd.edits, &a.steps) {
		return false
	}
	a.index.build(c.new)
	defer a.index.clear(c.new)
	most := toEnd.edits + slack
	var single []pair
	for x, id := range c.old {
		if n := a.text.in[id]; n.old > 1 && n.new > 1 || n.old == 1 && n.new == 1 {
			continue
		}
		// Beyond these diagonals the start or the end is out of reach.
		end := x - (len(c.old) - len(c.new))
		for _, y := range a.index.within(id, max(x, end)-most, min(x, end)+most) {
			a.steps--
			p := pair{x, int(y)}
			switch {
			case !c.rivals(p) || !near(toEnd, fromStart, p, most):
			case c.equal(p.next(-1)) || c.equal(p.next(+1)):
				c.spread(p)
			default:
				single = append(single, p)
			}
		}
		if a.steps < 0 {
			return false
		}
	}
	c.takeBack(single)
	return true
}

// contested collects the pairs for which a rival was found.
type contested struct {
	*forcing
	old, new []int32
	// run numbers, from 1, the run of matches that each new element belongs to.
	run    []int
	rival  []pair
	harmed []bool // by run
}

func (p pair) next(step int) pair { return pair{p.old + step, p.new + step} }

// number fills run.
func (c *contested) number() {
	n, last := 0, unmatched
	for _, y := range c.match {
		if y == unmatched {
			last = unmatched
			continue
		}
		if last == unmatched || y != last+1 {
			n++
		}
		c.run[y] = n
		last = y
	}
	c.harmed = make([]bool, n+1)
}

// rivals reports whether exactly one of the two elements is matched.
func (c *contested) rivals(p pair) bool {
	return (c.match[p.old] != unmatched) != (c.run[p.new] != 0)
}

// runOf returns the run that the pair disputes.
func (c *contested) runOf(p pair) int {
	if y := c.match[p.old]; y != unmatched {
		return c.run[y]
	}
	return c.run[p.new]
}

func (c *contested) equal(p pair) bool {
	return p.old >= 0 && p.new >= 0 && p.old < len(c.old) && p.new < len(c.new) && c.old[p.old] == c.new[p.new]
}

// spread contests the pair and the equal pairs next to it on its diagonal.
func (c *contested) spread(p pair) {
	for _, step := range [...]int{-1, +1} {
		for q := p; c.equal(q) && c.rivals(q); q = q.next(step) {
			c.rival = append(c.rival, q)
			c.harmed[c.runOf(q)] = true
		}
	}
}

// takeBack undoes the matches of everything that has a rival.
func (c *contested) takeBack(single []pair) {
	for _, p := range single {
		if c.harmed[c.runOf(p)] {
			c.rival = append(c.rival, p)
		}
	}
	lost := make([]bool, len(c.new))
	for _, p := range c.rival {
		lost[p.new] = true
		if y := c.match[p.old]; y != unmatched {
			lost[y] = true
		}
		c.loose[p.old] = true
	}
	for x, y := range c.match {
		if y != unmatched && lost[y] {
			c.match[x], c.loose[x] = unmatched, true
		}
	}
}

// near reports whether some script of at most most edits contains the pair,
// whose elements are equal.
func near(toEnd, fromStart *distances, p pair, most int) bool {
	// The distance from the start is the smallest d of its parity that reaches.
	rx, ry := len(toEnd.a)-p.old, len(toEnd.b)-p.new
	k := p.old - p.new
	parity := k & 1
	n := (most - parity) / 2
	i := sort.Search(n+1, func(i int) bool { return fromStart.reaches(2*i+parity, rx, ry) })
	return i <= n && toEnd.reaches(most-(2*i+parity), p.old+1, p.new+1)
}

func reversed(s []int32) []int32 {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

// places finds where a number occurs in a sequence. It is scratch space, to be
// cleared after each use; its slices are indexed by number.
type places struct {
	count []int32
	start []int32 // of the number's run in at
	at    []int32
}

func newPlaces(numbers int) *places {
	return &places{count: make([]int32, numbers), start: make([]int32, numbers)}
}

func (p *places) build(s []int32) {
	for _, id := range s {
		p.count[id]++
	}
	var next int32
	for _, id := range s {
		if p.count[id] > 0 { // its first occurrence: reserve the run
			p.start[id] = next
			next += p.count[id]
			p.count[id] = -p.count[id]
		}
	}
	p.at = slices.Grow(p.at[:0], len(s))[:len(s)]
	for _, id := range s {
		p.count[id] = 0
	}
	for i, id := range s {
		p.at[p.start[id]+p.count[id]] = int32(i)
		p.count[id]++
	}
}

func (p *places) clear(s []int32) {
	for _, id := range s {
		p.count[id] = 0
	}
}

// within returns the indexes from lo to hi at which id occurs, in order.
func (p *places) within(id int32, lo, hi int) []int32 {
	run := p.at[p.start[id] : p.start[id]+p.count[id]]
	i := sort.Search(len(run), func(i int) bool { return int(run[i]) >= lo })
	j := i
	for j < len(run) && int(run[j]) <= hi {
		j++
	}
	return run[i:j]
}
