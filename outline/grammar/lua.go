package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "lua", grammar: luaGrammar,
		rules: map[string]*rule{
			"comment":              {role: comment, act: keep},
			"emmy_documentation":   {role: comment, act: keep},
			"function_statement":   {do: luaFunction, act: visit | fields | function},
			"variable_declaration": {do: luaVariable, act: visit | fields | localGate},
			"field":                {do: luaField, act: visit | fields | gate},
			"function":             {do: jsScope, act: visit | fields | function},
			"function_call":        {do: luaCall, act: visit | fields},
			"parameter_list":       {role: inert, act: keep},
		},
		actions: map[string]action{
			"program": visit, "identifier": 0, "string": 0, "number": 0, "function_name": 0,
			"if_statement": visit | localGate, "do_statement": visit | localGate, "tableconstructor": visit | gate, "fieldlist": visit | gate,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "key", "value", "prefix", "args", "documentation"},
		triggers:  []string{"function", "require"},
		modifiers: []string{"local"},
		prepare:   luaPrepare, split: luaStart.Match, finish: luaFinish,
		inner: func(line []byte) place {
			if luaStart.Match(line) {
				return inBlock
			}
			return nowhere
		},
		wrappers: map[place]wrapper{inBlock: {open: "function " + wrapperName + "()", close: "end"}},
	})
}

// luaPrepare makes plain comments of those with three dashes: the grammar reads
// annotations in them, and knows few.
func luaPrepare(text []byte) []byte {
	src := text
	for at := 0; ; {
		k := bytes.Index(text[at:], []byte("---"))
		if k < 0 {
			return src
		}
		at += k
		if line := bytes.LastIndexByte(text[:at], '\n') + 1; blank(text[line:at]) {
			if &src[0] == &text[0] {
				src = bytes.Clone(text)
			}
			src[at+2] = ' '
		}
		if k = bytes.IndexByte(text[at:], '\n'); k < 0 {
			return src
		}
		at += k
	}
}

var luaStart = regexp.MustCompile(`^(?:local +)?function\b|^(?:local +)?[\w.]+ *= *function\b`)

func luaFunction(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	n := x.nodes[i]
	d := x.defAt(i, name, symbol.Function)
	if strings.Contains(d.name, ":") {
		d.kind = symbol.Method
	}
	d.sigEnd = x.luaHeadEnd(i, x.nodes[name].end)
	// The documentation is the first part of the node.
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f != 0 && x.t.fields[f] == "documentation" {
			x.addLead(sc, x.nodes[j], false)
			d.start = x.skipSpace(x.nodes[j].end)
		}
	}
	d.children = func(sc *scope) { x.siblings(name+1, n.next, sc) }
	x.define(sc, i, d)
}

func (x *extraction) skipSpace(at int) int {
	for at < len(x.src) && isSpace(x.src[at]) {
		at++
	}
	return at
}

// luaHeadEnd returns where the parameters behind a function's name end.
func (x *extraction) luaHeadEnd(i, at int) int {
	n := x.nodes[i]
	if k := bytes.IndexByte(x.src[at:n.end], ')'); k >= 0 {
		return at + k + 1
	}
	return at
}

// luaVariable defines functions that are bound to a name, and the variables of
// the file.
func luaVariable(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	var names, values []int
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		switch f := x.nodes[j].field; {
		case f == 0:
		case x.t.fields[f] == "name":
			names = append(names, j)
		case x.t.fields[f] == "value":
			values = append(values, j)
		}
	}
	for k, j := range names {
		d := x.defAt(i, j, symbol.Variable)
		d.children = nil
		if k < len(values) {
			value := values[k]
			d.children = func(sc *scope) { x.visitAny(value, sc) }
			if value = x.luaBound(value); x.typ(value) == "function" {
				d.kind = symbol.Function
				d.sigEnd = x.luaHeadEnd(value, x.nodes[value].start)
				d.children = func(sc *scope) { x.children(value, sc) }
			}
		}
		if d.kind == symbol.Variable && (sc.inFunc || strings.ContainsAny(d.name, "[(")) {
			if d.children != nil {
				d.children(sc)
			}
			continue
		}
		x.define(sc, i, d)
	}
}

// luaBound returns the function of "x or function … end", else value itself.
func (x *extraction) luaBound(value int) int {
	if x.typ(value) == "binary_operation" {
		for j := value + 1; j < x.nodes[value].next; j = x.nodes[j].next {
			if x.typ(j) == "function" && x.nodes[j].end == x.nodes[value].end {
				return j
			}
		}
	}
	return value
}

// luaField defines a function in a table.
func luaField(x *extraction, i int, sc *scope) {
	name, value := x.field(i, "name"), x.field(i, "value")
	if name < 0 {
		name = x.field(i, "key")
	}
	if name < 0 || value < 0 || x.typ(value) != "function" {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	if d.name = unquote(d.name); x.typ(name) == "identifier" && x.src[x.nodes[i].start] == '[' {
		d.name = collapse(x.text[x.nodes[i].start : bytes.IndexByte(x.src[d.nameAt:x.nodes[value].start], ']')+d.nameAt+1])
	}
	d.sigEnd = x.luaHeadEnd(value, x.nodes[value].start)
	d.children = func(sc *scope) { x.children(value, sc) }
	x.define(sc, i, d)
}

func luaCall(x *extraction, i int, sc *scope) {
	if prefix, args := x.field(i, "prefix"), x.field(i, "args"); prefix >= 0 && args >= 0 && x.str(prefix) == "require" && !sc.inFunc {
		x.addImport(unquote(strings.Trim(x.str(args), "() ")), x.nodes[i].start, x.nodes[i].end)
	}
	x.children(i, sc)
}

func luaFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && !hasModifier(s, "local")
		return true
	})
}
