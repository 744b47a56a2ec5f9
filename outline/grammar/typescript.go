package grammar

import (
	"bytes"
	"regexp"

	"mapd/outline/symbol"
)

var tsGlobal = regexp.MustCompile(`^declare\s+(global)\s*\{`)

func tsIf(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if !bytes.HasPrefix(x.text[n.start:], []byte("global")) {
		x.children(i, sc)
		return
	}
	x.define(sc, i, def{name: "global", nameAt: n.start, kind: symbol.Namespace, start: n.start, end: n.end,
		sigEnd: n.start + len("global"), children: func(sc *scope) { x.children(i, sc) }})
}

func tsRules() map[string]*rule {
	return map[string]*rule{
		"abstract_class_declaration": {do: jsClass},
		"function_signature":         {do: jsFunction},
		"method_signature":           {do: tsSignature},
		"abstract_method_signature":  {do: tsSignature},
		"public_field_definition":    {do: jsField},
		"property_signature":         {kind: symbol.Property, do: tsProperty},
		"interface_declaration":      {kind: symbol.Interface},
		"enum_declaration":           {kind: symbol.Enum},
		"enum_body":                  {do: tsEnumBody, act: visit | all},
		"type_alias_declaration":     {do: tsAlias},
		"internal_module":            {do: tsNamespace},
		"module":                     {do: tsNamespace},
		"ambient_declaration":        {do: tsAmbient, act: visit},
		"if_statement":               {do: tsIf, act: visit | localGate},
		"import_alias":               {role: inert, act: keep},
		"as_expression":              {role: inert, act: visit | gate},
		"satisfies_expression":       {role: inert, act: visit | gate},
		"non_null_expression":        {role: inert, act: visit | gate},
		"object_type":                {role: inert, act: visit},
	}
}

var tsActions = map[string]action{
	"interface_body": visit, "enum_assignment": visit | fields, "type_annotation": 0, "type_arguments": 0, "type_parameters": 0, "extends_type_clause": 0,
	"implements_clause": 0, "type_identifier": 0, "predefined_type": 0, "accessibility_modifier": 0, "override_modifier": 0,
	"call_signature": 0, "construct_signature": 0, "index_signature": 0, "function_type": 0, "constructor_type": 0,
	"generic_type": 0, "array_type": 0, "tuple_type": 0, "conditional_type": 0, "lookup_type": 0, "literal_type": 0, "template_literal_type": 0,
	"union_type": visit | gate, "intersection_type": visit | gate, "parenthesized_type": visit | gate,
	"type_predicate_annotation": 0, "asserts_annotation": 0,
}

// tsSignature defines a method without a body, of an interface or an overload.
func tsSignature(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Method)
	d.children = nil
	d.name, _ = jsName(x, name)
	head := x.head(d)
	switch {
	case d.name == "constructor" && sc.holder == symbol.Class:
		d.kind = symbol.Constructor
	case hasWord(head, "get") || hasWord(head, "set"):
		d.kind = symbol.Property
	}
	x.define(sc, i, d)
}

func tsProperty(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Property)
	d.children = nil
	d.name, _ = jsName(x, name)
	x.define(sc, i, d)
}

// tsEnumBody defines the members of an enum: bare names and assignments.
func tsEnumBody(x *extraction, i int, sc *scope) {
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		n := x.nodes[j]
		if r := x.rule(j); r != nil && r.role == comment {
			x.addLead(sc, n, false)
			continue
		}
		name := j
		switch x.typ(j) {
		case "enum_assignment":
			if name = x.field(j, "name"); name < 0 {
				continue
			}
		case "property_identifier", "string", "computed_property_name", "private_property_identifier":
		default:
			x.children(j, sc)
			continue
		}
		d := def{nameAt: x.nodes[name].start, kind: symbol.EnumMember, start: n.start, end: n.end}
		d.name, _ = jsName(x, name)
		x.define(sc, j, d)
	}
}

// tsAlias defines a type alias, with the members of an object type.
func tsAlias(x *extraction, i int, sc *scope) {
	name, value := x.field(i, "name"), x.field(i, "value")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Class)
	if value >= 0 && x.typ(value) == "object_type" {
		d.kind = symbol.Interface
		d.sigEnd = x.nodes[value].start
	}
	x.define(sc, i, d)
}

func tsNamespace(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Namespace)
	if x.typ(name) == "string" {
		d.kind = symbol.Module
		d.name = unquote(d.name)
	}
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// tsAmbient hands its start to the declaration inside; declare global is a
// namespace of its own.
func tsAmbient(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	text := x.text[n.start:n.end]
	if m := tsGlobal.FindSubmatchIndex(text[:min(len(text), 100)]); m != nil {
		d := def{name: "global", nameAt: n.start + m[2], kind: symbol.Namespace, start: n.start, end: n.end, sigEnd: n.start + m[3]}
		if x.wrapped >= 0 {
			d.start = x.wrapped
		}
		d.children = func(sc *scope) { x.children(i, sc) }
		x.define(sc, i, d)
		return
	}
	exported := x.wrapped >= 0
	k := len(sc.symbols)
	x.wrap(i, sc)
	for ; k < len(sc.symbols); k++ {
		sc.symbols[k].Exported = exported
	}
}
