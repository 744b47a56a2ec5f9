package outline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// MaxSymbols bounds the symbols of one outline. A file with more loses its
// deepest levels, and if the top level alone has more its last ones, for which
// a symbol named Elided stands; its outline has the reason too_large.
const MaxSymbols = 200_000

// Elided is the name of a symbol that stands for others left out.
const Elided = "…"

// The longest texts of a symbol, in bytes. Longer ones are cut and end in an
// ellipsis.
const (
	MaxName      = 512
	MaxSignature = 2048
)

// maxDepth is how deep symbols nest; what lies deeper is left out. It bounds
// the recursion of all who walk an outline.
const maxDepth = 256

// errBroken is what every breach of the promises of Outline wraps.
var errBroken = errors.New("outline: broken symbols")

// enforce makes list keep the promises of Outline for a file of so many lines,
// and returns the first breach that only a defect of an extractor explains.
// Long texts and deep nesting are cut without a word: the file may be so.
func enforce(list *symbol.List, lines int) error {
	e := enforcer{lines: lines}
	list.Symbols = e.level(list.Symbols, 1, lines, 1)
	imports := list.Imports[:0]
	for _, i := range list.Imports {
		if i.Start < 1 || i.End < i.Start || i.End > lines {
			e.breach("import %q: lines %d-%d of %d", i.Path, i.Start, i.End, lines)
			continue
		}
		i.Path = e.text("import", i.Path, MaxName)
		imports = append(imports, i)
	}
	list.Imports = imports[:min(len(imports), MaxSymbols)]
	if prune(list) {
		list.Why = symbol.TooLarge
	}
	return e.first
}

// prune drops what is more than MaxSymbols. It reports whether there was any.
func prune(list *symbol.List) bool {
	var levels [maxDepth + 1]int
	symbol.Walk(list.Symbols, func(_ *symbol.Symbol, depth int) bool {
		levels[depth]++
		return true
	})
	kept, deepest := 0, 0
	for deepest < len(levels) && kept+levels[deepest] <= MaxSymbols {
		kept += levels[deepest]
		deepest++
	}
	if deepest == len(levels) {
		return false
	}
	if deepest == 0 {
		rest := list.Symbols[MaxSymbols-1:]
		gap := symbol.Symbol{Name: Elided, Kind: symbol.Record, Start: rest[0].Start, Signature: fmt.Sprintf("%d symbols not listed", len(rest))}
		for i := range rest {
			gap.End = max(gap.End, rest[i].End)
		}
		list.Symbols = append(slices.Clip(list.Symbols[:MaxSymbols-1]), gap)
		deepest = 1
	}
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, depth int) bool {
		if depth+1 >= deepest {
			s.Children = nil
		}
		return true
	})
	return true
}

type enforcer struct {
	lines int
	first error
}

func (e *enforcer) breach(format string, args ...any) {
	if e.first == nil {
		e.first = fmt.Errorf("%w: "+format, append([]any{errBroken}, args...)...)
	}
}

// level enforces one level, whose symbols lie in lines from to to.
func (e *enforcer) level(symbols []symbol.Symbol, from, to, depth int) []symbol.Symbol {
	if depth > maxDepth {
		return nil
	}
	kept := symbols[:0]
	for i := range symbols {
		s := &symbols[i]
		if s.Name == "" {
			e.breach("a %s without a name at line %d", s.Kind, s.Start)
			continue
		}
		if s.Start < from || s.End > to || s.End < s.Start {
			e.breach("%s %q: lines %d-%d, within %d-%d of %d", s.Kind, s.Name, s.Start, s.End, from, to, e.lines)
			if s.Start, s.End = max(s.Start, from), min(s.End, to); s.End < s.Start {
				continue
			}
		}
		e.symbol(s, depth)
		kept = append(kept, *s)
	}
	byStart := func(a, b symbol.Symbol) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(kept, byStart) {
		e.breach("symbols in lines %d-%d are not in line order", from, to)
		slices.SortStableFunc(kept, byStart)
	}
	return kept
}

func (e *enforcer) symbol(s *symbol.Symbol, depth int) {
	if s.Lead > s.Start || s.Lead < 0 {
		e.breach("%s %q: leads from line %d, starts at %d", s.Kind, s.Name, s.Lead, s.Start)
		s.Lead = 0
	}
	if s.NameLine != 0 && (s.NameLine < s.Start || s.NameLine > s.End) {
		e.breach("%s %q: its name is at line %d, outside %d-%d", s.Kind, s.Name, s.NameLine, s.Start, s.End)
		s.NameLine = 0
	}
	s.Name = e.text("name", s.Name, MaxName)
	s.Signature = e.text("signature", s.Signature, MaxSignature)
	s.Docstring = e.text("docstring", s.Docstring, MaxSignature)
	for i, m := range s.Modifiers {
		s.Modifiers[i] = e.text("modifier", m, MaxName)
	}
	s.Children = e.level(s.Children, s.Start, s.End, depth+1)
}

// text returns s as valid UTF-8 of at most limit bytes.
func (e *enforcer) text(what, s string, limit int) string {
	if !utf8.ValidString(s) {
		e.breach("%s %q is not UTF-8", what, s[:min(len(s), 40)])
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return shorten(s, limit)
}

// shorten cuts s at a character so that it has at most limit bytes, the
// ellipsis at its end included. It keeps a suffix instead of a torn character
// when limit is less than an ellipsis.
func shorten(s string, limit int) string {
	const ellipsis = "…"
	if len(s) <= limit {
		return s
	}
	room := limit - len(ellipsis)
	if room < 0 {
		return ""
	}
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return s[:room] + ellipsis
}
