package outline

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// Op is what happened to a symbol.
type Op string

// The operations of a Change.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed" // its lines differ
	Moved   Op = "moved"   // the same lines stand elsewhere
)

// Change is one difference between two outlines.
type Change struct {
	Op    Op
	Name  string // path of the symbol: of a removed one in the old outline
	Kind  symbol.Kind
	Start int             // lines in the new text; of a removed symbol in the old
	End   int             //
	Was   *hashline.Range // lines in the old text; nil for an added symbol
}

// Side is one version of a file: its outline and the text it was made from.
type Side struct {
	*Outline
	Text *hashline.Text
}

// Diff returns what changed from one version of a file to another, in the line
// order of the new one; what was removed comes in its old place.
//
// Symbols are the same if their path is, and of several with the same path
// those with equal lines first, then by order. The lines of a symbol are those
// with its decorators and documentation; terminators and blank lines at its end
// do not count. A symbol that changed is reported beside those in it that did;
// one that was added, removed or moved stands for all that is in it. A symbol
// that left its parent for another one with not a byte changed has moved.
func Diff(from, to Side) []Change {
	d := differ{from: newSide(from), to: newSide(to)}
	d.level(from.Symbols, to.Symbols, "", "")
	d.matchMoved()
	return d.ordered()
}

type change struct {
	Change
	digest uint64
	bare   string // its own name
}

type differ struct {
	from, to side
	changes  []change
}

// side is one version: the hashes of all beginnings of its lines, from which
// the hash of any range of lines follows at once.
type side struct {
	Side
	prefix []uint64
	powers []uint64
	filled []int // for each line the last one up to it that is not blank
}

// Range hashes are polynomials over line hashes modulo a Mersenne prime.
const (
	modulus = 1<<61 - 1
	factor  = 0x1b873593cc9e2d51 % modulus
)

func newSide(s Side) side {
	n := s.Text.Lines()
	out := side{Side: s, prefix: make([]uint64, n+1), powers: make([]uint64, n+1), filled: make([]int, n+1)}
	out.powers[0] = 1
	for i := range n {
		line := s.Text.Line(i + 1)
		out.filled[i+1] = out.filled[i]
		if len(bytes.TrimSpace(line)) > 0 {
			out.filled[i+1] = i + 1
		}
		out.prefix[i+1] = addMod(mulMod(out.prefix[i], factor), xxh3.Hash(line)%modulus)
		out.powers[i+1] = mulMod(out.powers[i], factor)
	}
	return out
}

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return addMod(lo&modulus, hi<<3|lo>>61)
}

func addMod(a, b uint64) uint64 {
	if a += b; a >= modulus {
		a -= modulus
	}
	return a
}

// digest hashes the lines of a symbol.
func (s *side) digest(sym *symbol.Symbol) uint64 {
	first := max(sym.FirstLine(), 1)
	last := s.filled[min(sym.End, s.Text.Lines())]
	if last < first {
		return 0
	}
	start := mulMod(s.prefix[first-1], s.powers[last-first+1])
	return addMod(s.prefix[last], modulus-start)
}

// level compares the children of two symbols that are the same, or the top
// levels. The paths are those of the parents.
func (d *differ) level(from, to []symbol.Symbol, oldPath, newPath string) {
	p := pair(from, to)
	for _, g := range p.groups {
		d.pairGroup(p, from, to, g)
	}
	for i := range from {
		if s := &from[i]; p.old[i].other < 0 {
			d.report(Removed, &d.from, s, s, p.old[i].join(oldPath, s))
		}
	}
	for j := range to {
		s := &to[j]
		path := p.now[j].join(newPath, s)
		if i := p.now[j].other; i >= 0 {
			d.both(&from[i], s, p.old[i].join(oldPath, &from[i]), path)
		} else {
			d.report(Added, &d.to, s, nil, path)
		}
	}
}

// both compares two symbols that are the same.
func (d *differ) both(from, to *symbol.Symbol, oldPath, newPath string) {
	same := from.Kind == to.Kind && d.from.digest(from) == d.to.digest(to)
	switch {
	case !same:
		d.report(Changed, &d.to, to, from, newPath)
		d.level(from.Children, to.Children, oldPath, newPath)
	case from.Start != to.Start:
		d.report(Moved, &d.to, to, from, newPath)
	}
}

func (d *differ) report(op Op, in *side, s, was *symbol.Symbol, path string) {
	c := change{Change: Change{Op: op, Name: path, Kind: s.Kind, Start: s.Start, End: s.End}, digest: in.digest(s), bare: s.Name}
	if was != nil {
		c.Was = &hashline.Range{Start: was.Start, End: was.End}
	}
	d.changes = append(d.changes, c)
}

// pairing holds for each symbol of two levels which one of the other level is
// the same.
type pairing struct {
	old, now []place
	groups   map[string]*group
}

// place is a symbol among its siblings.
type place struct {
	other  int // index of the same symbol on the other side, -1 if there is none
	number int // among the siblings of the same name, from 1
	same   *[]int
}

// join appends the symbol's name to the path of its parent.
func (p place) join(parent string, s *symbol.Symbol) string {
	return join(parent, s, p.number, len(*p.same))
}

// group holds the symbols of one name.
type group struct{ old, now []int }

func pair(from, to []symbol.Symbol) *pairing {
	p := &pairing{old: make([]place, len(from)), now: make([]place, len(to)), groups: map[string]*group{}}
	of := func(name string) *group {
		g := p.groups[name]
		if g == nil {
			g = &group{}
			p.groups[name] = g
		}
		return g
	}
	for i := range from {
		g := of(from[i].Name)
		g.old = append(g.old, i)
		p.old[i] = place{other: -1, number: len(g.old), same: &g.old}
	}
	for j := range to {
		g := of(to[j].Name)
		g.now = append(g.now, j)
		p.now[j] = place{other: -1, number: len(g.now), same: &g.now}
	}
	return p
}

// pairGroup pairs symbols of one name: those with equal lines, then those of
// one kind, then the rest, each in order.
func (d *differ) pairGroup(p *pairing, from, to []symbol.Symbol, g *group) {
	type key struct {
		digest uint64
		kind   symbol.Kind
	}
	steps := []func(side *side, s *symbol.Symbol) key{
		func(side *side, s *symbol.Symbol) key { return key{side.digest(s), s.Kind} },
		func(_ *side, s *symbol.Symbol) key { return key{0, s.Kind} },
		func(*side, *symbol.Symbol) key { return key{} },
	}
	if len(g.old) == 1 && len(g.now) == 1 {
		steps = steps[2:]
	}
	for _, keyOf := range steps {
		free := map[key][]int{}
		for _, i := range g.old {
			if p.old[i].other < 0 {
				k := keyOf(&d.from, &from[i])
				free[k] = append(free[k], i)
			}
		}
		for _, j := range g.now {
			if p.now[j].other >= 0 {
				continue
			}
			k := keyOf(&d.to, &to[j])
			if q := free[k]; len(q) > 0 {
				p.old[q[0]].other, p.now[j].other = j, q[0]
				free[k] = q[1:]
			}
		}
	}
}

// matchMoved makes one move of each removal and addition of the same symbol.
func (d *differ) matchMoved() {
	type key struct {
		digest uint64
		name   string
		kind   symbol.Kind
	}
	gone := map[key][]int{}
	for i, c := range d.changes {
		if c.Op == Removed {
			k := key{c.digest, c.bare, c.Kind}
			gone[k] = append(gone[k], i)
		}
	}
	drop := map[int]bool{}
	for i, c := range d.changes {
		k := key{c.digest, c.bare, c.Kind}
		if q := gone[k]; c.Op == Added && len(q) > 0 {
			d.changes[i].Op, d.changes[i].Was = Moved, d.changes[q[0]].Was
			drop[q[0]] = true
			gone[k] = q[1:]
		}
	}
	kept := d.changes[:0]
	for i, c := range d.changes {
		if !drop[i] {
			kept = append(kept, c)
		}
	}
	d.changes = kept
}

func (d *differ) ordered() []Change {
	slices.SortStableFunc(d.changes, func(a, b change) int { return cmp.Compare(a.Start, b.Start) })
	out := make([]Change, len(d.changes))
	for i, c := range d.changes {
		out[i] = c.Change
	}
	return out
}
