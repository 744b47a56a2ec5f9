package format

import (
	"bytes"
	"hash/maphash"
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
	b := appendContainer(w.sig[:0], kind, f.array, f.n)
	if f.kinds != 0 {
		b = f.kinds.append(append(b, ": "...))
	}
	if f.label != "" {
		b = append(append(b, ", "...), f.label...)
	}
	w.sig = b
	return w.keys.intern(b)
}

// scalarSignature describes a string, number, boolean or null with a preview
// of its literal.
func (w *jsonWalk) scalarSignature(kind jsontext.Kind, raw []byte) string {
	const most = 40
	switch kind {
	case '"':
		w.sig = appendPreview(append(w.sig[:0], "string "...), raw, most)
	case '0':
		w.sig = appendPreview(append(w.sig[:0], "number "...), raw, most)
	case 'n':
		return "null"
	case 't':
		return "boolean true"
	default:
		return "boolean false"
	}
	return w.keys.intern(w.sig)
}

// keyPool decodes names and remembers the latest short ones, so that a key that
// occurs a thousand times is one string.
type keyPool struct {
	latest [512]string // by hash
	buf    []byte
}

var poolSeed = maphash.MakeSeed()

func (p *keyPool) name(raw []byte) string {
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

// maxPooled is the length of the longest strings that a keyPool remembers.
const maxPooled = 64

func (p *keyPool) intern(b []byte) string {
	if len(b) > maxPooled {
		return string(b)
	}
	slot := &p.latest[maphash.Bytes(poolSeed, b)%uint64(len(p.latest))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
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
