package grammar

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// How functions, classes and variables of JavaScript get their names.

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
