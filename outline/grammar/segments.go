package grammar

import (
	"sort"

	"mapd/outline/symbol"
)

// outline parses text, and again in segments if the tree has errors.
func (t *table) outline(text []byte) (symbol.List, error) {
	src := text
	if t.lang.prepare != nil {
		src = t.lang.prepare(text)
	}
	nodes, broken, err := t.parse(src)
	if err != nil {
		return symbol.List{}, err
	}
	whole := t.extract(text, src, nodes)
	list := whole.list
	exports := whole.exports
	list.Source = symbol.Parser
	if broken {
		list.Why = symbol.SyntaxErrors
	}
	settle(list.Symbols)
	sort.SliceStable(list.Imports, func(i, j int) bool { return list.Imports[i].Start < list.Imports[j].Start })
	if t.lang.finish != nil {
		t.lang.finish(text, exports, &list)
	}
	return list, nil
}
