package format

import (
	"bytes"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxRelaxed is the size in bytes of the largest document that is read as
// JSON5: the tokens of one are kept while it is scanned, and such documents are
// written by hand.
const maxRelaxed = 4 << 20

// relaxed is a JSON5 document rewritten as JSON with the same tokens: keys are
// quoted, other strings and unusual numbers are empty ones (what they say is read
// from the source), comments and trailing commas are gone.
type relaxed struct {
	src    []byte
	out    []byte
	tokens []relaxedToken
	comma  int // offset in out of a comma behind which came only space, or 0
}

// relaxedToken is where a token starts in out, and its place in src.
type relaxedToken struct{ out, start, end uint32 }

// relax reads src, which has no comments, as JSON5. It returns nil if that is
// not what it is.
func relax(src []byte) *relaxed {
	if len(src) > maxRelaxed {
		return nil
	}
	r := &relaxed{src: src}
	for i := 0; i < len(src); {
		if n := relaxedSpace(src[i:]); n > 0 {
			if src[i] == '\n' {
				r.out = append(r.out, '\n')
			}
			i += n
			continue
		}
		if i = r.token(i); i < 0 {
			return nil
		}
	}
	if !jsontext.Value(r.out).IsValid(jsonOptions...) {
		return nil
	}
	return r
}

// relaxedSpace returns the length of the white space character at the start of
// b, 0 if there is none.
func relaxedSpace(b []byte) int {
	switch b[0] {
	case ' ', '\t', '\n', '\r', '\v', '\f':
		return 1
	}
	for _, space := range []string{"\u00a0", "\u2028", "\u2029", "\ufeff"} {
		if bytes.HasPrefix(b, []byte(space)) {
			return len(space)
		}
	}
	return 0
}

// token reads the token at i and returns where it ends, negative if it is none.
func (r *relaxed) token(i int) int {
	c := r.src[i]
	if r.comma > 0 && (c == '}' || c == ']') {
		r.out[r.comma] = ' '
	}
	r.comma = 0
	switch c {
	case ',':
		r.comma = len(r.out)
		r.emit(i, i+1, ",")
		return i + 1
	case '{', '}', '[', ']', ':':
		r.emit(i, i+1, string(c))
		return i + 1
	case '"', '\'':
		end := relaxedQuoteEnd(r.src, i)
		if end < 0 {
			return -1
		}
		return r.word(i, end, r.src[i+1:end-1], `""`)
	}
	end := i
	for end < len(r.src) && bytes.IndexByte([]byte(" \t\n\r\v\f,:{}[]\"'/"), r.src[end]) < 0 {
		end++
	}
	text := string(r.src[i:end])
	switch {
	case end == i:
		return -1
	case text == "true" || text == "false" || text == "null":
		return r.word(i, end, r.src[i:end], text)
	case isRelaxedNumber(text):
		return r.word(i, end, r.src[i:end], "0")
	case c != '$' && c != '_' && c != '\\' && c < utf8.RuneSelf && !isLetter(c):
		return -1
	}
	return r.word(i, end, r.src[i:end], "")
}

// word emits a key with the name, if a colon follows, or a value.
func (r *relaxed) word(i, end int, name []byte, value string) int {
	next := end
	for next < len(r.src) && relaxedSpace(r.src[next:]) > 0 {
		next += relaxedSpace(r.src[next:])
	}
	if next < len(r.src) && r.src[next] == ':' {
		quoted, _ := jsontext.AppendQuote(nil, unescapeYAML(string(name[:min(len(name), 8*MaxName)])))
		value = string(quoted)
	}
	if value == "" {
		return -1
	}
	r.emit(i, end, value)
	return end
}

func (r *relaxed) emit(start, end int, token string) {
	r.tokens = append(r.tokens, relaxedToken{uint32(len(r.out)), uint32(start), uint32(end)})
	r.out = append(r.out, token...)
}

// relaxedQuoteEnd returns the offset after the quote that closes the one at i,
// negative if there is none. A backslash at the end of a line continues it.
func relaxedQuoteEnd(b []byte, i int) int {
	quote := b[i]
	for i++; i < len(b) && b[i] != '\n'; i++ {
		switch b[i] {
		case '\\':
			i = escapeEnd(b, i)
		case quote:
			return i + 1
		}
	}
	return -1
}

func isRelaxedNumber(s string) bool {
	if s[0] == '+' || s[0] == '-' {
		s = s[1:]
	}
	switch {
	case s == "Infinity" || s == "NaN":
		return true
	case s == "" || s[0] != '.' && (s[0] < '0' || s[0] > '9'):
		return false
	case len(s) > 2 && (s[1] == 'x' || s[1] == 'X'):
		_, err := strconv.ParseUint(s[2:], 16, 64)
		return s[0] == '0' && (err == nil || len(s) > 18)
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || len(s) > 300
}

// at returns the token that holds a byte of out.
func (r *relaxed) at(offset int) relaxedToken {
	i := sort.Search(len(r.tokens), func(i int) bool { return int(r.tokens[i].out) > offset })
	return r.tokens[max(i-1, 0)]
}

// origin returns the offset in src of the first or last byte of a token, the
// place of which in out is given.
func (r *relaxed) origin(offset int) int {
	t := r.at(offset)
	if int(t.out) == offset {
		return int(t.start)
	}
	return int(t.end) - 1
}

// written returns the token at an offset of out as src has it.
func (r *relaxed) written(offset int) []byte {
	t := r.at(offset)
	return r.src[t.start:t.end]
}
