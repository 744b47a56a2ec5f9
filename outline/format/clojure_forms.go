package format

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// role is what a form can hold.
type role uint8

const (
	roleOther       role = iota // nothing that matters
	roleTop                     // the file: calls, or data
	roleCall                    // a list where definitions count; its head is not read yet
	roleWrapper                 // a list or vector whose lists are roleCall
	roleConditional             // a reader conditional: features and forms in turn
	roleDef                     // a definition
	roleArity                   // ([args] …) of a definition
	roleArgs                    // the vector of parameters
	roleMethod                  // (name [args] …) of a protocol or type
	roleNS                      // ns
	roleNSFeatures              // a reader conditional in ns
	roleRequire                 // (:require …)
	roleLibs                    // a reader conditional in (:require …)
	roleLib                     // [lib :as x]
	roleMeta                    // metadata
	roleMap                     // data: a map
	roleVector                  // data: a vector, list or set
	roleKey                     // data: a key that is a collection
)

// form is an open form.
type form struct {
	role        role
	bracket     byte
	start       int
	n           int  // elements so far
	meta        int  // of the next forms are metadata
	discard     int  // of the next forms do not count
	quoted      bool // the next form is quoted
	conditional bool // the next form is a reader conditional
	symbol      bool // it has a symbol of its own
	key         bool // data: the symbol of a key is open
	private     bool
	head        string
	feature     string
	signature   []byte
}

// wrappers are the heads of lists that hold definitions.
var wrappers = map[string]bool{
	"do": true, "let": true, "when": true, "when-not": true, "if": true, "if-not": true, "binding": true,
	"when-let": true, "let*": true, "letfn": true, "try": true, "cond": true, "doall": true,
}

// libraries are the clauses of ns that name libraries.
var libraries = map[string]bool{":require": true, ":use": true, ":import": true, ":require-macros": true, ":use-macros": true, ":load": true}

// begin counts the collection that starts with bracket c and returns its role.
func (r *reader) begin(start int, c byte) role {
	top := &r.forms[len(r.forms)-1]
	switch {
	case top.meta > 0:
		top.meta--
		return roleMeta
	case top.discard > 0:
		top.discard--
		return roleOther
	}
	quoted, conditional := top.quoted, top.conditional
	top.quoted, top.conditional = false, false
	n := top.n
	top.n++
	switch {
	case top.role == roleTop && r.edn:
		return r.beginData(start, c, false, 0)
	case top.role == roleMap || top.role == roleVector:
		return r.beginData(start, c, top.role == roleVector, n)
	case top.role == roleDef:
		return r.beginInDef(top, n, c)
	}
	return top.holds(n, c, quoted, conditional)
}

// holds returns the role of the n-th element of a form, a collection with the
// bracket c.
func (f *form) holds(n int, c byte, quoted, conditional bool) role {
	switch f.role {
	case roleTop, roleWrapper:
		switch {
		case conditional:
			return roleConditional
		case c == '(' && !quoted:
			return roleCall
		}
	case roleConditional:
		if n%2 == 1 && c == '(' {
			return roleCall
		} else if n%2 == 1 && c == '[' {
			return roleWrapper
		}
	case roleArity:
		if n == 0 && c == '[' {
			return roleArgs
		}
	case roleMethod:
		if c == '[' && n >= 1 {
			return roleArgs
		}
	case roleNS, roleNSFeatures:
		if conditional {
			return roleNSFeatures
		}
		if c == '(' {
			return roleRequire
		}
	case roleRequire:
		switch {
		case !libraries[f.head]:
		case conditional:
			return roleLibs
		default:
			return roleLib
		}
	case roleLibs:
		if c == '[' {
			return roleLib
		}
	}
	return roleOther
}

func (r *reader) beginInDef(top *form, n int, c byte) role {
	bodies := top.head == "defprotocol" || top.head == "definterface" || top.head == "defrecord" || top.head == "deftype" ||
		strings.HasPrefix(top.head, "extend-") || top.head == "defmock"
	if n == 3 && top.symbol && r.doc != "" {
		r.d.tree.current().Docstring = r.doc // (def name "doc" value)
		r.doc = ""
	}
	switch {
	case !top.symbol:
		return roleOther
	case c == '[' && top.head != "def" && top.head != "defonce" && top.head != "defmethod" && len(top.signature) == 0 && n <= 4,
		c == '[' && top.head == "defmethod" && n == 3:
		return roleArgs
	case c == '(' && bodies:
		return roleMethod
	case c == '(' && n >= 2 && strings.HasPrefix(localName(top.head), "defn") || c == '(' && top.head == "defmacro":
		return roleArity
	}
	return roleOther
}

// beginData counts an element of data; n is its number.
func (r *reader) beginData(start int, c byte, element bool, n int) role {
	if element {
		line := r.d.lines.at(start)
		r.element = true
		if !r.d.tree.wanted(n) {
			r.d.tree.beginOmitted(line, "element")
		} else {
			kind := symbol.Array
			if c == '{' && r.b[start] != '#' {
				kind = symbol.Object
			}
			r.d.tree.begin(symbol.Symbol{Name: r.d.pool.element(n), Kind: kind, Start: line, NameLine: line})
		}
	} else if top := &r.forms[len(r.forms)-1]; top.role == roleMap && (top.n-1)%2 == 0 {
		r.beginKey(top, start, "")
		return roleKey
	}
	if c == '{' && r.b[start] != '#' {
		return roleMap
	}
	return roleVector
}

func (r *reader) beginKey(top *form, start int, name string) {
	r.endKey(top)
	line := r.d.lines.at(start)
	r.d.tree.begin(symbol.Symbol{Name: name, Kind: symbol.Key, Start: line, NameLine: line})
	top.key = true
}

// endKey ends the symbol of a map's latest key at the last token.
func (r *reader) endKey(f *form) {
	if f.key {
		f.key = false
		r.d.tree.end(r.d.lines.at(r.ink))
	}
}

// close ends the innermost form, whose last character stands at offset at.
func (r *reader) close(at int) {
	f := &r.forms[len(r.forms)-1]
	r.endKey(f)
	up := &r.forms[len(r.forms)-2]
	const most = 4 * MaxPreview
	raw := r.b[f.start:min(at+1, f.start+most)]
	switch {
	case f.role == roleArgs:
		target := up
		if up.role == roleArity {
			target = &r.forms[len(r.forms)-3]
		}
		if len(target.signature) < most {
			target.signature = appendPreview(append(target.signature, ' '), raw, 2*MaxPreview)
		}
	case up.role == roleDef && up.head == "defmethod" && up.n == 3 && up.symbol:
		s := r.d.tree.current()
		s.Name = cutName(s.Name + " " + preview(raw, MaxPreview))
	case f.role == roleKey:
		r.d.tree.current().Name = preview(raw, MaxPreview)
	case f.role == roleMap || f.role == roleVector:
		if up.role == roleMap && up.key || f.symbol {
			s := r.d.tree.current()
			s.Signature = r.dataSignature(f, s.Kind)
		}
	}
	if f.symbol {
		r.describe(f)
		r.d.tree.end(r.d.lines.at(at))
	}
	r.forms = r.forms[:len(r.forms)-1]
	r.ink = at
}

// describe writes the signature of a definition that ends.
func (r *reader) describe(f *form) {
	s := r.d.tree.current()
	switch f.role {
	case roleDef:
		if s.Kind == symbol.Variable && len(f.signature) > 0 {
			s.Kind = symbol.Function
		}
		s.Signature = "(" + f.head + " " + preview([]byte(strings.TrimPrefix(s.Name, f.head+" ")), MaxName) + string(f.signature) + ")"
	case roleMethod:
		s.Signature = "(" + preview([]byte(f.head), MaxName) + string(f.signature) + ")"
	}
}

// dataSignature describes a collection of data, the symbol of which has a kind.
func (r *reader) dataSignature(f *form, kind symbol.Kind) string {
	if f.role == roleMap {
		return r.d.pool.container(kind, false, (f.n+1)/2)
	}
	return r.d.pool.container(kind, true, f.n)
}

// atom counts the string, symbol, keyword or number at [start, r.i).
func (r *reader) atom(start int) {
	r.element = false
	r.count(start)
	r.ink = max(r.i-1, start)
}

func (r *reader) count(start int) {
	top := &r.forms[len(r.forms)-1]
	text := r.b[start:r.i]
	switch {
	case top.meta > 0:
		top.meta--
		top.private = top.private || string(text) == ":private"
		return
	case top.discard > 0:
		top.discard--
		return
	}
	top.quoted, top.conditional = false, false
	n := top.n
	top.n++
	switch top.role {
	case roleCall:
		if n == 0 {
			r.head(top, string(text[:min(len(text), MaxName)]))
		}
	case roleConditional:
		if n%2 == 0 {
			top.feature = string(text[:min(len(text), MaxName)])
		}
	case roleDef:
		r.inDef(top, n, start, text)
	case roleMethod:
		if n == 0 {
			r.method(top, start, text)
		}
	case roleNS:
		if n == 1 {
			line := r.d.lines.at(start)
			r.d.tree.begin(symbol.Symbol{Name: cutName(string(text[:min(len(text), 2*MaxName)])), Kind: symbol.Namespace, Start: r.d.lines.at(top.start), NameLine: line, Exported: true, Signature: "(ns " + preview(text, MaxPreview) + ")"})
			top.symbol = true
		} else if text[0] == '"' && top.symbol {
			r.d.tree.current().Docstring = docLine(text)
		}
	case roleRequire:
		if n == 0 {
			top.head = string(text[:min(len(text), MaxName)])
		} else if libraries[top.head] {
			r.imported(start, text)
		}
	case roleLib:
		if n == 0 {
			r.imported(start, text)
		}
	case roleMeta:
		top.private = top.private || string(text) == ":private"
	case roleMap:
		if n%2 == 0 {
			r.beginKey(top, start, string(text[:min(len(text), 2*MaxName)]))
		} else if top.key {
			r.d.tree.current().Signature = preview(text[:min(len(text), 4*MaxPreview)], MaxPreview)
		}
	}
}

func (r *reader) imported(start int, text []byte) {
	const most = 10_000
	if text[0] == ':' || len(r.d.imports) >= most {
		return
	}
	line := r.d.lines.at(start)
	path := strings.Trim(string(text[:min(len(text), 2*MaxName)]), `"`)
	r.d.imports = append(r.d.imports, symbol.Import{Path: cutName(path), Start: line, End: line})
}

// head takes the first element of a list in which definitions count.
func (r *reader) head(top *form, head string) {
	local := localName(head)
	top.head = head
	switch {
	case local == "ns":
		top.role = roleNS
	case wrappers[local]:
		top.role = roleWrapper
	case isDefinition(local), local == "extend-type", local == "extend-protocol":
		top.role = roleDef
		top.head = local
	default:
		top.role = roleOther
	}
}

// localName drops the namespace of a symbol.
func localName(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

func isDefinition(local string) bool {
	switch local {
	case "default", "defer", "deferred", "deflate", "default-value":
		return false
	}
	return strings.HasPrefix(local, "def")
}

// cljKinds are the kinds of the common definitions; others are variables, or
// functions if they have parameters.
var cljKinds = map[string]symbol.Kind{
	"defn": symbol.Function, "defn-": symbol.Function, "defmacro": symbol.Function, "defmulti": symbol.Function, "definline": symbol.Function,
	"deftest": symbol.Function, "defmethod": symbol.Method, "defprotocol": symbol.Interface, "definterface": symbol.Interface,
	"defrecord": symbol.Class, "deftype": symbol.Class, "extend-type": symbol.Class, "extend-protocol": symbol.Class,
	"defstruct": symbol.Struct, "defproject": symbol.Module,
}

// inDef takes an atom of a definition: its name, a dispatch value, a docstring.
func (r *reader) inDef(top *form, n, start int, text []byte) {
	switch {
	case n == 1:
		kind := cljKinds[top.head]
		if kind == "" {
			kind = symbol.Variable
		}
		name := string(text[:min(len(text), 2*MaxName)])
		if strings.HasPrefix(top.head, "extend-") {
			name = top.head + " " + name // else it would be the type's own name
		}
		private := top.private || top.head == "defn-"
		s := symbol.Symbol{
			Name: cutName(name), Kind: kind, Exported: !private,
			Start: r.d.lines.at(top.start), NameLine: r.d.lines.at(start),
		}
		if top.private {
			s.Modifiers = []string{"^:private"}
		}
		if up := &r.forms[len(r.forms)-2]; up.role == roleConditional {
			s.Modifiers = append(s.Modifiers, up.feature)
		}
		top.symbol = true
		r.d.tree.begin(s)
	case !top.symbol:
	case n == 2 && top.head == "defmethod":
		s := r.d.tree.current()
		s.Name = cutName(s.Name + " " + string(text[:min(len(text), MaxName)]))
	case text[0] == '"' && n <= 3 && top.head != "def" && top.head != "defonce":
		if s := r.d.tree.current(); s.Docstring == "" {
			s.Docstring = docLine(text)
		}
	case n == 3 && top.head == "def" || n == 3 && top.head == "defonce":
		// (def name "doc" value): the string before was documentation.
		if s := r.d.tree.current(); s.Docstring == "" {
			s.Docstring = r.doc
		}
	}
	r.doc = ""
	if n == 2 && text[0] == '"' {
		r.doc = docLine(text)
	}
}

// docLine returns the first line of the string literal.
func docLine(text []byte) string {
	text = bytes.Trim(text[:min(len(text), 8*MaxPreview)], "\" \t\n\r")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return preview(line, 2*MaxPreview)
}

func (r *reader) method(top *form, start int, text []byte) {
	line := r.d.lines.at(start)
	r.d.tree.begin(symbol.Symbol{Name: string(text[:min(len(text), 2*MaxName)]), Kind: symbol.Method, Start: r.d.lines.at(top.start), NameLine: line})
	top.symbol = true
	top.head = string(text[:min(len(text), MaxName)])
}
