package format

import "mapd/outline/symbol"

// The limits of one file's symbols. They bound time, memory and the size of an
// answer, whatever the file.
const (
	// MaxDepth is how deep symbols nest; what lies deeper is counted in its
	// ancestor's signature but is no symbol.
	MaxDepth = 64
	// MaxSymbols bounds the symbols of one file. A file that reaches it loses
	// its deepest level of symbols, as often as is needed.
	MaxSymbols = 50_000
	// MaxChildren bounds the children of one symbol, and the symbols at the top.
	MaxChildren = 20_000
	// MaxElements is how many elements of one array are looked into.
	MaxElements = 100
	// MaxName is the length in bytes at which names are cut.
	MaxName = 256
	// MaxPreview is the length in characters of a preview in a signature.
	MaxPreview = 80
)

// Elided is the name of a symbol that stands for siblings left out.
const Elided = "…"

// Unnamed is the name of a symbol whose name has no characters.
const Unnamed = `""`

// tree collects symbols, which are begun and ended like brackets.
type tree struct {
	nodes  nodeList // what was kept, in line order, parents before children
	open   []frame
	inside int           // begun and not ended within a dropped symbol
	lost   symbol.Symbol // what current returns there
	levels int           // symbols at this depth and deeper are dropped
	count  int
	at     [MaxDepth]int // how many of count are at each depth
	root   frame

	path  string         // what is searched for; "" if all is to be kept
	found *symbol.Symbol // what was found
}

// frame is a symbol begun and not ended, or the top level.
type frame struct {
	symbol.Symbol
	kept     bool // false if the symbol itself was dropped
	node     int  // its place in nodes, if it was kept
	children int
	omitted  int // children beyond the limit
	from, to int // their lines
	noun     string
	rest     string // of the path that is searched for, below this symbol
	index    int    // of the element with which rest starts, or -1
}

func newTree() tree { return tree{levels: MaxDepth, root: frame{kept: true}} }

func (t *tree) top() *frame {
	if n := len(t.open); n > 0 {
		return &t.open[n-1]
	}
	return &t.root
}

// full reports whether a symbol begun now would be dropped, so that a scanner
// can spare itself the making of it.
func (t *tree) full() bool {
	top := t.top()
	if t.path != "" {
		return !top.kept || top.rest == ""
	}
	return !top.kept || len(t.open) >= t.levels || top.children >= MaxChildren
}

// begin adds s as the last child of the open symbol and opens it.
func (t *tree) begin(s symbol.Symbol) {
	if !t.top().kept {
		t.inside++
		return
	}
	if t.path != "" {
		rest, ok := step(t.top().rest, nameOf(s.Name))
		t.open = append(t.open, frame{Symbol: s, kept: ok, rest: rest, index: leadingIndex(rest)})
		return
	}
	kept, node := t.admit(&s), 0
	if kept {
		node = t.nodes.add(&s, len(t.open))
	}
	t.open = append(t.open, frame{})
	f := &t.open[len(t.open)-1]
	f.Symbol, f.kept, f.node = s, kept, node
}

// beginOmitted opens a symbol that is only counted, with all in it.
func (t *tree) beginOmitted(line int, noun string) {
	if !t.top().kept {
		t.inside++
		return
	}
	if len(t.open) < t.levels {
		t.omit(line, line, noun)
	}
	t.open = append(t.open, frame{Symbol: symbol.Symbol{Start: line}})
}

// leaf adds s as the last child of the open symbol. s.End must be set.
func (t *tree) leaf(s symbol.Symbol) {
	if t.path != "" {
		if rest, ok := step(t.top().rest, nameOf(s.Name)); ok && rest == "" && t.top().kept {
			t.find(s)
		}
		return
	}
	if t.admit(&s) {
		t.nodes.add(&s, len(t.open))
	}
}

// omit counts a child that is left out of the open symbol: its lines, and what
// it is ("key").
func (t *tree) omit(start, end int, noun string) {
	if t.path != "" {
		return
	}
	top := t.top()
	if top.omitted == 0 {
		top.from, top.noun = start, noun
	}
	top.omitted++
	top.to = max(top.to, end)
}

// admit reports whether there is room for s as a child of the open symbol, and
// counts it in.
func (t *tree) admit(s *symbol.Symbol) bool {
	depth, top := len(t.open), t.top()
	if !top.kept || depth >= t.levels {
		return false
	}
	if top.children >= MaxChildren {
		t.omit(s.Start, s.End, "symbol")
		return false
	}
	if t.count >= MaxSymbols {
		t.prune()
		if !t.top().kept || depth >= t.levels {
			return false
		}
	}
	top.children++
	t.count++
	t.at[depth]++
	s.Name = nameOf(s.Name)
	return true
}

func nameOf(name string) string {
	if name == "" {
		return Unnamed
	}
	return cutName(name)
}

// prune drops the deepest level of symbols. Each call costs time linear in
// MaxSymbols, and there are at most MaxDepth calls. The top level always fits:
// MaxChildren is less than MaxSymbols.
func (t *tree) prune() {
	deepest := MaxDepth - 1
	for t.at[deepest] == 0 {
		deepest--
	}
	t.levels = deepest
	t.count -= t.at[deepest]
	t.at[deepest] = 0
	t.nodes.dropBelow(deepest, t.open)
	for depth := range t.open {
		t.open[depth].kept = t.open[depth].kept && depth < deepest
	}
}

// current returns the innermost open symbol, to be changed in place. There must
// be one. It is valid until the next call. Within a dropped symbol it is one
// that nobody sees.
func (t *tree) current() *symbol.Symbol {
	if t.inside > 0 {
		t.lost = symbol.Symbol{}
		return &t.lost
	}
	return &t.top().Symbol
}

// kept reports whether the innermost open symbol is one that was not dropped,
// so that describing it is not in vain.
func (t *tree) kept() bool { return len(t.open) > 0 && t.top().kept }

// end closes the innermost open symbol at its last line.
func (t *tree) end(line int) {
	if t.inside > 0 {
		t.inside--
		return
	}
	t.elide()
	f := t.top()
	f.End = line
	if t.path != "" {
		if f.kept && f.rest == "" {
			t.find(f.Symbol)
		}
		t.open = t.open[:len(t.open)-1]
		return
	}
	if f.kept {
		n := t.nodes.at(f.node)
		if f.Name != n.name {
			f.Name = nameOf(f.Name)
		}
		t.nodes.set(n, &f.Symbol)
		n.children = int32(f.children)
	}
	kept := f.kept
	t.open = t.open[:len(t.open)-1]
	if up := t.top(); !kept && up.omitted > 0 {
		up.to = max(up.to, line)
	}
}

// elide adds the symbol that stands for the children left out of the open one.
func (t *tree) elide() {
	f := t.top()
	if f.omitted == 0 || !f.kept || len(t.open) >= t.levels {
		return
	}
	s := elided(f.omitted, f.noun, f.from, f.to)
	t.nodes.add(&s, len(t.open))
	f.children++
	f.omitted = 0
}

// elided returns the symbol that stands for n siblings left out, what they are
// in the singular, on the lines from to to.
func elided(n int, noun string, from, to int) symbol.Symbol {
	return symbol.Symbol{
		Name: Elided, Kind: symbol.Record, Start: from, End: to, Signature: count(n, "more "+noun) + " not listed",
	}
}

// depth returns the number of open symbols.
func (t *tree) depth() int { return len(t.open) + t.inside }

// symbols closes what is open at the last line and returns the whole tree.
func (t *tree) symbols(last int) []symbol.Symbol {
	t.finish(last)
	return t.nodes.symbols(t.root.children, t.levels)
}

// finish closes what is open at the last line.
func (t *tree) finish(last int) {
	for t.inside = 0; len(t.open) > 0; {
		t.end(last)
	}
	t.elide()
}

// find notes the first symbol that was searched for.
func (t *tree) find(s symbol.Symbol) {
	if t.found == nil {
		s.Name, s.Children = nameOf(s.Name), nil
		t.found = &s
	}
}

// restart forgets all symbols, for a second scan.
func (t *tree) restart() {
	if t.found != nil {
		t.open, t.inside = nil, 0
		return
	}
	path := t.path
	*t = newTree()
	if path != "" {
		t.search(path)
	}
}
