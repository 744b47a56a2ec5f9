package format

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// scanMarkdown follows the block structure of CommonMark and the tables of
// GitHub line by line. Headings of the document are nested sections; headings
// inside block quotes and lists belong to those and are not sections.
func scanMarkdown(d *doc) { newMarkdown(d).run() }

// scanMDX is Markdown without indented code and HTML blocks, with ES modules
// and expressions in braces.
func scanMDX(d *doc) {
	m := newMarkdown(d)
	m.mdx = true
	m.run()
}

// markdown is the state between two lines.
type markdown struct {
	mdx    bool
	boxes  []mdBox // open block quotes and list items, outermost first
	leaf   mdLeaf
	para   mdParagraph
	fence  mdFence
	html   htmlEnd
	braces int // MDX: brackets open in an expression or module
	sections
}

// mdLeaf is the kind of the open block that holds text.
type mdLeaf int

const (
	leafNone mdLeaf = iota
	leafParagraph
	leafFence
	leafHTML
	leafIndented
	leafESM
)

// mdParagraph is the open paragraph, which may turn out to be a heading, a
// table or link definitions.
type mdParagraph struct {
	start, end int
	lines      [][]byte // at most maxParagraph of them
	last       []byte   // its last line
	table      int      // line of the table's header; 0 if it is none
	columns    []string
	inBox      bool
}

// maxParagraph is how many lines of a paragraph can become a heading's text or
// link definitions.
const maxParagraph = 1000

func newMarkdown(d *doc) *markdown { return &markdown{sections: sections{d: d}} }

func (m *markdown) run() {
	first := m.frontMatter() + 1
	for n := first; n <= m.d.text.Lines() && !m.d.stopped(); n++ {
		m.line(n)
	}
	m.endLeaf()
	m.sections.end(m.d.text.Lines())
}

// frontMatter adds the block of metadata at the start and returns its last
// line, 0 if there is none.
func (m *markdown) frontMatter() int {
	text := m.d.text
	mark := string(bytes.TrimRight(text.Line(1), " \t"))
	if mark != "---" && mark != "+++" {
		return 0
	}
	for n := 2; n <= text.Lines() && !m.d.stopped(); n++ {
		switch s := string(bytes.TrimRight(text.Line(n), " \t")); {
		case s == mark, s == "..." && mark == "---":
			m.d.tree.begin(symbol.Symbol{Name: "front matter", Kind: symbol.Section, Start: 1, NameLine: 1})
			m.frontMatterKeys(2, n-1, mark)
			m.d.tree.end(n)
			return n
		case n == 2 && s == "":
			return 0 // a thematic break
		}
	}
	return 0
}

// frontMatterKeys adds the keys at the left margin of the lines from first to
// last.
func (m *markdown) frontMatterKeys(first, last int, mark string) {
	separator := ":"
	if mark == "+++" {
		separator = "="
	}
	open := false
	for n := first; n <= last; n++ {
		line := m.d.text.Line(n)
		key, value, found := bytes.Cut(line, []byte(separator))
		if !found || len(key) == 0 || strings.IndexByte(" \t#-[]{}", key[0]) >= 0 ||
			separator == ":" && len(value) > 0 && value[0] != ' ' && value[0] != '\t' {
			continue
		}
		if open {
			m.d.tree.end(n - 1)
		}
		m.d.tree.begin(symbol.Symbol{
			Name: strings.Trim(string(bytes.TrimSpace(key)), `"'`), Kind: symbol.Key,
			Start: n, NameLine: n, Signature: preview(value, MaxPreview),
		})
		open = true
	}
	if open {
		m.d.tree.end(last)
	}
}

// endLeaf closes the open block of text.
func (m *markdown) endLeaf() {
	if m.leaf == leafParagraph {
		m.endParagraph()
	}
	m.leaf = leafNone
}

func (m *markdown) endParagraph() {
	p := &m.para
	if p.table > 0 {
		m.d.tree.leaf(symbol.Symbol{
			Name: tableName(p.columns), Kind: symbol.Table, Start: p.table, End: p.end, NameLine: p.table,
			Signature: count(max(p.end-p.table-1, 0), "row") + " × " + count(len(p.columns), "column"),
		})
		return
	}
	m.definitions()
}

// definitions adds the link definitions at the start of the paragraph and
// returns how many of its lines they take.
func (m *markdown) definitions() int {
	p := &m.para
	if len(p.lines) == 0 || p.lines[0][0] != '[' {
		return 0
	}
	defs, taken := linkDefinitions(p.lines)
	for _, def := range defs {
		m.d.tree.leaf(symbol.Symbol{
			Name: def.label, Kind: symbol.Key, Start: p.start + def.first, End: p.start + def.last,
			NameLine: p.start + def.first, Signature: def.target,
		})
	}
	return taken
}

// setext makes the open paragraph a heading if it has text besides link
// definitions, and reports whether it did.
func (m *markdown) setext(level int) bool {
	p := &m.para
	if p.table > 0 {
		m.endLeaf()
		return false
	}
	taken := m.definitions()
	if taken >= len(p.lines) && taken > 0 && p.end-p.start+1 == taken {
		// Only definitions: the underline starts a paragraph.
		m.leaf = leafNone
		return false
	}
	m.leaf = leafNone
	if p.inBox {
		return true
	}
	var words [][]byte
	for _, l := range p.lines[taken:] {
		words = append(words, bytes.TrimSpace(l))
	}
	name := cutName(string(bytes.Join(words, []byte(" "))))
	m.heading(level, name, p.start+taken)
	return true
}

// paragraph adds what is left of a line to the open paragraph, or opens one.
func (m *markdown) paragraph(n int, rest []byte) {
	p := &m.para
	if m.leaf != leafParagraph {
		m.endLeaf()
		m.leaf = leafParagraph
		*p = mdParagraph{start: n, lines: p.lines[:0], inBox: len(m.boxes) > 0}
	} else if p.table == 0 {
		if columns := tableStart(p.last, rest); columns != nil {
			p.table, p.columns = n-1, columns
		}
	}
	if len(p.lines) < maxParagraph {
		p.lines = append(p.lines, rest)
	}
	p.last, p.end = rest, n
}

func tableName(columns []string) string {
	return cutName(strings.Join(columns, " | "))
}
