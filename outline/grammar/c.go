package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "c", grammar: cGrammar,
		rules: cRules(), actions: cActions(), otherwise: visit | gate, braces: true,
		fields:    []string{"name", "body", "declarator", "type", "value", "path", "parameters"},
		triggers:  []string{"struct", "union", "enum", "#"},
		modifiers: []string{"extern", "static", "inline", "const", "volatile", "register", "_Noreturn", "_Thread_local", "__inline", "__inline__", "restrict", "typedef"},
		reserved:  cReserved, prepare: blankMacros, split: cSplit, finish: cFinish, headLines: true,
	})
}

func cRules() map[string]*rule {
	tag := &rule{do: cTag, act: visit | fields | typeBody}
	chain := &rule{role: inert, act: visit | fields}
	inParens := &rule{role: inert, act: visit | all}
	return map[string]*rule{
		"comment":                  {role: comment, act: keep},
		"function_definition":      {do: cFunction, act: visit | fields | function},
		"declaration":              {do: cDeclaration, act: visit | fields | localGate},
		"field_declaration":        {do: cDeclaration, act: visit | fields},
		"type_definition":          {do: cTypedef, act: visit | fields},
		"struct_specifier":         tag,
		"union_specifier":          tag,
		"enum_specifier":           tag,
		"enumerator":               {do: cEnumerator},
		"function_declarator":      chain,
		"pointer_declarator":       chain,
		"array_declarator":         chain,
		"init_declarator":          chain,
		"parenthesized_declarator": inParens,
		"attributed_declarator":    inParens,
		"preproc_def":              {do: cDefine, act: visit | fields},
		"preproc_function_def":     {do: cDefine, act: visit | fields},
		"preproc_include":          {do: cInclude, act: visit | fields},
	}
}

func cActions() map[string]action {
	return map[string]action{
		"translation_unit": visit, "preproc_if": visit | localGate, "preproc_ifdef": visit | localGate,
		"preproc_else": visit | localGate, "preproc_elif": visit | localGate, "preproc_elifdef": visit | localGate,
		"linkage_specification": visit, "declaration_list": visit,
		"field_declaration_list": visit, "enumerator_list": visit, "compound_statement": visit | gate,
		"identifier": 0, "field_identifier": 0, "type_identifier": 0, "primitive_type": 0, "sized_type_specifier": 0,
		"string_literal": 0, "number_literal": 0, "char_literal": 0, "storage_class_specifier": 0, "type_qualifier": 0,
		"parameter_list": 0, "initializer_list": 0, "argument_list": 0, "preproc_arg": 0, "attribute_specifier": 0,
		"preproc_params": 0,
	}
}

// A declared is what a declarator declares.
type declared struct {
	name     int // node; -1 = none
	function bool
}

// cDeclarator follows the chain from declarator i to the name in it. It is a
// function if the innermost declarator around the name takes parameters.
func (x *extraction) cDeclarator(i int) declared {
	function := false
	for {
		next := -1
		switch x.typ(i) {
		case "identifier", "field_identifier", "type_identifier", "operator_name", "destructor_name", "qualified_identifier",
			"template_function", "primitive_type", "operator_cast", "structured_binding_declarator":
			return declared{i, function}
		case "parenthesized_declarator", "attributed_declarator", "reference_declarator", "variadic_declarator":
			for j := i + 1; j < x.nodes[i].next && next < 0; j = x.nodes[j].next {
				if r := x.rule(j); r == nil || r.role != comment && x.typ(j) != "ms_call_modifier" && x.typ(j) != "attribute_declaration" {
					next = j
				}
			}
		case "function_declarator", "abstract_function_declarator":
			function = true
			next = x.field(i, "declarator")
		case "init_declarator":
			next = x.field(i, "declarator")
		default:
			function = false
			next = x.field(i, "declarator")
		}
		if next < 0 {
			return declared{-1, function}
		}
		i = next
	}
}

func cFunction(x *extraction, i int, sc *scope) {
	decl := x.field(i, "declarator")
	if decl < 0 {
		x.children(i, sc)
		return
	}
	found := x.cDeclarator(decl)
	if found.name < 0 {
		x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
		return
	}
	body := x.field(i, "body")
	d := x.defAt(i, found.name, symbol.Function)
	if isType(sc.holder) {
		d.kind = symbol.Method
	}
	d.sigEnd = x.bodyStart(i)
	d.children = func(sc *scope) {
		if body >= 0 {
			x.children(body, sc)
		}
	}
	x.cTypeInside(i, sc)
	x.define(sc, i, d)
}

// cTypeInside defines the struct, union or enum that node i declares in
// passing.
func (x *extraction) cTypeInside(i int, sc *scope) {
	if t := x.field(i, "type"); t >= 0 && x.field(t, "body") >= 0 && x.field(t, "name") >= 0 {
		x.visit(t, sc)
	}
}

// cDeclaration defines the variables, fields and prototypes of a declaration.
func cDeclaration(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	typ := x.field(i, "type")
	var body bool
	if typ >= 0 {
		body = x.field(typ, "body") >= 0
	}
	var decls []int
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f != 0 && x.t.fields[f] == "declarator" {
			decls = append(decls, j)
		}
	}
	start := n.start
	if body {
		switch {
		case x.field(typ, "name") >= 0 || len(decls) == 0:
			x.wrapped = start
			x.visit(typ, sc)
			x.wrapped = -1
			if len(decls) > 0 {
				start = x.nodes[decls[0]].start
			}
		}
	}
	for k, j := range decls {
		found := x.cDeclarator(j)
		if found.name < 0 || sc.inFunc {
			continue
		}
		kind := x.cKind(found, sc)
		d := def{name: x.str(found.name), nameAt: x.nodes[found.name].start, kind: kind, start: x.nodes[j].start, end: x.nodes[j].end}
		if k == 0 {
			d.start = start
		}
		if k == len(decls)-1 {
			d.end = n.end
		}
		if v := x.field(j, "value"); v >= 0 {
			d.sigEnd = x.nodes[v].start
		}
		if k == 0 && body && x.field(typ, "name") < 0 {
			d.sigEnd = x.bodyStart(typ)
			d.children = func(sc *scope) { sc.holder = symbol.Struct; x.children(typ, sc) }
		}
		x.define(sc, i, d)
	}
}

func (x *extraction) cKind(found declared, sc *scope) symbol.Kind {
	switch {
	case found.function && isType(sc.holder):
		return symbol.Method
	case found.function:
		return symbol.Function
	case isType(sc.holder):
		return symbol.Field
	}
	return symbol.Variable
}

func cTagKind(typ string) symbol.Kind {
	switch typ {
	case "enum_specifier":
		return symbol.Enum
	case "class_specifier":
		return symbol.Class
	}
	return symbol.Struct
}

// cTag defines a struct, union or enum with a body. One without a name gives
// its members to the scope around it.
func cTag(x *extraction, i int, sc *scope) {
	body, name := x.field(i, "body"), x.field(i, "name")
	if body < 0 {
		return
	}
	if name < 0 {
		holder := sc.holder
		if !isType(holder) {
			sc.holder = symbol.Struct
		}
		x.wrapped = -1
		x.children(body, sc)
		sc.holder = holder
		return
	}
	d := x.defAt(i, name, cTagKind(x.typ(i)))
	d.sigEnd = x.nodes[body].start
	d.children = func(sc *scope) { x.children(body, sc) }
	x.define(sc, i, d)
}

func cEnumerator(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.EnumMember)
	d.children = nil
	x.define(sc, i, d)
}

// cTypedef defines the names of a typedef. A struct without a tag takes the
// first name; one with a tag is a symbol of its own.
func cTypedef(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	typ := x.field(i, "type")
	body, tag := -1, ""
	if typ >= 0 {
		body = x.field(typ, "body")
		if name := x.field(typ, "name"); name >= 0 {
			tag = x.str(name)
		}
	}
	start := n.start
	if body >= 0 && tag != "" {
		name := x.field(typ, "name")
		d := x.defAt(i, name, cTagKind(x.typ(typ)))
		d.sigEnd = x.nodes[body].start
		d.children = func(sc *scope) { x.children(body, sc) }
		x.define(sc, i, d)
	}
	first := true
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f == 0 || x.t.fields[f] != "declarator" {
			continue
		}
		found := x.cDeclarator(j)
		if found.name < 0 || x.str(found.name) == tag && body >= 0 {
			continue
		}
		d := def{name: x.str(found.name), nameAt: x.nodes[found.name].start, kind: symbol.Class, start: start, end: n.end}
		switch {
		case body >= 0 && tag == "" && first:
			d.kind = cTagKind(x.typ(typ))
			d.sigEnd = x.nodes[body].start
			d.children = func(sc *scope) { x.children(body, sc) }
		case body >= 0 || !first:
			d.start = x.nodes[j].start
		}
		first = false
		x.define(sc, i, d)
	}
}

// cDefine defines a macro, which is never local to a function.
func cDefine(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Constant)
	d.children = nil
	if p := x.field(i, "parameters"); p >= 0 {
		d.kind = symbol.Function
		d.sigEnd = x.nodes[p].end
	}
	local := sc.local
	sc.local = false
	x.define(sc, i, d)
	sc.local = local
}

func cInclude(x *extraction, i int, sc *scope) {
	if path := x.field(i, "path"); path >= 0 {
		x.addImport(strings.Trim(x.str(path), `"<>`), x.nodes[i].start, x.nodes[i].end)
	}
}

var cReserved = words("if else for while do switch case return goto sizeof break continue default")

var cDefinition = regexp.MustCompile(`^(?:#define|typedef|struct|union|enum|static|extern|inline|const|[A-Za-z_][\w \t*&:<>,~]*\()`)

// cSplit says whether a line at the left margin begins a definition. Labels
// and lines that end a declaration do not.
func cSplit(line []byte) bool {
	return cDefinition.Match(line) && !bytes.HasPrefix(line, []byte("else"))
}

// cFinish marks what other files can link to.
func cFinish(_ []byte, _ []string, list *symbol.List) {
	for i := range list.Symbols {
		s := &list.Symbols[i]
		s.Exported = true
		for _, m := range s.Modifiers {
			if m == "static" {
				s.Exported = false
			}
		}
	}
}

var (
	cppStart  = regexp.MustCompile(`^(?:class|namespace|template|using|[A-Za-z_][\w:<>,*& ~]*::[~\w]+\s*\()`)
	cppMember = regexp.MustCompile(`^(?:template|class|struct|enum|virtual|static|explicit|inline|constexpr|friend)\b|^[A-Za-z_~][\w:<>,*& ~]*\([^;]*\)[^;]*\{$`)
)
