package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	note := &rule{role: attribute, act: keep}
	remark := &rule{role: comment, act: keep}
	register(&language{
		name: "java", grammar: javaGrammar,
		rules: map[string]*rule{
			"line_comment":                        remark,
			"block_comment":                       remark,
			"annotation":                          note,
			"marker_annotation":                   note,
			"package_declaration":                 {do: javaPackage, act: visit | all},
			"import_declaration":                  {do: javaImport, act: keep},
			"module_declaration":                  {kind: symbol.Module, act: visit | fields},
			"class_declaration":                   {kind: symbol.Class, act: visit | fields | typeBody},
			"record_declaration":                  {do: javaRecord, act: visit | fields | typeBody},
			"interface_declaration":               {kind: symbol.Interface, act: visit | fields | typeBody},
			"annotation_type_declaration":         {kind: symbol.Interface, act: visit | fields | typeBody},
			"enum_declaration":                    {kind: symbol.Enum, act: visit | fields | typeBody},
			"enum_constant":                       {kind: symbol.EnumMember, act: visit | fields | typeBody},
			"method_declaration":                  {kind: symbol.Method, act: visit | fields | function},
			"constructor_declaration":             {kind: symbol.Constructor, act: visit | fields | function},
			"compact_constructor_declaration":     {kind: symbol.Constructor, act: visit | fields | function},
			"annotation_type_element_declaration": {kind: symbol.Method},
			"field_declaration":                   {do: declarators(symbol.Field), act: visit | fields},
			"constant_declaration":                {do: declarators(symbol.Constant), act: visit | fields},
			"variable_declarator":                 {role: inert, act: visit | fields | localGate},
			"static_initializer":                  {do: jsScope, act: visit | function},
			"lambda_expression":                   {do: jsScope, act: visit | function | gate},
		},
		actions: map[string]action{
			"program": visit, "class_body": visit, "interface_body": visit, "enum_body": visit, "enum_body_declarations": visit,
			"annotation_type_body": visit, "modifiers": visit,
			"identifier": 0, "type_identifier": 0, "scoped_identifier": 0, "string_literal": 0, "generic_type": 0,
			"type_parameters": 0, "formal_parameters": 0, "superclass": 0, "super_interfaces": 0, "scoped_type_identifier": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:    []string{"name", "body", "declarator", "value", "parameters"},
		triggers:  []string{"class", "interface", "enum", "record", "new"},
		modifiers: []string{"public", "private", "protected", "static", "final", "abstract", "default", "synchronized", "native", "transient", "volatile", "strictfp", "sealed", "non-sealed"},
		prepare:   blankOpenStrings, split: javaSplit,
		inner:    membersAre(javaMember, jsNoMember),
		wrappers: map[place]wrapper{inType: {open: "class " + wrapperName + "{", close: "}"}},
		flat:     true,
		finish:   exportByModifier("public"),
	})
}

// declarators returns a rule that defines each name of a declaration with
// several declarators.
func declarators(kind symbol.Kind) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		n := x.nodes[i]
		first := true
		for j := i + 1; j < n.next; j = x.nodes[j].next {
			if f := x.nodes[j].field; f == 0 || x.t.fields[f] != "declarator" {
				continue
			}
			name := x.field(j, "name")
			if name < 0 {
				continue
			}
			d := x.defAt(j, name, kind)
			if first {
				d.start = n.start
			}
			first = false
			if v := x.field(j, "value"); v >= 0 && x.nodes[v].next > v+1 {
				d.sigEnd = x.nodes[v].start
			}
			if x.lastDeclarator(j, n.next) {
				d.end = n.end
			}
			x.define(sc, i, d)
		}
	}
}

// lastDeclarator reports whether no declarator follows node j before next.
func (x *extraction) lastDeclarator(j, next int) bool {
	for k := x.nodes[j].next; k < next; k = x.nodes[k].next {
		if x.nodes[k].typ == x.nodes[j].typ {
			return false
		}
	}
	return true
}

func javaPackage(x *extraction, i int, sc *scope) {
	if j := x.nodes[i].next - 1; j > i {
		x.define(sc, i, def{name: x.str(j), nameAt: x.nodes[j].start, kind: symbol.Package, start: x.nodes[i].start, end: x.nodes[i].end})
	}
}

func javaImport(x *extraction, i int, sc *scope) {
	path := strings.TrimSuffix(strings.TrimPrefix(x.str(i), "import "), ";")
	path = strings.TrimSpace(strings.TrimPrefix(path, "static "))
	x.addImport(path, x.nodes[i].start, x.nodes[i].end)
}

// javaRecord defines a record with its components as fields.
func javaRecord(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	d.sigEnd = x.bodyStart(i)
	d.children = func(sc *scope) {
		if list := x.field(i, "parameters"); list >= 0 {
			x.addComponents(i, x.nodes[list].start, symbol.Field, lastWord, sc)
		}
		x.children(i, sc)
	}
	x.define(sc, i, d)
}

// exportByModifier marks the symbols that have the modifier.
func exportByModifier(word string) func([]byte, []string, *symbol.List) {
	return func(_ []byte, _ []string, list *symbol.List) {
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			for _, m := range s.Modifiers {
				s.Exported = s.Exported || m == word && !s.Local
			}
			return true
		})
	}
}

// javaMember matches how members of a class begin: with an annotation, a
// modifier, a word for a type, or with a type and a name.
var javaMember = regexp.MustCompile(`^@\w|^(?:public|protected|private|static|final|abstract|default|synchronized|native|transient|volatile|sealed|non-sealed|strictfp|class|interface|enum|record)\b` +
	`|^(?:<[^()]*> *)?[A-Za-z][\w.]*(?:<[^()=;]*>)?(?:\[\])* +\w+ *[(;=]|^[A-Z]\w* *\([^;]*\{$`)

// javaSplit says whether a line without indentation begins a type or import.
func javaSplit(line []byte) bool {
	for _, word := range []string{"public ", "class ", "interface ", "enum ", "record ", "abstract ", "final ", "import ", "@", "sealed "} {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}
