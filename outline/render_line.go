package outline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// style is what a line says about a symbol beside its lines.
type style int

const (
	documented style = iota // signature and documentation
	signed                  // signature
	kinds                   // kind and name
	bare                    // name
)

// The most bytes that a line shows of each text.
const (
	shownName      = 200
	shownSignature = 240
	shownDoc       = 100
)

// line is one line of a map: a symbol, or the lines of symbols left out.
type line struct {
	symbol *symbol.Symbol
	depth  int

	hidden   int // symbols left out
	noun     string
	from, to int
}

// size returns the length of the line without a line break.
func (l line) size(style style) int {
	if l.symbol != nil && style >= kinds && plainText(l.symbol.Name) && len(l.symbol.Name) <= shownName {
		n := 2*l.depth + len(l.symbol.Name) + len(": []") + digits(l.symbol.Start)
		if l.symbol.End != l.symbol.Start {
			n += 1 + digits(l.symbol.End)
		}
		if style == kinds {
			n += len(l.symbol.Kind) + 1
		}
		return n
	}
	var scratch [512]byte
	return len(l.append(scratch[:0], style))
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}

func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// append appends the line without a line break.
func (l line) append(dst []byte, style style) []byte {
	for range l.depth {
		dst = append(dst, ' ', ' ')
	}
	from, to := l.from, l.to
	if s := l.symbol; s != nil {
		from, to = s.Start, s.End
		dst = appendSymbol(dst, s, style)
	} else {
		dst = append(dst, "… "...)
		dst = strconv.AppendInt(dst, int64(l.hidden), 10)
		dst = append(dst, ' ')
		dst = append(dst, l.noun...)
	}
	dst = append(dst, ": ["...)
	dst = strconv.AppendInt(dst, int64(from), 10)
	if to != from {
		dst = append(dst, '-')
		dst = strconv.AppendInt(dst, int64(to), 10)
	}
	return append(dst, ']')
}

func appendSymbol(dst []byte, s *symbol.Symbol, style style) []byte {
	switch {
	case style == bare:
		return appendOneLine(dst, s.Name, shownName)
	case style == kinds:
		dst = append(append(dst, s.Kind...), ' ')
		return appendOneLine(dst, s.Name, shownName)
	}
	dst = appendSignature(dst, s)
	if style == documented && s.Docstring != "" {
		dst = append(dst, " — "...)
		dst = appendOneLine(dst, s.Docstring, shownDoc)
	}
	return dst
}

// appendSignature appends the signature as written where it holds the name; a
// kind before it where it starts with the name ("method get(key)"); and where
// it names the symbol without its container, as Go's methods do, the kind, the
// name, and what follows the name in the signature.
func appendSignature(dst []byte, s *symbol.Symbol) []byte {
	sig := s.Signature
	if isData(s.Kind) && strings.TrimRight(sig, " (") == s.Name {
		sig = ""
	}
	if s.Kind == symbol.Heading && sig != "" { // the marks of its level
		dst = append(append(dst, s.Kind...), ' ')
		dst = append(appendOneLine(dst, sig, shownSignature), ' ')
		return appendOneLine(dst, s.Name, shownName)
	}
	if !isData(s.Kind) {
		if i := wordIndex(sig, s.Name); i > 0 {
			return appendOneLine(dst, sig, shownSignature)
		} else if i == 0 {
			dst = append(append(dst, s.Kind...), ' ')
			return appendOneLine(dst, sig, shownSignature)
		}
		if bareName := lastComponent(s.Name); bareName != s.Name {
			if i := wordIndex(sig, bareName); i >= 0 {
				dst = append(append(dst, s.Kind...), ' ')
				dst = appendOneLine(dst, s.Name, shownName)
				return appendOneLine(dst, sig[i+len(bareName):], shownSignature)
			}
		}
	}
	if sig == "" && len(s.Modifiers) > 0 {
		dst = appendOneLine(dst, strings.Join(s.Modifiers, " "), shownName)
		dst = append(dst, ' ')
	}
	dst = append(append(dst, s.Kind...), ' ')
	dst = appendOneLine(dst, s.Name, shownName)
	if sig != "" {
		dst = append(dst, ' ')
		dst = appendOneLine(dst, sig, shownSignature)
	}
	return dst
}

// isData reports whether the signature of such a symbol tells of its value.
func isData(k symbol.Kind) bool {
	switch k {
	case symbol.Key, symbol.String, symbol.Number, symbol.Boolean, symbol.Array, symbol.Object, symbol.Null,
		symbol.Heading, symbol.Section, symbol.Column, symbol.Record:
		return true
	}
	return false
}

// lastComponent returns what follows the last separator of a qualified name.
func lastComponent(name string) string {
	i := strings.LastIndexAny(name, ".:#")
	return name[i+1:]
}

// wordIndex returns where word stands in s with no letter, digit or underscore
// at its sides, -1 if nowhere.
func wordIndex(s, word string) int {
	if word == "" {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(word):])
		if !wordRune(before) && !wordRune(after) {
			return i
		}
		from = i + len(word)
	}
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// appendOneLine appends s with what is not printable escaped as in Go, cut to
// at most limit bytes, the ellipsis at its end included.
func appendOneLine(dst []byte, s string, limit int) []byte {
	const ellipsis = "…"
	if len(s) <= limit && plainText(s) {
		return append(dst, s...)
	}
	start := len(dst)
	fits := start // where an ellipsis can follow
	for _, r := range s {
		if len(dst)-start <= limit-len(ellipsis) {
			fits = len(dst)
		}
		dst = appendRune(dst, r)
		if len(dst)-start > limit {
			return append(dst[:fits], ellipsis...)
		}
	}
	return dst
}

func appendRune(dst []byte, r rune) []byte {
	if r == ' ' || unicode.IsPrint(r) {
		return utf8.AppendRune(dst, r)
	}
	quoted := strconv.AppendQuoteRune(dst, r)
	// Without the quotes.
	n := len(dst)
	return append(dst, quoted[n+1:len(quoted)-1]...)
}

// suffix returns the last characters of s that have at most limit bytes.
func suffix(s string, limit int) string {
	at := max(len(s)-max(limit, 0), 0)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
