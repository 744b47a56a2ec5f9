package grammar

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

func init() {
	register(&language{
		name: "python", grammar: pythonGrammar,
		rules: map[string]*rule{
			"comment":                 {role: comment, act: keep},
			"decorator":               {role: attribute, act: keep},
			"decorated_definition":    {do: func(x *extraction, i int, sc *scope) { x.wrap(i, sc) }, act: visit},
			"function_definition":     {do: pyFunction, act: visit | fields | function},
			"class_definition":        {do: pyClass, act: visit | fields | typeBody},
			"assignment":              {do: pyAssignment, act: visit | fields | localGate},
			"augmented_assignment":    {do: pyAugmented, act: visit | fields | localGate},
			"type_alias_statement":    {do: pyAlias, act: visit | all},
			"pattern_list":            {role: inert, act: visit | all},
			"tuple_pattern":           {role: inert, act: visit | all},
			"list_pattern":            {role: inert, act: visit | all},
			"list_splat_pattern":      {role: inert, act: visit | all},
			"lambda":                  {do: jsScope, act: visit | function},
			"block":                   {do: pyBlock, act: visit | localGate},
			"for_statement":           {do: jsFor, act: visit | localGate},
			"while_statement":         {do: jsFor, act: visit | localGate},
			"import_statement":        {do: pyImport, act: keep},
			"import_from_statement":   {do: pyImport, act: visit | fields},
			"future_import_statement": {do: pyImport, act: keep},
		},
		actions: map[string]action{
			"module": visit, "expression_statement": visit | localGate,
			"if_statement": visit | localGate, "elif_clause": visit | localGate, "else_clause": visit | localGate,
			"try_statement": visit | localGate, "except_clause": visit | localGate, "except_group_clause": visit | localGate,
			"finally_clause": visit | localGate, "with_statement": visit | localGate,
			"match_statement": visit | localGate, "case_clause": visit | localGate,
			"identifier": 0, "string": 0, "integer": 0, "float": 0, "none": 0, "true": 0, "false": 0,
			"parameters": visit | gate, "type": 0, "type_parameter": 0, "dotted_name": 0,
		},
		otherwise: visit | gate,
		fields:    []string{"name", "body", "left", "right", "type", "parameters", "return_type", "superclasses", "module_name"},
		triggers:  []string{"def", "class", "lambda", "import"},
		modifiers: []string{"async"},
		hide:      hideTriple, reserved: words("else try finally"), split: pySplit, inner: pyInner, finish: pyFinish,
		wrappers: map[place]wrapper{
			inType:  {open: "class " + wrapperName + ":"},
			inBlock: {open: "def " + wrapperName + "():"},
		},
	})
}

// pyHeadEnd returns where the head of a function or class ends, without the
// colon and what may stand behind it.
func (x *extraction) pyHeadEnd(i int) int {
	end := 0
	for j := i + 1; j < x.nodes[i].next; j = x.nodes[j].next {
		switch x.t.fields[x.nodes[j].field] {
		case "name", "parameters", "return_type", "superclasses":
			end = max(end, x.nodes[j].end)
		}
	}
	return end
}

func pyFunction(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Function)
	if sc.holder == symbol.Class && !sc.inFunc {
		d.kind = symbol.Method
		if d.name == "__init__" {
			d.kind = symbol.Constructor
		}
	}
	d.end = x.pyEnd(d.start, d.end)
	d.sigEnd = x.pyHeadEnd(i)
	d.doc = x.pyDocstring(i)
	x.define(sc, i, d)
}

func pyClass(x *extraction, i int, sc *scope) {
	name := x.field(i, "name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Class)
	d.end = x.pyEnd(d.start, d.end)
	d.sigEnd = x.pyHeadEnd(i)
	d.doc = x.pyDocstring(i)
	x.define(sc, i, d)
}

// pyEnd returns the end of a definition without the comments behind its last
// statement, which the grammar counts to the body.
func (x *extraction) pyEnd(start, end int) int {
	for end > start {
		line := bytes.LastIndexByte(x.text[start:end], '\n') + 1
		if line == 0 {
			return end
		}
		last := bytes.TrimSpace(x.text[start+line : end])
		if len(last) > 0 && (last[0] != '#' || bytes.Contains(last, []byte(`"""`)) || bytes.Contains(last, []byte("'''"))) {
			return end
		}
		end = start + line - 1
	}
	return end
}

// pyDocstring returns the first line of the string that the body of node i
// begins with.
func (x *extraction) pyDocstring(i int) string {
	body := x.field(i, "body")
	if body < 0 {
		return ""
	}
	text := x.text[x.nodes[body].start:x.nodes[body].end]
	text = bytes.TrimLeft(text, "rRuU")
	for _, quote := range []string{`"""`, `'''`, `"`, `'`} {
		if !bytes.HasPrefix(text, []byte(quote)) {
			continue
		}
		text = text[len(quote):]
		if end := bytes.Index(text, []byte(quote)); end >= 0 {
			text = text[:end]
		}
		first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		return cut(collapse([]byte(first)), maxDocstring)
	}
	return ""
}

// pyBlock visits a block, whose variables may repeat those of other blocks.
func pyBlock(x *extraction, i int, sc *scope) {
	seen := sc.seen
	sc.seen = nil
	x.children(i, sc)
	sc.seen = seen
}

func pyAssignment(x *extraction, i int, sc *scope) {
	left, right := x.field(i, "left"), x.field(i, "right")
	if left < 0 {
		x.children(i, sc)
		return
	}
	if x.typ(left) != "identifier" && x.typ(left) != "attribute" {
		if !sc.inFunc {
			for j := left + 1; j < x.nodes[left].next; j++ {
				if x.typ(j) == "identifier" {
					x.pyVariable(sc, j, x.nodes[j].start, x.nodes[i].end, nil)
				}
			}
		}
		x.children(i, sc)
		return
	}
	if right >= 0 && x.typ(right) == "lambda" {
		_, kind, _ := jsTarget(x.str(left))
		name, _, _ := jsTarget(x.str(left))
		d := def{name: name, nameAt: x.nodes[left].start, kind: kind, start: x.nodes[i].start, end: x.nodes[i].end}
		if sc.holder == symbol.Class && !sc.inFunc {
			d.kind = symbol.Method
		}
		d.children = func(sc *scope) { x.children(right, sc) }
		if name != "" {
			x.define(sc, i, d)
		}
		return
	}
	inner := func(sc *scope) {
		if right >= 0 {
			x.visitAny(right, sc)
		}
	}
	if sc.inFunc || x.typ(left) != "identifier" {
		inner(sc)
		return
	}
	if x.str(left) == "__all__" && right >= 0 {
		x.exports = append(x.exports, stringsIn(x.text[x.nodes[right].start:x.nodes[right].end])...)
	}
	if right >= 0 && x.typ(right) == "assignment" { // a = b = 1
		x.pyVariable(sc, left, x.nodes[i].start, x.nodes[i].end, nil)
		pyAssignment(x, right, sc)
		return
	}
	x.pyVariable(sc, left, x.nodes[i].start, x.nodes[i].end, inner)
}

// visitAny visits node i by its rule, or what is inside.
func (x *extraction) visitAny(i int, sc *scope) {
	if x.rule(i) != nil {
		x.visit(i, sc)
		return
	}
	x.children(i, sc)
}

// pyVariable defines a variable of the module or class once for each block.
func (x *extraction) pyVariable(sc *scope, name, start, end int, inner func(*scope)) {
	d := def{name: x.str(name), nameAt: x.nodes[name].start, kind: symbol.Variable, start: start, end: end, children: inner}
	if inner == nil {
		d.sigEnd = x.nodes[name].end
	}
	switch {
	case sc.holder == symbol.Class:
		d.kind = symbol.Field
	case d.name == strings.ToUpper(d.name) && strings.Trim(d.name, "_0123456789") != "":
		d.kind = symbol.Constant
	}
	if sc.seen[d.name] {
		if inner != nil {
			inner(sc)
		}
		return
	}
	if sc.seen == nil {
		sc.seen = make(map[string]bool)
	}
	sc.seen[d.name] = true
	x.define(sc, name, d)
}

func pyAugmented(x *extraction, i int, sc *scope) {
	left, right := x.field(i, "left"), x.field(i, "right")
	if left >= 0 && right >= 0 && x.str(left) == "__all__" {
		x.exports = append(x.exports, stringsIn(x.text[x.nodes[right].start:x.nodes[right].end])...)
	}
	x.children(i, sc)
}

func pyAlias(x *extraction, i int, sc *scope) {
	if i+1 >= x.nodes[i].next || sc.inFunc {
		return
	}
	n := x.nodes[i+1]
	name, _, _ := strings.Cut(x.str(i+1), "[")
	x.define(sc, i, def{name: name, nameAt: n.start, kind: symbol.Class, start: x.nodes[i].start, end: x.nodes[i].end})
}

func pyImport(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	text := x.str(i)
	switch {
	case x.typ(i) == "future_import_statement":
		x.addImport("__future__", n.start, n.end)
	case strings.HasPrefix(text, "from"):
		if module := x.field(i, "module_name"); module >= 0 {
			x.addImport(x.str(module), n.start, n.end)
		}
	default:
		for _, part := range strings.Split(strings.TrimPrefix(text, "import"), ",") {
			path, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			x.addImport(path, n.start, n.end)
		}
	}
}

// stringsIn returns the contents of the plain string literals in text.
func stringsIn(text []byte) []string {
	var found []string
	for len(text) > 0 {
		k := bytes.IndexAny(text, `"'`)
		if k < 0 {
			return found
		}
		end := bytes.IndexByte(text[k+1:], text[k])
		if end < 0 {
			return found
		}
		found = append(found, string(text[k+1:k+1+end]))
		text = text[k+end+2:]
	}
	return found
}

func pySplit(line []byte) bool {
	for _, word := range []string{"def ", "class ", "async def ", "@", "import ", "from ", "if __name__"} {
		if bytes.HasPrefix(line, []byte(word)) {
			return true
		}
	}
	return false
}

func pyInner(line []byte) place {
	for _, word := range []string{"def ", "class ", "async def ", "@"} {
		if bytes.HasPrefix(line, []byte(word)) {
			return inType
		}
	}
	return nowhere
}

// pyFinish decides what is exported: what __all__ lists, and without it every
// name that does not begin with an underscore.
func pyFinish(_ []byte, exports []string, list *symbol.List) {
	named := make(map[string]bool, len(exports))
	for _, name := range exports {
		named[name] = true
	}
	for i := range list.Symbols {
		s := &list.Symbols[i]
		if len(exports) > 0 {
			s.Exported = named[s.Name]
		} else {
			s.Exported = !strings.HasPrefix(s.Name, "_")
		}
		pyPublicMembers(s)
	}
}

func pyPublicMembers(s *symbol.Symbol) {
	if s.Kind != symbol.Class {
		return
	}
	for i := range s.Children {
		c := &s.Children[i]
		c.Exported = s.Exported && (!strings.HasPrefix(c.Name, "_") || strings.HasSuffix(c.Name, "__"))
		pyPublicMembers(c)
	}
}
