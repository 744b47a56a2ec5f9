package grammar

import (
	"strings"

	"mapd/outline/symbol"
)

// Go files are outlined with go/parser, which is exact and faster; this table
// is checked against it.
func init() {
	register(&language{
		name: "go", grammar: golangGrammar,
		rules: map[string]*rule{
			"comment":              {role: comment, act: keep},
			"import_spec":          {do: goImport, act: visit | fields},
			"function_declaration": {kind: symbol.Function, act: visit | fields | function},
			"method_declaration":   {do: goMethod, act: visit | fields | function},
			"type_declaration":     {do: goGroup, act: visit | localGate},
			"type_spec":            {do: goType, act: visit | fields},
			"type_alias":           {kind: symbol.Class, body: "none", act: visit | fields | localGate},
			"const_declaration":    {do: goGroup, act: visit | localGate},
			"const_spec":           {do: goValues(symbol.Constant), act: visit | fields | localGate},
			"var_declaration":      {do: goGroup, act: visit | localGate},
			"var_spec":             {do: goValues(symbol.Variable), act: visit | fields | localGate},
			"field_declaration":    {do: goField, act: visit | fields},
			"method_elem":          {kind: symbol.Method, body: "none"},
			"type_elem":            {role: inert, act: keep},
			"func_literal":         {do: jsScope, act: visit | function | gate},
			"struct_type":          {role: inert, act: visit},
			"interface_type":       {role: inert, act: visit},
		},
		actions: map[string]action{
			"source_file": visit, "import_declaration": visit, "import_spec_list": visit, "var_spec_list": visit,
			"field_declaration_list": visit, "identifier": 0, "type_identifier": 0,
			"parameter_list": 0, "interpreted_string_literal": 0, "raw_string_literal": 0, "int_literal": 0, "pointer_type": 0,
		},
		otherwise: visit | gate, braces: true,
		fields:   []string{"name", "body", "receiver", "type", "path", "value"},
		triggers: []string{"type ", "type("},
		split:    goSplit, finish: goFinish,
	})
}

func goSplit(line []byte) bool {
	for _, word := range []string{"func ", "type ", "var ", "const ", "import "} {
		if strings.HasPrefix(string(line[:min(len(line), 8)]), word) {
			return true
		}
	}
	return false
}

func goImport(x *extraction, i int, sc *scope) {
	if path := x.field(i, "path"); path >= 0 {
		x.addImport(unquote(x.str(path)), x.nodes[i].start, x.nodes[i].end)
	}
}

// goMethod names a method by its receiver's type: Type.Method.
func goMethod(x *extraction, i int, sc *scope) {
	name, receiver := x.field(i, "name"), x.field(i, "receiver")
	if name < 0 || receiver < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Method)
	of := strings.Trim(x.str(receiver), "() ")
	if k := strings.IndexByte(of, '['); k >= 0 {
		of = strings.TrimSpace(of[:k])
	}
	if k := strings.LastIndexAny(of, " *("); k >= 0 {
		of = of[k+1:]
	}
	d.name = of + "." + d.name
	d.sigEnd = x.bodyStart(i)
	x.define(sc, i, d)
}

// goGroup visits the specifications of a declaration; without parentheses the
// only one starts where the declaration does.
func goGroup(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	head := x.src[n.start:n.end]
	if k := i + 1; k < n.next {
		head = x.src[n.start:x.nodes[k].start]
	}
	if strings.Contains(string(head), "(") {
		sc.lead = nil
		x.children(i, sc)
		return
	}
	x.wrap(i, sc)
}

func goType(x *extraction, i int, sc *scope) {
	name, typ := x.field(i, "name"), x.field(i, "type")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	d.children = nil
	if typ >= 0 {
		switch x.typ(typ) {
		case "struct_type":
			d.kind = symbol.Struct
			d.sigEnd = x.nodes[typ].start + len("struct")
		case "interface_type":
			d.kind = symbol.Interface
			d.sigEnd = x.nodes[typ].start + len("interface")
		}
		d.children = func(sc *scope) { x.children(typ, sc) }
	}
	x.define(sc, i, d)
}

func goValues(kind symbol.Kind) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		if sc.inFunc {
			return
		}
		n := x.nodes[i]
		start := n.start
		if x.wrapped >= 0 {
			start = x.wrapped
		}
		lead := sc.lead
		for j := i + 1; j < n.next; j = x.nodes[j].next {
			if f := x.nodes[j].field; f == 0 || x.t.fields[f] != "name" || x.typ(j) != "identifier" {
				continue
			}
			sc.lead = lead
			x.wrapped = -1
			x.define(sc, i, def{name: x.str(j), nameAt: x.nodes[j].start, kind: kind, start: start, end: n.end})
		}
	}
}

// goField defines the names of a field, or an embedded one by its type.
func goField(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	named := false
	lead := sc.lead
	typ := x.field(i, "type")
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if f := x.nodes[j].field; f != 0 && x.t.fields[f] == "name" {
			named = true
			sc.lead = lead
			d := x.defAt(i, j, symbol.Field)
			d.children = nil
			if typ >= 0 {
				d.children = func(sc *scope) { x.visitAny(typ, sc) }
			}
			x.define(sc, i, d)
		}
	}
	if !named && typ >= 0 {
		name := strings.TrimLeft(x.str(typ), "*")
		name, _, _ = strings.Cut(name, "[")
		if k := strings.LastIndexByte(name, '.'); k >= 0 {
			name = name[k+1:]
		}
		d := x.defAt(i, typ, symbol.Field)
		d.name = name
		d.children = nil
		x.define(sc, i, d)
	}
}

func goFinish(_ []byte, _ []string, list *symbol.List) {
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
		s.Exported = !s.Local && name != "" && strings.ToUpper(name[:1]) == name[:1] && name[0] != '_'
		return true
	})
}
