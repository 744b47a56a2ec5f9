package grammar

import (
	"bytes"
	"runtime"
	"sort"

	"golang.org/x/sync/errgroup"

	"mapd/outline/symbol"
)

// A segment is the part of a broken file from one definition at the left margin
// to the next, by bytes and by its 1-based lines.
type segment struct {
	start, end int
	first      int // line
	last       int // line; first-1 for no line
}

// outline parses text, and again in segments if the tree has errors.
func (t *table) outline(text []byte) (symbol.List, error) {
	src := text
	if t.lang.prepare != nil {
		src = t.lang.prepare(text)
	}
	nodes, broken, err := t.parseAfter(nil, src)
	if err == nil && broken && t.lang.missing != nil {
		if tail := t.lang.missing(src); tail != "" {
			nodes, _, err = t.parseWith(nil, src, tail)
		}
	}
	if err != nil {
		return symbol.List{}, err
	}
	whole := t.extract(text, src, nodes)
	found := piece{symbols: whole.list.Symbols, imports: whole.list.Imports, exports: whole.exports}
	list := symbol.List{Source: symbol.Parser}
	if broken {
		list.Why = symbol.SyntaxErrors
		settle(found.symbols)
		if m := newMender(whole); len(m.segments) > 0 {
			list.Source = symbol.Segments
			if found, err = m.mend(found); err != nil {
				return symbol.List{}, err
			}
		}
		found.symbols = withoutHidden(found.symbols, whole.hidden())
	}
	settle(found.symbols)
	sort.SliceStable(found.imports, func(i, j int) bool { return found.imports[i].Start < found.imports[j].Start })
	list.Symbols, list.Imports = found.symbols, found.imports
	if t.lang.finish != nil {
		t.lang.finish(text, found.exports, &list)
	}
	return list, nil
}

// A mender makes the outline of a file whose tree has errors.
type mender struct {
	x        *extraction // of the whole file
	segments []segment
	budget   int // bytes that one run of segments may still parse
}

// chunks is how many parts a broken file is parsed in at first; a part that
// has errors is halved until it is one segment.
const chunks = 64

// newMender cuts the file of x where a definition starts at the left margin,
// but not inside a definition that the whole tree knows without an error.
func newMender(x *extraction) *mender {
	m := &mender{x: x}
	if x.t.lang.split == nil {
		return m
	}
	at, line := 0, 1
	cut := func(i int) { // the segment ends before line i+1
		if end := x.lines[i]; end > at {
			m.segments = append(m.segments, segment{at, end, line, i})
			at, line = end, i+1
		}
	}
	trusted := x.trusted()
	hidden := x.hidden()
	for i := 1; i < len(x.lines); i++ {
		start := x.lines[i]
		if hidden[i] || start >= len(x.src) || isSpace(x.src[start]) || !x.t.lang.split(x.lineText(i)) {
			continue
		}
		for len(trusted) > 0 && trusted[0].end <= start {
			trusted = trusted[1:]
		}
		if len(trusted) > 0 && trusted[0].start < start {
			continue
		}
		cut(x.leadLine(i, line-1))
	}
	if at < len(x.src) {
		m.segments = append(m.segments, segment{at, len(x.src), line, len(x.lines)})
	}
	return m
}

// lineText returns line i, counted from 0.
func (x *extraction) lineText(i int) []byte {
	end := len(x.src)
	if i+1 < len(x.lines) {
		end = x.lines[i+1]
	}
	return x.src[x.lines[i]:end]
}

// leadLine returns the first of the lines before line i that hold its comments
// and decorators, counted from 0 and not before line first.
func (x *extraction) leadLine(i, first int) int {
	for i > first {
		line := x.lineText(i - 1)
		switch l := x.t.lang; {
		case len(line) >= 2 && isLead(line),
			l.headLines && isHead(line),
			l.heads != nil && l.heads(line, x.lineText(i)):
			i--
		default:
			open := x.commentLine(i-1, first)
			if open < 0 {
				return i
			}
			i = open
		}
	}
	return i
}

// commentLine returns the line, not before line first, on which the comment
// begins that ends line i, or -1.
func (x *extraction) commentLine(i, first int) int {
	line := bytes.TrimSpace(x.lineText(i))
	for _, c := range [][2]string{{"{-", "-}"}, {"(*", "*)"}, {"/*", "*/"}, {"<!--", "-->"}, {"=begin", "=end"}} {
		if !bytes.HasSuffix(line, []byte(c[1])) {
			continue
		}
		for ; i >= first; i-- {
			if line := x.lineText(i); bytes.Contains(line, []byte(c[0])) {
				if bytes.HasPrefix(line, []byte(c[0])) {
					return i
				}
				return -1
			}
		}
	}
	return -1
}

// isHead reports whether a line begins a definition that the next line goes on
// with, as a C function's type on a line of its own.
func isHead(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && isWord(line[0]) && (isWord(line[len(line)-1]) || line[len(line)-1] == '*')
}

func isLead(line []byte) bool {
	switch line[0] {
	case '@', '[':
		return true
	case '#':
		return bytes.HasPrefix(line, []byte("# ")) || bytes.HasPrefix(line, []byte("#["))
	case '-':
		return line[1] == '-'
	case '/':
		return line[1] == '/' || line[1] == '*'
	case ' ':
		return line[1] == '*'
	}
	return false
}

// trusted returns the outermost nodes that define something and have no error,
// in order. A string or an expression is not trusted: what a quote without its
// partner swallows looks like one.
func (x *extraction) trusted() []span {
	var found []span
	for _, i := range x.tops() {
		n := x.nodes[i]
		if r := x.rule(i); r != nil && r.role == definition && !n.hasError && !n.missing && !x.swallows(n) {
			found = append(found, span{start: n.start, end: n.end})
		}
	}
	return found
}

// swallows reports whether n holds a line that begins a definition no deeper
// than n does. In languages whose strings have many lines that is what a quote
// without its partner looks like.
func (x *extraction) swallows(n node) bool {
	l := x.t.lang
	if !l.longStrings {
		return false
	}
	first := x.line(n.start) - 1
	indent := x.indent(first)
	for i := first + 1; i < len(x.lines) && x.lines[i] < n.end; i++ {
		if x.hidden()[i] || x.indent(i) > indent {
			continue
		}
		line := x.lineText(i)
		if indent == 0 && l.split(line) || l.inner != nil && l.inner(bytes.TrimSpace(line)) != nowhere {
			return true
		}
	}
	return false
}

// tops returns the outermost nodes, those of a tree that is all an error from
// inside it.
func (x *extraction) tops() []int {
	i, end := 0, len(x.nodes)
	if end > 0 && x.nodes[0].isError && x.nodes[0].next == end {
		i = 1
	}
	var found []int
	for ; i < end; i = x.nodes[i].next {
		found = append(found, i)
	}
	return found
}

// mend returns the union of what the segments show and of what the whole tree
// knows besides. The parts of the file are parsed at the same time; each has a
// budget of its own, so that the result does not depend on the order.
func (m *mender) mend(whole piece) (piece, error) {
	whole.index()
	clean := m.clean(&whole)
	var runs [][2]int // segments that are parsed together
	for k := 0; k < len(m.segments); {
		if clean[k] {
			k++
			continue
		}
		size, end := 0, k
		for end < len(m.segments) && !clean[end] {
			size += m.segments[end].end - m.segments[end].start
			if end > k && size > len(m.x.src)/chunks {
				break // a large segment alone is not parsed with each half of its chunk
			}
			end++
		}
		runs = append(runs, [2]int{k, end})
		k = end
	}
	m.x.trustedInside() // before the parts share it
	pieces := make([]piece, len(runs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, run := range runs {
		group.Go(func() (err error) {
			size := m.segments[run[1]-1].end - m.segments[run[0]].start
			part := &mender{x: m.x, segments: m.segments, budget: size*3/2 + 32<<10}
			pieces[i], err = part.parse(run[0], run[1], &whole)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return piece{}, err
	}
	result := piece{exports: whole.exports}
	for k, i := 0, 0; k < len(m.segments); {
		if clean[k] {
			result.add(whole.within(m.segments[k], true))
			k++
			continue
		}
		result.add(pieces[i])
		k = runs[i][1]
		i++
	}
	result.symbols = adopt(result.symbols, whole.symbols)
	return result, nil
}

// large is the size in bytes from which it is worth to look at a segment or
// part before it is parsed again.
const large = 8 << 10

// parse returns what the segments k to end-1 hold.
func (m *mender) parse(k, end int, whole *piece) (piece, error) {
	x := m.x
	start, stop := m.segments[k].start, m.segments[end-1].end
	lines := segment{start, stop, m.segments[k].first, m.segments[end-1].last}
	single, tail := end-k == 1, ""
	if single {
		if x.t.lang.braces {
			tail = openBrackets(x.src[start:stop])
		}
		if m.hopeless(start, stop, tail) {
			return m.inside(lines, whole), nil
		}
	}
	if m.budget -= stop - start; m.budget < 0 {
		return whole.within(lines, false), nil
	}
	nodes, broken, err := m.parseClosed(start, stop, tail)
	if err != nil {
		return piece{}, err
	}
	if broken && !single {
		mid := (k + end) / 2
		p, err := m.parse(k, mid, whole)
		if err != nil {
			return piece{}, err
		}
		q, err := m.parse(mid, end, whole)
		p.add(q)
		return p, err
	}
	part := x.t.extract(x.text[start:stop], x.src[start:stop], nodes)
	settle(part.list.Symbols)
	p := piece{symbols: part.list.Symbols, imports: part.list.Imports, exports: part.exports}
	if broken {
		m.mendInner(part, 0, len(part.lines), &p, 0)
	}
	p.shift(lines.first - 1)
	if broken {
		p = whole.better(lines, p)
	}
	return p, nil
}

// hopeless reports whether to parse the segment alone would show no more than
// the whole tree and the parts of the segment do: it leaves brackets open, or
// all errors of the file lie in it.
func (m *mender) hopeless(start, stop int, tail string) bool {
	if m.x.t.lang.inner == nil {
		return false
	}
	switch size := stop - start; {
	case size < large:
		return false
	case tail != "", size >= len(m.x.src)/10*9:
		return true
	}
	for _, i := range m.x.tops() {
		if n := m.x.nodes[i]; (n.hasError || n.isError || n.missing) && (n.start < start || n.end > stop) {
			return false
		}
	}
	return true
}

// inside returns what the whole tree and the parts of one segment show.
func (m *mender) inside(lines segment, whole *piece) piece {
	p := whole.within(lines, false)
	m.mendInner(m.x, lines.first-1, lines.last, &p, 0)
	p.limit(lines)
	return whole.better(lines, p)
}

// parseClosed parses the text from start to stop with the tail that closes what
// it leaves open, and without it if that fails.
func (m *mender) parseClosed(start, stop int, tail string) (nodes []node, broken bool, err error) {
	t, before, src := m.x.t, m.x.src[:start], m.x.src[start:stop]
	if tail == "" {
		return t.parseAfter(before, src)
	}
	tries := []int{len(src)}
	if stop == len(m.x.src) { // the last line may itself be cut
		tries = append(tries, bytes.LastIndexByte(bytes.TrimRight(src, "\n"), '\n')+1)
	}
	for k, end := range tries {
		if k > 0 {
			if tail = openBrackets(src[:end]); m.overspent(len(src)) {
				break
			}
		}
		again, stillBroken, err := t.parseWith(before, src[:end], tail)
		if err != nil {
			return nil, true, err
		}
		if !stillBroken {
			return again, true, nil
		}
		if nodes == nil {
			nodes = again
		}
	}
	if m.overspent(len(src)) {
		return nodes, true, nil
	}
	// Brackets in what is no string for openBrackets, as in regular expressions.
	plain, broken, err := t.parseAfter(before, src)
	return plain, broken, err
}

// overspent takes n bytes from the budget and reports whether it had less.
func (m *mender) overspent(n int) bool {
	m.budget -= n
	return m.budget < 0
}
