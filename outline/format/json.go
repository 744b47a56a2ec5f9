package format

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mapd/outline/symbol"
)

// maxJSONDepth is the nesting at which jsontext gives up.
const maxJSONDepth = 10_000

// scanJSON handles JSON. Comments and trailing commas are let pass, the other
// liberties of JSON5 are understood but reported as errors.
func scanJSON(d *doc) { scanAnyJSON(d, false) }

// scanJSON5 handles JSON with comments and JSON5.
func scanJSON5(d *doc) { scanAnyJSON(d, true) }

// scanAnyJSON tries what strict JSON refuses once more with comments and trailing
// commas blanked out, which changes no offset, and then with the tokens of JSON5
// replaced.
func scanAnyJSON(d *doc, relaxed bool) {
	body := d.src[d.bom:]
	err := jsonDocument(d, body, nil)
	if err == nil || d.stopped() {
		return
	}
	if plain, changed := blankComments(body); changed {
		d.tree.restart()
		d.lines.line = 1
		err = jsonDocument(d, plain, nil)
		body = plain
	}
	if err == nil || d.stopped() {
		return
	}
	switch {
	case errors.Is(err, errManyValues):
		d.tree.restart()
		scanJSONLines(d)
	case errors.Is(err, errTooDeep):
		d.source, d.why = symbol.Segments, symbol.TooLarge
	default:
		if from := relax(body); from != nil {
			d.tree.restart()
			d.lines.line = 1
			err = jsonDocument(d, from.out, from)
		}
		if err != nil || !relaxed {
			d.broken(symbol.Segments)
		}
	}
}

var (
	errManyValues = errors.New("more than one value")
	errTooDeep    = errors.New("nested too deeply")
	errStopped    = errors.New("stopped")
)

// jsonDocument adds the symbols of the one value in body, which is the file
// behind its byte order mark, or was made of that. On an error the symbols before
// it are there.
func jsonDocument(d *doc, body []byte, from *relaxed) error {
	w := newJSONWalk(d, body, from)
	err := w.root()
	if err == nil {
		err = w.trailing()
	}
	if err != nil {
		w.abandon(err)
	}
	return err
}

// jsonWalk adds symbols while it reads tokens. Its stack is the heap's: deep
// documents cannot exhaust a goroutine's.
type jsonWalk struct {
	d    *doc
	body []byte
	base int      // offset of body in the file
	from *relaxed // what body was made of, or nil
	dec  *jsontext.Decoder
	open []jsonFrame
}

// jsonFrame is an object or array that has been entered.
type jsonFrame struct {
	array   bool
	symbol  bool // it has a symbol of its own in the tree
	element bool // of an array
	n       int  // keys or elements so far
	kinds   kindSet
	label   string // the name or id of an element: name: "x"
}

func newJSONWalk(d *doc, body []byte, from *relaxed) *jsonWalk {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &jsonWalk{d: d, body: body, base: d.bom, from: from, dec: dec}
}

// root reads one value and all below it. It has no symbol itself: its keys or
// elements become children of the open symbol.
func (w *jsonWalk) root() error {
	if err := w.enter(child{}); err != nil {
		return err
	}
	for len(w.open) > 0 {
		if w.d.stopped() {
			return errStopped
		}
		if err := w.step(); err != nil {
			return err
		}
	}
	return nil
}

// step reads the next member, element or closing bracket of the innermost
// container.
func (w *jsonWalk) step() error {
	top := &w.open[len(w.open)-1]
	kind := w.dec.PeekKind()
	switch {
	case kind == ']' || kind == '}':
		return w.leave()
	case top.array:
		top.n++
		top.kinds.add(kind)
		return w.element(kind, top.n-1)
	default:
		top.n++
		return w.member()
	}
}

// child is a value about to be read, and the symbol that it is to have.
type child struct {
	name string
	kind symbol.Kind // "" for no symbol
	at   int         // where the symbol starts; negative: where the value does
}

func (w *jsonWalk) member() error {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return w.fail(err)
	}
	at := int(w.dec.InputOffset()) - len(raw)
	if w.d.tree.full() {
		return w.skip(at, "key")
	}
	c := child{w.d.pool.jsonName(raw), symbol.Key, at}
	err = w.enter(c)
	if err != nil { // the key stands before the error
		line := w.line(at)
		w.d.tree.leaf(symbol.Symbol{Name: c.name, Kind: c.kind, Start: line, End: line, NameLine: line})
	}
	return err
}

func (w *jsonWalk) element(kind jsontext.Kind, i int) error {
	if kind != '{' && kind != '[' {
		raw, err := w.dec.ReadValue()
		if err == nil {
			w.scalarElement(raw, kind, i)
		}
		return w.fail(err)
	}
	if !w.d.tree.wanted(i) || w.d.tree.full() {
		return w.skip(-1, "element")
	}
	c := child{w.d.pool.element(i), symbol.Object, -1}
	if kind == '[' {
		c.kind = symbol.Array
	}
	return w.enter(c)
}

// scalarElement adds an element that is the first on its line: those behind it
// would say nothing more about where to read.
func (w *jsonWalk) scalarElement(raw []byte, kind jsontext.Kind, i int) {
	end := int(w.dec.InputOffset())
	at := end - len(raw)
	if w.d.tree.full() || w.d.tree.path == "" && !startsLine(w.body, at) {
		return
	}
	line, last := w.line(at), w.line(end-1)
	if !w.d.tree.wanted(i) {
		w.d.tree.omit(line, last, "element")
		return
	}
	_, value, _ := strings.Cut(w.scalarSignature(kind, w.written(raw)), " ") // the kind says the type
	w.d.tree.leaf(symbol.Symbol{
		Name: w.d.pool.element(i), Kind: scalarKind(kind), Start: line, End: last, NameLine: line, Signature: value,
	})
}

// line returns the line of the byte of body at an offset.
func (w *jsonWalk) line(at int) int {
	if w.from != nil {
		at = w.from.origin(at)
	}
	return w.d.lines.at(w.base + at)
}

// written returns the scalar that was read last as it stands in the file.
func (w *jsonWalk) written(raw []byte) []byte {
	if w.from == nil {
		return raw
	}
	return w.from.written(int(w.dec.InputOffset()) - len(raw))
}

// enter reads a scalar, or the opening bracket of a container.
func (w *jsonWalk) enter(c child) error {
	kind := w.dec.PeekKind()
	if kind != '{' && kind != '[' {
		return w.scalar(c, kind)
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return w.fail(err)
	}
	if c.kind != "" {
		at := c.at
		if at < 0 {
			at = int(w.dec.InputOffset()) - 1
		}
		line := w.line(at)
		w.d.tree.begin(symbol.Symbol{Name: c.name, Kind: c.kind, Start: line, End: line, NameLine: line})
	}
	w.open = append(w.open, jsonFrame{array: kind == '[', symbol: c.kind != "", element: c.at < 0})
	return nil
}

func (w *jsonWalk) scalar(c child, kind jsontext.Kind) error {
	raw, err := w.dec.ReadValue()
	if err != nil || c.kind == "" {
		return w.fail(err)
	}
	line := w.line(c.at)
	s := symbol.Symbol{
		Name: c.name, Kind: c.kind, Start: line, NameLine: line,
		End: w.line(int(w.dec.InputOffset()) - 1), Signature: w.scalarSignature(kind, w.written(raw)),
	}
	w.d.tree.leaf(s)
	if top := &w.open[len(w.open)-1]; top.element && (c.name == "name" || c.name == "id" && top.label == "") {
		_, value, _ := strings.Cut(s.Signature, " ")
		top.label = c.name + ": " + value
	}
	return nil
}

// leave reads the closing bracket of the innermost container.
func (w *jsonWalk) leave() error {
	if _, err := w.dec.ReadToken(); err != nil {
		return w.fail(err)
	}
	w.close(int(w.dec.InputOffset()) - 1)
	return nil
}

func (w *jsonWalk) close(last int) {
	top := w.open[len(w.open)-1]
	w.open = w.open[:len(w.open)-1]
	if !top.symbol {
		return
	}
	if w.d.tree.top().kept {
		w.d.tree.current().Signature = w.containerSignature(&top)
	}
	w.d.tree.end(w.line(last))
}

// skip passes over one value for which there is no room. at is where its key
// starts, negative for an element.
func (w *jsonWalk) skip(at int, noun string) error {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return w.fail(err)
	}
	if len(w.open) > w.d.tree.levels {
		return nil // too deep to be missed
	}
	end := int(w.dec.InputOffset())
	if at < 0 {
		at = end - len(raw)
	}
	w.d.tree.omit(w.line(at), w.line(end-1), noun)
	return nil
}

// trailing checks that nothing but space follows the value.
func (w *jsonWalk) trailing() error {
	switch _, err := w.dec.ReadToken(); {
	case err == io.EOF:
		return nil
	case err == nil:
		return errManyValues
	default:
		return err
	}
}

func (w *jsonWalk) fail(err error) error {
	if err != nil && w.dec.StackDepth() >= maxJSONDepth {
		return errTooDeep
	}
	return err
}

// abandon closes what is open where the error stands.
func (w *jsonWalk) abandon(err error) {
	at := max(int(w.dec.InputOffset())-1, 0)
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at = max(at, min(int(syntax.ByteOffset), len(w.body)-1))
	}
	for len(w.open) > 0 {
		w.close(at)
	}
}
