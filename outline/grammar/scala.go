package grammar

import (
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	remark := &rule{role: comment, act: keep}
	value := &rule{do: scalaValue, act: visit | fields | localGate}
	register(&language{
		name: "scala", grammar: scalaGrammar,
		rules: map[string]*rule{
			"comment":              remark,
			"block_comment":        remark,
			"annotation":           {role: attribute, act: keep},
			"package_clause":       {do: scalaPackage},
			"package_object":       {kind: symbol.Object, act: visit | fields | typeBody},
			"import_declaration":   {do: scalaImport, act: keep},
			"class_definition":     {do: scalaClass(symbol.Class), act: visit | fields | typeBody},
			"object_definition":    {kind: symbol.Object, act: visit | fields | typeBody},
			"trait_definition":     {do: scalaClass(symbol.Interface), act: visit | fields | typeBody},
			"enum_definition":      {do: scalaClass(symbol.Enum), act: visit | fields | typeBody},
			"simple_enum_case":     {kind: symbol.EnumMember},
			"full_enum_case":       {kind: symbol.EnumMember, act: visit | fields | typeBody},
			"function_definition":  {do: scalaFunction, act: visit | fields | function},
			"function_declaration": {do: scalaFunction, act: visit | fields},
			"val_definition":       value,
			"var_definition":       value,
			"val_declaration":      value,
			"var_declaration":      value,
			"given_definition":     {kind: symbol.Variable},
			"type_definition":      {kind: symbol.Class, act: visit | fields | localGate},
			"extension_definition": {role: inert, act: visit | typeBody},
			"identifiers":          {role: inert, act: visit | all},
			"tuple_pattern":        {role: inert, act: visit | all},
			"lambda_expression":    {do: jsScope, act: visit | function | gate},
		},
		actions: map[string]action{
			"compilation_unit": visit, "template_body": visit, "enum_body": visit, "enum_case_definitions": visit,
			"identifier": 0, "type_identifier": 0, "string": 0, "parameters": visit | gate, "class_parameters": 0, "type_parameters": 0,
			"modifiers": 0, "extends_clause": visit | gate, "generic_type": 0, "stable_identifier": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:    []string{"name", "body", "pattern", "value", "return_type", "parameters", "class_parameters"},
		triggers:  []string{"def ", "class ", "object ", "trait ", "=>"},
		modifiers: []string{"private", "protected", "override", "final", "sealed", "abstract", "implicit", "lazy", "case", "inline", "opaque", "open", "transparent"},
		split:     scalaStart.Match, finish: scalaFinish,
		inner:    membersAre(scalaMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + " {", close: "}"}},
	})
}

const scalaWords = `(?:(?:private(?:\[\w+\])?|protected(?:\[\w+\])?|override|final|sealed|abstract|implicit|lazy|case|inline|opaque|open) +)*`

var (
	scalaStart  = regexp.MustCompile(`^` + scalaWords + `(?:class|object|trait|enum|def|val|var|type|given|extension|package|import)\b|^@`)
	scalaMember = regexp.MustCompile(`^` + scalaWords + `(?:class|object|trait|enum|def)\b|^@\w`)
)

// scalaClass returns a rule that defines a class with those of its parameters
// that are values: all of a case class, else those that say so.
func scalaClass(kind symbol.Kind) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		name := x.field(i, "name")
		if name < 0 {
			x.children(i, sc)
			return
		}
		d := x.defAt(i, name, kind)
		d.sigEnd = x.bodyStart(i)
		values := matched(scalaVal)
		if hasWord(x.head(d), "case") {
			values = matched(scalaPlain)
		}
		d.children = func(sc *scope) {
			if list := x.field(i, "class_parameters"); list >= 0 {
				x.addComponents(i, x.nodes[list].start, symbol.Field, values, sc)
			}
			x.children(i, sc)
		}
		x.define(sc, i, d)
	}
}

func scalaPackage(x *extraction, i int, sc *scope) {
	if name := x.field(i, "name"); name >= 0 {
		d := x.defAt(i, name, symbol.Package)
		x.define(sc, i, d)
	}
}

func scalaImport(x *extraction, i int, sc *scope) {
	x.addImport(strings.TrimSpace(strings.TrimPrefix(x.str(i), "import")), x.nodes[i].start, x.nodes[i].end)
}

func scalaFunction(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	if isType(sc.holder) && !sc.inFunc {
		d.kind = symbol.Method
	}
	if d.name == "this" {
		d.kind = symbol.Constructor
	}
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// scalaValue defines the names of a val or var; a function literal makes its
// name a function.
func scalaValue(x *extraction, i int, sc *scope) {
	pattern, value := x.field(i, "pattern"), x.field(i, "value")
	if pattern < 0 {
		pattern = x.field(i, "name")
	}
	if pattern < 0 {
		x.children(i, sc)
		return
	}
	if t := x.typ(pattern); t == "identifiers" || t == "tuple_pattern" {
		for j := pattern + 1; j < x.nodes[pattern].next && !sc.inFunc; j = x.nodes[j].next {
			if x.typ(j) == "identifier" {
				x.define(sc, i, def{name: x.str(j), nameAt: x.nodes[j].start, kind: x.scalaKind(i, sc), start: x.nodes[i].start, end: x.nodes[i].end})
			}
		}
		x.children(i, sc)
		return
	}
	d := x.defAt(i, pattern, x.scalaKind(i, sc))
	switch {
	case value >= 0 && x.typ(value) == "lambda_expression":
		d.kind = symbol.Function
		d.sigEnd = x.nodes[value].start
		d.children = func(sc *scope) { x.children(value, sc) }
	case sc.inFunc || x.typ(pattern) != "identifier":
		x.children(i, sc)
		return
	}
	x.define(sc, i, d)
}

func (x *extraction) scalaKind(i int, sc *scope) symbol.Kind {
	switch {
	case sc.holder == symbol.Class || sc.holder == symbol.Interface || sc.holder == symbol.Object || sc.holder == symbol.Enum:
		return symbol.Field
	case strings.HasPrefix(x.typ(i), "val"):
		return symbol.Constant
	}
	return symbol.Variable
}

func scalaFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && s.Kind != symbol.Package && !hasModifier(s, "private") && !hasModifier(s, "protected")
		return true
	})
}
