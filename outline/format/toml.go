package format

import (
	"bytes"
	"strconv"

	"mapd/outline/symbol"
)

// scanTOML reads TOML by characters. It is a scanner of our own because the
// kept library (go-toml/v2, the oracle of the tests) builds a node for each
// element of an array, many times the size of a large file, and stops at the
// first error; this one goes on with the next line.
//
// Tables are symbols of the top level, named by their whole path; each element
// of an array of tables is one, "fruit[0]".
func scanTOML(d *doc) {
	t := toml{d: d, b: d.src, i: d.bom, indexes: map[string]int{}}
	for t.i < len(t.b) && !d.stopped() {
		t.expression()
	}
	t.endTable()
	if t.bad {
		d.broken(symbol.Pattern)
	}
}

// maxArrays bounds how many arrays of tables are numbered.
const maxArrays = 100_000

type toml struct {
	d       *doc
	b       []byte
	i       int
	bad     bool
	inTable bool
	ink     int // offset of the last character of an expression
	indexes map[string]int
	open    []tomlBox

	// The path read last: its parts joined by dots, and where each ends.
	joined []byte
	ends   []int
}

// tomlBox is an open array or inline table.
type tomlBox struct {
	table bool
	n     int
	own   bool      // it has a symbol of its own, as an element
	entry bool      // the symbol of a key is open
	kinds [6]string // in the order of their first elements
}

// expression reads a header, or a key with its value, or skips a line.
func (t *toml) expression() {
	t.space(true)
	if t.i >= len(t.b) {
		return
	}
	start := t.i
	ok := false
	if t.b[t.i] == '[' {
		ok = t.header()
	} else {
		ok = t.pair()
	}
	if !ok || !t.endOfLine() {
		t.bad = true
		t.abandon(start)
	}
}

// abandon closes what a broken expression left open and goes on with the line
// after its first.
func (t *toml) abandon(start int) {
	line := t.d.lines.at(t.ink)
	for len(t.open) > 0 {
		t.pop(line)
	}
	if t.d.tree.depth() > t.tableDepth() {
		t.d.tree.end(line)
	}
	t.i = min(lineEndFrom(t.b, start)+1, len(t.b))
}

func (t *toml) tableDepth() int {
	if t.inTable {
		return 1
	}
	return 0
}

// space skips blanks, and also line ends and comments if lines.
func (t *toml) space(lines bool) {
	for t.i < len(t.b) {
		switch c := t.b[t.i]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			t.i++
		case c == '#' && lines:
			t.i = lineEndFrom(t.b, t.i)
		default:
			return
		}
	}
}

func (t *toml) endOfLine() bool {
	t.space(false)
	if t.i < len(t.b) && t.b[t.i] == '#' {
		t.i = lineEndFrom(t.b, t.i)
	}
	if t.i < len(t.b) && t.b[t.i] == '\r' {
		t.i++
	}
	if t.i < len(t.b) && t.b[t.i] != '\n' {
		return false
	}
	t.i = min(t.i+1, len(t.b))
	return true
}

func (t *toml) header() bool {
	start := t.i
	array := bytes.HasPrefix(t.b[t.i:], []byte("[["))
	t.i++
	if array {
		t.i++
	}
	if !t.path() || t.i >= len(t.b) || t.b[t.i] != ']' {
		return false
	}
	t.i++
	if array {
		if t.i >= len(t.b) || t.b[t.i] != ']' {
			return false
		}
		t.i++
	}
	t.endTable()
	line := t.d.lines.at(start)
	s := symbol.Symbol{Name: t.tableName(array), Kind: symbol.Table, Start: line, NameLine: line}
	if array {
		s.Signature = "element of an array of tables"
	}
	t.d.tree.begin(s)
	t.inTable, t.ink = true, t.i-1
	return true
}

func (t *toml) endTable() {
	if t.inTable {
		t.d.tree.end(t.d.lines.at(t.ink))
	}
	t.inTable = false
}

// tableName returns the path just read, with the number of the latest element
// after each array of tables.
func (t *toml) tableName(array bool) string {
	if len(t.indexes) == 0 && !array {
		return string(t.joined)
	}
	var name []byte
	from := 0
	for i, to := range t.ends {
		name = append(name, t.joined[from:to]...)
		from = to
		n, known := t.indexes[string(t.joined[:to])]
		if i == len(t.ends)-1 && array {
			if n++; !known {
				n, known = 0, len(t.indexes) < maxArrays
			}
			if known {
				t.indexes[string(t.joined[:to])] = n
			}
		}
		if known {
			name = append(strconv.AppendInt(append(name, '['), int64(n), 10), ']')
		}
	}
	return string(name[:min(len(name), 2*MaxName)])
}

// path reads a dotted key into joined and ends.
func (t *toml) path() bool {
	const most = 64 // parts
	t.joined, t.ends = t.joined[:0], t.ends[:0]
	for {
		t.space(false)
		start := t.i
		if !t.part() {
			return false
		}
		if len(t.ends) < most {
			if len(t.ends) > 0 {
				t.joined = append(t.joined, '.')
			}
			t.joined = appendPart(t.joined, t.b[start:t.i])
			t.ends = append(t.ends, len(t.joined))
		}
		t.space(false)
		if t.i >= len(t.b) || t.b[t.i] != '.' {
			return true
		}
		t.i++
	}
}

// part moves behind a bare or quoted key.
func (t *toml) part() bool {
	start := t.i
	if t.i < len(t.b) && (t.b[t.i] == '"' || t.b[t.i] == '\'') {
		end := lineQuoteEnd(t.b, t.i)
		if end < 0 {
			return false
		}
		t.i = end
		return true
	}
	for t.i < len(t.b) && bareKey[t.b[t.i]] {
		t.i++
	}
	return t.i > start
}

// appendPart appends a decoded key.
func appendPart(dst, b []byte) []byte {
	switch b[0] {
	case '"':
		return append(dst, unescapeYAML(string(b[1:min(len(b)-1, 8*MaxName)]))...)
	case '\'':
		return append(dst, b[1:min(len(b)-1, 8*MaxName)]...)
	}
	return append(dst, b[:min(len(b), 2*MaxName)]...)
}

var bareKey = func() *byteSet {
	set := bytesOf("0123456789_-")
	for c := range set {
		set[c] = set[c] || isLetter(byte(c)) || c >= 0x80
	}
	return set
}()

// lineQuoteEnd returns the offset after the quote that closes the one at i on
// its line, -1 if none does.
func lineQuoteEnd(b []byte, i int) int {
	quote := b[i]
	for i++; i < len(b) && b[i] != '\n'; i++ {
		switch {
		case b[i] == '\\' && quote == '"':
			i++
		case b[i] == quote:
			return i + 1
		}
	}
	return -1
}

// pair reads "key = value" and adds its symbol.
func (t *toml) pair() bool {
	if !t.beginKey() {
		return false
	}
	for first := true; first || len(t.open) > 0; first = false {
		if t.d.stopped() || !t.step(first) {
			return false
		}
	}
	t.d.tree.end(t.d.lines.at(t.ink))
	return true
}

// beginKey reads "key =" and begins the symbol.
func (t *toml) beginKey() bool {
	start := t.i
	if !t.path() || t.i >= len(t.b) || t.b[t.i] != '=' {
		return false
	}
	t.ink = t.i
	t.i++
	line := t.d.lines.at(start)
	name := ""
	if !t.d.tree.full() {
		name = t.d.pool.intern(t.joined)
	}
	t.d.tree.begin(symbol.Symbol{Name: name, Kind: symbol.Key, Start: line, NameLine: line})
	return true
}
