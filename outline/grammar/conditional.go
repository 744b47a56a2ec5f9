package grammar

import "bytes"

// A group is an #if with its branches, while they are read.
type group struct {
	directives     [][2]int // the byte ranges of its lines
	prev           byte     // what stands before it
	braces, parens int      // open before it
	never          bool     // it is #if 0
	broken         bool     // a branch is no whole statement or element
	list           bool     // a branch ends like an element of a list
}

// directive reads a line of the preprocessor. A conditional whose branches are
// not whole statements cannot be parsed as a tree; of such a one the first
// branch is kept and the rest blanked, of one between the elements of a list
// only the directives are.
func (m *macroScanner) directive(start, end int) {
	name := bytes.TrimLeft(m.src[start+1:end], " \t")
	switch {
	case bytes.HasPrefix(name, []byte("if")):
		condition := bytes.TrimSpace(bytes.TrimPrefix(name, []byte("if")))
		m.groups = append(m.groups, group{
			directives: [][2]int{{start, end}}, prev: m.prev, braces: m.braces, parens: m.parens,
			never: len(condition) > 0 && condition[0] == '0' && (len(condition) == 1 || !isWord(condition[1])),
		})
	case bytes.HasPrefix(name, []byte("el")):
		if g := m.endBranch(start, end); g != nil {
			m.prev, m.braces, m.parens = g.prev, g.braces, g.parens
		}
	case bytes.HasPrefix(name, []byte("endif")):
		g := m.endBranch(start, end)
		if g == nil {
			return
		}
		m.groups = m.groups[:len(m.groups)-1]
		if g.broken || !wholeBefore(g.prev) && !g.list {
			m.keepOneBranch(g)
		} else if g.list {
			for _, d := range g.directives {
				m.blank(d[0], d[1])
			}
		}
	}
}

// endBranch notes how the branch before the directive ends.
func (m *macroScanner) endBranch(start, end int) *group {
	if len(m.groups) == 0 {
		return nil
	}
	g := &m.groups[len(m.groups)-1]
	empty := blank(m.src[g.directives[len(g.directives)-1][1]:start])
	g.directives = append(g.directives, [2]int{start, end})
	switch {
	case m.braces != g.braces || m.parens != g.parens:
		g.broken = true
	case empty || m.prev == g.prev:
	case m.prev == ',':
		g.list = true
	case m.prev != ';' && m.prev != '}' && m.prev != ':' && m.prev != '{' && m.prev != ')':
		g.broken = true
	}
	return g
}

// wholeBefore reports whether a statement or element can start behind c.
func wholeBefore(c byte) bool { return bytes.IndexByte([]byte(";}{:,\x00"), c) >= 0 || c == ')' }

// keepOneBranch blanks g's directives and its branches but the first, or but
// the second of an #if 0.
func (m *macroScanner) keepOneBranch(g *group) {
	kept := 0
	if g.never {
		kept = 1
	}
	last := len(g.directives) - 1
	for k, d := range g.directives {
		m.blank(d[0], d[1])
		if k < last && k != kept {
			m.blank(d[1], g.directives[k+1][0])
		}
	}
}
