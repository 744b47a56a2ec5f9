package format

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// kindSet is the set of JSON kinds seen in an array or a column.
type kindSet uint8

var kindBits = [...]struct {
	kind jsontext.Kind
	name string
}{{'{', "object"}, {'[', "array"}, {'"', "string"}, {'0', "number"}, {'t', "boolean"}, {'f', "boolean"}, {'n', "null"}}

func (s *kindSet) add(k jsontext.Kind) {
	for i, b := range kindBits {
		if b.kind == k {
			*s |= 1 << i
		}
	}
}

// String names the kinds, "string|null".
func (s kindSet) String() string {
	var names []string
	for i, b := range kindBits {
		if s&(1<<i) != 0 && (len(names) == 0 || names[len(names)-1] != b.name) {
			names = append(names, b.name)
		}
	}
	return strings.Join(names, "|")
}

// signature describes a container: "object, 3 keys", "array, 2 elements: string".
func (f *jsonFrame) signature() string {
	if !f.array {
		return "object, " + count(f.n, "key")
	}
	if f.n == 0 {
		return "array, 0 elements"
	}
	return fmt.Sprintf("array, %s: %s", count(f.n, "element"), f.kinds)
}

// scalarSignature describes a string, number, boolean or null with a preview
// of its literal.
func scalarSignature(kind jsontext.Kind, raw []byte) string {
	const most = 40
	switch kind {
	case '"':
		return "string " + preview(raw, most)
	case '0':
		return "number " + preview(raw, most)
	case 'n':
		return "null"
	default:
		return "boolean " + string(raw)
	}
}

// keyPool decodes names and keeps short ones, so that a key that occurs a
// thousand times is one string.
type keyPool struct {
	seen map[string]string
	buf  []byte
}

func (p *keyPool) name(raw []byte) string {
	const most = 8 * MaxName // bytes that surely decode to more than MaxName
	if len(raw) > most {
		// A copy: raw is the file, which must not be written to.
		raw = append(bytes.Clone(wholeEscapes(raw[:most])), '"')
	}
	p.buf, _ = jsontext.AppendUnquote(p.buf[:0], raw)
	return p.intern(p.buf)
}

func (p *keyPool) intern(b []byte) string {
	const short, most = 64, 4096
	if s, ok := p.seen[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(b) <= short && len(p.seen) < most {
		if p.seen == nil {
			p.seen = map[string]string{}
		}
		p.seen[s] = s
	}
	return s
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
