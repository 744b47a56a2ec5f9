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
		prepare: jsPrepare, split: jsSplit, inner: jsInner, wrappers: jsWrappers, finish: jsFinish,
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
			prepare: dialect.prepare, split: jsSplit, inner: jsInner, wrappers: jsWrappers, finish: jsFinish,
		})
	}
}

var (
	// Whatever defines something inside an expression or a function holds one of
	// these.
	jsTriggers  = []string{"{", "=>", "require"}
	jsModifiers = []string{"export", "default", "declare", "async", "static", "abstract", "public", "private", "protected", "readonly", "override", "accessor", "get", "set", "const", "let", "var"}
)

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
}

func hasWord(text []byte, word string) bool {
	for _, w := range bytes.Fields(text) {
		if string(w) == word {
			return true
		}
	}
	return false
}

// jsField defines a class field, as a method if its value is a function.
func jsField(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		name = x.field(i, "property")
	}
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Property)
	d.name, _ = jsName(x, name)
	d = x.jsBound(d, x.field(i, "value"), symbol.Method)
	x.define(sc, i, d)
}

// jsBound makes d what the value that its name is bound to makes it: a
// function of kind fn, a class, or what it was.
func (x *extraction) jsBound(d def, value int, fn symbol.Kind) def {
	if value < 0 {
		return d
	}
	inner := x.unwrap(value)
	switch x.typ(inner) {
	case "arrow_function", "function_expression", "generator_function":
		d.kind = fn
		d.sigEnd = x.bodyStart(inner)
		d.children = func(sc *scope) { x.children(inner, sc) }
	case "class":
		d.kind = symbol.Class
		d.sigEnd = x.bodyStart(inner)
		d.children = func(sc *scope) { x.children(inner, sc) }
	case "object", "array", "call_expression", "new_expression":
		d.sigEnd = x.nodes[inner].start
		if x.typ(inner) == "call_expression" || x.typ(inner) == "new_expression" {
			d.sigEnd = x.firstLineEnd(x.nodes[inner].start, d.end)
		}
		d.children = func(sc *scope) { x.visitValue(value, sc) }
	default:
		d.sigEnd = x.firstLineEnd(x.nodes[inner].start, d.end)
		d.children = func(sc *scope) { x.visitValue(value, sc) }
	}
	return d
}

// firstLineEnd returns the end of the line of byte at, or 0 if end is on it.
func (x *extraction) firstLineEnd(at, end int) int {
	if k := bytes.IndexByte(x.src[at:end], '\n'); k >= 0 {
		return at + k
	}
	return 0
}

// visitValue visits a value: itself if it has a rule, else what is inside.
func (x *extraction) visitValue(i int, sc *scope) {
	switch x.typ(i) {
	case "arrow_function", "function_expression", "generator_function", "class", "call_expression", "assignment_expression":
		x.visit(i, sc)
	default:
		x.children(i, sc)
	}
}

// unwrap returns the function or class that stands alone in the parentheses
// or the cast that is node i, or i.
func (x *extraction) unwrap(i int) int {
	for {
		n := x.nodes[i]
		switch x.typ(i) {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
		default:
			return i
		}
		j := i + 1
		for j < n.next && x.rule(j) != nil && x.rule(j).role == comment {
			j = x.nodes[j].next
		}
		if j >= n.next || x.nodes[j].next != n.next {
			return i
		}
		in := x.nodes[j]
		if len(bytes.Trim(x.src[n.start:in.start], "( \t\r\n")) > 0 {
			return i
		}
		after := bytes.TrimSpace(x.src[in.end:n.end])
		if len(after) > 0 && after[0] == '(' {
			return i
		}
		i = j
	}
}

// jsVariables opens a statement that declares variables; the first of them
// starts where the statement does.
func jsVariables(x *extraction, i int, sc *scope) {
	var decls []int
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		if x.typ(j) == "variable_declarator" {
			decls = append(decls, j)
		}
	}
	start := x.nodes[i].start
	kind := symbol.Variable
	if bytes.HasPrefix(x.text[start:], []byte("const")) {
		kind = symbol.Constant
	}
	if x.wrapped >= 0 {
		start = x.wrapped
	}
	x.wrapped = -1
	end := x.nodes[i].end
	for k, j := range decls {
		from, to := x.nodes[j].start, x.nodes[j].end
		if k == 0 && !bytes.ContainsAny(x.src[x.nodes[i].start:from], ",=") {
			from = start // unless the walk passed over the first
		}
		if k == len(decls)-1 {
			to = end
		}
		x.jsDeclare(j, sc, from, to, kind)
	}
}

func jsDeclarator(x *extraction, i int, sc *scope) {
	x.jsDeclare(i, sc, x.nodes[i].start, x.nodes[i].end, symbol.Variable)
}

func (x *extraction) jsDeclare(i int, sc *scope, start, end int, kind symbol.Kind) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	value := x.field(i, "value")
	if t := x.typ(name); t == "object_pattern" || t == "array_pattern" {
		if !sc.inFunc {
			x.jsPattern(name, sc, start, kind)
		}
		if value >= 0 {
			x.visitValue(value, sc)
		}
		return
	}
	d := x.defAt(i, name, kind)
	d.start, d.end = start, end
	d.exported = false
	d = x.jsBound(d, value, symbol.Function)
	if sc.inFunc && d.kind == kind {
		if value >= 0 {
			x.visitValue(value, sc)
		}
		return
	}
	x.define(sc, i, d)
}

// jsPattern defines the names that a destructuring pattern binds.
func (x *extraction) jsPattern(i int, sc *scope, start int, kind symbol.Kind) {
	lead := sc.lead
	for j := i + 1; j < x.nodes[i].next; j++ {
		n := x.nodes[j]
		switch x.typ(j) {
		case "identifier", "shorthand_property_identifier_pattern":
		case "pair_pattern", "object_pattern", "array_pattern", "rest_pattern", "assignment_pattern", "object_assignment_pattern":
			continue
		default:
			j = n.next - 1
			continue
		}
		if f := x.t.fields[n.field]; f == "key" || f == "right" {
			j = n.next - 1
			continue
		}
		sc.lead = lead
		x.define(sc, j, def{name: x.str(j), nameAt: n.start, kind: kind, start: n.start, end: n.end,
			modifiers: x.t.modifiersIn(x.text[start:x.nodes[i].start])})
	}
}

func jsFor(x *extraction, i int, sc *scope) {
	was := sc.inFunc
	sc.inFunc = true // its variables are not worth a symbol
	x.children(i, sc)
	sc.inFunc = was
}

// jsAssignment defines x.y = function and the like.
func jsAssignment(x *extraction, i int, sc *scope) {
	left, right := x.field(i, "left"), x.field(i, "right")
	if left < 0 || right < 0 {
		x.children(i, sc)
		return
	}
	target := x.str(left)
	name, kind, ok := jsTarget(target)
	d := def{name: name, nameAt: x.nodes[left].end - 1, kind: symbol.Variable, start: x.nodes[i].start, end: x.nodes[i].end}
	d = x.jsBound(d, right, kind)
	if !ok || d.kind == symbol.Variable {
		k := len(sc.symbols)
		x.children(left, sc)
		x.visitValue(right, sc)
		if name == "exports" && x.typ(right) == "object" {
			for ; k < len(sc.symbols); k++ {
				sc.symbols[k].Exported = true
			}
			x.exports = append(x.exports, jsObjectNames(x.text[x.nodes[right].start:x.nodes[right].end])...)
		}
		return
	}
	d.exported = strings.HasPrefix(target, "exports.") || strings.HasPrefix(target, "module.exports")
	x.define(sc, i, d)
}

// jsObjectNames returns the names that { a, b: c } refers to: a and c.
func jsObjectNames(object []byte) []string {
	var names []string
	for _, part := range bytes.Split(bytes.Trim(object, "{}"), []byte(",")) {
		if k := bytes.LastIndexByte(part, ':'); k >= 0 {
			part = part[k+1:]
		}
		if name := collapse(part); name != "" && !strings.ContainsAny(name, " ()[]{}.'\"") {
			names = append(names, name)
		}
	}
	return names
}

// jsTarget returns the name that an assignment to target binds, and the kind of
// a function there.
func jsTarget(target string) (string, symbol.Kind, bool) {
	if target == "module.exports" || target == "exports" {
		return "exports", symbol.Function, true
	}
	kind := symbol.Function
	if strings.Contains(target, ".prototype.") || strings.Contains(target, ".prototype[") {
		kind = symbol.Method
	}
	if strings.HasSuffix(target, "]") {
		k := strings.LastIndexByte(target, '[')
		if k < 0 {
			return "", kind, false
		}
		key := target[k+1 : len(target)-1]
		if name := unquote(key); name != key && name != "" {
			return name, kind, true
		}
		if strings.HasPrefix(key, "Symbol.") {
			return "[" + key + "]", kind, true
		}
		return "", kind, false
	}
	if k := strings.LastIndexByte(target, '.'); k >= 0 {
		target = strings.TrimSpace(target[k+1:])
	}
	return target, kind, target != "" && !strings.ContainsAny(target, "(){}[] ")
}

// jsPair defines a property of an object literal whose value is a function or a
// class.
func jsPair(x *extraction, i int, sc *scope) {
	key, value := x.field(i, "key"), x.field(i, "value")
	if key < 0 || value < 0 {
		x.children(i, sc)
		return
	}
	name, ok := jsName(x, key)
	d := x.jsBound(x.defAt(i, key, symbol.Property), value, symbol.Function)
	d.name = name
	if own := x.field(x.unwrap(value), "name"); !ok && own >= 0 {
		d.name, ok = x.str(own), true
	}
	if d.kind == symbol.Property {
		x.visitValue(value, sc)
		return
	}
	x.define(sc, i, d)
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
	jsProperty  = regexp.MustCompile(`^['"\w$-]+ *: *(?:async +)?(?:function\b|\([^()]*\) *=>|[\w$]+ *=>)`)
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
