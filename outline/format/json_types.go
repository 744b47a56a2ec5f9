package format

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"mapd/outline/symbol"
)

// kindSet is the set of JSON kinds seen in an array or a column.
type kindSet uint8

var kindNames = [...]string{"object", "array", "string", "number", "boolean", "null"}

func (s *kindSet) add(k jsontext.Kind) {
	switch k {
	case '{':
		*s |= 1 << 0
	case '[':
		*s |= 1 << 1
	case '"':
		*s |= 1 << 2
	case '0':
		*s |= 1 << 3
	case 't', 'f':
		*s |= 1 << 4
	case 'n':
		*s |= 1 << 5
	}
}

// append names the kinds, "string|null".
func (s kindSet) append(b []byte) []byte {
	start := len(b)
	for i, name := range kindNames {
		if s&(1<<i) != 0 {
			if len(b) > start {
				b = append(b, '|')
			}
			b = append(b, name...)
		}
	}
	return b
}

func scalarKind(k jsontext.Kind) symbol.Kind {
	switch k {
	case '"':
		return symbol.String
	case '0':
		return symbol.Number
	case 'n':
		return symbol.Null
	default:
		return symbol.Boolean
	}
}

// containerSignature describes an object or array: "object, 3 keys",
// "array, 2 elements: string".
func (w *jsonWalk) containerSignature(f *jsonFrame) string {
	kind := symbol.Key
	if f.element {
		kind = symbol.Object
	}
	b := appendContainer(w.d.pool.buf[:0], kind, f.array, f.n)
	if f.kinds != 0 {
		b = f.kinds.append(append(b, ": "...))
	}
	if f.label != "" {
		b = append(append(b, ", "...), f.label...)
	}
	w.d.pool.buf = b
	return w.d.pool.intern(b)
}

// scalarSignature describes a string, number, boolean or null with a preview
// of its literal.
func (w *jsonWalk) scalarSignature(kind jsontext.Kind, raw []byte) string {
	const most = 40
	switch kind {
	case '"':
		w.d.pool.buf = appendPreview(append(w.d.pool.buf[:0], "string "...), raw, most)
	case '0':
		w.d.pool.buf = appendPreview(append(w.d.pool.buf[:0], "number "...), raw, most)
	case 'n':
		return "null"
	case 't':
		return "boolean true"
	default:
		return "boolean false"
	}
	return w.d.pool.intern(w.d.pool.buf)
}

// jsonName decodes a name.
func (p *stringPool) jsonName(raw []byte) string {
	if inner := raw[1 : len(raw)-1]; len(inner) <= maxPooled && bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return p.intern(inner)
	}
	const most = 8 * MaxName // bytes that surely decode to more than MaxName
	if len(raw) > most {
		// A copy: raw is the file, which must not be written to.
		raw = append(bytes.Clone(wholeEscapes(raw[:most])), '"')
	}
	p.buf, _ = jsontext.AppendUnquote(p.buf[:0], raw)
	return string(p.buf)
}

// wholeEscapes cuts a literal's front so that it does not end within an escape.
func wholeEscapes(raw []byte) []byte {
	const longest = len(`\uD83D\uDE00`)
	tail := max(len(raw)-longest, 0)
	if i := bytes.IndexByte(raw[tail:], '\\'); i >= 0 {
		raw = raw[:tail+i]
		for len(raw) > 0 && raw[len(raw)-1] == '\\' {
			raw = raw[:len(raw)-1]
		}
	}
	return raw
}
