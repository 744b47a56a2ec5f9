package grammar

import (
	"bytes"
	"slices"
	"sort"
)

// clean reports for each segment whether the whole tree knows all of it without
// an error.
func (m *mender) clean(whole *piece) []bool {
	n := len(m.segments)
	c := &cleaner{x: m.x, segments: m.segments, clean: make([]bool, n), unsure: make([]bool, n), known: make([]bool, n)}
	for k := range c.clean {
		c.clean[k] = true
	}
	for _, i := range m.x.tops() {
		if m.x.sound(i) || m.x.nodes[i].hasError {
			c.node(i)
		} else {
			c.soil(m.x.nodes[i].start, m.x.nodes[i].end)
		}
	}
	for k, unsure := range c.unsure {
		c.clean[k] = c.clean[k] && (!unsure || c.known[k] && !swallowed(whole.near(m.segments[k]), m.segments[k].first))
	}
	return c.clean
}

// A cleaner finds the segments in which something is wrong.
type cleaner struct {
	x        *extraction
	segments []segment
	clean    []bool
	unsure   []bool // a node around it has an error
	known    []bool // a node without an error begins in it
	depth    int
}

// node judges the segments in which node i lies. Of a node with an error those
// parts are believed that have none.
func (c *cleaner) node(i int) {
	n := c.x.nodes[i]
	switch {
	case c.x.sound(i):
		if k := c.at(n.start); k == len(c.segments) {
			break
		} else if n.end > c.segments[k].end {
			c.soil(n.start, n.end)
		} else {
			c.known[k] = true
		}
	case n.missing, n.hasError && (n.next == i+1 || c.depth > maxVisit):
		c.soil(n.start, n.end)
	case n.isError:
		at := n.start
		for j := i + 1; j < n.next; j = c.x.nodes[j].next {
			if start := c.x.nodes[j].start; start > at && !isGap(c.x.src[at:start]) {
				c.soil(at, start)
			}
			c.inside(j)
			at = max(at, c.x.nodes[j].end)
		}
		if n.end > at && !isGap(c.x.src[at:n.end]) {
			c.soil(at, n.end)
		}
	case n.hasError:
		c.soil(n.start, n.start+1)
		c.soil(max(n.start, n.end-1), n.end)
		c.doubt(n)
		for j := i + 1; j < n.next; j = c.x.nodes[j].next {
			c.inside(j)
		}
	}
}

// doubt notes the segments around which n is.
func (c *cleaner) doubt(n node) {
	for k := c.at(n.start); k < len(c.segments) && c.segments[k].start < n.end; k++ {
		c.unsure[k] = true
	}
}

func (c *cleaner) inside(i int) {
	c.depth++
	c.node(i)
	c.depth--
}

// at returns the segment of a byte.
func (c *cleaner) at(at int) int {
	return sort.Search(len(c.segments), func(k int) bool { return c.segments[k].end > at })
}

// soil notes that the segments from byte start up to end are not clean.
func (c *cleaner) soil(start, end int) {
	for k := c.at(start); k < len(c.segments) && c.segments[k].start < max(end, start+1); k++ {
		c.clean[k] = false
	}
}

// sound reports whether node i is one that can be believed in a tree with
// errors.
func (x *extraction) sound(i int) bool {
	n := x.nodes[i]
	if n.hasError || n.missing || n.isError || x.swallows(n) {
		return false
	}
	if r := x.rule(i); r != nil && (r.role == definition || r.role == comment) {
		return true
	}
	return n.start < n.end && slices.Contains(x.t.lang.statements, x.typ(i)) && bytes.IndexByte([]byte("\"'`"), x.src[n.start]) < 0
}
