package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutName makes a name valid UTF-8 and cuts it at MaxName bytes.
func cutName(s string) string {
	if len(s) > MaxName {
		i := MaxName
		for i > 0 && !utf8.RuneStart(s[i]) {
			i--
		}
		s = strings.Clone(s[:i]) + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// preview returns the first characters of b on one line: runs of space and
// control characters become one space, and a cut is marked.
func preview(b []byte, most int) string {
	var out strings.Builder
	space := false
	for n := 0; len(b) > 0; {
		r, size := utf8.DecodeRune(b)
		b = b[size:]
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = out.Len() > 0
			continue
		}
		if n >= most {
			out.WriteString("…")
			break
		}
		if space {
			out.WriteByte(' ')
			n++
			space = false
		}
		out.WriteRune(r)
		n++
	}
	return out.String()
}
