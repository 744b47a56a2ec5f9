package grammar

import (
	"strings"

	"mapd/outline/symbol"
)

func init() {
	rules := merge(cRules(), map[string]*rule{
		"declaration":          {do: cppDeclaration, act: visit | fields | localGate},
		"class_specifier":      {do: cTag, act: visit | fields | typeBody},
		"function_definition":  {do: cppFunction, act: visit | fields | function},
		"field_declaration":    {do: cppDeclaration, act: visit | fields},
		"namespace_definition": {do: cppNamespace},
		"alias_declaration":    {kind: symbol.Class, body: "type"},
		"concept_definition":   {do: cppConcept, act: visit | all},
		"template_declaration": {do: func(x *extraction, i int, sc *scope) { x.wrap(i, sc) }, act: visit},
		"using_declaration":    {role: inert, act: keep},
		"friend_declaration":   {do: cppFriend, act: visit},
		"lambda_expression":    {do: jsScope, act: visit | fields | function},
		"reference_declarator": {role: inert, act: visit | all},
	})
	actions := cActions()
	for _, skip := range []string{"access_specifier", "base_class_clause", "template_parameter_list", "template_argument_list",
		"template_type", "namespace_identifier", "auto", "raw_string_literal", "virtual_specifier", "noexcept", "trailing_return_type", "requires_clause"} {
		actions[skip] = 0
	}
	actions["field_initializer_list"] = visit | gate
	register(&language{
		name: "cpp", grammar: cppGrammar,
		rules: rules, actions: actions, otherwise: visit | gate, braces: true,
		fields:   []string{"name", "body", "declarator", "type", "value", "path", "parameters"},
		triggers: []string{"struct", "class", "union", "#", "](", "] (", "]{", "] {"},
		modifiers: []string{"extern", "static", "inline", "const", "constexpr", "consteval", "constinit", "volatile", "virtual", "explicit", "friend", "mutable",
			"typedef", "thread_local", "template", "_Noreturn"},
		reserved: cReserved, prepare: blankMacros, split: cppSplit, finish: cFinish, headLines: true,
		inner: membersAre(cppMember, jsNoMember), wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + "{", close: "};"}}, flat: true,
	})
}

// cppFunction defines a function; inside a class or with a qualified name it is
// a method.
func cppFunction(x *extraction, i int, sc *scope) {
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
	d := x.defAt(i, found.name, symbol.Function)
	d.name, d.kind = x.cppName(found.name, sc)
	if !found.function { // "int x = 0;" in a class looks like a pure function
		d.kind = x.cKind(found, sc)
	}
	body := x.field(i, "body")
	d.sigEnd = x.bodyStart(i)
	d.children = func(sc *scope) {
		if body >= 0 {
			x.children(body, sc)
		}
	}
	x.define(sc, i, d)
}

// cppName returns the name of a function, as it is written, and its kind.
func (x *extraction) cppName(i int, sc *scope) (string, symbol.Kind) {
	name := x.str(i)
	if x.typ(i) == "operator_cast" || strings.Contains(name, "operator") {
		if k := strings.LastIndexByte(name, '('); k > 0 && !strings.HasSuffix(name[:k], "operator") {
			name = strings.TrimSpace(name[:k])
		}
	}
	last, of := name, sc.name
	if k := strings.LastIndex(name, "::"); k >= 0 {
		last, of = name[k+2:], name[:k]
		if j := strings.LastIndex(of, "::"); j >= 0 {
			of = of[j+2:]
		}
	} else if !isType(sc.holder) {
		return name, symbol.Function
	}
	of, _, _ = strings.Cut(of, "<")
	if last == of {
		return name, symbol.Constructor
	}
	return name, symbol.Method
}

// cppDeclaration is cDeclaration with lambdas that are bound to a name, and with
// methods.
func cppDeclaration(x *extraction, i int, sc *scope) {
	first := len(sc.symbols)
	var lambdas []int
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		if v := x.field(j, "value"); v >= 0 && x.typ(v) == "lambda_expression" {
			lambdas = append(lambdas, j)
		}
	}
	if sc.inFunc {
		for _, j := range lambdas {
			x.cppLambda(i, j, sc)
		}
		if len(lambdas) == 0 {
			x.children(i, sc)
		}
		return
	}
	cDeclaration(x, i, sc)
	for k := first; k < len(sc.symbols); k++ {
		s := &sc.symbols[k]
		for _, j := range lambdas {
			if name := x.cDeclarator(j).name; name >= 0 && x.str(name) == s.Name {
				s.Kind = symbol.Function
			}
		}
		if s.Kind == symbol.Method && s.Name == sc.name {
			s.Kind = symbol.Constructor
		}
	}
}

func (x *extraction) cppLambda(i, j int, sc *scope) {
	name := x.cDeclarator(j).name
	if name < 0 {
		return
	}
	value := x.field(j, "value")
	d := x.defAt(i, name, symbol.Function)
	d.sigEnd = x.bodyStart(value)
	d.children = func(sc *scope) { x.children(value, sc) }
	x.define(sc, i, d)
}

// cppNamespace defines a namespace; one without a name gives its symbols to the
// scope around it.
func cppNamespace(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.wrapped = -1
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Namespace)
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// cppFriend defines a friend only if its body is here.
func cppFriend(x *extraction, i int, sc *scope) {
	if j := i + 1; j < x.nodes[i].next && x.typ(j) == "function_definition" {
		x.wrap(i, sc)
	}
}

func cppConcept(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		name = i + 1
	}
	if name >= x.nodes[i].next {
		return
	}
	d := x.defAt(i, name, symbol.Interface)
	d.children = nil
	x.define(sc, i, d)
}

func cppSplit(line []byte) bool {
	return cSplit(line) || cppStart.Match(line)
}
