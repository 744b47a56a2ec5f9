package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "php", grammar: phpGrammar,
		rules: map[string]*rule{
			"comment":                                {role: comment, act: keep},
			"attribute_list":                         {role: attribute, act: keep},
			"namespace_definition":                   {kind: symbol.Namespace},
			"namespace_use_declaration":              {do: phpUse, act: keep},
			"class_declaration":                      {kind: symbol.Class, act: visit | fields | typeBody},
			"interface_declaration":                  {kind: symbol.Interface, act: visit | fields | typeBody},
			"trait_declaration":                      {kind: symbol.Class, act: visit | fields | typeBody},
			"enum_declaration":                       {kind: symbol.Enum, act: visit | fields | typeBody},
			"enum_case":                              {kind: symbol.EnumMember},
			"method_declaration":                     {do: phpMethod, act: visit | fields | function},
			"function_definition":                    {kind: symbol.Function, act: visit | fields | function},
			"property_declaration":                   {do: below(symbol.Property, "property_element"), act: visit},
			"property_element":                       {role: inert, act: visit | all},
			"const_declaration":                      {do: below(symbol.Constant, "const_element"), act: visit},
			"const_element":                          {role: inert, act: visit | all},
			"assignment_expression":                  {do: phpAssignment, act: visit | fields | gate},
			"function_call_expression":               {do: phpCall, act: visit | fields},
			"include_expression":                     {do: phpInclude, act: keep},
			"include_once_expression":                {do: phpInclude, act: keep},
			"require_expression":                     {do: phpInclude, act: keep},
			"require_once_expression":                {do: phpInclude, act: keep},
			"anonymous_function_creation_expression": {do: jsScope, act: visit | fields | function},
			"arrow_function":                         {do: jsScope, act: visit | fields | function},
		},
		actions: map[string]action{
			"program": visit, "declaration_list": visit, "enum_declaration_list": visit, "expression_statement": visit | localGate,
			"name": 0, "variable_name": 0, "string": 0, "encapsed_string": 0, "heredoc": 0, "nowdoc": 0, "formal_parameters": 0, "text": 0,
			"base_clause": 0, "class_interface_clause": 0, "visibility_modifier": 0, "use_declaration": 0, "named_type": 0,
			"if_statement": visit | localGate, "compound_statement": visit | localGate, "else_clause": visit | localGate,
		},
		otherwise: visit | gate, braces: true,
		fields:      []string{"name", "body", "left", "right", "function", "arguments", "parameters", "return_type"},
		triggers:    []string{"function", "fn", "class"},
		modifiers:   []string{"public", "private", "protected", "static", "final", "abstract", "readonly", "const", "var"},
		preamble:    phpPreamble,
		longStrings: true, split: phpSplit.Match, finish: phpFinish,
		inner: membersAre(phpMember),
		wrappers: map[place]wrapper{
			inType: {open: "<?php class " + wrapperName + " {", close: "}"},
		},
	})
}

var (
	phpSplit  = regexp.MustCompile(`^(?:(?:final|abstract|readonly) +)*(?:class|interface|trait|enum|function|namespace|use|const)\b|^#\[`)
	phpMember = regexp.MustCompile(`^(?:(?:final|abstract|public|private|protected|static|readonly) +)*(?:function|const)\b|^(?:public|private|protected|static|var)\b`)
)

// phpPreamble opens the code if before ends inside of it.
func phpPreamble(before, _ []byte) string {
	if bytes.LastIndex(before, []byte("<?")) > bytes.LastIndex(before, []byte("?>")) {
		return "<?php "
	}
	return ""
}

func phpMethod(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Method)
	if d.name == "__construct" {
		d.kind = symbol.Constructor
	}
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
	if d.kind == symbol.Constructor {
		if open := x.openAfter(x.nodes[name].end); open >= 0 {
			x.addComponents(i, open, symbol.Property, matched(phpPromoted), sc)
		}
	}
}

// phpAssignment defines a function that is bound to a variable.
func phpAssignment(x *extraction, i int, sc *scope) {
	left, right := x.field(i, "left"), x.field(i, "right")
	if left < 0 || right < 0 || x.typ(left) != "variable_name" {
		x.children(i, sc)
		return
	}
	switch x.typ(right) {
	case "anonymous_function_creation_expression", "arrow_function":
		d := x.defAt(i, left, symbol.Function)
		d.sigEnd = x.bodyStart(right)
		d.children = func(sc *scope) { x.children(right, sc) }
		x.define(sc, i, d)
	default:
		x.children(i, sc)
	}
}

// phpCall defines the constant that define("NAME", …) makes.
func phpCall(x *extraction, i int, sc *scope) {
	fn, args := x.field(i, "function"), x.field(i, "arguments")
	if fn >= 0 && args >= 0 && x.str(fn) == "define" {
		list := strings.TrimLeft(x.str(args), "( ")
		if len(list) > 2 && (list[0] == '\'' || list[0] == '"') {
			if name, _, ok := strings.Cut(list[1:], list[:1]); ok {
				n := x.nodes[i]
				x.define(sc, i, def{name: name, nameAt: x.nodes[args].start, kind: symbol.Constant, start: n.start, end: n.end})
				return
			}
		}
	}
	x.children(i, sc)
}

func phpUse(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(x.str(i), ";"), "use"))
	for _, word := range []string{"function ", "const "} {
		text = strings.TrimPrefix(text, word)
	}
	if prefix, group, ok := strings.Cut(text, "{"); ok {
		for _, part := range strings.Split(strings.TrimRight(group, " }"), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " as ")
			if name != "" {
				x.addImport(prefix+name, n.start, n.end)
			}
		}
		return
	}
	for _, part := range strings.Split(text, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " as ")
		x.addImport(name, n.start, n.end)
	}
}

// phpInclude notes a file whose name is at least partly written out.
func phpInclude(x *extraction, i int, sc *scope) {
	if found := stringsIn(x.text[x.nodes[i].start:x.nodes[i].end]); len(found) > 0 && !sc.inFunc {
		x.addImport(found[len(found)-1], x.nodes[i].start, x.nodes[i].end)
	}
}

// phpFinish marks what others can use, and drops the $ of properties.
func phpFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		s.Exported = !s.Local && !hasModifier(s, "private") && !hasModifier(s, "protected")
		s.Name = strings.TrimPrefix(s.Name, "$")
		return true
	})
}
