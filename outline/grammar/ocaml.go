package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "ocaml", grammar: ocamlGrammar,
		rules: map[string]*rule{
			"comment":                      {role: comment, act: keep},
			"value_definition":             {do: ocamlOuter, act: visit | localGate},
			"let_binding":                  {do: ocamlBinding, act: visit | fields | function},
			"parameter":                    {role: inert, act: keep},
			"type_definition":              {do: ocamlOuter, act: visit},
			"type_binding":                 {do: ocamlType, act: visit | fields},
			"constructor_declaration":      {do: ocamlFirst(symbol.EnumMember), act: visit | all},
			"field_declaration":            {do: ocamlFirst(symbol.Field), act: visit | all},
			"exception_definition":         {do: ocamlException, act: visit},
			"external":                     {do: ocamlFirst(symbol.Function), act: visit | all},
			"value_specification":          {do: ocamlSpecification, act: visit | all},
			"module_definition":            {do: ocamlOuter, act: visit},
			"module_binding":               {kind: symbol.Module},
			"module_type_definition":       {kind: symbol.Interface},
			"class_definition":             {do: ocamlOuter, act: visit},
			"class_binding":                {kind: symbol.Class, act: visit | fields | typeBody},
			"class_type_definition":        {do: ocamlOuter, act: visit},
			"class_type_binding":           {kind: symbol.Interface, act: visit | fields},
			"method_definition":            {kind: symbol.Method, act: visit | fields | function},
			"method_specification":         {do: ocamlFirst(symbol.Method), act: visit | all},
			"instance_variable_definition": {kind: symbol.Field},
			"open_module":                  {do: ocamlOpen, act: keep},
			"include_module":               {do: ocamlOpen, act: keep},
			"fun_expression":               {do: jsScope, act: visit | function | gate},
			"function_expression":          {do: jsScope, act: visit | function | gate},
			"tuple_pattern":                {role: inert, act: visit | all},
		},
		actions: map[string]action{
			"compilation_unit": visit, "structure": visit, "signature": visit, "variant_declaration": visit, "record_declaration": visit,
			"class_body_type": visit, "object_expression": visit,
			"value_name": 0, "string": 0, "number": 0, "type_constructor_path": 0, "value_path": 0, "module_parameter": 0,
			"function_type": 0, "module_application": visit, "parenthesized_module_expression": visit,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "body", "pattern"},
		triggers:  []string{"let", "struct", "object", "fun"},
		modifiers: []string{"rec", "mutable", "virtual", "private", "nonrec"},
		split:     ocamlStart.Match, finish: exportAll,
	})
}

var ocamlStart = regexp.MustCompile(`^(?:let|type|module|class|exception|external|open|include|and|val)\b`)

// ocamlOuter hands its start to the first binding inside; the others start at
// their "and".
func ocamlOuter(x *extraction, i int, sc *scope) { x.wrap(i, sc) }

// ocamlBinding defines what let binds: a function if it takes arguments.
func ocamlBinding(x *extraction, i int, sc *scope) {
	pattern, body := x.field(i, "pattern"), x.field(i, "body")
	takes := x.childOf(i, "parameter") >= 0 || body >= 0 && (x.typ(body) == "fun_expression" || x.typ(body) == "function_expression")
	if pattern < 0 || !takes && sc.inFunc {
		x.wrapped = -1
		x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
		return
	}
	if x.typ(pattern) == "tuple_pattern" {
		for j := pattern + 1; j < x.nodes[pattern].next; j = x.nodes[j].next {
			n := x.nodes[j]
			x.define(sc, j, def{name: x.str(j), nameAt: n.start, kind: symbol.Variable, start: n.start, end: x.nodes[i].end, sigEnd: n.end})
		}
		return
	}
	if t := x.typ(pattern); t != "value_name" && t != "parenthesized_operator" {
		x.wrapped = -1
		x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
		return
	}
	d := x.defAt(i, pattern, symbol.Variable)
	d.name = strings.TrimSpace(strings.Trim(d.name, "()"))
	if body >= 0 {
		d.sigEnd = x.nodes[body].start
		d.children = func(sc *scope) { x.visitAny(body, sc) }
	}
	if takes {
		d.kind = symbol.Function
		inner := d.children
		d.children = func(sc *scope) {
			if inner != nil {
				inner(sc)
			}
		}
	}
	if !takes && body >= 0 {
		d.sigEnd = 0
	}
	x.define(sc, i, d)
}

func ocamlType(x *extraction, i int, sc *scope) {
	name, body := x.field(i, "name"), x.field(i, "body")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	if body >= 0 {
		switch x.typ(body) {
		case "variant_declaration":
			d.kind = symbol.Enum
		case "record_declaration":
			d.kind = symbol.Struct
		}
		if d.kind != symbol.Class {
			d.sigEnd = x.nodes[body].start
			d.children = func(sc *scope) { x.children(body, sc) }
		}
	}
	x.define(sc, i, d)
}

// ocamlFirst returns a rule that takes the first node inside for the name.
func ocamlFirst(kind symbol.Kind) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		if i+1 >= x.nodes[i].next {
			return
		}
		d := x.defAt(i, i+1, kind)
		d.name = strings.TrimSpace(strings.Trim(d.name, "()"))
		d.children = nil
		x.define(sc, i, d)
	}
}

func ocamlException(x *extraction, i int, sc *scope) {
	if j := i + 1; j < x.nodes[i].next && j+1 < x.nodes[j].next {
		d := x.defAt(i, j+1, symbol.Class)
		d.children = nil
		x.define(sc, i, d)
	}
}

// ocamlSpecification defines a value of a signature.
func ocamlSpecification(x *extraction, i int, sc *scope) {
	kind := symbol.Variable
	if bytes.Contains(x.src[x.nodes[i].start:x.nodes[i].end], []byte("->")) {
		kind = symbol.Function
	}
	ocamlFirst(kind)(x, i, sc)
}

func ocamlOpen(x *extraction, i int, sc *scope) {
	if f := strings.Fields(x.str(i)); len(f) > 1 && !sc.inFunc {
		x.addImport(f[len(f)-1], x.nodes[i].start, x.nodes[i].end)
	}
}
