package format

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// scanXML adds the elements of XML. An element that holds no other is a key
// with its text; closing tags that are missing or too many are an error.
func scanXML(d *doc) {
	x := xmlScan{d: d, b: d.src, i: d.bom, names: map[string]int{}}
	for x.i < len(x.b) && !d.stopped() {
		x.next()
	}
	for len(x.open) > 0 && !d.ended {
		x.bad = true
		x.pop(max(x.ink, x.open[len(x.open)-1].start))
	}
	if x.bad {
		d.broken(symbol.Segments)
	}
}

// maxElementsOpen bounds the nesting of elements; deeper ones are ignored.
const maxElementsOpen = 10_000

type xmlScan struct {
	d     *doc
	b     []byte
	i     int
	ink   int // offset of the last character of markup
	open  []xmlElement
	names map[string]int // how many elements of a name are open
	over  int            // open beyond maxElementsOpen
	bad   bool
}

type xmlElement struct {
	name     string
	start    int
	content  int // offset behind the opening tag
	children int
}

// next moves behind the next tag.
func (x *xmlScan) next() {
	k := bytes.IndexByte(x.b[x.i:], '<')
	if k < 0 {
		x.i = len(x.b)
		return
	}
	start := x.i + k
	rest := x.b[start:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		x.until(start, "-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		x.until(start, "]]>")
	case bytes.HasPrefix(rest, []byte("<?")):
		x.until(start, "?>")
	case bytes.HasPrefix(rest, []byte("<!")):
		x.doctype(start)
	case bytes.HasPrefix(rest, []byte("</")):
		x.closing(start)
	case len(rest) > 1 && nameByte(rest[1], true):
		x.opening(start)
	default:
		x.bad = true
		x.i = start + 1
	}
}

// until moves behind the mark; without one, only behind the "<".
func (x *xmlScan) until(start int, mark string) {
	k := bytes.Index(x.b[start:], []byte(mark))
	if k < 0 {
		x.bad = true
		x.i = len(x.b)
		return
	}
	x.i = start + k + len(mark)
	x.ink = x.i - 1
}

// doctype moves behind <!DOCTYPE …>, its internal subset included.
func (x *xmlScan) doctype(start int) {
	depth := 0
	for i := start; i < len(x.b); i++ {
		switch x.b[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '"', '\'':
			if k := bytes.IndexByte(x.b[i+1:], x.b[i]); k >= 0 && k < 4096 {
				i += k + 1
			}
		case '>':
			if depth <= 0 {
				x.i = i + 1
				return
			}
		}
	}
	x.bad = true
	x.i = len(x.b)
}

func nameByte(c byte, first bool) bool {
	return isLetter(c) || c == '_' || c == ':' || c >= 0x80 || !first && (c == '-' || c == '.' || '0' <= c && c <= '9')
}

// opening reads <name attributes> or <name attributes/>.
func (x *xmlScan) opening(start int) {
	i := start + 1
	for i < len(x.b) && nameByte(x.b[i], false) {
		i++
	}
	name := string(x.b[start+1 : min(i, start+1+2*MaxName)])
	attributes := i
	for ; i < len(x.b) && x.b[i] != '>'; i++ {
		switch c := x.b[i]; c {
		case '"', '\'':
			k := bytes.IndexByte(x.b[i+1:], c)
			if k < 0 {
				x.bad = true
				x.i = start + 1
				return
			}
			i += k + 1
		case '<':
			x.bad = true
			x.i = i
			return
		}
	}
	if i == len(x.b) {
		x.bad = true
		x.i = start + 1
		return
	}
	empty := x.b[i-1] == '/'
	end := i
	if empty {
		end--
	}
	x.i, x.ink = i+1, i
	x.push(name, start, x.b[attributes:max(end, attributes)], i+1)
	if empty {
		x.pop(i)
	}
}

func (x *xmlScan) push(name string, start int, attributes []byte, content int) {
	if len(x.open) >= maxElementsOpen {
		x.over++
		return
	}
	if n := len(x.open); n > 0 {
		x.open[n-1].children++
	}
	x.open = append(x.open, xmlElement{name: name, start: start, content: content})
	x.names[name]++
	line := x.d.lines.at(start)
	s := symbol.Symbol{Name: name, Kind: symbol.Object, Start: line, NameLine: line}
	if !x.d.tree.full() {
		s.Signature = preview(attributes[:min(len(attributes), 4*MaxPreview)], MaxPreview)
	}
	x.d.tree.begin(s)
}

// closing reads </name> and closes the elements down to it.
func (x *xmlScan) closing(start int) {
	k := bytes.IndexByte(x.b[start:], '>')
	if k < 0 {
		x.bad = true
		x.i = len(x.b)
		return
	}
	x.i, x.ink = start+k+1, start+k
	if x.over > 0 {
		x.over--
		return
	}
	name := strings.TrimSpace(string(x.b[start+2 : start+min(k, 2+2*MaxName)]))
	if x.names[name] == 0 {
		x.bad = true
		return
	}
	for {
		last := x.open[len(x.open)-1]
		if last.name == name {
			x.text(&last, start)
			x.pop(start + k)
			return
		}
		x.bad = true
		x.pop(max(start-1, last.start))
	}
}

// text describes an element without children by its text.
func (x *xmlScan) text(e *xmlElement, end int) {
	if e.children > 0 || !x.d.tree.top().kept {
		return
	}
	s := x.d.tree.current()
	s.Kind = symbol.Key
	text := preview(x.b[e.content:min(end, e.content+4*MaxPreview)], MaxPreview)
	if s.Signature != "" && text != "" {
		s.Signature += " "
	}
	s.Signature += text
}

// pop closes the innermost element at an offset.
func (x *xmlScan) pop(at int) {
	e := x.open[len(x.open)-1]
	x.open = x.open[:len(x.open)-1]
	x.names[e.name]--
	if x.names[e.name] == 0 {
		delete(x.names, e.name)
	}
	x.d.tree.end(x.d.lines.at(at))
}
