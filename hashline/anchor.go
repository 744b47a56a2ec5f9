package hashline

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Alphabet holds the letters of a hash: letter i stands for the nibble i. It
// has no vowels and no digits, so that a hash is neither a word nor a number.
const Alphabet = "ZPMQVRWSNKTXJBYH"

// Width is the number of letters of a hash.
type Width int

// The widths an anchor may have.
const (
	MinWidth     Width = 2
	MaxWidth     Width = 4
	DefaultWidth       = MaxWidth
)

// Append appends the letters of h at width w, the high nibble first.
func (h Hash) Append(dst []byte, w Width) []byte {
	for i := int(w) - 1; i >= 0; i-- {
		dst = append(dst, Alphabet[h>>(4*i)&0xf])
	}
	return dst
}

// Anchor names a line by its number and its hash at some width, as shown to an
// agent: "42#VRTX".
type Anchor struct {
	Line  int   // 1-based
	Hash  Hash  // only the low 4×Width bits are set
	Width Width // letters shown
}

// Anchor returns the anchor of line n at width w. It panics unless
// 1 <= n <= Lines().
func (t *Text) Anchor(n int, w Width) Anchor {
	return Anchor{Line: n, Hash: t.Hash(n) & w.mask(), Width: w}
}

func (w Width) mask() Hash { return Hash(1<<(4*w) - 1) }

// Matches reports whether a line whose full hash is h could have been shown
// with this anchor's letters.
func (a Anchor) Matches(h Hash) bool { return h&a.Width.mask() == a.Hash }

// Append appends the anchor in its canonical form, LINE#HASH.
func (a Anchor) Append(dst []byte) []byte {
	dst = strconv.AppendInt(dst, int64(a.Line), 10)
	return a.Hash.Append(append(dst, '#'), a.Width)
}

// String returns the anchor in its canonical form, LINE#HASH.
func (a Anchor) String() string { return string(a.Append(nil)) }

// ErrAnchor is what every error of ParseAnchor wraps.
var ErrAnchor = errors.New("invalid anchor")

// ParseAnchor reads an anchor as models write it: LINE#HASH, optionally after
// spaces and the marks > + - *, optionally before a :content tail, which is
// dropped. Every error wraps ErrAnchor and says what is wrong.
func ParseAnchor(s string) (Anchor, error) {
	fail := func(why string) (Anchor, error) {
		return Anchor{}, fmt.Errorf("%w %s: %s; write LINE#HASH as it was shown, for example 42#VRTX", ErrAnchor, quoteShort(s), why)
	}
	body, _, _ := strings.Cut(strings.TrimLeft(s, " >+-*"), ":")
	number, letters, found := strings.Cut(body, "#")
	switch {
	case body == "":
		return fail("it is empty")
	case !found:
		return fail("there is no # between line and hash")
	case number == "" || strings.Trim(number, "0123456789") != "":
		return fail("the line is not a decimal number")
	case number[0] == '0':
		return fail("lines count from 1, without leading zeros")
	}
	line, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return fail("the line number is too large")
	}
	if len(letters) < int(MinWidth) || len(letters) > int(MaxWidth) {
		return fail(fmt.Sprintf("a hash has %d to %d letters, this has %d", MinWidth, MaxWidth, len(letters)))
	}
	var h Hash
	for _, c := range []byte(letters) {
		i := strings.IndexByte(Alphabet, c)
		if i < 0 {
			return fail("a hash has only the capital letters " + Alphabet)
		}
		h = h<<4 | Hash(i)
	}
	return Anchor{Line: int(line), Hash: h, Width: Width(len(letters))}, nil
}

func quoteShort(s string) string {
	const most = 40
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}
