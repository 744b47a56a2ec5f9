package grammar

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	remark := &rule{role: comment, act: keep}
	register(&language{
		name: "rust", grammar: rustGrammar,
		rules: map[string]*rule{
			"line_comment":             remark,
			"block_comment":            remark,
			"attribute_item":           {role: attribute, act: keep},
			"function_item":            {kind: symbol.Function, member: symbol.Method, act: visit | fields | function},
			"function_signature_item":  {kind: symbol.Function, member: symbol.Method},
			"struct_item":              {kind: symbol.Struct, act: visit | fields | typeBody},
			"union_item":               {kind: symbol.Struct, act: visit | fields | typeBody},
			"enum_item":                {kind: symbol.Enum, act: visit | fields | typeBody},
			"enum_variant":             {kind: symbol.EnumMember},
			"field_declaration":        {kind: symbol.Field},
			"trait_item":               {kind: symbol.Interface, act: visit | fields | typeBody},
			"impl_item":                {do: rustImpl, act: visit | fields | typeBody},
			"mod_item":                 {kind: symbol.Module, act: visit | fields | typeBody},
			"const_item":               {kind: symbol.Constant, act: visit | fields | localGate},
			"static_item":              {kind: symbol.Variable, act: visit | fields | localGate},
			"type_item":                {kind: symbol.Class, act: visit | fields | localGate},
			"associated_type":          {kind: symbol.Class},
			"macro_definition":         {do: rustMacro},
			"macro_invocation":         {do: rustCall, act: localGate},
			"let_declaration":          {do: rustLet, act: visit | fields | gate},
			"closure_expression":       {do: jsScope, act: visit | fields | function | gate},
			"use_declaration":          {do: rustUse, act: keep},
			"extern_crate_declaration": {do: rustUse, act: keep},
		},
		actions: map[string]action{
			"source_file": visit, "declaration_list": visit, "field_declaration_list": visit, "enum_variant_list": visit,
			"foreign_mod_item": visit, "token_tree": 0, "identifier": 0, "type_identifier": 0, "scoped_identifier": 0,
			"string_literal": 0, "type_arguments": 0, "type_parameters": 0, "parameters": 0, "visibility_modifier": 0,
			"where_clause": 0, "generic_type": 0, "reference_type": 0, "ordered_field_declaration_list": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:      []string{"name", "body", "type", "trait", "pattern", "value"},
		triggers:    []string{"fn ", "struct ", "enum ", "impl", "|", "trait ", "macro_rules", "mod "},
		modifiers:   []string{"pub", "const", "async", "unsafe", "extern", "default", "mut"},
		longStrings: true, split: rustSplit, finish: exportByModifier("pub"),
		inner: rustInner, wrappers: map[place]wrapper{inType: {open: "impl " + wrapperName + "{", close: "}"}},
	})
}

// rustImpl defines an impl block, named as it is written without its generics:
// "impl Display for Point".
func rustImpl(x *extraction, i int, sc *scope) {
	typ, trait := x.field(i, "type"), x.field(i, "trait")
	if typ < 0 {
		x.children(i, sc)
		return
	}
	name, _, _ := strings.Cut(x.str(typ), "<")
	d := x.defAt(i, typ, symbol.Object)
	if trait >= 0 {
		of, _, _ := strings.Cut(x.str(trait), "<")
		name = of + " for " + name
	}
	d.name = "impl " + name
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// rustLet defines a closure that is bound to a name.
func rustLet(x *extraction, i int, sc *scope) {
	name, value := x.field(i, "pattern"), x.field(i, "value")
	if name < 0 || value < 0 || x.typ(value) != "closure_expression" || x.typ(name) != "identifier" {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	d.sigEnd = x.bodyStart(value)
	d.children = func(sc *scope) { x.children(value, sc) }
	x.define(sc, i, d)
}

func rustMacro(x *extraction, i int, sc *scope) {
	if name := x.field(i, "name"); name >= 0 {
		d := x.defAt(i, name, symbol.Function)
		d.sigEnd = x.nodes[name].end
		d.children = nil
		x.define(sc, i, d)
	}
}

func rustUse(x *extraction, i int, sc *scope) {
	text := strings.TrimSuffix(x.str(i), ";")
	for _, word := range []string{"use ", "extern crate "} {
		if k := strings.Index(text, word); k >= 0 {
			x.addImport(strings.TrimSpace(text[k+len(word):]), x.nodes[i].start, x.nodes[i].end)
			return
		}
	}
}

var rustWords = []string{"fn ", "pub ", "pub(", "struct ", "enum ", "impl", "trait ", "mod ", "use ", "const ", "static ", "type ", "unsafe ", "async ", "extern ", "macro_rules", "#[", "union "}

func rustSplit(line []byte) bool {
	for _, word := range rustWords {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}

func rustInner(line []byte) place {
	for _, word := range []string{"fn ", "pub ", "pub(", "const fn", "unsafe fn", "async fn", "#["} {
		if bytes.HasPrefix(line, []byte(word)) {
			return inType
		}
	}
	return nowhere
}
