package outline

import (
	"cmp"
	"slices"

	"mapd/outline/symbol"
)

// Fold is a run of lines that an editor can fold to its first one.
type Fold struct {
	Start int
	End   int // more than Start
	Kind  FoldKind
}

// FoldKind is what a Fold holds, in the words of LSP.
type FoldKind string

// The kinds of folds.
const (
	Region  FoldKind = "region"  // a symbol
	Imports FoldKind = "imports" // imports that follow each other
	Comment FoldKind = "comment" // what leads a symbol: documentation, decorators
)

// Folds returns the folds of the outline by their first lines, the longest
// first where several start.
func (o *Outline) Folds() []Fold {
	var folds []Fold
	add := func(start, end int, kind FoldKind) {
		if end > start {
			folds = append(folds, Fold{start, end, kind})
		}
	}
	symbol.Walk(o.Symbols, func(s *symbol.Symbol, _ int) bool {
		if s.Lead > 0 {
			add(s.Lead, s.Start-1, Comment)
		}
		add(s.Start, s.End, Region)
		return true
	})
	for i := 0; i < len(o.Imports); {
		first, end := o.Imports[i].Start, o.Imports[i].End
		for i++; i < len(o.Imports) && o.Imports[i].Start <= end+3; i++ { // a blank line and a bracket part groups
			end = max(end, o.Imports[i].End)
		}
		add(first, end, Imports)
	}
	slices.SortFunc(folds, func(a, b Fold) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Kind, b.Kind))
	})
	return slices.Compact(folds)
}

// Enclosing returns the symbols whose lines hold the given one, from the top
// level down. Of siblings that share the line the one with the fewest lines
// counts.
func (o *Outline) Enclosing(line int) []*symbol.Symbol {
	var path []*symbol.Symbol
	for level := o.Symbols; ; {
		var best *symbol.Symbol
		// No symbol after the first that starts past the line can hold it.
		end, _ := slices.BinarySearchFunc(level, line+1, func(s symbol.Symbol, line int) int { return cmp.Compare(s.Start, line) })
		for i := range level[:end] {
			s := &level[i]
			if line <= s.End && (best == nil || s.End-s.Start < best.End-best.Start) {
				best = s
			}
		}
		if best == nil {
			return path
		}
		path = append(path, best)
		level = best.Children
	}
}
