package grammar

import (
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	variables := &rule{role: inert, act: visit}
	register(&language{
		name: "csharp", grammar: csharpGrammar,
		rules: map[string]*rule{
			"comment":                           {role: comment, act: keep},
			"attribute_list":                    {role: attribute, act: keep},
			"using_directive":                   {do: csharpUsing, act: keep},
			"namespace_declaration":             {kind: symbol.Namespace},
			"file_scoped_namespace_declaration": {kind: symbol.Namespace},
			"class_declaration":                 {kind: symbol.Class, act: visit | fields | typeBody},
			"record_declaration":                {do: csharpRecord, act: visit | fields | typeBody},
			"struct_declaration":                {kind: symbol.Struct, act: visit | fields | typeBody},
			"interface_declaration":             {kind: symbol.Interface, act: visit | fields | typeBody},
			"enum_declaration":                  {kind: symbol.Enum, act: visit | fields | typeBody},
			"enum_member_declaration":           {kind: symbol.EnumMember},
			"delegate_declaration":              {kind: symbol.Function, body: "none"},
			"method_declaration":                {kind: symbol.Method, act: visit | fields | function},
			"constructor_declaration":           {kind: symbol.Constructor, act: visit | fields | function},
			"destructor_declaration":            {do: csharpDestructor, act: visit | fields | function},
			"property_declaration":              {kind: symbol.Property, body: "accessors", act: visit | fields | function},
			"indexer_declaration":               {do: csharpIndexer, act: visit | fields | function},
			"event_declaration":                 {kind: symbol.Event, body: "accessors", act: visit | fields | function},
			"event_field_declaration":           {do: below(symbol.Event, "variable_declarator"), act: visit},
			"field_declaration":                 {do: below(symbol.Field, "variable_declarator"), act: visit},
			"variable_declaration":              variables,
			"variable_declarator":               {role: inert, act: visit | all | localGate},
			"operator_declaration":              {do: csharpOperator, act: visit | fields | function},
			"conversion_operator_declaration":   {do: csharpOperator, act: visit | fields | function},
			"local_function_statement":          {kind: symbol.Function, act: visit | fields | function},
			"local_declaration_statement":       {do: jsFor, act: visit | gate},
			"lambda_expression":                 {do: jsScope, act: visit | function | gate},
			"anonymous_method_expression":       {do: jsScope, act: visit | function | gate},
		},
		actions: map[string]action{
			"compilation_unit": visit, "declaration_list": visit, "enum_member_declaration_list": visit,
			"accessor_list": visit | gate, "identifier": 0, "modifier": 0, "predefined_type": 0, "generic_name": 0, "parameter_list": 0,
			"base_list": 0, "type_parameter_list": 0, "qualified_name": 0, "string_literal": 0, "type_parameter_constraints_clause": 0,
			"nullable_type": 0, "array_type": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:   []string{"name", "body", "accessors", "operator", "type", "parameters"},
		triggers: []string{"(", "=>"},
		modifiers: []string{"public", "private", "protected", "internal", "static", "sealed", "abstract", "virtual", "override", "readonly", "const", "async", "partial",
			"extern", "unsafe", "new", "volatile", "required", "ref", "file", "event", "explicit", "implicit", "record"},
		split: csharpSplit.Match, finish: exportByModifier("public"),
		inner:    membersAre(csharpMember, jsNoMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + "{", close: "}"}},
		flat:     true,
	})
}

var (
	csharpSplit  = regexp.MustCompile(`^(?:public|internal|private|protected|static|sealed|abstract|partial|class|struct|interface|enum|record|namespace|using|delegate|\[)`)
	csharpMember = regexp.MustCompile(`^\[|^(?:public|internal|private|protected|static|sealed|abstract|partial|class|struct|interface|enum|record|override|virtual|async)\b|^[\w<>\[\],.? ]+ \w+\([^;]*\)$`)
)

// below returns a rule that defines the names of the declarators somewhere
// inside a declaration.
func below(kind symbol.Kind, declarator string) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		n := x.nodes[i]
		first := true
		for j := i + 1; j < n.next; {
			if x.typ(j) != declarator {
				j++
				continue
			}
			if name := j + 1; name < x.nodes[j].next {
				d := def{name: x.str(name), nameAt: x.nodes[name].start, kind: kind, start: x.nodes[j].start, end: x.nodes[j].end}
				if x.lastDeclarator(j, n.next) {
					d.end = n.end
				}
				if first {
					d.start = n.start
				}
				first = false
				d.children = func(sc *scope) { x.siblings(name+1, x.nodes[j].next, sc) }
				x.define(sc, i, d)
			}
			j = x.nodes[j].next
		}
	}
}

// csharpRecord defines a record with its parameters as properties.
func csharpRecord(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	d.sigEnd = x.bodyStart(i)
	d.children = func(sc *scope) {
		if open := x.openAfter(x.nodes[name].end); open >= 0 {
			x.addComponents(i, open, symbol.Property, lastWord, sc)
			for k := range sc.symbols {
				sc.symbols[k].Exported = true
			}
		}
		x.children(i, sc)
	}
	x.define(sc, i, d)
}

func csharpUsing(x *extraction, i int, sc *scope) {
	text := strings.TrimSuffix(strings.TrimPrefix(x.str(i), "global "), ";")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "using "), "static ")
	if k := strings.IndexByte(text, '='); k >= 0 {
		text = text[k+1:]
	}
	x.addImport(strings.TrimSpace(text), x.nodes[i].start, x.nodes[i].end)
}

func csharpDestructor(x *extraction, i int, sc *scope) {
	if name := x.field(i, "name"); name >= 0 {
		d := x.defAt(i, name, symbol.Method)
		d.name = "~" + d.name
		d.sigEnd = x.bodyStart(i)
		x.define(sc, i, d)
	}
}

func csharpIndexer(x *extraction, i int, sc *scope) {
	d := def{name: "this[]", nameAt: -1, kind: symbol.Property, start: x.nodes[i].start, end: x.nodes[i].end}
	if accessors := x.field(i, "accessors"); accessors >= 0 {
		d.sigEnd = x.nodes[accessors].start
	}
	d.modifiers = x.t.modifiersIn(x.text[d.start:max(d.start, d.sigEnd)])
	d.children = func(sc *scope) { x.children(i, sc) }
	x.define(sc, i, d)
}

func csharpOperator(x *extraction, i int, sc *scope) {
	op := x.field(i, "operator")
	if op < 0 {
		op = x.field(i, "type")
	}
	if op < 0 {
		return
	}
	d := x.defAt(i, op, symbol.Operator)
	d.name = "operator " + d.name
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}
