package grammar

import (
	"sort"

	"mapd/outline/symbol"
)

// A piece is what is known about some lines of the file.
type piece struct {
	symbols []symbol.Symbol
	imports []symbol.Import
	exports []string
	maxEnd  []int // of the symbols up to each, if index was called
}

// index makes within fast; the symbols must be in line order and stay so.
func (p *piece) index() {
	p.maxEnd = make([]int, len(p.symbols))
	for i, s := range p.symbols {
		p.maxEnd[i] = s.End
		if i > 0 {
			p.maxEnd[i] = max(p.maxEnd[i-1], s.End)
		}
	}
	sort.SliceStable(p.imports, func(i, j int) bool { return p.imports[i].Start < p.imports[j].Start })
}

// near returns the symbols of which some may have lines of s.
func (p *piece) near(s segment) []symbol.Symbol {
	if p.maxEnd == nil {
		return p.symbols
	}
	from := sort.SearchInts(p.maxEnd, s.first)
	to := sort.Search(len(p.symbols), func(i int) bool { return p.symbols[i].Start > s.last })
	return p.symbols[from:max(from, to)]
}

func (p *piece) add(q piece) {
	p.symbols = append(p.symbols, q.symbols...)
	p.imports = append(p.imports, q.imports...)
	p.exports = append(p.exports, q.exports...)
}

// within returns the part of p that starts in the lines of s; ends are brought
// back to it unless they are known to be right.
func (p *piece) within(s segment, exact bool) piece {
	var q piece
	symbol.Walk(p.near(s), func(sym *symbol.Symbol, _ int) bool {
		if sym.Start < s.first || sym.Start > s.last {
			return sym.End >= s.first && sym.Start <= s.last
		}
		copied := *sym
		if !exact {
			clip(&copied, s.last)
			if copied.FirstLine() < s.first {
				copied.Lead = 0
			}
		}
		q.symbols = append(q.symbols, copied)
		return false
	})
	from := 0
	if p.maxEnd != nil {
		from = sort.Search(len(p.imports), func(i int) bool { return p.imports[i].Start >= s.first })
	}
	for _, im := range p.imports[from:] {
		if im.Start >= s.first && im.End <= s.last {
			q.imports = append(q.imports, im)
		} else if p.maxEnd != nil && im.Start > s.last {
			break
		}
	}
	return q
}

// clip removes what lies behind line last.
func clip(s *symbol.Symbol, last int) {
	s.End = min(s.End, last)
	if s.NameLine > last {
		s.NameLine = 0
	}
	kept := make([]symbol.Symbol, 0, len(s.Children))
	for _, c := range s.Children {
		if c.Start <= last {
			clip(&c, last)
			kept = append(kept, c)
		}
	}
	s.Children = kept
}

// shift moves p down by n lines.
func (p *piece) shift(n int) {
	symbol.Walk(p.symbols, func(s *symbol.Symbol, _ int) bool {
		s.Start += n
		s.End += n
		if s.NameLine > 0 {
			s.NameLine += n
		}
		if s.Lead > 0 {
			s.Lead += n
		}
		return true
	})
	for i := range p.imports {
		p.imports[i].Start += n
		p.imports[i].End += n
	}
}

// A place in the text that has a name.
type landmark struct {
	name  string
	start int
}

func (p *piece) landmarks() map[landmark]bool {
	known := make(map[landmark]bool)
	symbol.Walk(p.symbols, func(s *symbol.Symbol, _ int) bool {
		known[landmark{s.Name, s.Start}] = true
		return true
	})
	return known
}

// better returns what is known about the lines of s from old and from found,
// another parse that has errors too. If all that it found is in old, and no
// symbol of old reaches across the end, then old is right about how the symbols
// lie in each other.
func (old *piece) better(s segment, found piece) piece {
	mine := old.within(s, false)
	fits := !swallowed(old.near(s), s.first)
	symbol.Walk(old.near(s), func(sym *symbol.Symbol, _ int) bool {
		if sym.Start >= s.first && sym.Start <= s.last && sym.End > s.last {
			fits = false
		}
		return fits
	})
	if fits {
		known := mine.landmarks()
		symbol.Walk(found.symbols, func(sym *symbol.Symbol, _ int) bool {
			fits = fits && known[landmark{sym.Name, sym.Start}]
			return fits
		})
	}
	if fits {
		mine.exports = found.exports
		mine.uniteImports(found)
		return mine
	}
	found.unite(mine)
	return found
}

// unite adds to p what only q knows: symbols that p has not, by name and first
// line, at the innermost place that holds them.
func (p *piece) unite(q piece) {
	known := p.landmarks()
	symbol.Walk(q.symbols, func(s *symbol.Symbol, _ int) bool {
		if !known[landmark{s.Name, s.Start}] {
			known[landmark{s.Name, s.Start}] = true
			copied := *s
			copied.Children = nil
			p.symbols = insert(p.symbols, copied)
		}
		return true
	})
	p.uniteImports(q)
}

func (p *piece) uniteImports(q piece) {
	lines := make(map[int]bool)
	for _, im := range p.imports {
		lines[im.Start] = true
	}
	for _, im := range q.imports {
		if !lines[im.Start] {
			p.imports = append(p.imports, im)
		}
	}
}

// insert puts s into the innermost symbol whose lines hold it.
func insert(symbols []symbol.Symbol, s symbol.Symbol) []symbol.Symbol {
	for i := range symbols {
		if h := &symbols[i]; h.Start < s.Start && s.End <= h.End {
			h.Children = insert(h.Children, s)
			return symbols
		}
	}
	i := sort.Search(len(symbols), func(i int) bool { return symbols[i].Start > s.Start })
	symbols = append(symbols, symbol.Symbol{})
	copy(symbols[i+1:], symbols[i:])
	symbols[i] = s
	return symbols
}

// swallowed reports whether the line lies in a symbol that begins before it and
// is no namespace or module: one that lacks a bracket holds its neighbours.
func swallowed(symbols []symbol.Symbol, line int) bool {
	for _, s := range symbols {
		if s.Start >= line || s.End < line {
			continue
		}
		if s.Kind != symbol.Namespace && s.Kind != symbol.Module || swallowed(s.Children, line) {
			return true
		}
	}
	return false
}

// adopt gives namespaces and modules that span several segments, as only the
// whole tree shows, what lies inside them.
func adopt(symbols, whole []symbol.Symbol) []symbol.Symbol {
	ends := make(map[int]int)
	symbol.Walk(whole, func(s *symbol.Symbol, _ int) bool {
		container := s.Kind == symbol.Namespace || s.Kind == symbol.Module
		if container {
			ends[s.Start] = max(ends[s.Start], s.End)
		}
		return container
	})
	var result []symbol.Symbol
	var add func(into *[]symbol.Symbol, s symbol.Symbol)
	add = func(into *[]symbol.Symbol, s symbol.Symbol) {
		if k := len(*into) - 1; k >= 0 {
			h := &(*into)[k]
			if (h.Kind == symbol.Namespace || h.Kind == symbol.Module) && h.Start < s.Start && s.End <= h.End {
				add(&h.Children, s)
				return
			}
		}
		*into = append(*into, s)
	}
	for _, s := range symbols {
		if s.Kind == symbol.Namespace || s.Kind == symbol.Module {
			s.End = max(s.End, ends[s.Start])
		}
		add(&result, s)
	}
	return result
}
