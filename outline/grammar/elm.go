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
		name: "elm", grammar: elmGrammar,
		rules: map[string]*rule{
			"line_comment":              remark,
			"block_comment":             remark,
			"module_declaration":        {do: elmModule, act: visit | fields},
			"import_clause":             {do: elmImport, act: visit | fields},
			"type_alias_declaration":    {do: elmAlias, act: visit | fields},
			"type_declaration":          {do: elmType, act: visit | fields},
			"union_variant":             {kind: symbol.EnumMember},
			"field_type":                {kind: symbol.Field},
			"port_annotation":           {kind: symbol.Function},
			"infix_declaration":         {do: elmInfix, act: visit | fields},
			"type_annotation":           {do: elmAnnotation, act: visit | fields},
			"value_declaration":         {do: elmValue, act: visit | fields | function},
			"function_declaration_left": {role: inert, act: visit | all},
			"anonymous_function_expr":   {do: jsScope, act: visit | function | gate},
		},
		actions: map[string]action{
			"file": visit, "type_expression": visit, "record_type": visit, "tuple_type": 0, "type_ref": 0, "exposing_list": 0,
			"string_constant_expr": 0, "value_expr": 0, "upper_case_identifier": 0, "lower_case_identifier": 0,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "exposing", "moduleName", "typeExpression", "body", "functionDeclarationLeft", "operator", "pattern", "unionVariant"},
		triggers:  []string{"let"},
		heads:     elmAnnotates, split: elmStart.Match, finish: elmFinish,
	})
}

// elmAnnotates says whether a line is the type of what the next one defines.
func elmAnnotates(line, next []byte) bool {
	name, _, found := bytes.Cut(line, []byte(":"))
	name = bytes.TrimSpace(name)
	return found && len(name) > 0 && bytes.HasPrefix(next, name) && len(next) > len(name) && !isWord(next[len(name)])
}

var elmStart = regexp.MustCompile(`^(?:type|port|import|infix|module|[a-z]\w* *:|[a-z]\w*[^:]* =)`)

func elmModule(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	if name := x.field(i, "name"); name >= 0 {
		d := x.defAt(i, name, symbol.Module)
		d.children = nil
		x.define(sc, i, d)
	}
	if exposing := x.field(i, "exposing"); exposing >= 0 {
		list := strings.Trim(strings.TrimPrefix(x.str(exposing), "exposing"), " ()")
		for _, name := range strings.Split(list, ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
			x.exports = append(x.exports, name)
		}
	}
	_ = n
}

func elmImport(x *extraction, i int, sc *scope) {
	if name := x.field(i, "moduleName"); name >= 0 {
		x.addImport(x.str(name), x.nodes[i].start, x.nodes[i].end)
	}
}

func elmAlias(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Class)
	if t := x.field(i, "typeExpression"); t >= 0 && bytes.HasPrefix(x.src[x.nodes[t].start:], []byte("{")) {
		d.kind = symbol.Struct
		d.sigEnd = x.nodes[t].start
	}
	x.define(sc, i, d)
}

func elmType(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		return
	}
	d := x.defAt(i, name, symbol.Enum)
	if k := bytes.IndexByte(x.src[d.start:d.end], '='); k >= 0 {
		d.sigEnd = d.start + k
	}
	x.define(sc, i, d)
}

func elmInfix(x *extraction, i int, sc *scope) {
	if name := x.field(i, "operator"); name >= 0 {
		d := x.defAt(i, name, symbol.Operator)
		d.name = strings.Trim(d.name, "()")
		d.children = nil
		x.define(sc, i, d)
	}
}

// elmAnnotation remembers where the type of the value after it stands: the
// definition starts there.
func elmAnnotation(x *extraction, i int, sc *scope) {
	if x.wrapped < 0 {
		x.wrapped = x.nodes[i].start
	}
}

// elmValue defines a function; in a let also if it takes no arguments, unless
// it takes a value apart.
func elmValue(x *extraction, i int, sc *scope) {
	left := x.field(i, "functionDeclarationLeft")
	if left < 0 || left+1 >= x.nodes[left].next {
		x.wrapped = -1
		x.anonymous(sc, func(inner *scope) { x.children(i, inner) })
		return
	}
	name := left + 1
	takes := x.nodes[name].next < x.nodes[left].next
	d := x.defAt(i, name, symbol.Function)
	if !takes {
		d.kind = symbol.Constant
		typed := x.wrapped >= 0 && bytes.Contains(x.src[x.wrapped:d.start], []byte("->"))
		if typed {
			d.kind = symbol.Function
		}
		if sc.inFunc && !typed {
			x.wrapped = -1
			x.children(i, sc)
			return
		}
	}
	annotated := x.wrapped
	if annotated >= 0 {
		d.sigEnd = d.start // the annotation says more than the names
	} else {
		d.sigEnd = x.nodes[left].end
	}
	body := d.children
	d.children = func(sc *scope) {
		sc.inFunc, sc.local = true, true
		body(sc)
	}
	x.define(sc, i, d)
}

// elmFinish marks what the module exposes.
func elmFinish(_ []byte, exports []string, list *symbol.List) {
	named := make(map[string]bool, len(exports))
	for _, name := range exports {
		named[name] = true
	}
	for i := range list.Symbols {
		s := &list.Symbols[i]
		s.Exported = s.Kind != symbol.Module && (named[s.Name] || named[".."])
	}
}
