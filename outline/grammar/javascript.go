package grammar

import (
	"bytes"
	"regexp"
	"strings"
	"unsafe"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "javascript", grammar: javascriptGrammar,
		rules: merge(jsRules(), map[string]*rule{
			"field_definition": {do: jsField, act: visit | fields},
		}),
		actions: jsActions(nil), otherwise: visit | gate, braces: true,
		fields:   []string{"name", "body", "value", "left", "right", "key", "source", "property", "kind", "arguments", "function"},
		triggers: jsTriggers, modifiers: jsModifiers,
		prepare: jsPrepare, split: jsSplit, statements: jsStatements, inner: jsInner, wrappers: jsWrappers, finish: jsFinish,
	})
	for _, dialect := range []struct {
		name    string
		grammar func() unsafe.Pointer
		prepare func([]byte) []byte
	}{{"typescript", typescriptGrammar, tsPrepare}, {"tsx", tsxGrammar, tsxPrepare}} {
		register(&language{
			name: dialect.name, grammar: dialect.grammar,
			rules: merge(jsRules(), tsRules()), actions: jsActions(tsActions), otherwise: visit | gate, braces: true,
			fields:   []string{"name", "body", "value", "left", "right", "key", "source", "kind", "arguments", "function"},
			triggers: jsTriggers, modifiers: jsModifiers,
			prepare: dialect.prepare, split: jsSplit, statements: jsStatements, inner: jsInner, wrappers: jsWrappers, finish: jsFinish,
		})
	}
}

var (
	// Whatever defines something inside an expression or a function holds one of
	// these.
	jsTriggers  = []string{"{", "=>", "require"}
	jsModifiers = []string{"export", "default", "declare", "async", "static", "abstract", "public", "private", "protected", "readonly", "override", "accessor", "get", "set", "const", "let", "var"}
)

var jsStatements = []string{"expression_statement", "if_statement", "for_statement", "for_in_statement", "while_statement", "try_statement", "switch_statement"}

func jsRules() map[string]*rule {
	fn := &rule{do: jsFunction, act: visit | fields | function}
	class := &rule{do: jsClass, act: visit | fields}
	assign := &rule{do: jsAssignment, act: visit | fields | gate}
	return map[string]*rule{
		"comment":                               {role: comment, act: keep},
		"decorator":                             {role: attribute, act: keep},
		"function_declaration":                  fn,
		"generator_function_declaration":        fn,
		"function_expression":                   fn,
		"generator_function":                    fn,
		"arrow_function":                        fn,
		"class_declaration":                     class,
		"class":                                 class,
		"class_static_block":                    {do: jsScope, act: visit | function},
		"method_definition":                     {do: jsMethod, act: visit | fields | function},
		"lexical_declaration":                   {do: jsVariables, act: visit | fields | localGate},
		"variable_declaration":                  {do: jsVariables, act: visit | fields | localGate},
		"variable_declarator":                   {do: jsDeclarator, act: visit | fields | localGate},
		"for_statement":                         {do: jsFor, act: visit | gate},
		"assignment_expression":                 assign,
		"augmented_assignment_expression":       assign,
		"parenthesized_expression":              {role: inert, act: visit | gate},
		"pair":                                  {do: jsPair, act: visit | fields | gate},
		"export_statement":                      {do: jsExport, act: visit | fields},
		"export_specifier":                      {do: jsExportName, act: visit | fields},
		"import_statement":                      {do: jsImport, act: visit | fields},
		"call_expression":                       {do: jsCall, act: visit | fields | gate},
		"object_pattern":                        {role: inert, act: visit},
		"array_pattern":                         {role: inert, act: visit | all},
		"rest_pattern":                          {role: inert, act: visit | all},
		"pair_pattern":                          {role: inert, act: visit | fields},
		"assignment_pattern":                    {role: inert, act: visit | fields},
		"object_assignment_pattern":             {role: inert, act: visit | fields},
		"shorthand_property_identifier_pattern": {role: inert, act: keep},
	}
}

func jsActions(more map[string]action) map[string]action {
	m := map[string]action{
		"program": visit, "class_body": visit, "statement_block": visit, "export_clause": visit,
		"identifier": 0, "property_identifier": 0, "private_property_identifier": 0, "string": 0,
		"number": 0, "regex": 0, "this": 0, "null": 0, "true": 0, "false": 0, "undefined": 0,
		"import_clause": 0, "shorthand_property_identifier": 0, "empty_statement": 0,
		"if_statement": visit | localGate, "else_clause": visit | localGate, "try_statement": visit | localGate,
		"expression_statement": visit | gate,
	}
	for k, v := range more {
		m[k] = v
	}
	return m
}

func merge(a, b map[string]*rule) map[string]*rule {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// jsFunction defines a function that has a name of its own; one without is a
// scope.
func jsFunction(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 || x.nodes[name].start == x.nodes[name].end {
		x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
		return
	}
	d := x.defAt(i, name, symbol.Function)
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

func jsScope(x *extraction, i int, sc *scope) {
	x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
}

// bodyStart returns where the body of node i starts, or 0.
func (x *extraction) bodyStart(i int) int {
	if body := x.field(i, "body"); body >= 0 {
		return x.nodes[body].start
	}
	return 0
}

func jsClass(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// jsName returns the name that a property key or class member has, and false
// for one that is computed and well known.
func jsName(x *extraction, i int) (string, bool) {
	s := x.str(i)
	switch x.typ(i) {
	case "string":
		return unquote(s), len(s) > 2
	case "computed_property_name":
		return s, strings.HasPrefix(s, "[Symbol.") || strings.HasPrefix(s, "[ Symbol.")
	}
	return s, s != ""
}

func jsMethod(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Method)
	d.name, _ = jsName(x, name)
	d.sigEnd = x.bodyStart(i)
	head := x.head(d)
	switch {
	case d.name == "constructor" && sc.holder == symbol.Class:
		d.kind = symbol.Constructor
	case hasWord(head, "get") || hasWord(head, "set"):
		d.kind = symbol.Property
		inner := d.children
		d.children = func(sc *scope) { sc.inFunc, sc.local = true, true; inner(sc) }
	}
	x.define(sc, i, d)
	if d.kind == symbol.Constructor && x.t.lang.name != "javascript" {
		if open := x.openAfter(x.nodes[name].end); open >= 0 {
			x.addComponents(i, open, symbol.Property, matched(tsMember), sc)
		}
	}
}

func hasWord(text []byte, word string) bool {
	for _, w := range bytes.Fields(text) {
		if string(w) == word {
			return true
		}
	}
	return false
}

// jsExport hands its own start to the declaration inside.
func jsExport(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if source := x.field(i, "source"); source >= 0 {
		x.addImport(unquote(x.str(source)), n.start, n.end)
	}
	if value := x.field(i, "value"); value >= 0 {
		inner := x.unwrap(value)
		d := def{name: "default", nameAt: -1, kind: symbol.Variable, start: n.start, end: n.end, exported: true}
		d = x.jsBound(d, value, symbol.Function)
		if own := x.field(inner, "name"); own >= 0 && d.kind != symbol.Variable {
			d.name, d.nameAt = x.str(own), x.nodes[own].start
		}
		if d.kind != symbol.Variable {
			x.leadInside(i, sc)
			x.define(sc, i, d)
			return
		}
	}
	k := len(sc.symbols)
	x.wrap(i, sc)
	for ; k < len(sc.symbols); k++ {
		sc.symbols[k].Exported = true
	}
}

// leadInside adds the attributes that node i begins with to the lead.
func (x *extraction) leadInside(i int, sc *scope) {
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		if r := x.rule(j); r != nil && r.role == attribute {
			x.addLead(sc, x.nodes[j], true)
		}
	}
}

func jsExportName(x *extraction, i int, sc *scope) {
	if name := x.field(i, "name"); name >= 0 {
		x.exports = append(x.exports, x.str(name))
	}
}

func jsImport(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if source := x.field(i, "source"); source >= 0 {
		x.addImport(unquote(x.str(source)), n.start, n.end)
		return
	}
	text := x.str(i) // import x = require("y")
	if k := strings.Index(text, "require("); k >= 0 {
		rest, _, _ := strings.Cut(text[k+len("require("):], ")")
		x.addImport(unquote(strings.TrimSpace(rest)), n.start, n.end)
	}
}

// jsCall notes require("x") and looks inside any call.
func jsCall(x *extraction, i int, sc *scope) {
	if !sc.inFunc {
		x.jsRequire(i, x.nodes[i].start, x.nodes[i].end)
	}
	x.children(i, sc)
}

// jsRequire notes the import if node i is require("x").
func (x *extraction) jsRequire(i, start, end int) {
	n := x.nodes[i]
	text := x.text[n.start:n.end]
	if !bytes.HasPrefix(text, []byte("require(")) {
		return
	}
	text = text[len("require("):]
	if k := bytes.IndexByte(text, ')'); k > 2 && (text[0] == '"' || text[0] == '\'') {
		x.addImport(unquote(collapse(text[:k])), start, end)
	}
}

// jsFinish marks what export lists name.
func jsFinish(_ []byte, exports []string, list *symbol.List) {
	named := make(map[string]bool, len(exports))
	for _, name := range exports {
		named[name] = true
	}
	for i := range list.Symbols {
		if named[list.Symbols[i].Name] {
			list.Symbols[i].Exported = true
		}
	}
}

var (
	jsStart     = regexp.MustCompile(`^(?:(?:export|async|default|declare|abstract) +)*(?:function|class|const|let|var|import|interface|type|enum|namespace|module)\b|^export\b|^@|^[\w$.]+(?:\[[^\]]*\])? *=[^=]|^;?\(function`)
	jsStatement = regexp.MustCompile(`^(?:(?:export|async|default|declare|abstract) +)*(?:function|class|interface|enum|namespace)\b|^(?:export +)?(?:const|let|var) +[\w$]+[^=]*= *(?:async +)?(?:function|class|\(|[\w$]+ *=>)|^[\w$.]+ *= *(?:async +)?(?:function|class\b|\([^()]*\) *=>)`)
	jsProperty  = regexp.MustCompile(`^['"\w$-]+ *: *(?:async +)?(?:function\b|\([^()]*\) *=>|[\w$]+ *=>).*\{$`)
	jsMember    = regexp.MustCompile(`^@\w|^(?:(?:public|private|protected|static|async|get|set|readonly|abstract|override|\*) *)*[\w$#]+ *(?:<[^()]*>)?\([^;]*\{$|^(?:constructor|(?:public|private|protected|static|abstract|override|async) .*)\(`)
	jsNoMember  = regexp.MustCompile(`^(?:if|for|while|switch|catch|return|else|do|with|await|throw|typeof|new|yield|case)\b`)
	jsWrappers  = map[place]wrapper{
		inBlock:  {open: "function " + wrapperName + "(){", close: "}"},
		inType:   {open: "class " + wrapperName + "{", close: "}"},
		inObject: {open: "var " + wrapperName + "={", close: "}"},
	}
)

// jsSplit says whether a line without indentation begins a definition.
func jsSplit(line []byte) bool { return jsStart.Match(line) }

func jsInner(line []byte) place {
	switch {
	case jsStatement.Match(line):
		return inBlock
	case jsProperty.Match(line):
		return inObject
	case jsMember.Match(line) && !jsNoMember.Match(line):
		return inType
	}
	return nowhere
}
