package grammar

import (
	"bytes"
	"sort"

	"mapd/outline/symbol"
)

// extraction turns the records of one parse into symbols.
type extraction struct {
	t       *table
	src     []byte // as parsed: blanked text is spaces
	text    []byte // as written
	lines   []int  // byte offset of each line
	nodes   []node
	list    symbol.List
	exports []string // names that the file lists as exported
	depth   int      // of visit
	errors  int      // nodes that are errors around the one that is visited
	near    int      // index of the line that line returned last
	macros  int      // calls of macros around the text
	wrapped int      // start of the statement around the next definition; -1 = none

	believed []span // what trustedInside returned
	inQuotes []bool // what hidden returned
}

// A scope collects the symbols that lie directly in one symbol or in the file.
type scope struct {
	symbols []symbol.Symbol
	holder  symbol.Kind     // of the symbol; "" for the file
	name    string          // of the symbol
	depth   int             // how many symbols it lies in
	inFunc  bool            // inside a function body: plain variables are not symbols
	local   bool            // inside a function that is a symbol
	seen    map[string]bool // variables of this block
	doc     string          // documentation that is no comment and waits
	lead    []span          // comments and attributes that wait for their definition
}

// A span is a comment or attribute, by bytes.
type span struct {
	start, end int
	attr       bool
}

// A def is a definition about to become a symbol.
type def struct {
	name       string
	nameAt     int // byte; -1 = nowhere in particular
	kind       symbol.Kind
	start, end int // bytes; end is exclusive
	sigEnd     int // where the signature ends; 0 = at end
	modifiers  []string
	exported   bool
	doc        string
	children   func(sc *scope) // visits what lies inside; nil = nothing
}

func (t *table) extract(text, src []byte, nodes []node) *extraction {
	x := &extraction{t: t, src: src, text: text, lines: lineStarts(src), nodes: nodes, wrapped: -1}
	top := &scope{}
	x.siblings(0, len(nodes), top)
	x.list.Symbols = top.symbols
	return x
}

// siblings visits the nodes from i up to end, outermost ones only.
func (x *extraction) siblings(i, end int, sc *scope) {
	for i < end {
		x.visit(i, sc)
		i = x.nodes[i].next
	}
}

// children visits the nodes directly inside node i.
func (x *extraction) children(i int, sc *scope) { x.siblings(i+1, x.nodes[i].next, sc) }

func (x *extraction) rule(i int) *rule {
	if t := x.nodes[i].typ; int(t) < len(x.t.rules) {
		return x.t.rules[t]
	}
	return nil
}

// maxVisit bounds how deep visit calls itself. Only hostile files nest deeper;
// what lies below has no symbols.
const maxVisit = 2000

func (x *extraction) visit(i int, sc *scope) {
	if x.depth >= maxVisit {
		return
	}
	x.depth++
	defer x.up()
	if x.nodes[i].isError {
		x.errors++
		defer func() { x.errors-- }()
	} else if x.errors > 0 && x.t.lang.braces && sc.holder == "" && !sc.inFunc && x.indented(x.nodes[i].start) {
		sc.inFunc = true // in what the parser did not see the beginning of
		defer func() { sc.inFunc = false }()
	}
	r := x.rule(i)
	switch {
	case r == nil || r.role == inert:
		x.children(i, sc)
	case r.role == comment:
		x.addLead(sc, x.nodes[i], false)
	case r.role == attribute:
		x.addLead(sc, x.nodes[i], true)
		x.children(i, sc)
	case r.do != nil:
		r.do(x, i, sc)
	default:
		x.simple(i, r, sc)
	}
}

// simple makes the definition that a rule without code describes.
func (x *extraction) simple(i int, r *rule, sc *scope) {
	name := x.named(i, r)
	if name < 0 {
		x.children(i, sc)
		return
	}
	x.define(sc, i, x.simpleDef(i, name, r, sc))
}

func (x *extraction) simpleDef(i, name int, r *rule, sc *scope) def {
	kind := r.kind
	if r.member != "" && isType(sc.holder) {
		kind = r.member
	}
	d := x.defAt(i, name, kind)
	d.sigEnd = x.bodyOf(i, r)
	return d
}

// named returns the node of the name of node i, or -1.
func (x *extraction) named(i int, r *rule) int {
	if r.nameTypes == nil {
		return x.field(i, orElse(r.name, "name"))
	}
	return x.childOf(i, r.nameTypes...)
}

// bodyOf returns where the body of node i starts, or 0.
func (x *extraction) bodyOf(i int, r *rule) int {
	body := -1
	if r.bodyTypes != nil {
		body = x.childOf(i, r.bodyTypes...)
	} else {
		body = x.field(i, orElse(r.body, "body"))
	}
	if body < 0 {
		return 0
	}
	return x.nodes[body].start
}

// childOf returns the first node directly inside node i that has one of the
// types, or -1.
func (x *extraction) childOf(i int, types ...string) int {
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		t := x.typ(j)
		for _, want := range types {
			if t == want {
				return j
			}
		}
	}
	return -1
}

// defAt returns the definition that is node i with the name at node name; what
// lies inside is visited.
func (x *extraction) defAt(i, name int, kind symbol.Kind) def {
	n := x.nodes[i]
	return def{
		name: x.str(name), nameAt: x.nodes[name].start, kind: kind,
		start: n.start, end: n.end,
		children: func(sc *scope) { x.children(i, sc) },
	}
}

// anonymous visits what lies in a function without a name: its functions belong
// to sc, its variables are locals.
func (x *extraction) anonymous(sc *scope, visit func(*scope)) {
	inner := &scope{holder: sc.holder, name: sc.name, depth: sc.depth, inFunc: true, local: sc.local}
	visit(inner)
	sc.symbols = append(sc.symbols, inner.symbols...)
}

// maxNesting bounds how deep symbols lie in symbols; below, they belong to the
// innermost one that is allowed.
const maxNesting = 100

// define appends the symbol of d, made from node i, to sc.
func (x *extraction) define(sc *scope, i int, d def) {
	wrapped := x.wrapped
	x.wrapped = -1
	if d.name == "" || sc.depth >= maxNesting || x.t.lang.reserved[d.name] {
		if d.children != nil {
			d.children(sc)
		}
		return
	}
	if wrapped >= 0 && wrapped <= d.start {
		d.start = wrapped
	}
	lead := x.takeLead(sc, d.start)
	start, lead := x.ownStart(i, d.start, lead)
	s := symbol.Symbol{
		Name: cut(d.name, maxName), Kind: d.kind, Exported: d.exported,
		Start: x.line(start), End: x.endLine(start, d.end),
		Modifiers: d.modifiers, Docstring: d.doc, Local: sc.local,
	}
	if d.nameAt >= 0 {
		s.NameLine = x.line(d.nameAt)
	}
	sigEnd := d.end
	if d.sigEnd > start {
		sigEnd = d.sigEnd
	}
	s.Signature = signature(x.text[start:max(start, sigEnd)])
	if s.Modifiers == nil && d.nameAt >= start {
		s.Modifiers = x.t.modifiersIn(x.text[start:d.nameAt])
	}
	if len(lead) > 0 {
		if line := x.line(lead[0].start); line < s.Start {
			s.Lead = line
		}
		if s.Docstring == "" {
			s.Docstring = x.docstring(lead)
		}
	}
	if d.children != nil {
		inner := &scope{holder: d.kind, name: d.name, depth: sc.depth + 1, inFunc: sc.inFunc, local: sc.local}
		switch d.kind {
		case symbol.Function, symbol.Method, symbol.Constructor:
			inner.inFunc, inner.local = true, true
		case symbol.Class, symbol.Interface, symbol.Struct, symbol.Enum:
			inner.inFunc = false
		}
		d.children(inner)
		s.Children = inner.symbols
	}
	sc.symbols = append(sc.symbols, s)
}

// wrap visits the children of node i; the first definition among them starts
// where node i does.
func (x *extraction) wrap(i int, sc *scope) {
	if x.wrapped < 0 {
		x.wrapped = x.nodes[i].start
	}
	x.children(i, sc)
	x.wrapped = -1
}

// isType reports whether functions inside a symbol of this kind are methods.
func isType(k symbol.Kind) bool {
	switch k {
	case symbol.Class, symbol.Interface, symbol.Struct, symbol.Enum, symbol.Object, symbol.EnumMember:
		return true
	}
	return false
}

// addLead remembers a comment or attribute for the definition after it. A
// comment behind code on its line belongs to that code.
func (x *extraction) addLead(sc *scope, n node, attr bool) {
	if !attr {
		if before := x.src[x.lines[x.line(n.start)-1]:n.start]; len(bytes.TrimSpace(before)) > 0 {
			return
		}
	}
	if k := len(sc.lead); k > 0 && !x.adjacent(sc.lead[k-1].end, n.start) {
		sc.lead = sc.lead[:0]
	}
	sc.lead = append(sc.lead, span{n.start, n.end, attr})
}

// takeLead returns the comments and attributes that stand right before start.
func (x *extraction) takeLead(sc *scope, start int) []span {
	lead := sc.lead
	sc.lead = nil
	k := len(lead)
	if k == 0 || lead[k-1].end > start && lead[k-1].start < start {
		return nil
	}
	if lead[k-1].start >= start { // attributes inside the wrapping statement
		return lead
	}
	if !x.adjacent(lead[k-1].end, start) {
		return nil
	}
	return lead
}

// adjacent reports whether only white space without an empty line is between
// two bytes.
func (x *extraction) adjacent(from, to int) bool {
	if from > to {
		return true
	}
	newlines := 0
	if from > 0 && x.src[from-1] == '\n' {
		newlines++ // some grammars put the line's end into the comment
	}
	for _, c := range x.src[from:to] {
		switch c {
		case '\n':
			newlines++
		case ' ', '\t', '\r', '\f', ';', ',':
		default:
			return false
		}
	}
	return newlines < 2
}

// ownStart moves start past the attributes that node i begins with, and adds
// them to lead.
func (x *extraction) ownStart(i, start int, lead []span) (int, []span) {
	move := func(s span) {
		if s.start == start || s.start > start && blank(x.src[start:s.start]) {
			start = s.end
			for start < len(x.src) && isSpace(x.src[start]) {
				start++
			}
		}
	}
	for _, s := range lead {
		if s.attr {
			move(s)
		}
	}
	for j := i + 1; j < x.nodes[i].next; j++ {
		r := x.rule(j)
		if r == nil || r.role == definition || x.nodes[j].start > start+1 {
			break
		}
		if r.role == inert {
			continue
		}
		s := span{x.nodes[j].start, x.nodes[j].end, r.role == attribute}
		was := start
		move(s)
		if start != was {
			lead = append(lead, s)
		}
		j = x.nodes[j].next - 1
	}
	return start, lead
}

// line returns the 1-based line of a byte. Most calls ask for a line near that
// of the call before.
func (x *extraction) line(at int) int {
	if k := x.near; k < len(x.lines) && x.lines[k] <= at {
		for range 4 {
			if k+1 == len(x.lines) || x.lines[k+1] > at {
				x.near = k
				return k + 1
			}
			k++
		}
	}
	n := sort.Search(len(x.lines), func(i int) bool { return x.lines[i] > at })
	x.near = n - 1
	return n
}

// endLine returns the line of the last byte that is not white space.
func (x *extraction) endLine(start, end int) int {
	end = min(end, len(x.src))
	for end > start+1 && isSpace(x.src[end-1]) {
		end--
	}
	return x.line(max(start, end-1))
}

// field returns the node directly inside node i that stands in the named
// field, or -1.
func (x *extraction) field(i int, name string) int {
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f != 0 && x.t.fields[f] == name {
			return j
		}
	}
	return -1
}

// typ returns the node type of node i.
func (x *extraction) typ(i int) string {
	if t := x.nodes[i].typ; int(t) < len(x.t.types) {
		return x.t.types[t]
	}
	return "ERROR"
}

// str returns the text of node i on one line.
func (x *extraction) str(i int) string {
	return collapse(x.text[x.nodes[i].start:x.nodes[i].end])
}

func (x *extraction) addImport(path string, start, end int) {
	if path != "" {
		x.list.Imports = append(x.list.Imports, symbol.Import{Path: path, Start: x.line(start), End: x.endLine(start, end)})
	}
}

// settle puts symbols into line order and makes children lie inside their
// parents, which a tree with errors does not promise.
func settle(symbols []symbol.Symbol) {
	sort.SliceStable(symbols, func(i, j int) bool { return symbols[i].Start < symbols[j].Start })
	for i := range symbols {
		s := &symbols[i]
		settle(s.Children)
		for j := range s.Children {
			c := &s.Children[j]
			s.Start = min(s.Start, c.Start)
			s.End = max(s.End, c.End)
		}
		if s.NameLine < s.FirstLine() || s.NameLine > s.End {
			s.NameLine = 0
		}
	}
}

func lineStarts(src []byte) []int {
	lines := make([]int, 1, len(src)/30+1)
	for i := 0; ; {
		k := bytes.IndexByte(src[i:], '\n')
		if k < 0 {
			return lines
		}
		i += k + 1
		lines = append(lines, i)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (x *extraction) up() { x.depth-- }

// head returns the text of d before its name. In a tree with errors the name may
// stand before the start.
func (x *extraction) head(d def) []byte { return x.text[d.start:max(d.start, d.nameAt)] }
