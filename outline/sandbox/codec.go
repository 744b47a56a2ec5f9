package sandbox

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// On the wire, numbers are little-endian or varints:
//
//	request: length of the name (1), length of the text (4), name, text
//	answer:  status (1), length of the rest (4), rest
//
// The rest of a good answer is a packed symbol.List, of a bad one a message.
const (
	greeting   = "mapd worker 1\n"
	answerHead = 5

	statusOK          = 0
	statusFailed      = 1
	statusUnsupported = 2
)

// maxDepth bounds how deep symbols may nest in an answer.
const maxDepth = 1000

var errGarbage = errors.New("bad answer")

// maxAnswer bounds the answer for a file of n bytes. A symbol takes at most
// some hundred bytes and at least one byte of the file, mostly far more.
func maxAnswer(n int) int { return 64<<10 + 64*n }

func requestHead(grammar string, n int) []byte {
	head := []byte{byte(len(grammar))}
	head = binary.LittleEndian.AppendUint32(head, uint32(n))
	return append(head, grammar...)
}

func readRequest(r *bufio.Reader) (grammar string, src []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", nil, err
	}
	name := make([]byte, head[0])
	if _, err := io.ReadFull(r, name); err != nil {
		return "", nil, io.ErrUnexpectedEOF
	}
	src = make([]byte, binary.LittleEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(r, src); err != nil {
		return "", nil, io.ErrUnexpectedEOF
	}
	return string(name), src, nil
}

// kinds gives each kind its number on the wire.
var kinds = []symbol.Kind{
	symbol.File, symbol.Module, symbol.Namespace, symbol.Package, symbol.Class, symbol.Method, symbol.Property,
	symbol.Field, symbol.Constructor, symbol.Enum, symbol.Interface, symbol.Function, symbol.Variable, symbol.Constant,
	symbol.String, symbol.Number, symbol.Boolean, symbol.Array, symbol.Object, symbol.Key, symbol.Null,
	symbol.EnumMember, symbol.Struct, symbol.Event, symbol.Operator, symbol.TypeParameter,
	symbol.Heading, symbol.Section, symbol.Table, symbol.View, symbol.Column, symbol.Record,
}

var kindNumber = func() map[symbol.Kind]byte {
	m := make(map[symbol.Kind]byte)
	for i, k := range kinds {
		m[k] = byte(i)
	}
	return m
}()

var (
	sources = []symbol.Source{symbol.Parser, symbol.Segments}
	whys    = []symbol.Why{"", symbol.SyntaxErrors}
)

func indexOf[T comparable](all []T, v T) byte {
	for i, x := range all {
		if x == v {
			return byte(i)
		}
	}
	return 0xff
}

func encodeList(b []byte, list *symbol.List) []byte {
	b = append(b, indexOf(sources, list.Source), indexOf(whys, list.Why))
	b = binary.AppendUvarint(b, uint64(len(list.Imports)))
	for _, im := range list.Imports {
		b = appendString(b, im.Path)
		b = appendInts(b, im.Start, im.End)
	}
	return encodeSymbols(b, list.Symbols)
}

func encodeSymbols(b []byte, symbols []symbol.Symbol) []byte {
	b = binary.AppendUvarint(b, uint64(len(symbols)))
	for i := range symbols {
		s := &symbols[i]
		var flags byte
		if s.Exported {
			flags |= 1
		}
		if s.Local {
			flags |= 2
		}
		b = append(b, kindNumber[s.Kind], flags)
		b = appendString(b, s.Name)
		b = appendInts(b, s.Start, s.End, s.NameLine, s.Lead)
		b = appendString(b, s.Signature)
		b = appendString(b, s.Docstring)
		b = appendInts(b, len(s.Modifiers))
		for _, m := range s.Modifiers {
			b = appendString(b, m)
		}
		b = encodeSymbols(b, s.Children)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendInts(b []byte, ints ...int) []byte {
	for _, n := range ints {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// decodeAnswer checks everything in an answer: a worker may have run wild.
func decodeAnswer(answer, src []byte) (symbol.List, error) {
	switch answer[0] {
	case statusOK:
	case statusUnsupported:
		return symbol.List{}, wrap(ErrUnsupported, "%q", answer[1:])
	default:
		return symbol.List{}, wrap(ErrCrashed, "%q", answer[1:])
	}
	lines := bytes.Count(src, []byte("\n"))
	if len(src) > 0 && src[len(src)-1] != '\n' {
		lines++
	}
	d := &decoder{text: string(answer[1:]), lines: lines}
	list := d.list()
	if d.err == nil && d.at != len(d.text) {
		d.fail("%d bytes left over", len(d.text)-d.at)
	}
	if d.err != nil {
		return symbol.List{}, wrap(ErrCrashed, "%v", d.err)
	}
	return list, nil
}

// A decoder reads a packed list. After an error all it reads is zero.
type decoder struct {
	text  string
	at    int
	lines int // of the file
	err   error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", errGarbage, fmt.Sprintf(format, args...))
		d.at = len(d.text)
	}
}

func (d *decoder) byte() byte {
	if d.at >= len(d.text) {
		d.fail("cut short")
		return 0
	}
	d.at++
	return d.text[d.at-1]
}

func (d *decoder) int() int {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := d.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int(v)
		}
	}
	d.fail("number too large")
	return 0
}

// count reads the number of things that take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.int()
	if n > (len(d.text)-d.at)/size {
		d.fail("%d things in %d bytes", n, len(d.text)-d.at)
		return 0
	}
	return n
}

func (d *decoder) string() string {
	n := d.count(1)
	s := d.text[d.at : d.at+n]
	d.at += n
	if !utf8.ValidString(s) {
		d.fail("text is not UTF-8")
	}
	return s
}

func (d *decoder) list() symbol.List {
	var list symbol.List
	source, why := d.byte(), d.byte()
	if int(source) >= len(sources) || int(why) >= len(whys) {
		d.fail("source %d, why %d", source, why)
		return list
	}
	list.Source, list.Why = sources[source], whys[why]
	if n := d.count(3); n > 0 {
		list.Imports = make([]symbol.Import, n)
		last := 1
		for i := range list.Imports {
			im := &list.Imports[i]
			im.Path, im.Start, im.End = d.string(), d.int(), d.int()
			if im.Start < last || im.End < im.Start || im.End > d.lines {
				d.fail("import on lines %d to %d", im.Start, im.End)
			}
			last = im.Start
		}
	}
	list.Symbols = d.symbols(1, d.lines, 0)
	return list
}

// symbols reads the symbols of one level, which must lie in the lines first to
// last and be in line order.
func (d *decoder) symbols(first, last, depth int) []symbol.Symbol {
	n := d.count(11)
	if n == 0 {
		return nil
	}
	if depth > maxDepth {
		d.fail("symbols nest too deep")
		return nil
	}
	symbols := make([]symbol.Symbol, n)
	for i := range symbols {
		d.symbol(&symbols[i], first, last, depth)
		first = symbols[i].Start
		if d.err != nil {
			return nil
		}
	}
	return symbols
}

func (d *decoder) symbol(s *symbol.Symbol, first, last, depth int) {
	kind, flags := d.byte(), d.byte()
	if int(kind) >= len(kinds) || flags > 3 {
		d.fail("kind %d, flags %d", kind, flags)
		return
	}
	s.Kind, s.Exported, s.Local = kinds[kind], flags&1 != 0, flags&2 != 0
	s.Name = d.string()
	s.Start, s.End, s.NameLine, s.Lead = d.int(), d.int(), d.int(), d.int()
	s.Signature, s.Docstring = d.string(), d.string()
	if m := d.count(1); m > 0 {
		s.Modifiers = make([]string, m)
		for j := range s.Modifiers {
			s.Modifiers[j] = d.string()
		}
	}
	switch {
	case s.Name == "":
		d.fail("a symbol without a name")
	case s.Start < first || s.End < s.Start || s.End > last:
		d.fail("%s %q on lines %d to %d, not within %d to %d", s.Kind, s.Name, s.Start, s.End, first, last)
	case s.Lead > s.Start || s.NameLine != 0 && (s.NameLine < s.FirstLine() || s.NameLine > s.End):
		d.fail("%s %q on lines %d to %d has lead %d, name line %d", s.Kind, s.Name, s.Start, s.End, s.Lead, s.NameLine)
	default:
		s.Children = d.symbols(s.Start, s.End, depth+1)
	}
}
