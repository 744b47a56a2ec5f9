package grammar

import (
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	remark := &rule{role: comment, act: keep}
	register(&language{
		name: "swift", grammar: swiftGrammar,
		rules: map[string]*rule{
			"comment":                       remark,
			"multiline_comment":             remark,
			"attribute":                     {role: attribute, act: keep},
			"import_declaration":            {do: swiftImport, act: visit | all},
			"class_declaration":             {do: swiftClass, act: visit | fields | typeBody},
			"protocol_declaration":          {kind: symbol.Interface, act: visit | fields | typeBody},
			"function_declaration":          {do: swiftFunction, act: visit | fields | function},
			"protocol_function_declaration": {do: swiftFunction, act: visit | fields | function},
			"init_declaration":              {do: swiftFunction, act: visit | fields | function},
			"deinit_declaration":            {do: swiftFunction, act: visit | fields | function},
			"subscript_declaration":         {do: swiftFunction, act: visit | fields | function},
			"property_declaration":          {do: swiftProperty, act: visit | fields | localGate},
			"protocol_property_declaration": {do: swiftProperty, act: visit | fields},
			"pattern":                       {role: inert, act: visit | fields},
			"computed_property":             {do: jsScope, act: visit | function},
			"willset_didset_block":          {do: jsScope, act: visit | function},
			"lambda_literal":                {do: jsScope, act: visit | fields | function | gate},
			"enum_entry":                    {do: swiftEnumEntry, act: visit | fields},
			"typealias_declaration":         {kind: symbol.Class, body: "none"},
			"associatedtype_declaration":    {kind: symbol.Class, body: "none"},
			"operator_declaration":          {do: swiftOperator, act: visit | all},
			"macro_declaration":             {kind: symbol.Function, nameTypes: []string{"simple_identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"modifiers":                     {role: inert, act: visit},
		},
		actions: map[string]action{
			"source_file": visit, "class_body": visit, "enum_class_body": visit, "protocol_body": visit,
			"simple_identifier": 0, "type_identifier": 0, "user_type": 0, "parameter": visit | gate, "line_string_literal": 0,
			"type_annotation": 0, "type_parameters": 0, "inheritance_specifier": 0, "integer_literal": 0, "visibility_modifier": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:   []string{"name", "body", "value", "computed_value", "bound_identifier", "declaration_kind", "data_contents", "raw_value"},
		triggers: []string{"func", "class ", "struct ", "enum ", "= {"},
		modifiers: []string{"public", "private", "fileprivate", "internal", "open", "package", "final", "static", "class", "override", "required", "convenience", "lazy", "weak",
			"unowned", "mutating", "nonmutating", "indirect", "dynamic", "optional", "nonisolated", "prefix", "postfix", "infix", "let", "var", "async", "actor"},
		split: swiftStart.Match, finish: swiftFinish,
		inner:    membersAre(swiftMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + " {", close: "}"}},
	})
}

const swiftWords = `(?:(?:public|private|fileprivate|internal|open|final|static|class|override|required|convenience|mutating|nonmutating|indirect|dynamic|lazy|weak|async|nonisolated|private\(set\)) +)*`

var (
	swiftStart  = regexp.MustCompile(`^` + swiftWords + `(?:class|struct|enum|protocol|extension|actor|func|let|var|typealias|import|init|infix|prefix|postfix|operator)\b|^@|^#if`)
	swiftMember = regexp.MustCompile(`^` + swiftWords + `(?:class|struct|enum|protocol|extension|func|init|deinit|subscript)\b|^@\w`)
)

func swiftImport(x *extraction, i int, sc *scope) {
	if name := x.childOf(i, "identifier"); name >= 0 {
		x.addImport(x.str(name), x.nodes[i].start, x.nodes[i].end)
	}
}

var swiftKinds = map[string]symbol.Kind{"struct": symbol.Struct, "enum": symbol.Enum, "extension": symbol.Object}

// swiftClass defines a class, struct, enum, actor or extension.
func swiftClass(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	if word := x.field(i, "declaration_kind"); word >= 0 {
		if kind, ok := swiftKinds[x.str(word)]; ok {
			d.kind = kind
		}
		if x.str(word) == "extension" {
			d.name = "extension " + d.name
		}
	}
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// swiftFunction defines a function, method, initializer or subscript.
func swiftFunction(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	d := def{nameAt: -1, kind: symbol.Function, start: n.start, end: n.end, sigEnd: x.bodyStart(i),
		children: func(sc *scope) { x.children(i, sc) }}
	if isType(sc.holder) && !sc.inFunc {
		d.kind = symbol.Method
	}
	switch x.typ(i) {
	case "init_declaration":
		d.name, d.kind = "init", symbol.Constructor
	case "deinit_declaration":
		d.name = "deinit"
	case "subscript_declaration":
		d.name = "subscript"
		if body := x.childOf(i, "computed_property"); body >= 0 {
			d.sigEnd = x.nodes[body].start
		}
	default:
		name := x.field(i, "name")
		if name < 0 {
			x.children(i, sc)
			return
		}
		d.name, d.nameAt = x.str(name), x.nodes[name].start
	}
	if d.nameAt < 0 {
		d.modifiers = x.t.modifiersIn(x.text[n.start:max(n.start, min(n.end, n.start+200))])
	}
	x.define(sc, i, d)
}

// swiftProperty defines each name of a property, or a function that is bound
// to a name.
func swiftProperty(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	first := true
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f == 0 || x.t.fields[f] != "name" || x.typ(j) != "pattern" {
			continue
		}
		name := x.field(j, "bound_identifier")
		if name < 0 {
			name = j
		}
		d := def{name: x.str(name), nameAt: x.nodes[name].start, kind: symbol.Variable, start: x.nodes[j].start, end: n.end}
		if first {
			d.start = n.start
			x.swiftValue(i, &d)
		}
		first = false
		switch {
		case d.kind == symbol.Function:
		case sc.inFunc:
			x.children(i, sc)
			return
		case isType(sc.holder):
			d.kind = symbol.Property
		case hasWord(x.head(d), "let"):
			d.kind = symbol.Constant
		}
		if strings.ContainsAny(d.name, "(), ") {
			continue // a tuple
		}
		x.define(sc, i, d)
	}
}

// swiftValue looks at what a property is bound to.
func (x *extraction) swiftValue(i int, d *def) {
	d.children = func(sc *scope) { x.children(i, sc) }
	if v := x.field(i, "value"); v >= 0 && x.typ(v) == "lambda_literal" {
		d.kind = symbol.Function
		d.sigEnd = x.nodes[v].start
		d.children = func(sc *scope) { x.children(v, sc) }
		return
	}
	if body := x.field(i, "computed_value"); body >= 0 {
		d.sigEnd = x.nodes[body].start
	} else if body := x.childOf(i, "willset_didset_block"); body >= 0 {
		d.sigEnd = x.nodes[body].start
	}
}

// swiftEnumEntry defines the cases of one case statement.
func swiftEnumEntry(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	first := true
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f == 0 || x.t.fields[f] != "name" {
			continue
		}
		d := def{name: x.str(j), nameAt: x.nodes[j].start, kind: symbol.EnumMember, start: x.nodes[j].start, end: n.end}
		if first {
			d.start = n.start
		}
		first = false
		x.define(sc, i, d)
	}
}

func swiftOperator(x *extraction, i int, sc *scope) {
	if name := i + 1; name < x.nodes[i].next {
		d := x.defAt(i, name, symbol.Operator)
		d.children = nil
		x.define(sc, i, d)
	}
}

func swiftFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && (hasModifier(s, "public") || hasModifier(s, "open"))
		return true
	})
}
