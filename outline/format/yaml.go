package format

import (
	"bytes"

	"mapd/outline/symbol"
)

// scanYAML reads YAML by its indentation, one line at a time. It is a scanner
// of our own because the kept library (go.yaml.in/yaml/v3, the oracle of the
// tests) has no end positions, takes ten times the memory of the file and
// seconds for a large one, and knows nothing of a file with one error.
//
// Keys are symbols, and so are the elements of a sequence that are collections;
// in a file of several documents each is a section, named kind/name where it is
// a resource of Kubernetes.
func scanYAML(d *doc) {
	y := newYAML(d)
	y.run()
	if y.unclosed() {
		// One unclosed quote or bracket must not swallow the rest: once more,
		// with both ending at the end of their line.
		d.tree.restart()
		y = newYAML(d)
		y.short, y.bad = true, true
		y.run()
	}
	if y.bad {
		d.broken(symbol.Pattern)
	}
}

// maxYAMLDepth bounds the nesting of collections; deeper ones are not entered.
const maxYAMLDepth = 1000

// yaml is the state between two lines.
type yaml struct {
	d     *doc
	boxes []yamlBox
	flow  []flowBox
	over  int  // flow brackets open beyond maxYAMLDepth
	short bool // quotes and brackets end with their line
	bad   bool // the file is not YAML
	last  int  // the last line with content

	mode   yamlMode
	indent int  // of the owner of the scalar being read: deeper lines belong to it
	first  bool // the block scalar has no line yet
	quote  byte // of the quoted scalar being read

	several    bool // documents
	documents  int
	inDocument bool
	mark       int // line of the "---" before the document
	kind, name string
}

// yamlMode is what the next line continues.
type yamlMode int

const (
	yamlBlock  yamlMode = iota // block structure
	yamlPlain                  // a plain scalar, if it is indented
	yamlText                   // a block scalar
	yamlQuoted                 // a quoted scalar
	yamlFlow                   // a flow collection
)

// yamlBox is an open block collection.
type yamlBox struct {
	seq    bool
	indent int    // column of its keys or dashes
	n      int    // entries
	entry  bool   // the symbol of its latest entry is open
	line   int    // of an element whose symbol is not begun yet
	key    []byte // the latest, as written
	label  string // "name: x" of an element
}

func newYAML(d *doc) *yaml { return &yaml{d: d} }

func (y *yaml) run() {
	y.several = severalDocuments(y.d)
	for n := 1; n <= y.d.text.Lines() && !y.d.stopped(); n++ {
		y.line(n, y.d.text.Line(n))
	}
	if y.mode == yamlQuoted || y.mode == yamlFlow {
		return
	}
	y.endDocument()
}

// unclosed reports whether the file ended within a quote or brackets.
func (y *yaml) unclosed() bool {
	return (y.mode == yamlQuoted || y.mode == yamlFlow) && !y.d.ended
}

// severalDocuments reports whether a document follows another one.
func severalDocuments(d *doc) bool {
	content := false
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		line := d.text.Line(n)
		if len(line) == 0 {
			continue
		}
		switch {
		case documentMark(line, "---"):
			if content {
				return true
			}
			content = len(bytes.TrimSpace(dropComment(line[3:]))) > 0
		case line[0] == '%' && !content:
		default:
			if ink := bytes.TrimLeft(line, " \t"); len(ink) > 0 && ink[0] != '#' {
				content = content || !documentMark(line, "...")
			}
		}
	}
	return false
}

func documentMark(line []byte, mark string) bool {
	return bytes.HasPrefix(line, []byte(mark)) && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

// line takes the next line of the file.
func (y *yaml) line(n int, line []byte) {
	if documentMark(line, "---") || documentMark(line, "...") {
		if y.mode == yamlQuoted || y.mode == yamlFlow {
			y.bad = true
			y.closeFlow(0, y.last)
		}
		y.endDocument()
		if line[0] == '-' {
			y.mark = n
			if rest := line[3:]; len(dropComment(rest)) > 0 {
				y.beginDocument(n)
				y.value(rest, n, -1, nil)
				y.last = n
			}
		}
		return
	}
	indent := 0
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	if y.continues(n, line, indent) {
		return
	}
	rest := line[indent:]
	if len(rest) > 0 && rest[0] == '\t' {
		trimmed := bytes.TrimLeft(rest, " \t")
		if len(trimmed) > 0 && trimmed[0] != '#' {
			y.bad = y.bad || !(trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '}' || trimmed[0] == ']')
		}
		indent += len(rest) - len(trimmed)
		rest = trimmed
	}
	if len(rest) == 0 || rest[0] == '#' || rest[0] == '%' && indent == 0 && !y.inDocument {
		return
	}
	y.beginDocument(n)
	y.block(rest, n, indent)
	y.last = n
}

// continues reports whether the line belongs to what an earlier one began.
func (y *yaml) continues(n int, line []byte, indent int) bool {
	blank := len(bytes.TrimSpace(line)) == 0
	switch y.mode {
	case yamlText:
		if blank {
			return true
		}
		if indent > y.indent {
			if y.first {
				y.indent, y.first = indent-1, false // its first line sets its margin
			}
			y.last = n
			return true
		}
	case yamlPlain:
		if blank {
			return true
		}
		ink := bytes.TrimLeft(line, " \t")
		if indent > y.indent && ink[0] != '#' {
			if _, _, ok := yamlKey(ink); ok {
				y.bad = true
				break
			}
			y.last = n
			return true
		}
		if ink[0] == '#' {
			return true
		}
	case yamlQuoted:
		if end := quoteEnd(line, 0, y.quote); end >= 0 {
			y.mode = yamlBlock
			if len(y.flow) > 0 {
				y.mode = yamlFlow
				y.inFlow(line, end, n)
			}
		}
		y.last = n
		return true
	case yamlFlow:
		if y.escapes(line, indent) {
			y.bad = true
			y.closeFlow(0, y.last)
			break
		}
		y.inFlow(line, 0, n)
		if !blank {
			y.last = n
		}
		return true
	}
	y.mode = yamlBlock
	return false
}

// escapes reports whether a line within brackets is so clearly a key of the
// block around them that the brackets cannot be meant to be open.
func (y *yaml) escapes(line []byte, indent int) bool {
	if len(y.boxes) == 0 || y.flow[0].kind != '[' || indent > y.boxes[len(y.boxes)-1].indent || len(y.flow) > 1 {
		return false
	}
	_, _, ok := yamlKey(line[indent:])
	return ok
}

// beginDocument makes sure that a document is open.
func (y *yaml) beginDocument(n int) {
	if y.inDocument {
		return
	}
	y.inDocument = true
	if !y.several {
		return
	}
	start := n
	if y.mark > 0 {
		start = y.mark
	}
	y.d.tree.begin(symbol.Symbol{Name: y.d.pool.element(y.documents), Kind: symbol.Section, Start: start, NameLine: start})
	y.documents++
}

// endDocument closes what is open at the last line with content.
func (y *yaml) endDocument() {
	y.closeBoxes(-1, false)
	if y.inDocument && y.several {
		s := y.d.tree.current()
		if y.kind != "" {
			s.Name = cutName(y.kind)
			if y.name != "" {
				s.Name = cutName(y.kind + "/" + y.name)
			}
		}
		y.d.tree.end(y.last)
	}
	y.inDocument, y.mark, y.kind, y.name, y.mode = false, 0, "", "", yamlBlock
}

// block reads dashes and a key at the start of a line, and what follows them.
func (y *yaml) block(rest []byte, n, indent int) {
	for len(rest) > 0 && rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ' || rest[1] == '\t') && len(y.boxes) < maxYAMLDepth {
		y.element(n, indent)
		after := bytes.TrimLeft(rest[1:], " \t")
		indent += len(rest) - len(after)
		rest = after
	}
	if len(rest) > 0 && (len(rest) == 1 || rest[1] == ' ') && (rest[0] == '?' || rest[0] == ':' && y.fits(indent, false)) {
		y.explicit(rest, n, indent)
		return
	}
	props, plain := yamlProperties(rest)
	key, value, ok := yamlKey(plain)
	if !ok {
		if len(rest) > 0 {
			y.bareValue(rest, n, indent)
		}
		return
	}
	y.key(key, n, indent, props)
	y.value(value, n, indent, y.entrySymbol())
}

// explicit reads "? key", or ": value" of such a key. Either may begin a
// collection of its own.
func (y *yaml) explicit(rest []byte, n, indent int) {
	after := bytes.TrimLeft(rest[1:], " \t")
	within := indent + len(rest) - len(after)
	if rest[0] == ':' {
		y.block(after, n, within)
		return
	}
	y.key(dropComment(after), n, indent, nil)
	if len(after) > 0 && (after[0] == '[' || after[0] == '{' || after[0] == '-' && len(after) > 1 && after[1] == ' ') {
		y.block(after, n, within)
	}
}

// bareValue reads a value that stands for itself: an element, the value of the
// key before it, or the whole document.
func (y *yaml) bareValue(rest []byte, n, indent int) {
	y.closeBoxes(indent-1, true)
	if len(y.boxes) == 0 {
		y.value(rest, n, -1, nil)
		return
	}
	top := &y.boxes[len(y.boxes)-1]
	if !top.seq && !top.entry {
		y.bad = true
	}
	y.beginElement()
	y.value(rest, n, top.indent, y.entrySymbol())
}

// entrySymbol returns the open symbol of the innermost entry, nil if it has
// none or that was dropped.
func (y *yaml) entrySymbol() *symbol.Symbol {
	if top := &y.boxes[len(y.boxes)-1]; !top.entry || !y.d.tree.kept() {
		return nil
	}
	return y.d.tree.current()
}

// element begins an element of the sequence whose dashes stand at indent.
func (y *yaml) element(n, indent int) {
	y.closeBoxes(indent, true)
	if !y.fits(indent, true) {
		y.push(yamlBox{seq: true, indent: indent})
	}
	y.endEntry()
	top := &y.boxes[len(y.boxes)-1]
	top.n++
	top.line = n
}

// key begins a key of the mapping at indent.
func (y *yaml) key(key []byte, n, indent int, props []string) {
	y.closeBoxes(indent, false)
	if !y.fits(indent, false) {
		y.push(yamlBox{indent: indent})
	}
	y.endEntry()
	top := &y.boxes[len(y.boxes)-1]
	top.n++
	top.key, top.entry = key, true
	name := ""
	if !y.d.tree.full() {
		name = keyText(key)
	}
	y.d.tree.begin(symbol.Symbol{Name: name, Kind: symbol.Key, Start: n, NameLine: n, Modifiers: props})
}

// fits reports whether the innermost box is one of the sort at that column.
func (y *yaml) fits(indent int, seq bool) bool {
	if len(y.boxes) == 0 {
		return false
	}
	top := &y.boxes[len(y.boxes)-1]
	return top.indent == indent && top.seq == seq
}

// push opens a box below the innermost entry, whose symbol begins now if it is
// an element.
func (y *yaml) push(b yamlBox) {
	if len(y.boxes) > 0 {
		y.beginElement()
		if top := &y.boxes[len(y.boxes)-1]; !top.entry {
			y.bad = true
		}
	}
	y.boxes = append(y.boxes, b)
}

// beginElement begins the symbol of the innermost box's element. Elements beyond MaxElements are only counted.
func (y *yaml) beginElement() {
	top := &y.boxes[len(y.boxes)-1]
	if !top.seq || top.entry || top.line == 0 {
		return
	}
	top.entry = true
	if !y.d.tree.wanted(top.n - 1) {
		y.d.tree.beginOmitted(top.line, "element")
		return
	}
	y.d.tree.begin(symbol.Symbol{Name: y.d.pool.element(top.n - 1), Kind: symbol.Object, Start: top.line, NameLine: top.line})
}

// endEntry ends the symbol of the innermost box's latest entry.
func (y *yaml) endEntry() {
	top := &y.boxes[len(y.boxes)-1]
	if top.entry {
		y.d.tree.end(y.last)
	}
	top.entry, top.line = false, 0
}

// closeBoxes closes the boxes deeper than indent, and at indent those that
// cannot go on there: seq says what comes next at indent. A sequence may stand
// at the column of the key that holds it.
func (y *yaml) closeBoxes(indent int, seq bool) {
	for len(y.boxes) > 0 {
		top := &y.boxes[len(y.boxes)-1]
		if top.indent < indent || top.indent == indent && (!top.seq || seq) {
			return
		}
		y.endEntry()
		box := *top
		y.boxes = y.boxes[:len(y.boxes)-1]
		if len(y.boxes) > 0 {
			y.describe(&box)
		}
	}
}

// describe sets the signature of the entry that holds a closed box.
func (y *yaml) describe(box *yamlBox) {
	if owner := &y.boxes[len(y.boxes)-1]; !owner.entry || !y.d.tree.kept() {
		return
	}
	s := y.d.tree.current()
	s.Signature = y.d.pool.container(s.Kind, box.seq, box.n)
	if box.seq {
		if s.Kind == symbol.Object {
			s.Kind = symbol.Array
		}
		return
	}
	if box.label != "" && s.Kind == symbol.Object {
		s.Signature += ", " + box.label
	}
}
