package format

import (
	"bytes"
	"strings"
)

// mdBox is an open container: a block quote, or a list item whose text is
// indented by at least indent columns.
type mdBox struct {
	quote  bool
	indent int
	empty  bool // an item without text so far
}

// maxBoxes bounds the nesting of containers; deeper marks are text.
const maxBoxes = 100

// mdLine is what is left of a line. Tabs stop at every fourth column.
type mdLine struct {
	b     []byte
	pos   int
	col   int
	spare int // columns of the tab before pos that are not consumed yet
	text  int // offset past the last character that is not blank
}

func newMDLine(b []byte) mdLine {
	return mdLine{b: b, text: len(bytes.TrimRight(b, " \t\r\v\f"))}
}

func (l *mdLine) blank() bool { return l.pos >= l.text }

// rest returns what follows the leading blanks.
func (l *mdLine) rest() []byte {
	if l.blank() {
		return nil
	}
	return bytes.TrimLeft(l.b[l.pos:l.text], " \t")
}

// indent counts the columns of leading blanks, up to a bound no indentation
// that matters reaches.
func (l *mdLine) indent() int {
	const most = 64
	n, col := l.spare, l.col+l.spare
	for i := l.pos; i < len(l.b) && n < most; i++ {
		switch l.b[i] {
		case ' ':
			n, col = n+1, col+1
		case '\t':
			step := 4 - col%4
			n, col = n+step, col+step
		default:
			return n
		}
	}
	return n
}

// skip consumes n columns of blanks.
func (l *mdLine) skip(n int) {
	for n > 0 {
		if l.spare > 0 {
			k := min(n, l.spare)
			l.spare, l.col, n = l.spare-k, l.col+k, n-k
			continue
		}
		if l.pos >= len(l.b) {
			return
		}
		switch l.b[l.pos] {
		case ' ':
			l.col++
			n--
		case '\t':
			l.spare = 4 - l.col%4
		default:
			return
		}
		l.pos++
	}
}

// advance consumes n bytes that are not tabs.
func (l *mdLine) advance(n int) { l.pos, l.col = l.pos+n, l.col+n }

// line takes the next line of the file.
func (m *markdown) line(n int) {
	l := newMDLine(m.d.text.Line(n))
	matched := m.match(&l)
	all := matched == len(m.boxes)
	if all && m.continues(&l) {
		return
	}
	if !all && m.leaf != leafParagraph {
		m.closeBoxes(matched)
		all = true
	}
	for m.starts(&l, n, &matched, &all) {
		if l.pos < 0 {
			return // the whole line is consumed
		}
	}
	switch {
	case l.blank():
		m.closeBoxes(matched)
		m.endLeaf()
	case !all: // lazy continuation
		m.paragraph(n, l.rest())
	default:
		m.paragraph(n, l.rest())
	}
}

// match consumes the marks of the open containers and returns how many of them
// go on in this line.
func (m *markdown) match(l *mdLine) int {
	for i := range m.boxes {
		box := &m.boxes[i]
		switch {
		case box.quote:
			if !quoteMark(l) {
				return i
			}
		case l.blank():
			if box.empty {
				return i
			}
		case l.indent() >= box.indent:
			l.skip(box.indent)
			box.empty = false
		default:
			return i
		}
	}
	return len(m.boxes)
}

func quoteMark(l *mdLine) bool {
	n := l.indent()
	if n > 3 || l.blank() {
		return false
	}
	at := l.pos + len(l.b[l.pos:]) - len(bytes.TrimLeft(l.b[l.pos:], " \t"))
	if l.b[at] != '>' {
		return false
	}
	l.skip(n)
	l.advance(1)
	if l.indent() > 0 {
		l.skip(1)
	}
	return true
}

// closeBoxes closes the containers beyond the first n and what is open in them.
func (m *markdown) closeBoxes(n int) {
	if n < len(m.boxes) {
		m.endLeaf()
		m.boxes = m.boxes[:n]
	}
}

// continues reports whether the line belongs to an open block that takes
// whole lines: a fence, HTML, an expression.
func (m *markdown) continues(l *mdLine) bool {
	switch m.leaf {
	case leafFence:
		if m.fence.closes(l) {
			m.leaf = leafNone
		}
		return true
	case leafHTML:
		if m.html.blank && l.blank() {
			m.leaf = leafNone
			return false
		}
		if m.html.found(l.b[l.pos:]) {
			m.leaf = leafNone
		}
		return true
	case leafESM:
		m.braces += braceBalance(l.b)
		if m.braces <= 0 {
			m.leaf = leafNone
		}
		return true
	case leafIndented:
		if l.blank() || l.indent() >= 4 {
			return true
		}
		m.leaf = leafNone
	}
	return false
}

// starts tries to begin one block at l and reports whether it did. It sets
// l.pos to -1 if that took the whole line. matched and all say how many, and
// whether all, of the containers go on; beginning a block closes the others.
func (m *markdown) starts(l *mdLine, n int, matched *int, all *bool) bool {
	if l.blank() {
		return false
	}
	indent := l.indent()
	open := m.leaf == leafParagraph
	if indent >= 4 && !m.mdx {
		if open {
			return false
		}
		m.leaf, l.pos = leafIndented, -1
		return true
	}
	rest := l.rest()
	begin := func(take bool) bool {
		m.closeBoxes(*matched)
		*all = true
		m.endLeaf()
		if take {
			l.pos = -1
		}
		return true
	}
	switch {
	case rest[0] == '>' && indent <= 3 && len(m.boxes) < maxBoxes:
		begin(false)
		quoteMark(l)
		m.boxes = append(m.boxes, mdBox{quote: true})
		*matched = len(m.boxes)
		return true
	case m.leafBlock(rest, n, open, begin):
		return true
	case m.mdx && !open && len(m.boxes) == 0 && m.module(rest, n):
		l.pos = -1
		return true
	}
	if (rest[0] == '=' || rest[0] == '-') && open && *all {
		if level := setextLevel(rest); level > 0 && m.setext(level) {
			l.pos = -1
			return true
		}
	}
	if thematicBreak(rest) {
		return begin(true)
	}
	return m.listItem(l, rest, indent, m.leaf == leafParagraph && *all, matched, begin)
}

// leafBlock begins a heading, a fence or an HTML block if rest is one's first
// line.
func (m *markdown) leafBlock(rest []byte, n int, inParagraph bool, begin func(bool) bool) bool {
	switch rest[0] {
	case '#':
		level, name, ok := atxHeading(rest)
		if ok {
			begin(true)
			if len(m.boxes) == 0 {
				m.heading(level, name, n)
			}
		}
		return ok
	case '`', '~':
		f, ok := openFence(rest)
		if ok {
			begin(true)
			m.fence, m.leaf = f, leafFence
		}
		return ok
	case '<':
		end, ok := m.htmlStart(rest, inParagraph)
		if ok {
			begin(true)
			if m.html = end; !end.found(rest) {
				m.leaf = leafHTML
			}
		}
		return ok
	}
	return false
}

func (m *markdown) listItem(l *mdLine, rest []byte, indent int, inParagraph bool, matched *int, begin func(bool) bool) bool {
	width := listMarker(rest)
	if width == 0 || len(m.boxes) >= maxBoxes {
		return false
	}
	empty := width == len(rest)
	if inParagraph && (empty || width > 1 && !(width == 2 && rest[0] == '1')) {
		return false
	}
	begin(false)
	l.skip(indent)
	l.advance(width)
	pad := l.indent()
	switch {
	case empty:
		pad = 1
		l.pos = len(l.b)
	case pad > 4:
		pad = 1
		l.skip(1)
	default:
		l.skip(pad)
	}
	m.boxes = append(m.boxes, mdBox{indent: indent + width + pad, empty: empty})
	*matched = len(m.boxes)
	return true
}

// listMarker returns the length of the list marker at the start of rest, 0 if
// there is none.
func listMarker(rest []byte) int {
	n := 0
	if strings.IndexByte("-+*", rest[0]) >= 0 {
		n = 1
	} else {
		for n < len(rest) && n < 9 && '0' <= rest[n] && rest[n] <= '9' {
			n++
		}
		if n == 0 || n == len(rest) || rest[n] != '.' && rest[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return 0
	}
	return n
}

func thematicBreak(rest []byte) bool {
	n := 0
	for _, c := range rest {
		switch {
		case c == rest[0] && (c == '-' || c == '_' || c == '*'):
			n++
		case c == ' ' || c == '\t':
		default:
			return false
		}
	}
	return n >= 3
}
