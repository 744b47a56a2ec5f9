package grammar

import (
	"bytes"
	"regexp"
	"sort"
	"strings"

	"mapd/outline/symbol"
)

// maxInner bounds how deep a broken definition is cut into its parts.
const maxInner = 3

// A part is some lines of a broken definition, counted from 0, and where they
// stand.
type part struct {
	first, end int
	place      place
}

// mendInner improves p, what the lines from first up to end of x, counted from
// 0, hold, by their parts: the text is cut where definitions of the smallest
// indentation begin, and each part is parsed alone inside a wrapper.
func (m *mender) mendInner(x *extraction, first, end int, p *piece, depth int) {
	if depth >= maxInner {
		return
	}
	parts := x.parts(first, end)
	if len(parts) == 0 {
		return
	}
	headEnd := parts[0].first // a line, 1-based, of the head
	old := *p
	old.index()
	head := old.within(segment{first: first + 1, last: headEnd}, false)
	p.symbols, p.imports = head.symbols, head.imports
	if len(p.symbols) == 0 {
		*p = m.parseHead(x, first, headEnd)
	}
	path := holder(p.symbols)
	if path != nil && isFunction(path.Kind) && x.t.lang.flat {
		*p = old
		return
	}
	trusted := x.trustedInside()
	for _, part := range parts {
		found, err := old.within(segment{first: part.first + 1, last: part.end}, false), error(nil)
		if !x.known(part, trusted) {
			found, err = m.parsePart(x, part, path, &old, depth)
		}
		if err != nil {
			return
		}
		p.imports = append(p.imports, found.imports...)
		p.exports = append(p.exports, found.exports...)
		if path == nil {
			p.symbols = append(p.symbols, found.symbols...)
			continue
		}
		if isType(path.Kind) && (x.t.lang.flat || x.t.lang.name == "python") {
			asMembers(found.symbols, path.Name)
		}
		path.Children = append(path.Children, found.symbols...)
	}
	if path != nil {
		x.closeHolder(path, parts[len(parts)-1].first+1, end)
	}
	settle(p.symbols)
}

// asMembers gives symbols the kinds that they have in the named class, also if
// the parser did not see that they are in one.
func asMembers(symbols []symbol.Symbol, class string) {
	for i := range symbols {
		switch s := &symbols[i]; {
		case s.Kind == symbol.Variable:
			s.Kind = symbol.Field
		case s.Kind != symbol.Function && s.Kind != symbol.Method:
		case s.Name == class, s.Name == "__init__":
			s.Kind = symbol.Constructor
		default:
			s.Kind = symbol.Method
		}
	}
}

// holder returns the symbol that the head of a definition opens.
func holder(symbols []symbol.Symbol) *symbol.Symbol {
	if len(symbols) == 0 {
		return nil
	}
	s := &symbols[len(symbols)-1]
	switch {
	case isType(s.Kind), isFunction(s.Kind),
		s.Kind == symbol.Namespace, s.Kind == symbol.Module, s.Kind == symbol.Constant, s.Kind == symbol.Variable:
		return s
	}
	return nil
}

// parseHead returns what the lines from first up to end of x define, when what
// they leave open is closed.
func (m *mender) parseHead(x *extraction, first, end int) piece {
	start, stop := x.lines[first], x.lines[end]
	if !x.t.lang.braces || stop-start > 8*large || m.overspent(stop-start) {
		return piece{}
	}
	tail := openBrackets(x.src[start:stop])
	if tail == "" {
		return piece{}
	}
	nodes, _, err := x.t.parseWith(nil, x.src[start:stop], tail)
	if err != nil {
		return piece{}
	}
	y := x.t.extract(x.text[start:stop], x.src[start:stop], nodes)
	settle(y.list.Symbols)
	p := piece{symbols: y.list.Symbols, imports: y.list.Imports, exports: y.exports}
	p.shift(first)
	return p
}

// closeHolder ends s on the last line before end that is not empty.
func (x *extraction) closeHolder(s *symbol.Symbol, after, end int) {
	for end > after && len(bytes.TrimSpace(x.lineText(end-1))) == 0 {
		end--
	}
	s.End = max(s.End, end)
}

// indent returns how far line i, counted from 0, is indented; a tab counts as
// one.
func (x *extraction) indent(i int) int {
	line := x.lineText(i)
	return len(line) - len(bytes.TrimLeft(line, " \t"))
}

// membersAre returns an inner function that takes the lines that re matches, but
// none of not, for members of a class.
func membersAre(re *regexp.Regexp, not ...*regexp.Regexp) func(line []byte) place {
	return func(line []byte) place {
		if !re.Match(line) {
			return nowhere
		}
		for _, no := range not {
			if no.Match(line) {
				return nowhere
			}
		}
		return inType
	}
}

// indented reports whether the line of a byte begins with space.
func (x *extraction) indented(at int) bool {
	start := x.lines[x.line(at)-1]
	return start < len(x.src) && (x.src[start] == ' ' || x.src[start] == '\t')
}

// parts returns where the lines from first up to end of the broken text of x can
// be cut further.
func (x *extraction) parts(first, end int) []part {
	inner := x.t.lang.inner
	if inner == nil {
		return nil
	}
	var cuts []part
	smallest := 0
	trusted := x.trustedInside()
	trusted = trusted[sort.Search(len(trusted), func(k int) bool { return trusted[k].end > x.lines[first] }):]
	hidden := x.hidden()
	for i := first + 1; i < end; i++ {
		line := x.lineText(i)
		text := bytes.TrimSpace(line)
		if hidden[i] || len(text) == 0 || !isSpace(line[0]) {
			continue
		}
		indent := x.indent(i)
		if smallest > 0 && indent > smallest {
			continue
		}
		at := x.lines[i] + indent
		for len(trusted) > 0 && trusted[0].end <= at {
			trusted = trusted[1:]
		}
		if len(trusted) > 0 && trusted[0].start < at {
			continue
		}
		place := inner(text)
		if place == nowhere {
			continue
		}
		if indent < smallest || smallest == 0 {
			smallest, cuts = indent, cuts[:0]
		}
		cuts = append(cuts, part{first: i, place: place})
	}
	for k := range cuts {
		cuts[k].end = end
		if k > 0 {
			low := cuts[k-1].first + 1
			first := cuts[k].first
			for first > low && x.leads(first-1) {
				first--
			}
			cuts[k].first = first
			cuts[k-1].end = first
		}
	}
	if len(cuts) > 0 {
		for cuts[0].first > first+1 && x.leads(cuts[0].first-1) {
			cuts[0].first--
		}
	}
	return cuts
}

// leads reports whether line i, counted from 0, is a comment or decorator.
func (x *extraction) leads(i int) bool {
	line := bytes.TrimLeft(x.lineText(i), " \t")
	if len(line) > 0 && line[0] == '*' {
		return true
	}
	return len(line) >= 2 && isLead(line)
}

// trustedInside returns the nodes that define something and have no error,
// wherever they stand.
func (x *extraction) trustedInside() []span {
	if x.believed != nil {
		return x.believed
	}
	found := []span{}
	for i := 0; i < len(x.nodes); {
		n := x.nodes[i]
		if r := x.rule(i); r != nil && r.role == definition && !n.hasError && !n.missing && n.end > n.start && !x.swallows(n) {
			found = append(found, span{start: n.start, end: n.end})
			i = n.next
			continue
		}
		i++
	}
	x.believed = found
	return found
}

// known reports whether trusted nodes, with comments between them, are all that
// a part holds.
func (x *extraction) known(p part, trusted []span) bool {
	start, end := x.lines[p.first], len(x.src)
	if p.end < len(x.lines) {
		end = x.lines[p.end]
	}
	k := sort.Search(len(trusted), func(k int) bool { return trusted[k].start >= start })
	if k == len(trusted) || trusted[k].end > end {
		return false
	}
	at := start
	for ; k < len(trusted) && trusted[k].end <= end; k++ {
		if trusted[k].start > at && !isGap(x.src[at:trusted[k].start]) {
			return false
		}
		at = max(at, trusted[k].end)
	}
	return isGap(x.src[at:end])
}

// isGap reports whether text holds nothing but space, separators, comments and
// decorators.
func isGap(text []byte) bool {
	text = bytes.Trim(text, " \t\r\n\f;,")
	return len(text) == 0 || len(text) > 1 && isLead(text) && (!bytes.HasPrefix(text, []byte("/*")) || bytes.HasSuffix(text, []byte("*/")))
}

// parsePart returns what one part holds, in lines of x.
func (m *mender) parsePart(x *extraction, at part, holder *symbol.Symbol, old *piece, depth int) (piece, error) {
	start, end := x.lines[at.first], len(x.src)
	if at.end < len(x.lines) {
		end = x.lines[at.end]
	}
	lines := segment{first: at.first + 1, last: at.end}
	if x.nodes != nil && end-start >= large && x.t.lang.braces && openBrackets(x.src[start:end]) != "" {
		p := old.within(lines, false)
		m.mendInner(x, at.first, at.end, &p, depth+1)
		return p, nil
	}
	if m.overspent(end - start) {
		return old.within(lines, false), nil
	}
	w := x.t.wrapperOf(at.place, holder)
	name := wrapperName
	if holder != nil && isType(holder.Kind) && identifier.MatchString(holder.Name) {
		name = holder.Name // constructors have the name of their class
	}
	text := w.around(name, x.text[start:end])
	src := w.around(name, x.src[start:end])
	nodes, broken, err := x.t.parseAfter(nil, src)
	if err != nil {
		return piece{}, err
	}
	y := x.t.extract(text, src, nodes)
	settle(y.list.Symbols)
	p := piece{symbols: y.list.Symbols, imports: y.list.Imports, exports: y.exports}
	first, last := 0, len(y.lines)
	if w.open != "" {
		p.unwrap()
		first, last = 1, last-1
	}
	if broken {
		m.mendInner(y, first, last, &p, depth+1)
	}
	p.shift(at.first - first)
	p.limit(lines)
	if broken {
		p = old.better(lines, p)
	}
	return p, nil
}

func isFunction(k symbol.Kind) bool {
	return k == symbol.Function || k == symbol.Method || k == symbol.Constructor
}

// wrapperOf returns the wrapper of a part of holder.
func (t *table) wrapperOf(at place, holder *symbol.Symbol) wrapper {
	switch {
	case holder == nil:
	case at == inBlock && (holder.Kind == symbol.Namespace || holder.Kind == symbol.Module):
		return wrapper{}
	case at == inType && isFunction(holder.Kind) && t.lang.name == "python":
		at = inBlock
	}
	return t.lang.wrappers[at]
}

var identifier = regexp.MustCompile(`^[A-Za-z_]\w*$`)

// around returns part inside w, whose symbol gets the name.
func (w wrapper) around(name string, part []byte) []byte {
	if w.open == "" {
		return part
	}
	open := strings.ReplaceAll(w.open, wrapperName, name)
	b := make([]byte, 0, len(open)+len(part)+len(w.close)+2)
	b = append(append(b, open...), '\n')
	b = append(append(b, part...), '\n')
	return append(b, w.close...)
}

// unwrap replaces the symbol of a wrapper, which starts on the first line, by
// what lies in it.
func (p *piece) unwrap() {
	var symbols []symbol.Symbol
	for _, s := range p.symbols {
		if s.Start == 1 {
			symbols = append(symbols, s.Children...)
		} else {
			symbols = append(symbols, s)
		}
	}
	p.symbols = symbols
}

// limit removes what lies outside the lines of s, as the lines of a wrapper do.
func (p *piece) limit(s segment) {
	kept := p.symbols[:0]
	for _, sym := range p.symbols {
		if sym.Start >= s.first && sym.Start <= s.last {
			clip(&sym, s.last)
			if sym.Lead > 0 && sym.Lead < s.first {
				sym.Lead = 0
			}
			kept = append(kept, sym)
		}
	}
	p.symbols = kept
}
