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
		name: "groovy", grammar: groovyGrammar,
		rules: map[string]*rule{
			"comment":              remark,
			"groovy_doc":           remark,
			"annotation":           {role: attribute, act: keep},
			"groovy_package":       {do: groovyPackage, act: visit | all},
			"groovy_import":        {do: groovyImport, act: visit | fields},
			"class_definition":     {do: groovyClass, act: visit | fields | typeBody},
			"function_definition":  {kind: symbol.Function, member: symbol.Method, name: "function", act: visit | fields | function},
			"function_declaration": {do: groovyPrototype, act: visit | fields},
			"declaration":          {do: groovyDeclaration, act: visit | fields | localGate},
			"assignment":           {role: inert, act: visit | gate},
			"closure":              {do: groovyClosure, act: visit | gate},
			"for_in_loop":          {do: jsFor, act: visit | gate},
			"for_loop":             {do: jsFor, act: visit | gate},
		},
		actions: map[string]action{
			"source_file": visit, "identifier": 0, "string": 0, "number_literal": 0, "parameter_list": 0, "modifier": 0, "access_modifier": 0,
			"list": visit | gate, "type_with_generics": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:    []string{"name", "body", "value", "function", "import", "type"},
		triggers:  []string{"def ", "class ", "{ ", "{"},
		modifiers: []string{"public", "private", "protected", "static", "final", "abstract", "def"},
		prepare:   groovyPrepare,
		split:     groovyStart.Match, finish: groovyFinish,
		inner:    membersAre(groovyMember, jsNoMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + " {", close: "}"}},
	})
}

var (
	groovyStart  = regexp.MustCompile(`^(?:(?:public|private|protected|static|final|abstract) +)*(?:class|interface|trait|enum|def|import|package|[\w<>\[\].]+ +\w+ *\()|^@`)
	groovyMember = regexp.MustCompile(`^(?:(?:public|private|protected|static|final|abstract) +)*(?:class|interface|trait|enum|def|[\w<>\[\].]+) +\w+ *\([^)]*\) *\{|^@\w`)
)

func groovyPackage(x *extraction, i int, sc *scope) {
	if name := i + 1; name < x.nodes[i].next {
		d := x.defAt(i, name, symbol.Package)
		d.children = nil
		x.define(sc, i, d)
	}
}

func groovyImport(x *extraction, i int, sc *scope) {
	if path := x.field(i, "import"); path >= 0 {
		name := x.str(path)
		if strings.HasSuffix(x.str(i), ".*") {
			name += ".*"
		}
		x.addImport(name, x.nodes[i].start, x.nodes[i].end)
	}
}

func groovyClass(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	if hasWord(x.head(d), "interface") {
		d.kind = symbol.Interface
	}
	body := x.field(i, "body")
	if body >= 0 {
		d.sigEnd = x.nodes[body].start
		d.children = func(sc *scope) { x.children(body, sc) }
	}
	x.define(sc, i, d)
}

// groovyDeclaration defines fields, the variables of a script, and closures
// that are bound to a name.
func groovyDeclaration(x *extraction, i int, sc *scope) {
	name, value := x.field(i, "name"), x.field(i, "value")
	if name < 0 {
		x.children(i, sc)
		return
	}
	if before := bytes.TrimRight(x.src[:x.nodes[i].start], " \t"); bytes.HasSuffix(before, []byte("(")) {
		return // of a catch clause
	}
	d := x.defAt(i, name, symbol.Variable)
	d.children = func(sc *scope) {
		if value >= 0 {
			x.visitAny(value, sc)
		}
	}
	switch {
	case value >= 0 && x.typ(value) == "closure":
		d.kind = symbol.Function
		d.sigEnd = x.nodes[value].start
		d.children = func(sc *scope) { x.children(value, sc) }
	case sc.inFunc:
		d.children(sc)
		return
	case isType(sc.holder):
		d.kind = symbol.Field
	case hasWord(x.head(d), "final"):
		d.kind = symbol.Constant
	}
	x.define(sc, i, d)
}

// groovyPrototype defines a method without a body. Outside of a class what
// looks like one is a call: println label(x).
func groovyPrototype(x *extraction, i int, sc *scope) {
	if name := x.field(i, "function"); name >= 0 && isType(sc.holder) {
		d := x.defAt(i, name, symbol.Method)
		d.children = nil
		x.define(sc, i, d)
	}
}

var (
	groovyTrait   = regexp.MustCompile(`(?m)^\s*(trait) +\w`)
	groovyGeneric = regexp.MustCompile(`(?m)^\s*(?:(?:public|private|protected|static|final|abstract) +)*((?:def +)?<[^<>(){};\n]*>) +[A-Za-z][\w.<>\[\]]* +\w+ *\(`)
)

// groovyPrepare makes classes of traits, which the grammar does not know, and
// blanks the type parameters of methods.
func groovyPrepare(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	r := &rewriter{text, text}
	for _, m := range groovyTrait.FindAllSubmatchIndex(text, -1) {
		r.set(m[2], "class")
	}
	for _, m := range groovyGeneric.FindAllSubmatchIndex(text, -1) {
		r.set(m[2], strings.Repeat(" ", m[3]-m[2]))
	}
	return r.src
}

// groovyClosure visits a block: that of a function is its body, any other is a
// function without a name.
func groovyClosure(x *extraction, i int, sc *scope) {
	if f := x.nodes[i].field; f != 0 && x.t.fields[f] == "body" {
		x.children(i, sc)
		return
	}
	x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
}

func groovyFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && s.Kind != symbol.Package && !hasModifier(s, "private")
		return true
	})
}
