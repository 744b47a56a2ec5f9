package grammar

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of the text kept of a symbol, in bytes.
const (
	maxSignature = 240
	maxName      = 500
	maxDocstring = 200
)

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'
}

func blank(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 }

// signature returns text on one line, without the brace or operator that opens
// the body, at most maxSignature bytes long.
func signature(text []byte) string {
	if len(text) > 8*maxSignature {
		text = text[:8*maxSignature]
	}
	s := cut(collapse(text), maxSignature)
	for {
		t := strings.TrimRight(s, " ;,")
		for _, tail := range []string{"{", "=>", "=", ":"} {
			t = strings.TrimSuffix(t, tail)
		}
		if t == s {
			return s
		}
		s = t
	}
}

// collapse returns text with each run of white space as one space, as valid
// UTF-8.
func collapse(text []byte) string {
	text = bytes.TrimSpace(text)
	plain := true
	for i, c := range text {
		if c < ' ' || c >= utf8.RuneSelf || c == ' ' && text[i-1] == ' ' {
			plain = false
			break
		}
	}
	if plain {
		return string(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case n == 1 && isSpace(text[0]):
			space = true
		case n == 1 && text[0] < ' ':
			// other control characters say nothing
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(r) // an invalid byte becomes U+FFFD
		}
		text = text[n:]
	}
	return b.String()
}

// cut returns s, or its beginning and "…", in at most limit bytes.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit - len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " ") + "…"
}

// unquote removes one pair of quotes.
func unquote(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'' || s[0] == '`') {
		return s[1 : n-1]
	}
	return s
}

// modifiersIn returns the words of text that are modifiers of the language, up
// to the first bracket.
func (t *table) modifiersIn(text []byte) []string {
	var found []string
	for len(text) > 0 {
		n := 0
		for n < len(text) && (text[n] == '_' || text[n] == '-' && n > 0 || text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z') {
			n++
		}
		if n == 0 {
			if text[0] == '(' || text[0] == '=' {
				break
			}
			text = text[1:]
			continue
		}
		for _, m := range t.lang.modifiers {
			if string(text[:n]) == m && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
		text = text[n:]
	}
	return found
}

// docstring returns the first line that says something of the last comment in
// lead, where comments of whole lines count as one.
func (x *extraction) docstring(lead []span) string {
	last := -1
	for i := len(lead) - 1; i >= 0 && last < 0; i-- {
		if !lead[i].attr {
			last = i
		}
	}
	if last < 0 {
		return ""
	}
	first := last
	if !x.isBlock(lead[last]) {
		for first > 0 && !lead[first-1].attr && !x.isBlock(lead[first-1]) {
			first--
		}
	}
	for _, s := range lead[first : last+1] {
		for line := range bytes.Lines(x.text[s.start:s.end]) {
			if doc := commentText(line); doc != "" {
				return cut(doc, maxDocstring)
			}
		}
	}
	return ""
}

func (x *extraction) isBlock(s span) bool {
	for _, open := range []string{"/*", "(*", "{-", "<!--", "=begin", "--[", "\"\"\""} {
		if bytes.HasPrefix(x.text[s.start:], []byte(open)) {
			return true
		}
	}
	return false
}

// docTag matches the tags of documentation comments that say nothing alone.
var docTag = regexp.MustCompile(`</?(?:summary|remarks|inheritdoc|para|p|br|returns|value)\b[^<>]*>`)

// commentText returns what a line of a comment says, without the comment's
// marks and tags, and nothing for a line that only directs tools.
func commentText(line []byte) string {
	s := collapse(line)
	if strings.HasPrefix(s, "#!/") {
		return "" // how the file is run, not what it says
	}
	s = strings.TrimPrefix(s, "<!--")
	s = strings.TrimPrefix(s, "=begin")
	if strings.IndexByte(s, '<') >= 0 {
		s = docTag.ReplaceAllString(s, "")
	}
	s = strings.TrimLeft(s, "/*!#-;({%|[=<> ")
	for _, tail := range []string{"*/", "*)", "-}", "-->", "]]"} {
		s = strings.TrimSuffix(strings.TrimSpace(s), tail)
	}
	s = strings.TrimRight(s, "*/- =#")
	for _, tool := range []string{"eslint", "@ts-", "prettier-ignore", "noqa", "pylint:", "istanbul", "region", "endregion", "tslint", "type:", "@__PURE__", "!", "go:", "nolint", "clang-format"} {
		if strings.HasPrefix(s, tool) {
			return ""
		}
	}
	return s
}
