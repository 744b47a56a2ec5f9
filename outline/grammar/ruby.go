package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "ruby", grammar: rubyGrammar,
		rules: map[string]*rule{
			"comment":          {role: comment, act: keep},
			"class":            {do: rubyClass(symbol.Class), act: visit | fields | typeBody},
			"module":           {do: rubyClass(symbol.Module), act: visit | fields | typeBody},
			"singleton_class":  {role: inert, act: visit | typeBody},
			"method":           {do: rubyMethod, act: visit | fields | function},
			"singleton_method": {do: rubyMethod, act: visit | fields | function},
			"assignment":       {do: rubyAssignment, act: visit | fields | localGate},
			"alias":            {do: rubyAlias, act: visit | fields},
			"call":             {do: rubyCall, act: visit | fields | localGate},
			"lambda":           {do: jsScope, act: visit | function},
		},
		actions: map[string]action{
			"program": visit, "body_statement": visit | localGate, "identifier": 0, "constant": 0, "string": 0, "simple_symbol": 0, "integer": 0,
			"then": visit | localGate, "if": visit | localGate, "else": visit | localGate, "unless": visit | localGate, "begin": visit | localGate,
			"do_block": visit | gate, "block": visit | gate, "method_parameters": 0, "heredoc_body": 0,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "body", "parameters", "superclass", "left", "right", "method", "arguments", "receiver", "object", "block", "alias"},
		triggers:  []string{"def ", "class ", "module ", "lambda", "->", "define_method"},
		modifiers: []string{"private", "protected", "public"},
		hide:      hideHeredocs(rubyHeredoc), longStrings: true, split: rubySplit,
		finish:   exportAll,
		inner:    rubyInner,
		wrappers: map[place]wrapper{inType: {open: "class " + "Mapd_wrapper", close: "end"}},
	})
}

// exportAll marks every symbol of the top level and the members of its types.
func exportAll(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, depth int) bool {
		s.Exported = !s.Local && !hasModifier(s, "private")
		return isType(s.Kind) || s.Kind == symbol.Module || s.Kind == symbol.Namespace
	})
}

func hasModifier(s *symbol.Symbol, word string) bool {
	for _, m := range s.Modifiers {
		if m == word {
			return true
		}
	}
	return false
}

func rubyClass(kind symbol.Kind) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		name := x.field(i, "name")
		if name < 0 {
			x.children(i, sc)
			return
		}
		d := x.defAt(i, name, kind)
		d.sigEnd = x.nodes[name].end
		if s := x.field(i, "superclass"); s >= 0 {
			d.sigEnd = x.nodes[s].end
		}
		x.define(sc, i, d)
	}
}

// rubyMethod defines a method; of the one-line form the signature is all.
func rubyMethod(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	if isType(sc.holder) || sc.holder == symbol.Module {
		d.kind = symbol.Method
	}
	if d.name == "initialize" && sc.holder == symbol.Class {
		d.kind = symbol.Constructor
	}
	d.sigEnd = x.nodes[name].end
	if p := x.field(i, "parameters"); p >= 0 {
		d.sigEnd = x.nodes[p].end
	}
	x.define(sc, i, d)
}

// rubyAssignment defines constants, and functions that are bound to a name.
func rubyAssignment(x *extraction, i int, sc *scope) {
	left, right := x.field(i, "left"), x.field(i, "right")
	if left < 0 || right < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, left, symbol.Constant)
	d.children = func(sc *scope) { x.visitAny(right, sc) }
	text := x.text[x.nodes[right].start:x.nodes[right].end]
	switch {
	case x.typ(right) == "lambda" || bytes.HasPrefix(text, []byte("lambda ")) || bytes.HasPrefix(text, []byte("proc ")):
		d.kind = symbol.Function
		d.sigEnd = x.nodes[right].start
		d.children = func(sc *scope) { x.children(right, sc) }
	case x.typ(left) != "constant" || sc.inFunc:
		x.visitAny(right, sc)
		return
	case bytes.HasPrefix(text, []byte("Class.new")), bytes.HasPrefix(text, []byte("Struct.new")), bytes.HasPrefix(text, []byte("Data.define")):
		d.kind = symbol.Class
	}
	x.define(sc, i, d)
}

func rubyAlias(x *extraction, i int, sc *scope) {
	if name := x.field(i, "name"); name >= 0 {
		d := x.defAt(i, name, symbol.Method)
		d.name = strings.TrimPrefix(d.name, ":")
		d.children = nil
		x.define(sc, i, d)
	}
}

// rubyCall notes imports, defines what attr_accessor and its like define, and
// hands the start of "private def" to the method.
func rubyCall(x *extraction, i int, sc *scope) {
	method, args := x.field(i, "method"), x.field(i, "arguments")
	if method < 0 {
		x.children(i, sc)
		return
	}
	n := x.nodes[i]
	list := ""
	if args >= 0 {
		list = strings.Trim(x.str(args), "()")
	}
	switch name := x.str(method); {
	case x.field(i, "receiver") >= 0:
	case name == "require" || name == "require_relative" || name == "load":
		if path := strings.TrimSpace(list); len(path) > 2 && (path[0] == '"' || path[0] == '\'') {
			x.addImport(unquote(path), n.start, n.end)
		}
	case strings.HasPrefix(name, "attr_") && args >= 0:
		x.rubyNames(i, args, list, symbol.Property, sc)
		return
	case name == "alias_method" && args >= 0:
		first, _, _ := strings.Cut(list, ",")
		x.rubyNames(i, args, first, symbol.Method, sc)
		return
	case name == "define_method" && args >= 0:
		first, _, _ := strings.Cut(list, ",")
		d := def{name: strings.Trim(first, ":\"' "), nameAt: x.nodes[args].start, kind: symbol.Method, start: n.start, end: n.end,
			sigEnd: x.nodes[args].end, children: func(sc *scope) { x.children(i, sc) }}
		x.define(sc, i, d)
		return
	case args >= 0 && strings.HasPrefix(list, "def "):
		x.wrap(i, sc)
		return
	}
	x.children(i, sc)
}

// rubyNames defines the symbols that the arguments of a call list.
func (x *extraction) rubyNames(i, args int, list string, kind symbol.Kind, sc *scope) {
	n := x.nodes[i]
	lead := sc.lead
	for _, part := range strings.Split(list, ",") {
		part = strings.TrimSpace(part)
		name := strings.Trim(part, ":\"' ")
		if name == "" || part[0] != ':' && part[0] != '"' && part[0] != '\'' {
			continue
		}
		at := n.start
		if k := bytes.Index(x.text[x.nodes[args].start:n.end], []byte(name)); k >= 0 {
			at = x.nodes[args].start + k
		}
		sc.lead = lead
		x.define(sc, i, def{name: name, nameAt: at, kind: kind, start: n.start, end: n.end})
	}
}

func rubySplit(line []byte) bool {
	for _, word := range []string{"class ", "module ", "def ", "require"} {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}

var rubyHeredoc = regexp.MustCompile("<<[~-]?['\"`]?([A-Z_]+)\\b")

func rubyInner(line []byte) place {
	for _, word := range []string{"class ", "module ", "def ", "private def ", "attr_"} {
		if bytes.HasPrefix(line, []byte(word)) {
			return inType
		}
	}
	return nowhere
}
