package outline

import (
	"fmt"
	"slices"

	"mapd/outline/symbol"
)

// Detail is a level of a map.
type Detail string

// The levels, from the most to the least. Auto is the first level whose text
// fits its limit; the others are what a caller can force.
const (
	Auto      Detail = "auto"
	Full      Detail = "full"      // all symbols with signatures and documentation
	Compact   Detail = "compact"   // all symbols, kinds and names
	Minimal   Detail = "minimal"   // two levels, names
	Top       Detail = "outline"   // the top level, kinds and names
	Truncated Detail = "truncated" // the first and the last of the top level
)

// Valid reports whether d is one of the levels or Auto.
func (d Detail) Valid() bool {
	return slices.Contains([]Detail{Auto, Full, Compact, Minimal, Top, Truncated}, d)
}

// DefaultMapBytes is the cap of a map for a caller that names none.
const DefaultMapBytes = 100 << 10

// limits of the text of each level in bytes, when the level is chosen by Auto.
var levelLimits = []struct {
	detail Detail
	bytes  int
}{
	{Full, 10 << 10},
	{Compact, 20 << 10},
	{Minimal, 25 << 10},
	{Top, 50 << 10},
	{Truncated, 100 << 10},
}

// RenderOptions say how a map is written.
type RenderOptions struct {
	Name     string // of the file, as its header shows it
	Detail   Detail // the zero value means Auto
	MaxBytes int    // cap of the text; 0 means DefaultMapBytes
}

// Map is the text that shows an outline.
type Map struct {
	// Text is a header and one line a symbol, joined by "\n". It has at most
	// MaxBytes bytes, whatever the outline.
	Text         string
	Detail       Detail // never Auto
	ShownSymbols int    // symbols with a line of their own
	TotalSymbols int
}

// Render writes the outline as a map. A line shows a symbol, two spaces deeper
// for each level, and ends with its lines: ": [start-end]", or ": [line]".
//
// Auto is the first level whose text without local symbols fits the least of
// its limit and MaxBytes. Within a level symbols go in this order until the
// text fits: locals, from the functions that have most of them; and on the last
// two levels, where there is room for part of the second level, members of the
// types that have most of them. A forced level that is larger than MaxBytes loses
// locals, members, documentation, signatures, and at last symbols from the
// middle of the file. What goes for lack of room is named by a line such as
// "… 37 members: [120-480]"; what lies below the depth of a level lies in the
// lines of its parent.
func (o *Outline) Render(opt RenderOptions) Map {
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = DefaultMapBytes
	}
	r := &renderer{outline: o, name: opt.Name, maxBytes: opt.MaxBytes}
	if opt.Detail == Auto || opt.Detail == "" {
		return r.auto()
	}
	return r.forced(opt.Detail)
}

type renderer struct {
	outline  *Outline
	name     string
	maxBytes int
	cut      bool // a forced level did not fit as a whole
}

// room returns how many bytes are left for the lines after the header of a
// level that shows so many symbols, their leading line breaks included.
func (r *renderer) room(detail Detail, limit, shown int) int {
	return min(limit, r.maxBytes) - len(r.header(detail, shown))
}

func (r *renderer) auto() Map {
	for _, level := range levelLimits {
		if m, ok := r.level(level.detail, level.bytes); ok {
			return m
		}
	}
	return r.truncated(Truncated, levelLimits[len(levelLimits)-1].bytes)
}

// plans holds what each level shows.
var plans = map[Detail]plan{
	Full:    {style: documented, depth: all},
	Compact: {style: kinds, depth: all},
	Minimal: {style: bare, depth: 2},
	Top:     {style: kinds, depth: 1},
}

// level renders one level of Auto, if it fits its limit.
func (r *renderer) level(detail Detail, limit int) (Map, bool) {
	p := plans[detail]
	if detail == Truncated { // more room than for the level before may be enough
		p = plans[Top]
	}
	if m, ok := r.whole(detail, p, limit); ok {
		return m, true
	}
	room, symbols := r.room(detail, limit, some), r.outline.Symbols
	p, ok := p.withLocals(symbols, room)
	if !ok {
		return Map{}, false
	}
	if detail == Top || detail == Truncated {
		p.depth = 2
		p, _ = p.withMembers(symbols, room, 0)
	}
	return r.write(detail, p), true
}

// whole renders a level that shows all symbols, if it does and they fit.
func (r *renderer) whole(detail Detail, p plan, limit int) (Map, bool) {
	p.locals, p.members = all, all
	if p.depth < all || !p.fits(r.outline.Symbols, r.room(detail, limit, r.outline.Count)) {
		return Map{}, false
	}
	return r.write(detail, p), true
}

// forced renders a level whatever its size, cut to the cap.
func (r *renderer) forced(detail Detail) Map {
	p, ok := plans[detail]
	if !ok {
		return r.truncated(detail, r.maxBytes)
	}
	if m, ok := r.whole(detail, p, r.maxBytes); ok {
		return m
	}
	symbols := r.outline.Symbols
	if fit, ok := p.withLocals(symbols, r.room(detail, r.maxBytes, some)); ok && fit.locals == all {
		return r.write(detail, fit)
	}
	r.cut = true
	room := r.room(detail, r.maxBytes, some)
	for ; p.style <= kinds || p.style == plans[detail].style; p.style++ {
		// Members are worth more than what is written about each of them.
		few := 0
		if p.style < kinds {
			few = 3
		}
		if fit, ok := p.withLocals(symbols, room); ok {
			return r.write(detail, fit)
		}
		if fit, ok := p.withMembers(symbols, room, few); ok {
			return r.write(detail, fit)
		}
	}
	return r.truncated(detail, r.maxBytes)
}

// some is a number of symbols of which only is known that not all are shown.
const some = -1

// header is the first line: the file, its size, and what the map shows of it. A
// name too long for the cap is cut from the left.
func (r *renderer) header(detail Detail, shown int) string {
	o := r.outline
	tail := fmt.Sprintf(" (%s, %s, %s, %s", count(o.Lines, "line"), count(o.Bytes, "byte"), o.Language, detail)
	if r.cut {
		tail += fmt.Sprintf(" cut to %d bytes", r.maxBytes)
	}
	if shown < o.Count {
		if shown == some {
			shown = o.Count // it has no more digits
		}
		tail += fmt.Sprintf(", %d of %s", shown, count(o.Count, "symbol"))
	}
	switch o.Source {
	case symbol.Pattern:
		tail += ", by line patterns"
	case symbol.None:
		tail += ", no outline"
	}
	if o.Why != "" {
		tail += ": " + string(o.Why)
	}
	tail += ")"
	name := string(appendOneLine(nil, r.name, 8<<10))
	if most := max(r.maxBytes/2-len(tail), 16); len(name) > most {
		name = "…" + suffix(name, most-len("…"))
	}
	return name + tail
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// write writes the lines that p shows.
func (r *renderer) write(detail Detail, p plan) Map {
	var out []byte
	shown := p.walk(r.outline.Symbols, func(l line) {
		out = l.append(append(out, '\n'), p.style)
	})
	return r.finish(detail, shown, out)
}

// finish puts the header before the lines, each of which follows a line break.
func (r *renderer) finish(detail Detail, shown int, lines []byte) Map {
	text := r.header(detail, shown) + string(lines)
	if len(text) > r.maxBytes { // the cap is less than a header
		text = shorten(text, r.maxBytes)
	}
	return Map{Text: text, Detail: detail, ShownSymbols: shown, TotalSymbols: r.outline.Count}
}

// truncated shows the first and the last symbols of the top level that fit.
func (r *renderer) truncated(detail Detail, limit int) Map {
	symbols, room := r.outline.Symbols, r.room(detail, limit, some)
	sizes := func(i int) int {
		l := line{symbol: &symbols[i]}
		return 1 + l.size(kinds)
	}
	first, last, used := 0, 0, 0
	for last < len(symbols) && used <= room {
		used += sizes(last)
		last++
	}
	if first = last; used > room {
		first, last = cutMiddle(len(symbols), room-1-len(line{hidden: len(symbols), from: r.outline.Lines, to: r.outline.Lines + 1, noun: "symbols"}.append(nil, kinds)), sizes)
	}
	var out []byte
	add := func(l line) { out = l.append(append(out, '\n'), kinds) }
	for i := range first {
		add(line{symbol: &symbols[i]})
	}
	if first < last {
		gap := line{hidden: last - first, from: symbols[first].Start, noun: "symbols"}
		for i := first; i < last; i++ {
			gap.to = max(gap.to, symbols[i].End)
		}
		add(gap)
	}
	for i := last; i < len(symbols); i++ {
		add(line{symbol: &symbols[i]})
	}
	return r.finish(detail, first+len(symbols)-last, out)
}

// cutMiddle returns how many of n items are kept from the front, and the index
// of the first of those kept at the back, so that their sizes fit room.
func cutMiddle(n, room int, size func(int) int) (first, last int) {
	used := 0
	for first < n && used+size(first) <= room/2 {
		used += size(first)
		first++
	}
	last = n
	for last > first && used+size(last-1) <= room {
		last--
		used += size(last)
	}
	return first, last
}
