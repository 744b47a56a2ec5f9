package format

import (
	"bytes"

	"mapd/outline/symbol"
)

// maxTOMLDepth bounds the nesting of values.
const maxTOMLDepth = 10_000

// step reads the next token of a value: a scalar, a bracket, a comma, or the
// key of an inline table. first says that the value has not begun.
func (t *toml) step(first bool) bool {
	inBox := len(t.open) > 0
	t.space(inBox)
	if t.i >= len(t.b) {
		return false
	}
	if inBox && !first {
		top := &t.open[len(t.open)-1]
		switch c := t.b[t.i]; {
		case c == ']' && !top.table, c == '}' && top.table:
			t.ink = t.i
			t.i++
			t.endEntry()
			t.pop(t.d.lines.at(t.ink))
			return true
		case c == ',':
			t.ink = t.i
			t.i++
			t.endEntry()
			return true
		}
		if top.table {
			if top.entry || !t.beginKey() {
				return false
			}
			top.entry = true
			top.n++
			t.space(true)
			if t.i >= len(t.b) {
				return false
			}
		}
	}
	return t.value()
}

// endEntry ends the symbol of the innermost inline table's latest key.
func (t *toml) endEntry() {
	if top := &t.open[len(t.open)-1]; top.entry {
		t.d.tree.end(t.d.lines.at(t.ink))
		top.entry = false
	}
}

var afterTOMLValue = bytesOf(",]}#\n\r=")

// value reads a scalar or an opening bracket.
func (t *toml) value() bool {
	switch c := t.b[t.i]; c {
	case '[', '{':
		return t.push(c)
	case '"', '\'':
		end := tomlStringEnd(t.b, t.i)
		if end < 0 {
			return false
		}
		return t.scalar("string", end)
	}
	end := t.i
	for end < len(t.b) && !afterTOMLValue[t.b[end]] {
		end++
	}
	if end < len(t.b) && t.b[end] == '=' {
		return false // a key: what holds it is not closed
	}
	for end > t.i && (t.b[end-1] == ' ' || t.b[end-1] == '\t') {
		end--
	}
	if end == t.i {
		return false
	}
	return t.scalar(tomlType(t.b[t.i:end]), end)
}

func (t *toml) scalar(typ string, end int) bool {
	text := t.b[t.i:end]
	t.ink, t.i = end-1, end
	if len(t.open) > 0 {
		if top := &t.open[len(t.open)-1]; !top.table {
			t.scalarElement(top, typ, text)
			return true
		}
	}
	if t.d.tree.kept() {
		t.d.pool.describe(t.d.tree.current(), typ, text)
	}
	return true
}

// scalarElement adds an element that is the first on its line.
func (t *toml) scalarElement(top *tomlBox, typ string, text []byte) {
	top.n++
	top.add(typ)
	at := t.i - len(text)
	if t.d.tree.full() || t.d.tree.path == "" && !startsLine(t.b, at) {
		return
	}
	line, last := t.d.lines.at(at), t.d.lines.at(t.ink)
	if !t.d.tree.wanted(top.n - 1) {
		t.d.tree.omit(line, last, "element")
		return
	}
	s := symbol.Symbol{Name: t.d.pool.element(top.n - 1), Kind: symbol.Object, Start: line, End: last, NameLine: line}
	t.d.pool.describe(&s, typ, text)
	t.d.tree.leaf(s)
}

func (box *tomlBox) add(typ string) {
	for i, k := range box.kinds {
		if k == typ {
			return
		}
		if k == "" {
			box.kinds[i] = typ
			return
		}
	}
}

func (t *toml) push(c byte) bool {
	if len(t.open) >= maxTOMLDepth {
		return false
	}
	box := tomlBox{table: c == '{'}
	if len(t.open) > 0 {
		if top := &t.open[len(t.open)-1]; !top.table {
			box.own = true
			t.element(top, c)
		}
	}
	t.ink = t.i
	t.i++
	t.open = append(t.open, box)
	return true
}

func (t *toml) element(top *tomlBox, c byte) {
	top.n++
	line := t.d.lines.at(t.i)
	kind, typ := symbol.Object, "object"
	if c == '[' {
		kind, typ = symbol.Array, "array"
	}
	top.add(typ)
	if !t.d.tree.wanted(top.n - 1) {
		t.d.tree.beginOmitted(line, "element")
		return
	}
	t.d.tree.begin(symbol.Symbol{Name: t.d.pool.element(top.n - 1), Kind: kind, Start: line, NameLine: line})
}

// pop closes the innermost array or inline table at a line.
func (t *toml) pop(line int) {
	box := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	if box.entry {
		t.d.tree.end(line)
	}
	if t.d.tree.kept() {
		s := t.d.tree.current()
		s.Signature = t.d.pool.container(s.Kind, !box.table, box.n)
		t.d.pool.buf = append(t.d.pool.buf[:0], s.Signature...)
		separator := ": "
		for _, kind := range box.kinds {
			if kind != "" {
				t.d.pool.buf = append(append(t.d.pool.buf, separator...), kind...)
				separator = "|"
			}
		}
		s.Signature = t.d.pool.intern(t.d.pool.buf)
	}
	if box.own {
		t.d.tree.end(line)
	}
}

// tomlStringEnd returns the offset after the string that starts at i, -1 if it
// is not closed.
func tomlStringEnd(b []byte, i int) int {
	quote := b[i]
	triple := []byte{quote, quote, quote}
	if !bytes.HasPrefix(b[i:], triple) {
		return lineQuoteEnd(b, i)
	}
	for i += 3; ; i++ {
		k := bytes.IndexByte(b[i:], quote)
		if k < 0 {
			return -1
		}
		if quote == '"' && escaped(b[:i+k], i) {
			i += k
			continue
		}
		i += k
		if bytes.HasPrefix(b[i:], triple) {
			i += 3
			// Up to two quotes may stand before the closing three.
			for n := 0; n < 2 && i < len(b) && b[i] == quote; n++ {
				i++
			}
			return i
		}
	}
}

// escaped reports whether an odd number of backslashes ends b, not looking
// before from.
func escaped(b []byte, from int) bool {
	n := 0
	for len(b)-n > from && b[len(b)-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// tomlType names the type of an unquoted value.
func tomlType(b []byte) string {
	switch string(b) {
	case "true", "false":
		return "boolean"
	}
	if len(b) >= 8 && (b[4] == '-' || b[2] == ':') {
		return "date"
	}
	return "number"
}
