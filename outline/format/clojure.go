package format

import "mapd/outline/symbol"

// scanClojure reads the forms of Clojure and ClojureScript. Definitions are
// found at the top level and in the forms that only wrap them: do, let, when,
// reader conditionals. What #_, comment and quotes hold is not there.
func scanClojure(d *doc) { readForms(d, false) }

// scanEDN reads data: the keys of maps, and the elements of vectors that are
// collections.
func scanEDN(d *doc) { readForms(d, true) }

func readForms(d *doc, edn bool) {
	r := &reader{d: d, b: d.src, i: d.bom, edn: edn}
	r.run()
	if r.bad && !d.ended {
		// Brackets do not match or a string is open: once more, with a list at
		// the left margin ending all before it.
		d.tree.restart()
		d.imports = nil
		r = &reader{d: d, b: d.src, i: d.bom, edn: edn, margin: true}
		r.run()
		d.broken(symbol.Segments)
	}
}

// maxForms bounds the nesting of forms; deeper ones are only counted.
const maxForms = 10_000

// reader reads forms one token at a time.
type reader struct {
	d       *doc
	b       []byte
	i       int
	edn     bool
	margin  bool // a list at the left margin is at the top level
	bad     bool
	forms   []form // open, outermost first; the first is the file
	over    int    // open beyond maxForms
	ink     int    // offset of the last character of the latest token
	doc     string // a string after a name: documentation if a value follows
	element bool   // the collection just begun has a symbol, as an element
}

func (r *reader) run() {
	r.forms = append(r.forms, form{role: roleTop})
	for r.i < len(r.b) && !r.d.stopped() {
		r.token()
	}
	if len(r.forms) > 1 || r.over > 0 {
		r.bad = true
	}
	for len(r.forms) > 1 {
		r.close(len(r.b) - 1)
	}
}

// token reads the next token.
func (r *reader) token() {
	start := r.i
	switch c := r.b[r.i]; c {
	case ' ', '\t', '\n', '\r', ',', '\f':
		r.i++
	case ';':
		r.i = lineEndFrom(r.b, r.i)
	case '"':
		r.string(start)
	case '(', '[', '{':
		r.i++
		r.open(start, c)
	case ')', ']', '}':
		r.i++
		r.closing(start, c)
	case '\'', '`':
		r.i++
		r.forms[len(r.forms)-1].quoted = true
	case '~', '@':
		r.i++
	case '^':
		r.i++
		r.forms[len(r.forms)-1].meta++
	case '\\':
		r.i = min(r.i+2, len(r.b))
		r.word()
		r.atom(start)
	case '#':
		r.dispatch(start)
	default:
		r.word()
		if r.i == start {
			r.i++
		}
		r.atom(start)
	}
}

// word moves behind the characters of a symbol, keyword or number.
func (r *reader) word() {
	for r.i < len(r.b) && !afterWord[r.b[r.i]] {
		r.i++
	}
}

var afterWord = bytesOf(" \t\n\r\f,;\"()[]{}`~@^\\")

// dispatch reads what starts with #.
func (r *reader) dispatch(start int) {
	top := &r.forms[len(r.forms)-1]
	next := byte(0)
	if r.i+1 < len(r.b) {
		next = r.b[r.i+1]
	}
	switch next {
	case '_':
		r.i += 2
		top.discard++
	case '"':
		r.i++
		r.string(start)
	case '(', '{':
		r.i += 2
		top.quoted = top.quoted || next == '('
		r.open(start, next)
	case '?':
		r.i += 2
		if r.i < len(r.b) && r.b[r.i] == '@' {
			r.i++
		}
		top.conditional = true
	case '\'':
		r.i += 2
	case '^':
		r.i += 2
		top.meta++
	case '!':
		r.i = lineEndFrom(r.b, r.i)
	case '#':
		r.i += 2
		r.word()
		r.atom(start)
	case ':':
		r.i += 2
		r.word() // the namespace of the map that follows
	default:
		r.i++
		r.word() // the tag of the form that follows
	}
}

// string reads a string or a regular expression.
func (r *reader) string(start int) {
	for i := r.i + 1; i < len(r.b); i++ {
		if r.b[i] == '\\' {
			i++
		} else if r.b[i] == '"' {
			r.i = i + 1
			r.atom(start)
			return
		}
	}
	r.bad = true
	r.i = len(r.b)
	if r.margin {
		r.i = lineEndFrom(r.b, start)
	}
	r.atom(start)
}

// closing reads a closing bracket. One that does not match is an error and
// closes the form nearest to it, if any.
func (r *reader) closing(at int, c byte) {
	if r.over > 0 {
		r.over--
		return
	}
	if len(r.forms) == 1 {
		r.bad = true
		return
	}
	open := byte('(')
	switch c {
	case ']':
		open = '['
	case '}':
		open = '{'
	}
	if r.forms[len(r.forms)-1].bracket != open {
		r.bad = true
	}
	r.close(at)
}

// open begins the form with the bracket c; start is where its first character
// stands, # included.
func (r *reader) open(start int, c byte) {
	if r.margin && c == '(' && (start == 0 || r.b[start-1] == '\n') {
		for r.over = 0; len(r.forms) > 1; {
			r.close(max(start-1, 0))
		}
	}
	if len(r.forms) >= maxForms {
		r.over++
		return
	}
	r.element = false
	role := r.begin(start, c)
	r.forms = append(r.forms, form{role: role, start: start, bracket: c, symbol: r.element})
	r.ink = r.i - 1
}
