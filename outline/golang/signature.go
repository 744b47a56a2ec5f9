package golang

import (
	"bytes"
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// Longer signatures and docstrings are cut, with an ellipsis at their end.
const (
	maxSignature = 240 // bytes
	maxDocstring = 160 // bytes
)

// signature returns the source from start to end on one line: without comments,
// and with each run of blanks as one, none inside the brackets of a list.
func (u *unit) signature(start, end token.Pos) string {
	from, to := u.offset(start), u.offset(end)
	if from >= to {
		return ""
	}
	return collapse(bytes.TrimRight(u.src[from:to], " \t\r\n"))
}

// header is the signature of a function without a body. If the body was lost to
// an error, what seems to be the signature may be the body.
func (u *unit) header(start, end token.Pos) string {
	from, to := u.offset(start), u.offset(end)
	if from >= to {
		return ""
	}
	src := u.src[from:to]
	if u.broken {
		src, _, _ = bytes.Cut(src, []byte{'\n'})
		src = bytes.TrimRight(src, " \t\r{")
	}
	return collapse(src)
}

// valueSignature is the signature of a const or var spec: all of it if it is
// on one line, otherwise what stands before the first line break.
func (u *unit) valueSignature(spec *ast.ValueSpec, start token.Pos) string {
	from, to := u.offset(start), u.offset(spec.End())
	if from >= to {
		return ""
	}
	first, _, cut := bytes.Cut(u.src[from:to], []byte{'\n'})
	if cut {
		return collapse(first) + " …"
	}
	return collapse(first)
}

func collapse(src []byte) string {
	if oneLine(src) {
		return string(src)
	}
	out := make([]byte, 0, min(len(src), maxSignature+utf8.UTFMax))
	blank := false
	for i := 0; i < len(src); {
		if len(out) > maxSignature {
			return cut(out, maxSignature)
		}
		switch n := comment(src[i:]); {
		case n > 0:
			i += n
			blank = true
			continue
		case src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r':
			i++
			blank = true
			continue
		}
		out = space(out, src[i], blank)
		blank = false
		n := quoted(src[i:])
		for _, c := range src[i : i+min(n, maxSignature+1)] {
			if c == '\n' || c == '\r' || c == '\t' {
				c = ' '
			}
			out = append(out, c)
		}
		i += n
	}
	return cut(out, maxSignature)
}

// oneLine reports whether src is ASCII that needs no change, as gofmt leaves
// most lines.
func oneLine(src []byte) bool {
	if len(src) == 0 || len(src) > maxSignature || src[len(src)-1] == ' ' {
		return false
	}
	for i, c := range src {
		if c < ' ' || c >= 0x7f || c == '/' || c == ' ' && (i == 0 || src[i-1] == ' ' || src[i-1] == '(' || src[i-1] == '[') {
			return false
		}
	}
	return true
}

// space appends the blank that stands before next, if it is of any use, and
// drops the comma of a last element that had its own line.
func space(out []byte, next byte, blank bool) []byte {
	if !blank || len(out) == 0 {
		return out
	}
	last := out[len(out)-1]
	switch {
	case last == '(' || last == '[':
		return out
	case next == ')' || next == ']':
		return bytes.TrimSuffix(out, []byte{','})
	}
	return append(out, ' ')
}

// comment returns the length of the comment that starts src, 0 if none does.
func comment(src []byte) int {
	if len(src) < 2 || src[0] != '/' || src[1] != '/' && src[1] != '*' {
		return 0
	}
	end, extra := "\n", 0
	if src[1] == '*' {
		end, extra = "*/", 2
	}
	if i := bytes.Index(src[2:], []byte(end)); i >= 0 {
		return 2 + i + extra
	}
	return len(src)
}

// quoted returns the length of the literal that starts src, 1 if none does.
func quoted(src []byte) int {
	q := src[0]
	if q != '"' && q != '`' && q != '\'' {
		return 1
	}
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == q:
			return i + 1
		case src[i] == '\\' && q != '`':
			i++
		}
	}
	return len(src)
}

// cut returns b as valid UTF-8 of at most limit bytes and an ellipsis.
func cut(b []byte, limit int) string {
	if len(b) <= limit {
		return clean(string(bytes.TrimRight(b, " ")))
	}
	b = b[:limit]
	for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return clean(string(b[:max(len(b)-1, 0)])) + "…"
}

func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// document sets what the doc comment of s says.
func (u *unit) document(s *symbol.Symbol, doc *ast.CommentGroup) {
	if doc == nil || len(doc.List) == 0 {
		return
	}
	if lead := u.line(doc.Pos()); lead < s.Start {
		s.Lead = lead
	}
	s.Docstring = docstring(doc)
}

// docstring returns the first line of text in doc that is no directive.
func docstring(doc *ast.CommentGroup) string {
	for _, c := range doc.List {
		body, block := strings.CutPrefix(c.Text, "/*")
		if !block {
			body = strings.TrimPrefix(c.Text, "//")
			if isDirective(body) {
				continue
			}
		}
		body = strings.TrimSuffix(body, "*/")
		for line := range strings.SplitSeq(body, "\n") {
			line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "*"))
			if line != "" {
				return cut([]byte(line), maxDocstring)
			}
		}
	}
	return ""
}

// isDirective reports whether a comment is for a tool: //go:build, //nolint:x,
// //export Name, //line f:1.
func isDirective(body string) bool {
	if strings.HasPrefix(body, "export ") || strings.HasPrefix(body, "extern ") || strings.HasPrefix(body, "line ") {
		return true
	}
	word, rest, found := strings.Cut(body, ":")
	if !found || word == "" || rest == "" || rest[0] == ' ' {
		return false
	}
	for _, c := range []byte(word) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
