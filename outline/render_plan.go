package outline

import (
	"math"
	"sort"

	"mapd/outline/symbol"
)

// all is more children than any symbol has, and deeper than any lies.
const all = math.MaxInt32

// plan says which symbols of an outline are shown, and how. Children of a
// hidden symbol are hidden.
type plan struct {
	style   style
	depth   int  // levels shown
	locals  int  // local children shown of each symbol, the first ones
	members int  // other children shown of each symbol, the first ones
	small   int  // all children are shown of a symbol that has at most so many
	gaps    bool // hidden children are named by a line
}

// withLocals makes a plan that shows everything that p shows and as many locals
// as fit room. It fails if what is not local does not fit.
func (p plan) withLocals(symbols []symbol.Symbol, room int) (plan, bool) {
	p.locals, p.members, p.gaps = 0, all, false
	if !p.fits(symbols, room) {
		return p, false
	}
	try := p
	if try.locals, try.gaps = all, true; try.fits(symbols, room) {
		return try, true
	}
	if try.locals = 0; !try.fits(symbols, room) {
		return p, true
	}
	// Show one more as long as that fits. A symbol has at least a byte.
	try.locals = sort.Search(room, func(i int) bool {
		more := try
		more.locals = i + 1
		return !more.fits(symbols, room)
	})
	return try, true
}

// withMembers makes a plan that shows the top level and as many members as fit
// room, at least few of each symbol that has them, and no locals. Where there is
// not even room to name what is hidden, it shows the members of small symbols.
// It fails if few do not fit; or the top level alone, if few is 0.
func (p plan) withMembers(symbols []symbol.Symbol, room, few int) (plan, bool) {
	p.locals, p.members, p.gaps = 0, few, true
	if !p.fits(symbols, room) {
		p.gaps = false
		if few > 0 || !p.fits(symbols, room) {
			return p, false
		}
		p.small = sort.Search(room, func(i int) bool {
			more := p
			more.small = i + 1
			return !more.fits(symbols, room)
		})
		return p, true
	}
	p.members += sort.Search(room, func(i int) bool {
		more := p
		more.members += i + 1
		return !more.fits(symbols, room)
	})
	return p, true
}

// fits reports whether what p shows takes at most room bytes, a line break for
// each line included. It looks at no more symbols than the answer needs.
func (p plan) fits(symbols []symbol.Symbol, room int) bool {
	if room < 0 {
		return false
	}
	w := walker{plan: p, room: room}
	w.level(symbols, 0)
	return w.size <= room
}

// walk visits the lines that p shows in line order and returns how many of
// them are symbols.
func (p plan) walk(symbols []symbol.Symbol, visit func(line)) (shown int) {
	w := walker{plan: p, room: math.MaxInt, visit: visit}
	w.level(symbols, 0)
	return w.shown
}

type walker struct {
	plan  plan
	room  int
	visit func(line) // nil: only the size is wanted
	size  int
	shown int
}

// level walks the children of one symbol, or the top level, of which everything
// is shown. It stops when the room is used up.
func (w *walker) level(symbols []symbol.Symbol, depth int) {
	gap := w.gap(symbols, depth)
	locals, members := 0, 0
	whole := depth == 0 || len(symbols) <= w.plan.small
	for i := range symbols {
		if w.size > w.room {
			return
		}
		s := &symbols[i]
		if !whole && !w.plan.takes(s, &locals, &members) {
			if gap.hidden > 0 {
				w.line(gap)
				gap.hidden = 0
			}
			if locals >= w.plan.locals && members >= w.plan.members {
				return
			}
			continue
		}
		w.shown++
		w.line(line{symbol: s, depth: depth})
		if depth+1 < w.plan.depth {
			w.level(s.Children, depth+1)
		}
	}
}

// takes counts a child and reports whether it is shown.
func (p *plan) takes(s *symbol.Symbol, locals, members *int) bool {
	if s.Local {
		*locals++
		return *locals <= p.locals
	}
	*members++
	return *members <= p.members
}

func (w *walker) line(l line) {
	w.size += 1 + l.size(w.plan.style)
	if w.visit != nil {
		w.visit(l)
	}
}

// gap returns the line that names the hidden symbols of a level; its count is 0
// if none are hidden, or it is not wanted.
func (w *walker) gap(symbols []symbol.Symbol, depth int) line {
	l := line{noun: "members", depth: depth}
	if depth == 0 || !w.plan.gaps || len(symbols) <= min(w.plan.locals, w.plan.members) {
		return l
	}
	locals, members := 0, 0
	for i := range symbols {
		s := &symbols[i]
		if w.plan.takes(s, &locals, &members) {
			continue
		}
		if l.hidden == 0 {
			l.from = s.Start
		}
		l.hidden++
		l.to = max(l.to, s.End)
	}
	switch {
	case l.hidden < len(symbols):
		l.noun = "more"
	case members == 0:
		l.noun = "locals"
	}
	return l
}
