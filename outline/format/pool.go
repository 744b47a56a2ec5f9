package format

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"

	"mapd/outline/symbol"
)

// stringPool remembers the latest short strings, so that a key that occurs a
// thousand times is one string.
type stringPool struct {
	latest [512]string // by hash
	buf    []byte      // scratch
}

// maxPooled is the length of the longest strings that a stringPool remembers.
const maxPooled = 64

// slot chooses a place by the length and the ends of b: a hash of all of it would
// cost more than the copies that it saves.
func slot(b []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := uint64(len(b))
	if len(b) >= 8 {
		h ^= binary.LittleEndian.Uint64(b) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(b[len(b)-8:]), 29)
	} else {
		for _, c := range b {
			h = h<<8 | uint64(c)
		}
	}
	return h * odd >> 55
}

func (p *stringPool) intern(b []byte) string {
	if len(b) > maxPooled {
		return string(b)
	}
	kept := &p.latest[slot(b)]
	if *kept != string(b) {
		*kept = string(b)
	}
	return *kept
}

// element names the i-th element of a list.
func (p *stringPool) element(i int) string {
	p.buf = append(strconv.AppendInt(append(p.buf[:0], '['), int64(i), 10), ']')
	return p.intern(p.buf)
}

// scalarKinds are the kinds of elements of a scalar type.
var scalarKinds = map[string]symbol.Kind{
	"string": symbol.String, "text": symbol.String, "date": symbol.String, "alias": symbol.Variable,
	"number": symbol.Number, "boolean": symbol.Boolean, "null": symbol.Null,
}

// describe makes s a scalar of a type with a preview of its text. Of an element
// the kind says the type.
func (p *stringPool) describe(s *symbol.Symbol, typ string, text []byte) {
	const most = 40
	if s == nil {
		return
	}
	p.buf = append(append(p.buf[:0], typ...), ' ')
	p.buf = appendPreview(p.buf, text[:min(len(text), 4*most)], most)
	switch said := len(typ) + 1; {
	case s.Kind == symbol.Object:
		s.Kind, s.Signature = scalarKinds[typ], p.intern(p.buf[said:])
	case len(p.buf) == said:
		s.Signature = typ
	default:
		s.Signature = p.intern(p.buf)
	}
}

// count writes n of a noun: "1 key", "1,234 keys".
func count(n int, noun string) string { return string(appendCount(nil, n, noun)) }

func appendCount(b []byte, n int, noun string) []byte {
	start := len(b)
	b = strconv.AppendInt(b, int64(n), 10)
	for i := len(b) - 3; i > start; i -= 3 {
		b = slices.Insert(b, i, ',')
	}
	b = append(append(b, ' '), noun...)
	if n != 1 {
		b = append(b, 's')
	}
	return b
}

// container describes a collection of n elements or keys. Where the
// symbol's kind says what it is, only the count is left to say.
func (p *stringPool) container(kind symbol.Kind, array bool, n int) string {
	p.buf = appendContainer(p.buf[:0], kind, array, n)
	return p.intern(p.buf)
}

func appendContainer(b []byte, kind symbol.Kind, array bool, n int) []byte {
	named := kind == symbol.Object || kind == symbol.Array
	switch {
	case array && named:
		return appendCount(b, n, "element")
	case array:
		return appendCount(append(b, "array, "...), n, "element")
	case named:
		return appendCount(b, n, "key")
	}
	return appendCount(append(b, "object, "...), n, "key")
}
