package format

import (
	"strings"

	"mapd/outline/symbol"
)

// sections nests headings by their levels.
type sections struct {
	d      *doc
	levels []int // of the open sections
}

// heading adds a section that starts at line start and ends before the next
// one of its level or higher.
func (s *sections) heading(level int, name string, start int) {
	s.section(symbol.Symbol{
		Name: name, Kind: symbol.Heading, Start: start, NameLine: start, Signature: strings.Repeat("#", level),
	}, level)
}

// section is heading with a symbol of the caller's.
func (s *sections) section(sym symbol.Symbol, level int) {
	last := sym.Start - 1
	for k := len(s.levels); k > 0 && s.levels[k-1] >= level; k-- {
		last = max(last, s.d.tree.current().Start) // two may share a line
		s.d.tree.end(last)
		s.levels = s.levels[:k-1]
	}
	s.levels = append(s.levels, level)
	s.d.tree.begin(sym)
}

// end closes all sections at a line.
func (s *sections) end(line int) {
	for range s.levels {
		s.d.tree.end(line)
	}
	s.levels = nil
}
