package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutName makes a name valid UTF-8 and cuts it at MaxName bytes.
func cutName(s string) string {
	if len(s) <= MaxName && utf8.ValidString(s) {
		return s
	}
	// A bad byte grows to three, so the cut comes last; what is cut off first
	// is beyond it in any case.
	s = strings.ToValidUTF8(s[:min(len(s), 2*MaxName)], "\uFFFD")
	if len(s) <= MaxName {
		return s
	}
	i := MaxName
	for !utf8.RuneStart(s[i]) {
		i--
	}
	return strings.Clone(s[:i]) + "…"
}

// preview returns the first characters of b on one line: runs of space and
// control characters become one space, and a cut is marked.
func preview(b []byte, most int) string { return string(appendPreview(nil, b, most)) }

func appendPreview(dst, b []byte, most int) []byte {
	switch {
	case len(b) <= most && plain(b):
		return append(dst, b...)
	case len(b) > most && plain(b[:most]):
		return append(append(dst, b[:most]...), "…"...)
	}
	start, space := len(dst), false
	for n := 0; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		b = b[size:]
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = len(dst) > start
			continue
		}
		if n >= most {
			return append(dst, "…"...)
		}
		if space {
			dst = append(dst, ' ')
			n++
			space = false
		}
		dst = utf8.AppendRune(dst, r)
		n++
	}
	return dst
}

// plain reports whether b is printable ASCII without blanks at its ends or runs
// of them.
func plain(b []byte) bool {
	last := byte(' ')
	for _, c := range b {
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' '
}

// byteSet is a set of bytes that is asked for each byte of a file.
type byteSet [256]bool

func bytesOf(s string) *byteSet {
	var set byteSet
	for i := range len(s) {
		set[s[i]] = true
	}
	return &set
}
