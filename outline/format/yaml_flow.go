package format

import (
	"bytes"

	"mapd/outline/symbol"
)

// flowBox is an open flow collection: [a, b] or {a: b}.
type flowBox struct {
	kind  byte   // '[' or '{'
	n     int    // entries so far
	some  bool   // the entry has begun
	entry bool   // the symbol of a key is open
	own   bool   // it has a symbol of its own, as an element
	key   []byte // the latest, as written
	label string // "name: x"
	token flowToken
}

// flowToken is the scalar just read.
type flowToken struct {
	text  []byte // as it stands on its first line
	line  int
	quote bool
}

// startFlow reads the flow collection that starts with b.
func (y *yaml) startFlow(b []byte, n int) {
	y.mode = yamlFlow
	y.inFlow(b, 0, n)
	if y.mode == yamlFlow && y.short {
		y.bad = true
		y.closeFlow(0, n)
	}
}

// inFlow goes on in brackets at offset i of a line.
func (y *yaml) inFlow(b []byte, i, n int) {
	for i < len(b) {
		c := b[i]
		switch {
		case c == ' ' || c == '\t':
			i++
		case c == '#' && (i == 0 || b[i-1] == ' ' || b[i-1] == '\t'):
			return
		case c == '[' || c == '{':
			y.pushFlow(c, n)
			i++
		case c == ']' || c == '}':
			i++
			if y.popFlow(c, n) {
				y.afterFlow(b[i:], n)
				return
			}
		case c == ',':
			y.endFlowEntry(n)
			i++
		case c == ':' && y.colon(b, i):
			y.flowKey()
			i++
		case c == '"' || c == '\'':
			end := quoteEnd(b, i+1, c)
			if end < 0 {
				y.token(b[i:], n, true)
				if y.short {
					y.bad = true
					return
				}
				y.mode, y.quote = yamlQuoted, c
				return
			}
			y.token(b[i:end], n, true)
			i = end
		default:
			end := plainFlowEnd(b, i)
			y.token(bytes.TrimRight(b[i:end], " \t"), n, false)
			i = end
		}
	}
}

var (
	flowMarks      = bytesOf(",[]{}")
	afterFlowColon = bytesOf(" \t,[]{}")
)

// colon reports whether the colon at i separates a key from its value.
func (y *yaml) colon(b []byte, i int) bool {
	top := y.flow[len(y.flow)-1]
	return top.token.quote || i+1 == len(b) || afterFlowColon[b[i+1]]
}

// plainFlowEnd returns where the plain scalar that starts at i ends.
func plainFlowEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case flowMarks[c]:
			return i
		case c == '#' && (b[i-1] == ' ' || b[i-1] == '\t'):
			return i
		case c == ':' && (i+1 == len(b) || afterFlowColon[b[i+1]]):
			return i
		}
	}
	return i
}

func (y *yaml) token(text []byte, n int, quote bool) {
	top := &y.flow[len(y.flow)-1]
	if !top.some {
		top.some = true
		top.n++
	}
	if top.token.text == nil {
		top.token = flowToken{text, n, quote}
	}
}

func (y *yaml) pushFlow(c byte, n int) {
	if len(y.flow) >= maxYAMLDepth {
		y.over++
		return
	}
	box := flowBox{kind: c}
	if len(y.flow) > 0 {
		top := &y.flow[len(y.flow)-1]
		if !top.some {
			top.some = true
			top.n++
		}
		if text := top.token.text; text != nil && !top.entry && bytes.IndexByte([]byte("!&"), text[0]) < 0 {
			y.bad = true // {a {b}}: nothing separates them
			y.flowLeaf(top, n)
		} else if !top.entry {
			top.token = flowToken{} // a tag or an anchor of the collection
		}
		if top.kind == '[' {
			box.own = true
			y.flowElement(top, c, n)
		}
	} else if len(y.boxes) > 0 && y.boxes[len(y.boxes)-1].seq {
		y.beginElement()
		if c == '[' && y.boxes[len(y.boxes)-1].entry {
			y.d.tree.current().Kind = symbol.Array
		}
	}
	y.flow = append(y.flow, box)
}

func (y *yaml) flowElement(top *flowBox, c byte, n int) {
	if !y.d.tree.wanted(top.n - 1) {
		y.d.tree.beginOmitted(n, "element")
		return
	}
	kind := symbol.Object
	if c == '[' {
		kind = symbol.Array
	}
	y.d.tree.begin(symbol.Symbol{Name: y.d.pool.element(top.n - 1), Kind: kind, Start: n, NameLine: n})
}

// flowKey takes the token just read for a key.
func (y *yaml) flowKey() {
	top := &y.flow[len(y.flow)-1]
	if top.kind == '{' && !top.entry {
		top.key = top.token.text
		line := top.token.line
		if line == 0 {
			line = y.last + 1 // ": value" without a key
		}
		if top.token.text != nil {
			y.d.tree.begin(symbol.Symbol{Name: y.flowName(top.token.text), Kind: symbol.Key, Start: line, NameLine: line})
			top.entry = true
		}
	}
	top.token = flowToken{}
}

// flowName decodes the name of a key, unless it would be in vain.
func (y *yaml) flowName(text []byte) string {
	if y.d.tree.full() {
		return ""
	}
	return keyText(text)
}

// endFlowEntry ends the entry of the innermost collection.
func (y *yaml) endFlowEntry(n int) {
	top := &y.flow[len(y.flow)-1]
	text := top.token.text
	switch {
	case top.entry:
		y.flowNames(top, text)
		if s := y.d.tree.current(); text != nil && y.d.tree.kept() {
			typ := "string"
			if !top.token.quote {
				typ = plainType(text)
			}
			y.d.pool.describe(s, typ, text)
		}
		y.d.tree.end(max(n, y.d.tree.current().Start))
	default:
		y.flowLeaf(top, n)
	}
	top.some, top.entry, top.token = false, false, flowToken{}
}

// flowNames remembers what names an element or a resource: the text of the entry
// that ends.
func (y *yaml) flowNames(top *flowBox, text []byte) {
	key := string(top.key)
	path := len(y.boxes) + len(y.flow)
	switch {
	case text == nil:
		return
	case key == "kind" && path == 1:
		y.kind = keyText(text)
	case key == "name" && path == 2 && (len(y.boxes) == 1 && string(y.boxes[0].key) == "metadata" || len(y.flow) == 2 && string(y.flow[0].key) == "metadata"):
		y.name = keyText(text)
	}
	if y.d.tree.kept() && (key == "name" || key == "id" && top.label == "") {
		top.label = key + ": " + preview(text, 40)
	}
}

// flowLeaf makes a key without a value of the token just read.
func (y *yaml) flowLeaf(top *flowBox, n int) {
	if t := top.token; top.kind == '{' && t.text != nil {
		y.d.tree.leaf(symbol.Symbol{Name: y.flowName(t.text), Kind: symbol.Key, Start: t.line, End: max(n, t.line), NameLine: t.line, Signature: "null"})
	}
	top.token = flowToken{}
}

// popFlow closes the innermost collection and reports whether it was the
// outermost.
func (y *yaml) popFlow(c byte, n int) bool {
	if y.over > 0 {
		y.over--
		return false
	}
	if top := y.flow[len(y.flow)-1]; (top.kind == '[') != (c == ']') {
		y.bad = true
	}
	y.closeFlow(len(y.flow)-1, n)
	return len(y.flow) == 0
}

// closeFlow closes the flow collections beyond the first keep at line n.
func (y *yaml) closeFlow(keep, n int) {
	for len(y.flow) > keep {
		y.endFlowEntry(n)
		box := y.flow[len(y.flow)-1]
		y.flow = y.flow[:len(y.flow)-1]
		outer := len(y.flow) > 0 && y.flow[len(y.flow)-1].entry
		block := len(y.flow) == 0 && len(y.boxes) > 0 && y.boxes[len(y.boxes)-1].entry
		if (box.own || outer || block) && y.d.tree.kept() {
			s := y.d.tree.current()
			s.Signature = y.d.pool.container(s.Kind, box.kind == '[', box.n)
			if box.label != "" && s.Kind == symbol.Object {
				s.Signature += ", " + box.label
			}
		}
		if box.own {
			y.d.tree.end(max(n, y.d.tree.current().Start))
		}
	}
	if keep == 0 {
		y.mode, y.over = yamlBlock, 0
	}
}

// afterFlow looks at what follows the outermost bracket.
func (y *yaml) afterFlow(rest []byte, n int) {
	if rest = dropComment(rest); len(rest) > 0 {
		y.bad = y.bad || rest[0] != ':'
	}
}
