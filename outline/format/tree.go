package format

import (
	"slices"
	"strconv"

	"mapd/outline/symbol"
)

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

// tree collects symbols, which are begun and ended like brackets. A symbol
// that has ended lies on a stack above its elder siblings; when its parent ends,
// they move into an array of their own.
type tree struct {
	done   []symbol.Symbol
	open   []frame
	inside int             // begun and not ended within a dropped symbol
	lost   symbol.Symbol   // what current returns there
	slab   []symbol.Symbol // unused space for arrays of children
	levels int             // symbols at this depth and deeper are dropped
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
	base     int  // its children are done[base:]
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
	kept := t.admit(&s)
	t.open = append(t.open, frame{Symbol: s, kept: kept, base: len(t.done)})
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
	t.open = append(t.open, frame{Symbol: symbol.Symbol{Start: line}, base: len(t.done)})
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
		t.done = append(t.done, s)
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
	end := len(t.done)
	for depth := len(t.open); depth >= 0; depth-- {
		base := 0
		if depth > 0 {
			f := &t.open[depth-1]
			f.kept = f.kept && depth-1 < deepest
			base = f.base
		}
		if depth >= deepest {
			t.done = t.done[:base]
		} else {
			dropBelow(t.done[base:end], deepest-depth-1)
		}
		end = base
	}
}

// dropBelow removes what lies more than levels below symbols.
func dropBelow(symbols []symbol.Symbol, levels int) {
	for i := range symbols {
		if levels == 0 {
			symbols[i].Children = nil
		} else {
			dropBelow(symbols[i].Children, levels-1)
		}
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
		f.Name = nameOf(f.Name)
		f.Children = t.array(f.base)
		t.done = append(t.done[:f.base], f.Symbol)
	}
	kept := f.kept
	t.open = t.open[:len(t.open)-1]
	if up := t.top(); !kept && up.omitted > 0 {
		up.to = max(up.to, line)
	}
}

// array moves done[base:] into an array of exact length.
func (t *tree) array(base int) []symbol.Symbol {
	const chunk = 256
	kids := t.done[base:]
	switch n := len(kids); {
	case n == 0:
		return nil
	case n > chunk/4:
		return slices.Clone(kids)
	case n > len(t.slab):
		t.slab = make([]symbol.Symbol, chunk)
	}
	array := t.slab[:len(kids):len(kids)]
	t.slab = t.slab[len(kids):]
	copy(array, kids)
	return array
}

// elide adds the symbol that stands for the children left out of the open one.
func (t *tree) elide() {
	f := t.top()
	if f.omitted == 0 || !f.kept || len(t.open) >= t.levels {
		return
	}
	t.done = append(t.done, elided(f.omitted, f.noun, f.from, f.to))
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
	return slices.Clip(t.done)
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

// count writes n of a noun: "1 key", "1,234 keys".
func count(n int, noun string) string { return string(appendCount(nil, n, noun)) }

func appendCount(b []byte, n int, noun string) []byte {
	start := len(b)
	b = strconv.AppendInt(b, int64(n), 10)
	for i := len(b) - 3; i > start; i -= 3 {
		b = slices.Insert(b, i, ',')
	}
	b = append(append(b, ' '), noun...)
	if n != 1 {
		b = append(b, 's')
	}
	return b
}

// containerSignature describes a collection of n elements or keys. Where the
// symbol's kind says what it is, only the count is left to say.
func containerSignature(kind symbol.Kind, array bool, n int) string {
	return string(appendContainer(nil, kind, array, n))
}

func appendContainer(b []byte, kind symbol.Kind, array bool, n int) []byte {
	named := kind == symbol.Object || kind == symbol.Array
	switch {
	case array && named:
		return appendCount(b, n, "element")
	case array:
		return appendCount(append(b, "array, "...), n, "element")
	case named:
		return appendCount(b, n, "key")
	}
	return appendCount(append(b, "object, "...), n, "key")
}
