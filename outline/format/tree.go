package format

import (
	"strconv"

	"mapd/outline/symbol"
)

// The limits of one file's symbols. They bound what an answer can hold and
// keep memory below three times the size of a large file.
const (
	// MaxDepth is how deep symbols nest; what lies deeper is counted in its
	// ancestor's signature but is no symbol.
	MaxDepth = 64
	// MaxSymbols bounds the symbols of one file, whatever its size; a file
	// smaller than MaxSymbols×bytesPerSymbol has a lower bound, never below
	// minSymbols. When a file reaches its bound, its deepest level is dropped.
	MaxSymbols = 200_000
	// MaxChildren bounds the children of one symbol, and the symbols at the top.
	MaxChildren = 20_000
	// MaxElements is how many elements of one array are looked into.
	MaxElements = 100
	// MaxName is the length in bytes at which names are cut.
	MaxName = 256
	// MaxPreview is the length in characters of a preview in a signature.
	MaxPreview = 80

	minSymbols     = 50_000
	bytesPerSymbol = 128
)

// Elided is the name of a symbol that stands for siblings left out.
const Elided = "…"

// tree collects symbols in preorder. Symbols are begun and ended like brackets.
type tree struct {
	nodes  []node
	open   []frame
	limit  int // of len(nodes)
	levels int // symbols at this depth and deeper are dropped
	root   frame
}

type node struct {
	symbol.Symbol
	depth int32
}

// frame is a symbol begun and not ended, or the top level.
type frame struct {
	node     int // index in nodes; -1 if the symbol itself was dropped
	children int
	omitted  int // children beyond the limit
	from, to int // their lines
	noun     string
}

func newTree(size int) tree {
	return tree{limit: min(max(size/bytesPerSymbol, minSymbols), MaxSymbols), levels: MaxDepth, root: frame{node: -1}}
}

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
	return len(t.open) >= t.levels || (len(t.open) > 0 && top.node < 0) || top.children >= MaxChildren
}

// begin adds s as the last child of the open symbol and opens it.
func (t *tree) begin(s symbol.Symbol) {
	t.open = append(t.open, frame{node: t.add(s)})
}

// leaf adds s as the last child of the open symbol. s.End must be set.
func (t *tree) leaf(s symbol.Symbol) {
	if i := t.add(s); i >= 0 {
		return
	}
	if top := t.top(); top.omitted > 0 {
		top.to = max(top.to, s.End)
	}
}

// omit counts a child that is left out of the open symbol: its lines, and what
// it is ("key").
func (t *tree) omit(start, end int, noun string) {
	top := t.top()
	if top.omitted == 0 {
		top.from, top.noun = start, noun
	}
	top.omitted++
	top.to = max(top.to, end)
}

func (t *tree) add(s symbol.Symbol) int {
	depth := len(t.open)
	top := t.top()
	if depth >= t.levels || (depth > 0 && top.node < 0) {
		return -1
	}
	if top.children >= MaxChildren {
		t.omit(s.Start, s.End, "symbol")
		return -1
	}
	if len(t.nodes) >= t.limit {
		t.prune()
		if depth >= t.levels {
			return -1
		}
	}
	t.top().children++
	s.Name = cutName(s.Name)
	t.nodes = append(t.nodes, node{s, int32(depth)})
	return len(t.nodes) - 1
}

// prune drops the deepest level of symbols. Each call costs time linear in the
// limit, and there are at most MaxDepth calls. The top level fits by itself:
// MaxChildren is less than every limit.
func (t *tree) prune() {
	deepest := int32(0)
	for i := range t.nodes {
		deepest = max(deepest, t.nodes[i].depth)
	}
	t.levels = int(deepest)
	kept, next := 0, 0
	for i := range t.nodes {
		for next < len(t.open) && t.open[next].node < i {
			next++
		}
		isOpen := next < len(t.open) && t.open[next].node == i
		if t.nodes[i].depth == deepest {
			if isOpen {
				t.open[next].node = -1
			}
			continue
		}
		if isOpen {
			t.open[next].node = kept
		}
		t.nodes[kept] = t.nodes[i]
		kept++
	}
	clear(t.nodes[kept:])
	t.nodes = t.nodes[:kept]
}

// current returns the innermost open symbol, to be changed in place, or nil if
// it was dropped or none is open. It is valid until the next call.
func (t *tree) current() *symbol.Symbol {
	if i := t.top().node; i >= 0 {
		return &t.nodes[i].Symbol
	}
	return nil
}

// end closes the innermost open symbol at its last line.
func (t *tree) end(line int) {
	top := t.top()
	i := top.node
	t.elide(top)
	t.open = t.open[:len(t.open)-1]
	if i >= 0 {
		t.nodes[i].End = line
		return
	}
	if up := t.top(); up.omitted > 0 {
		up.to = max(up.to, line)
	}
}

// elide adds the symbol that stands for the children left out of f, which is
// the top frame.
func (t *tree) elide(f *frame) {
	if f.omitted == 0 {
		return
	}
	s := symbol.Symbol{
		Name: Elided, Kind: symbol.Record, Start: f.from, End: f.to,
		Signature: count(f.omitted, "more "+f.noun) + " not listed",
	}
	f.children, f.omitted = f.children-1, 0
	if len(t.nodes) < t.limit {
		t.add(s)
	}
}

// depth returns the number of open symbols.
func (t *tree) depth() int { return len(t.open) }

// symbols closes what is open at the last line and returns the whole tree.
// Each level's children share one array.
func (t *tree) symbols(last int) []symbol.Symbol {
	for len(t.open) > 0 {
		t.end(last)
	}
	t.elide(&t.root)
	if len(t.nodes) == 0 {
		return nil
	}
	kids := make([]int32, len(t.nodes)) // number of children
	parent := make([]int32, len(t.nodes))
	tops := 0
	var path [MaxDepth + 1]int32
	for i := range t.nodes {
		d := t.nodes[i].depth
		path[d] = int32(i)
		if d == 0 {
			tops++
			parent[i] = -1
			continue
		}
		parent[i] = path[d-1]
		kids[path[d-1]]++
	}
	arena := make([]symbol.Symbol, len(t.nodes))
	// slot[i] is where the next child of node i goes.
	slot := make([]int32, len(t.nodes))
	free, nextTop := int32(tops), int32(0)
	for i := range t.nodes {
		slot[i] = free
		free += kids[i]
	}
	for i := range t.nodes {
		at := &nextTop
		if p := parent[i]; p >= 0 {
			at = &slot[p]
		}
		s := t.nodes[i].Symbol
		if k := kids[i]; k > 0 {
			s.Children = arena[slot[i] : slot[i]+k : slot[i]+k]
		}
		arena[*at] = s
		*at++
	}
	t.nodes = nil
	return arena[:tops:tops]
}

// grouped writes n with separators: 1,234,567.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes n of a noun: "1 key", "1,234 keys".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}
