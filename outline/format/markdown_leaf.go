package format

import (
	"bytes"
	"slices"
	"strings"

	"mapd/outline/symbol"
)

// atxHeading reads "## Name ##".
func atxHeading(rest []byte) (level int, name string, ok bool) {
	for level < len(rest) && rest[level] == '#' {
		level++
	}
	if level > 6 || level < len(rest) && rest[level] != ' ' && rest[level] != '\t' {
		return 0, "", false
	}
	text := bytes.TrimSpace(rest[level:])
	if body := bytes.TrimRight(text, "#"); len(body) == 0 {
		text = nil
	} else if last := body[len(body)-1]; last == ' ' || last == '\t' {
		text = bytes.TrimSpace(body)
	}
	return level, cutName(string(text[:min(len(text), 2*MaxName)])), true
}

// setextLevel returns the level that an underline gives, 0 if rest is none.
func setextLevel(rest []byte) int {
	if len(bytes.Trim(rest, string(rest[:1]))) > 0 {
		return 0
	}
	if rest[0] == '=' {
		return 1
	}
	return 2
}

// mdFence is an open fenced code block.
type mdFence struct {
	mark byte
	n    int
}

func openFence(rest []byte) (mdFence, bool) {
	f := mdFence{mark: rest[0]}
	for f.n < len(rest) && rest[f.n] == f.mark {
		f.n++
	}
	return f, f.n >= 3 && (f.mark == '~' || bytes.IndexByte(rest[f.n:], '`') < 0)
}

func (f mdFence) closes(l *mdLine) bool {
	if l.blank() || l.indent() > 3 {
		return false
	}
	rest := l.rest()
	return len(rest) >= f.n && len(bytes.Trim(rest, string(f.mark))) == 0
}

// htmlEnd says where an open HTML block ends: in the line that holds one of
// the marks, or at a blank line.
type htmlEnd struct {
	marks []string // lower case
	blank bool
}

func (e htmlEnd) found(b []byte) bool {
	for _, mark := range e.marks {
		if containsFold(b, mark) {
			return true
		}
	}
	return false
}

// containsFold reports whether b holds the lower case ASCII text s in any case.
func containsFold(b []byte, s string) bool {
	for {
		i := bytes.IndexByte(b, s[0])
		if i < 0 || len(b)-i < len(s) {
			return false
		}
		if strings.EqualFold(string(b[i:i+len(s)]), s) {
			return true
		}
		b = b[i+1:]
	}
}

var rawTags = []string{"pre", "script", "style", "textarea"}

// htmlStart returns how the HTML block that starts with rest ends, and whether
// there is one. The last kind cannot interrupt a paragraph.
func (m *markdown) htmlStart(rest []byte, inParagraph bool) (htmlEnd, bool) {
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return htmlEnd{marks: []string{"-->"}}, true
	case m.mdx:
		return htmlEnd{}, false
	case bytes.HasPrefix(rest, []byte("<?")):
		return htmlEnd{marks: []string{"?>"}}, true
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		return htmlEnd{marks: []string{"]]>"}}, true
	case len(rest) > 2 && rest[1] == '!' && isLetter(rest[2]):
		return htmlEnd{marks: []string{">"}}, true
	}
	name, after := tagName(rest[1:])
	closing := len(rest) > 1 && rest[1] == '/'
	if closing {
		name, after = tagName(rest[2:])
	}
	ends := len(after) == 0 || strings.IndexByte(" \t>", after[0]) >= 0
	if slices.Contains(rawTags, name) {
		return htmlEnd{marks: []string{"</pre>", "</script>", "</style>", "</textarea>"}}, ends && !closing
	}
	if (ends || bytes.HasPrefix(after, []byte("/>"))) && blockTags[name] {
		return htmlEnd{blank: true}, true
	}
	if !inParagraph && name != "" && wholeTag(after, closing) {
		return htmlEnd{blank: true}, true
	}
	return htmlEnd{}, false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func tagName(b []byte) (name string, after []byte) {
	i := 0
	for i < len(b) && (isLetter(b[i]) || i > 0 && ('0' <= b[i] && b[i] <= '9' || b[i] == '-')) {
		i++
	}
	if i > 64 {
		return "long", b[i:]
	}
	return strings.ToLower(string(b[:i])), b[i:]
}

// wholeTag reports whether b is the rest of one tag after its name, with
// nothing but blanks behind it.
func wholeTag(b []byte, closing bool) bool {
	for {
		trimmed := bytes.TrimLeft(b, " \t")
		spaced := len(trimmed) < len(b)
		b = trimmed
		switch {
		case len(b) == 0:
			return false
		case b[0] == '>':
			return len(bytes.TrimSpace(b[1:])) == 0
		case b[0] == '/' && len(b) > 1 && b[1] == '>' && !closing:
			return len(bytes.TrimSpace(b[2:])) == 0
		case !spaced || closing:
			return false
		}
		var ok bool
		if b, ok = attribute(b); !ok {
			return false
		}
	}
}

// attribute passes over name, name=value, name='value' or name="value".
func attribute(b []byte) (rest []byte, ok bool) {
	i := 0
	for i < len(b) && (isLetter(b[i]) || b[i] == '_' || b[i] == ':' || i > 0 && (b[i] == '.' || b[i] == '-' || '0' <= b[i] && b[i] <= '9')) {
		i++
	}
	if i == 0 {
		return nil, false
	}
	value := bytes.TrimLeft(b[i:], " \t")
	if len(value) == 0 || value[0] != '=' {
		return b[i:], true
	}
	value = bytes.TrimLeft(value[1:], " \t")
	if len(value) == 0 {
		return nil, false
	}
	if q := value[0]; q == '"' || q == '\'' {
		end := bytes.IndexByte(value[1:], q)
		return value[min(end+2, len(value)):], end >= 0
	}
	end := bytes.IndexAny(value, " \t\"'=<>`")
	if end < 0 {
		end = len(value)
	}
	return value[end:], end > 0
}

var blockTags = func() map[string]bool {
	tags := map[string]bool{}
	for tag := range strings.FieldsSeq(`address article aside base basefont blockquote body caption center col
		colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3
		h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option p
		param search section summary table tbody td tfoot th thead title tr track ul`) {
		tags[tag] = true
	}
	return tags
}()

// module takes the first line of an ES module statement or of an expression in
// braces, and reports whether rest is one.
func (m *markdown) module(rest []byte, n int) bool {
	isImport := bytes.HasPrefix(rest, []byte("import "))
	isExport := bytes.HasPrefix(rest, []byte("export "))
	if !isImport && !isExport && rest[0] != '{' {
		return false
	}
	m.endLeaf()
	if m.braces = braceBalance(rest); m.braces > 0 {
		m.leaf = leafESM
	}
	switch {
	case isImport:
		if path := lastQuoted(rest); path != "" {
			m.d.imports = append(m.d.imports, symbol.Import{Path: path, Start: n, End: n})
		}
	case isExport:
		if name := exportedName(rest); name != "" {
			m.d.tree.leaf(symbol.Symbol{
				Name: name, Kind: symbol.Variable, Start: n, End: n, NameLine: n,
				Signature: preview(rest, MaxPreview), Exported: true,
			})
		}
	}
	return true
}

// braceBalance returns how many more brackets open than close in b.
func braceBalance(b []byte) int {
	n := 0
	for _, c := range b {
		switch c {
		case '{', '(', '[':
			n++
		case '}', ')', ']':
			n--
		}
	}
	return n
}

func lastQuoted(b []byte) string {
	end := bytes.LastIndexAny(b, `"'`)
	if end <= 0 {
		return ""
	}
	start := bytes.LastIndexByte(b[:end], b[end])
	return cutName(string(b[start+1 : end]))
}

func exportedName(b []byte) string {
	for word := range bytes.FieldsFuncSeq(b, func(r rune) bool { return strings.ContainsRune(" \t(=:{;*", r) }) {
		switch s := string(word[:min(len(word), MaxName)]); s {
		case "export", "default", "const", "let", "var", "function", "async", "class":
		default:
			return s
		}
	}
	return ""
}
