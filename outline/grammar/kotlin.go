package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	remark := &rule{role: comment, act: keep}
	register(&language{
		name: "kotlin", grammar: kotlinGrammar,
		rules: map[string]*rule{
			"line_comment":          remark,
			"multiline_comment":     remark,
			"annotation":            {role: attribute, act: keep},
			"package_header":        {do: kotlinPackage, act: visit | all},
			"import_header":         {do: kotlinImport, act: visit | all},
			"class_declaration":     {do: kotlinClass, act: visit | all | typeBody},
			"object_declaration":    {do: kotlinClass, act: visit | all | typeBody},
			"companion_object":      {do: kotlinClass, act: visit | all | typeBody},
			"enum_entry":            {kind: symbol.EnumMember, nameTypes: []string{"simple_identifier"}, bodyTypes: []string{"class_body"}, act: visit | all | typeBody},
			"class_parameter":       {do: kotlinParameter, act: visit | all},
			"function_declaration":  {do: kotlinFunction, act: visit | all | function},
			"secondary_constructor": {do: kotlinConstructor, act: visit | all | function},
			"property_declaration":  {do: kotlinProperty, act: visit | all | localGate},
			"variable_declaration":  {role: inert, act: visit | all},
			"getter":                {do: kotlinAccessor, act: visit | function},
			"setter":                {do: kotlinAccessor, act: visit | function},
			"type_alias":            {kind: symbol.Class, nameTypes: []string{"type_identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"anonymous_initializer": {do: jsScope, act: visit | function},
			"lambda_literal":        {do: jsScope, act: visit | function | gate},
			"anonymous_function":    {do: jsScope, act: visit | function},
			"modifiers":             {role: inert, act: visit},
			"object_literal":        {role: inert, act: visit | typeBody},
		},
		actions: map[string]action{
			"source_file": visit, "import_list": visit, "class_body": visit, "enum_class_body": visit, "primary_constructor": visit,
			"simple_identifier": 0, "type_identifier": 0, "user_type": 0, "function_value_parameters": visit | gate, "string_literal": 0,
			"type_parameters": 0, "function_type": 0, "integer_literal": 0, "delegation_specifier": visit | gate,
		},
		otherwise: visit | gate, braces: true,
		triggers: []string{"fun", "class ", "object", "->", "{ "},
		modifiers: []string{"public", "private", "protected", "internal", "open", "abstract", "final", "sealed", "data", "enum", "annotation", "inner", "value", "companion",
			"override", "lateinit", "const", "suspend", "inline", "infix", "operator", "tailrec", "external", "expect", "actual", "val", "var"},
		prepare: kotlinPrepare, split: kotlinSplit.Match, finish: kotlinFinish,
		inner:    membersAre(kotlinMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + " {", close: "}"}},
	})
}

var (
	kotlinSplit  = regexp.MustCompile(`^(?:(?:public|private|protected|internal|open|abstract|final|sealed|data|enum|annotation|value|inline|tailrec|suspend|operator|infix|expect|actual|const|lateinit|override) +)*(?:class|interface|object|fun|val|var|typealias|package|import)\b|^@`)
	kotlinMember = regexp.MustCompile(`^(?:(?:public|private|protected|internal|open|abstract|final|sealed|data|enum|annotation|value|inline|tailrec|suspend|operator|infix|inner|companion|override) +)*(?:class|interface|object|fun|constructor)\b|^@\w`)
)

// kotlinPrepare makes plain interfaces of functional ones, and objects of data
// objects, which are newer than the grammar, and blanks context receivers.
func kotlinPrepare(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	r := &rewriter{text, text}
	before := func(word, next, other string) {
		r.each(word, func(at int) {
			if after := r.after(at + len(word)); bytes.HasPrefix(after, []byte(next)) && len(after) > len(next) && isSpace(after[len(next)]) {
				r.set(at, other)
			}
		})
	}
	before("fun", "interface", "   ")
	before("data", "object", "open")
	for at := 0; ; at++ {
		k := bytes.Index(text[at:], []byte("context("))
		if k < 0 {
			return r.src
		}
		at += k
		if end := argumentsEnd(text, at+len("context")); end > 0 && len(r.lineHead(at)) == 0 && !bytes.HasPrefix(r.after(end), []byte("{")) {
			r.set(at, strings.Repeat(" ", end-at))
		}
	}
}

func kotlinPackage(x *extraction, i int, sc *scope) {
	if name := x.childOf(i, "identifier"); name >= 0 {
		d := x.defAt(i, name, symbol.Package)
		d.end = x.nodes[name].end
		d.children = nil
		x.define(sc, i, d)
	}
	x.kotlinComments(i, sc)
}

// kotlinComments hands on the comments that the grammar puts into a header
// before the definition that they belong to.
func (x *extraction) kotlinComments(i int, sc *scope) {
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		if r := x.rule(j); r != nil && r.role == comment {
			x.visit(j, sc)
		}
	}
}

func kotlinImport(x *extraction, i int, sc *scope) {
	if name := x.childOf(i, "identifier"); name >= 0 {
		path, end := x.str(name), x.nodes[name].end
		if all := x.childOf(i, "wildcard_import"); all >= 0 {
			path += ".*"
		}
		x.addImport(path, x.nodes[i].start, end)
	}
	x.kotlinComments(i, sc)
}

func kotlinClass(x *extraction, i int, sc *scope) {
	name := x.childOf(i, "type_identifier", "simple_identifier")
	d := def{name: "Companion", nameAt: -1, kind: symbol.Class, start: x.nodes[i].start, end: x.nodes[i].end,
		children: func(sc *scope) { x.children(i, sc) }}
	if name >= 0 {
		d.name, d.nameAt = x.str(name), x.nodes[name].start
	} else if x.typ(i) != "companion_object" {
		x.children(i, sc)
		return
	}
	body := x.childOf(i, "class_body", "enum_class_body")
	if body >= 0 {
		d.sigEnd = x.nodes[body].start
	}
	head := x.head(d)
	switch {
	case x.typ(i) != "class_declaration":
		d.kind = symbol.Object
	case hasWord(head, "interface"):
		d.kind = symbol.Interface
	case body >= 0 && x.typ(body) == "enum_class_body" || hasWord(head, "enum"):
		d.kind = symbol.Enum
	}
	x.define(sc, i, d)
}

// kotlinParameter defines a parameter of a primary constructor that is a
// property too.
func kotlinParameter(x *extraction, i int, sc *scope) {
	name := x.childOf(i, "simple_identifier")
	if name < 0 || x.childOf(i, "binding_pattern_kind") < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Property)
	d.children = nil
	x.define(sc, i, d)
}

func kotlinFunction(x *extraction, i int, sc *scope) {
	name := x.childOf(i, "simple_identifier")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	if isType(sc.holder) && !sc.inFunc {
		d.kind = symbol.Method
	}
	if body := x.childOf(i, "function_body"); body >= 0 {
		d.sigEnd = x.nodes[body].start
	}
	x.define(sc, i, d)
}

func kotlinConstructor(x *extraction, i int, sc *scope) {
	d := def{name: "constructor", nameAt: x.nodes[i].start, kind: symbol.Constructor, start: x.nodes[i].start, end: x.nodes[i].end,
		children: func(sc *scope) { x.children(i, sc) }}
	if body := x.childOf(i, "statements"); body >= 0 {
		d.sigEnd = x.nodes[body].start
	}
	x.define(sc, i, d)
}

// kotlinProperty defines a property, or a function that is bound to a name.
func kotlinProperty(x *extraction, i int, sc *scope) {
	decl := x.childOf(i, "variable_declaration")
	if decl < 0 {
		x.children(i, sc)
		return
	}
	name := x.childOf(decl, "simple_identifier")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Variable)
	head := x.head(d)
	switch value := x.childOf(i, "lambda_literal", "anonymous_function"); {
	case value >= 0 && x.nodes[value].end == d.end:
		d.kind = symbol.Function
		d.sigEnd = x.nodes[value].start
		d.children = func(sc *scope) { x.children(value, sc) }
	case sc.inFunc:
		x.children(i, sc)
		return
	case isType(sc.holder):
		d.kind = symbol.Property
	case hasWord(head, "const"):
		d.kind = symbol.Constant
	}
	if body := x.childOf(i, "getter", "setter", "property_delegate"); body >= 0 && x.typ(body) != "property_delegate" {
		d.sigEnd = x.nodes[body].start
	}
	x.define(sc, i, d)
}

// kotlinAccessor extends the property before it: the grammar makes an accessor
// on a line of its own a neighbour.
func kotlinAccessor(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if k := len(sc.symbols) - 1; k >= 0 && (sc.symbols[k].Kind == symbol.Property || sc.symbols[k].Kind == symbol.Variable) {
		s := &sc.symbols[k]
		inner := &scope{holder: s.Kind, name: s.Name, depth: sc.depth + 1, inFunc: true, local: true}
		x.children(i, inner)
		s.Children = append(s.Children, inner.symbols...)
		s.End = max(s.End, x.endLine(n.start, n.end))
		return
	}
	x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
}

func kotlinFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && s.Kind != symbol.Package && !hasModifier(s, "private") && !hasModifier(s, "internal") && !hasModifier(s, "protected")
		return true
	})
}
