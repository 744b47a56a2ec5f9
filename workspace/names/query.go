package names

import (
	"regexp"
	"strings"
	"unicode"

	"mapd/outline/symbol"
)

// Query is what is looked for in Names: a name, or names of containers and a
// name with any of . :: # / -> > between them. It is immutable and safe for
// concurrent use.
type Query struct {
	whole     *pattern // all of the query as one name
	last      *pattern // its last name
	qualifier []*pattern
	expr      *regexp.Regexp // instead of all above; may be nil
	kinds     uint64         // the bits of the kinds that count
	weakest   Class
}

// QueryOptions say what counts as a match.
type QueryOptions struct {
	// Fold lets upper-case letters of the query match lower-case ones.
	Fold bool
	// Kinds are the kinds of symbols that count; none: all.
	Kinds []symbol.Kind
	// Weakest is the weakest class that counts.
	Weakest Class
}

// NewQuery returns the query of a text; every name starts with the empty one. A
// lower-case letter matches both cases, an upper-case one only itself unless
// opt.Fold.
func NewQuery(text string, opt QueryOptions) *Query {
	q := &Query{whole: newPattern(text, opt.Fold), weakest: opt.Weakest, kinds: kindBits(opt.Kinds)}
	q.last = q.whole
	if parts := split(text); len(parts) > 0 {
		if last := parts[len(parts)-1]; last != text {
			q.last = newPattern(last, opt.Fold)
		}
		for _, part := range parts[:len(parts)-1] {
			q.qualifier = append(q.qualifier, newPattern(part, opt.Fold))
		}
	}
	return q
}

// NewExpression returns the query of names that an expression matches: as Exact
// where it matches the whole name or what follows its last . : or #, as Prefix
// where it matches the start of one of these, else as Inside.
func NewExpression(expr *regexp.Regexp, kinds []symbol.Kind) *Query {
	none := newPattern("", false)
	return &Query{expr: expr, whole: none, last: none, kinds: kindBits(kinds), weakest: Inside}
}

func kindBits(list []symbol.Kind) uint64 {
	if len(list) == 0 {
		return 1<<len(kinds) - 1
	}
	var set uint64
	for i, k := range kinds {
		for _, want := range list {
			if k == want {
				set |= 1 << i
			}
		}
	}
	return set
}

// maxParts is how many names a query has at most; of more the first ones do not
// count.
const maxParts = 16

// split returns the names of a query, without the brackets and stars of calls
// and receivers.
func split(text string) []string {
	var parts []string
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(text, "->", "."), isSeparator) {
		if part = strings.Trim(part, "()*& \t"); part != "" {
			parts = append(parts, part)
		}
	}
	return parts[max(0, len(parts)-maxParts):]
}

func isSeparator(r rune) bool { return strings.ContainsRune(".:#/>", r) }

// CaseMatters reports whether the query has letters that match in upper case
// only, so that one with Options.Fold may find more.
func (q *Query) CaseMatters() bool {
	return !q.whole.fold && strings.ContainsFunc(q.whole.text, unicode.IsUpper)
}

// Match is a symbol that a query found.
type Match struct {
	Index int
	Class Class
	Fold  bool // letters differ in case from those of the query, where it is Exact
	Depth int  // of the symbol, and one more for each qualifier in its own name
}

// Search calls visit for each symbol of n that matches, in order.
func (q *Query) Search(n Names, visit func(Match)) {
	r := n.reader()
	need := q.last.mask
	if need&^r.union() != 0 {
		return
	}
	masks := r.s[min(headBytes, len(r.s)):]
	for i := 0; i < r.count; i++ {
		if need&^u32(masks, maskBytes*i) != 0 {
			continue
		}
		if q.kinds>>r.rest(i, 1)&1 == 0 {
			continue
		}
		if m, ok := q.match(&r, i); ok {
			visit(m)
		}
	}
}

// match matches symbol i.
func (q *Query) match(r *reader, i int) (Match, bool) {
	name := r.name(i)
	at := r.lastName(i, name)
	m := Match{Index: i, Depth: r.depth(i) + qualifiers(name[:at])}
	if q.expr != nil {
		m.Class = min(classOf(q.expr, name), classOf(q.expr, name[at:]))
		return m, m.Class <= q.weakest
	}
	m.Class = q.last.match(name[at:])
	part := name[at:]
	if len(q.qualifier) > 0 && m.Class != None {
		m.Class = max(m.Class, q.matchQualifier(r, i, name[:at]))
	}
	if m.Class != Exact && (at > 0 || q.whole != q.last) {
		if class := q.whole.match(name); class < m.Class {
			m.Class, part = class, name
		}
	}
	m.Fold = m.Class == Exact && part != q.last.text && name != q.whole.text
	return m, m.Class <= q.weakest
}

func classOf(expr *regexp.Regexp, name string) Class {
	switch at := expr.FindStringIndex(name); {
	case at == nil:
		return None
	case at[0] > 0:
		return Inside
	case at[1] < len(name):
		return Prefix
	}
	return Exact
}

// matchQualifier returns how the names before the last one match: those in the
// symbol's own name, then those of the symbols around it, from the inside out.
func (q *Query) matchQualifier(r *reader, i int, own string) Class {
	names := split(own)
	worst := Exact
	for k := len(q.qualifier) - 1; k >= 0; k-- {
		var class Class
		if n := len(names); n > 0 {
			class = q.qualifier[k].match(names[n-1])
			names = names[:n-1]
		} else if i = r.parent(i); i >= 0 {
			class = q.qualifier[k].matchContainer(r.name(i))
		} else {
			return None
		}
		worst = max(worst, class)
	}
	return worst
}

// matchContainer returns how a container's name matches, or the best word of
// it: a block of methods may be called "impl Trait for Type".
func (p *pattern) matchContainer(name string) Class {
	best := p.match(name)
	words := strings.FieldsFunc(name, func(c rune) bool {
		return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	if len(words) > 1 {
		for _, word := range words {
			if p.match(word) == Exact {
				return Exact
			}
		}
	}
	return best
}

// qualifiers returns the number of names in the start of a qualified name.
func qualifiers(start string) int {
	n := 0
	for i := range len(start) {
		if isQualifier(start[i]) && (i == 0 || !isQualifier(start[i-1])) {
			n++
		}
	}
	return n
}

func isQualifier(c byte) bool { return c == '.' || c == ':' || c == '#' }

// lastName returns where the last name in a qualified one starts: after the
// last . : or # that something follows.
func lastName(name string) int {
	for i := len(name) - 2; i > 0; i-- {
		if isQualifier(name[i]) {
			for i++; i < len(name)-1 && name[i] == ' '; {
				i++
			}
			return i
		}
	}
	return 0
}
