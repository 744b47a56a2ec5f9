package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "bash", grammar: bashGrammar,
		rules: map[string]*rule{
			"comment":             {role: comment, act: keep},
			"function_definition": {do: bashFunction, act: visit | fields | function},
			"variable_assignment": {do: bashVariable, act: visit | fields | localGate},
			"declaration_command": {do: func(x *extraction, i int, sc *scope) { x.wrap(i, sc) }, act: visit | localGate},
			"command":             {do: bashCommand, act: visit | fields | localGate},
			"for_statement":       {do: jsFor, act: visit | localGate},
			"while_statement":     {do: jsFor, act: visit | localGate},
			"subshell":            {do: jsFor, act: visit | localGate},
		},
		actions: map[string]action{
			"program": visit, "word": 0, "string": 0, "raw_string": 0, "heredoc_body": 0, "variable_name": 0, "expansion": 0, "array": 0,
			"if_statement": visit | localGate, "else_clause": visit | localGate, "elif_clause": visit | localGate,
			"case_statement": visit | localGate, "case_item": visit | localGate,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "body", "value", "argument"},
		triggers:  []string{"()", "function ", "( )"},
		modifiers: []string{"readonly", "declare", "export", "local", "typeset"},
		hide:      hideHeredocs(bashHeredoc), longStrings: true, split: bashStart.Match, finish: bashFinish,
	})
}

// bashHeredoc matches a line that begins a text; in groups, its last word.
var bashHeredoc = regexp.MustCompile(`(?:^|[^<])<<-? *(?:'|"|\\\\)?([A-Za-z_]\w*)`)

var bashStart = regexp.MustCompile(`^(?:function +[\w:.-]+|[\w:.-]+ *\( *\))`)

func bashFunction(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// bashVariable defines a variable of the script, once.
func bashVariable(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 || sc.inFunc {
		return
	}
	d := x.defAt(i, name, symbol.Variable)
	if strings.Contains(d.name, "[") || sc.seen[d.name] {
		x.wrapped = -1
		return
	}
	if sc.seen == nil {
		sc.seen = make(map[string]bool)
	}
	sc.seen[d.name] = true
	d.children = nil
	x.define(sc, i, d)
}

// bashCommand notes what source reads, and defines aliases.
func bashCommand(x *extraction, i int, sc *scope) {
	name, args := x.field(i, "name"), x.field(i, "argument")
	if name >= 0 && args >= 0 {
		n := x.nodes[i]
		switch x.str(name) {
		case "source", ".":
			x.addImport(unquote(x.str(args)), n.start, n.end)
		case "alias":
			if alias, _, ok := strings.Cut(x.str(args), "="); ok && !sc.inFunc {
				x.define(sc, i, def{name: alias, nameAt: x.nodes[args].start, kind: symbol.Function, start: n.start, end: n.end})
				return
			}
		}
	}
	was := sc.inFunc
	sc.inFunc = true // what is assigned for one command is no variable
	x.children(i, sc)
	sc.inFunc = was
}

func bashFinish(_ []byte, _ []string, list *symbol.List) {
	for i := range list.Symbols {
		s := &list.Symbols[i]
		s.Exported = s.Kind == symbol.Function || bytes.HasPrefix([]byte(s.Signature), []byte("export "))
	}
}
