package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "elixir", grammar: elixirGrammar,
		rules: map[string]*rule{
			"comment":            {role: comment, act: keep},
			"call":               {do: elixirCall, act: visit | fields},
			"unary_operator":     {do: elixirAttribute, act: visit | fields},
			"arguments":          {role: inert, act: visit | all},
			"binary_operator":    {do: elixirMatch, act: visit | fields},
			"do_block":           {role: inert, act: visit},
			"anonymous_function": {do: jsScope, act: visit | function | gate},
		},
		actions: map[string]action{
			"source": visit, "identifier": 0, "alias": 0, "string": 0, "atom": 0, "list": 0, "tuple": visit | gate, "map": visit | gate,
			"keywords": visit | gate, "pair": visit | gate, "sigil": 0, "charlist": 0,
		},
		otherwise: visit | gate,
		fields:    []string{"target", "operator", "operand", "left", "right"},
		triggers:  []string{"def", "use", "import", "alias", "require", "test", "describe", "fn"},
		hide:      hideTriple, longStrings: true, split: elixirStart.Match, finish: elixirFinish,
		inner:    membersAre(elixirMember),
		wrappers: map[place]wrapper{inType: {open: "defmodule Mapd_wrapper do", close: "end"}},
	})
}

var (
	elixirStart  = regexp.MustCompile(`^def\w* `)
	elixirMember = regexp.MustCompile(`^def\w*[ (]|^@(?:doc|spec|impl)\b|^(?:test|describe) "`)
)

// elixirCall defines what the def macros define and notes dependencies.
func elixirCall(x *extraction, i int, sc *scope) {
	target, args := x.field(i, "target"), x.childOf(i, "arguments")
	if target < 0 {
		x.children(i, sc)
		return
	}
	word := x.str(target)
	first := -1
	if args >= 0 && args+1 < x.nodes[args].next {
		first = args + 1
	}
	n := x.nodes[i]
	switch {
	case word == "use" || word == "import" || word == "alias" || word == "require":
		if first >= 0 && !sc.inFunc {
			x.addImport(x.str(first), n.start, n.end)
		}
		return
	case first >= 0 && elixirKinds[word] != "":
		x.elixirDefine(i, first, word, sc)
	case word == "defstruct" || word == "defexception":
		x.define(sc, i, def{name: word, nameAt: n.start, kind: symbol.Struct, start: n.start, end: n.end})
	default:
		x.children(i, sc)
	}
}

var elixirKinds = map[string]symbol.Kind{
	"defmodule": symbol.Module, "defprotocol": symbol.Interface, "defimpl": symbol.Class,
	"def": symbol.Function, "defp": symbol.Function, "defmacro": symbol.Function, "defmacrop": symbol.Function,
	"defguard": symbol.Function, "defguardp": symbol.Function, "defdelegate": symbol.Function, "defn": symbol.Function, "defnp": symbol.Function,
	"test": symbol.Function, "describe": symbol.Namespace,
}

func (x *extraction) elixirDefine(i, first int, word string, sc *scope) {
	d := x.defAt(i, first, elixirKinds[word])
	if block := x.childOf(i, "do_block"); block >= 0 {
		d.sigEnd = x.nodes[block].start
		d.children = func(sc *scope) { x.children(block, sc) }
	} else if k := bytes.Index(x.src[d.start:d.end], []byte(", do:")); k >= 0 {
		d.sigEnd = d.start + k
	}
	switch word {
	case "defimpl":
		if _, of, ok := strings.Cut(x.str(x.childOf(i, "arguments")), "for: "); ok {
			of, _, _ = strings.Cut(of, ",")
			d.name += " for " + of
		}
	case "test", "describe":
		d.name = unquote(d.name)
	case "defmodule", "defprotocol":
	default:
		name := x.elixirHead(first)
		d.name, d.nameAt = x.str(name), x.nodes[name].start
		if x.typ(name) == "binary_operator" { // def a + b
			if op := x.field(name, "operator"); op >= 0 {
				d.name, d.nameAt = x.str(op), x.nodes[op].start
			}
		}
		d.name, _, _ = strings.Cut(d.name, "(")
		if d.name == "unquote" {
			x.children(i, sc) // the name is known only when the macro runs
			return
		}
	}
	d.doc, sc.doc = sc.doc, ""
	x.define(sc, i, d)
}

// elixirMatch defines a function that is bound to a name.
func elixirMatch(x *extraction, i int, sc *scope) {
	op, left, right := x.field(i, "operator"), x.field(i, "left"), x.field(i, "right")
	if op < 0 || left < 0 || right < 0 || x.str(op) != "=" || x.typ(left) != "identifier" || x.typ(right) != "anonymous_function" {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, left, symbol.Function)
	d.sigEnd = x.nodes[right].start
	d.children = func(sc *scope) { x.children(right, sc) }
	x.define(sc, i, d)
}

// elixirHead returns the node of the name in the head of a definition.
func (x *extraction) elixirHead(i int) int {
	for {
		switch x.typ(i) {
		case "call":
			if t := x.field(i, "target"); t >= 0 {
				i = t
				continue
			}
		case "binary_operator":
			op := x.field(i, "operator")
			if left := x.field(i, "left"); left >= 0 && op >= 0 && x.str(op) == "when" {
				i = left
				continue
			}
		}
		return i
	}
}

// elixirAttribute defines types, callbacks and module attributes, and keeps
// documentation and specifications for the function after them.
func elixirAttribute(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if x.src[n.start] != '@' {
		x.children(i, sc)
		return
	}
	head := x.text[n.start+1 : n.end]
	word := string(head)
	if k := bytes.IndexAny(head, " (\n"); k >= 0 {
		word = string(head[:k])
	}
	rest := strings.TrimLeft(x.str(i)[min(len(x.str(i)), len(word)+1):], " (")
	d := def{nameAt: n.start, start: n.start, end: n.end}
	switch word {
	case "doc", "spec", "impl", "deprecated", "since", "typedoc", "dialyzer", "tag":
		x.addLead(sc, n, true)
		if word == "doc" || word == "typedoc" {
			sc.doc = elixirDoc(head[len(word):])
		}
		return
	case "type", "typep", "opaque":
		d.kind = symbol.Class
		d.name, _, _ = strings.Cut(rest, "::")
		d.name, _, _ = strings.Cut(d.name, "(")
	case "callback", "macrocallback":
		d.kind = symbol.Method
		d.name, _, _ = strings.Cut(rest, "(")
	case "moduledoc", "behaviour", "derive", "before_compile", "after_compile", "external_resource", "compile":
		return
	default:
		if rest == "" || sc.inFunc || !identifier.MatchString(word) {
			return
		}
		d.kind = symbol.Constant
		d.name = "@" + word
	}
	d.name = strings.TrimSpace(d.name)
	d.doc, sc.doc = sc.doc, ""
	x.define(sc, i, d)
}

// elixirDoc returns the first line of a documentation string.
func elixirDoc(text []byte) string {
	for line := range bytes.Lines(text) {
		s := strings.TrimLeft(strings.TrimSpace(string(line)), "~")
		if rest := strings.TrimLeft(s, "sS"); strings.HasPrefix(rest, `"`) {
			s = rest // a sigil
		}
		s = strings.TrimSpace(strings.Trim(collapse([]byte(s)), `"`))
		if s != "" && s != "false" {
			return cut(s, maxDocstring)
		}
	}
	return ""
}

func elixirFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		word, _, _ := strings.Cut(s.Signature, " ")
		s.Exported = !s.Local && word != "defp" && word != "defmacrop" && word != "defguardp" && word != "@typep" && s.Kind != symbol.Constant
		return true
	})
}
