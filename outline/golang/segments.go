package golang

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"unicode"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// firstError returns the offset of the first error of a parse in what was
// parsed, -1 if err is nil.
func firstError(err error) int {
	if err == nil {
		return -1
	}
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return 0
	}
	return slices.MinFunc(list, func(a, b *scanner.Error) int { return a.Pos.Offset - b.Pos.Offset }).Pos.Offset
}

// segments adds what parses of each segment of text from the offset on.
func segments(ctx context.Context, text *hashline.Text, from int, list *symbol.List) error {
	p := segmentParser{text: text, src: withoutConflictMarks(text, from)}
	for line := 1; line <= text.Lines(); line++ {
		if start, _ := text.Span(line); start < from || !startsDecl(text.Line(line)) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		last := line
		for last < text.Lines() && !startsDecl(text.Line(last+1)) {
			last++
		}
		p.segment(line, last, list)
		line = last
	}
	return nil
}

// cutBefore returns the last line up to the one of offset that starts a
// declaration, 1 if there is none.
func cutBefore(text *hashline.Text, offset int) int {
	line := text.LineAt(offset)
	for line > 1 && !startsDecl(text.Line(line)) {
		line--
	}
	return max(line, 1)
}

var declWords = []string{"func", "type", "var", "const", "import", "package"}

// startsDecl reports whether a declaration starts in column 0 of line.
func startsDecl(line []byte) bool {
	return declWord(line) != ""
}

func declWord(line []byte) string {
	if len(line) == 0 || line[0] < 'c' || line[0] > 'v' {
		return ""
	}
	for _, word := range declWords {
		if rest, ok := bytes.CutPrefix(line, []byte(word)); ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t(\r"), rest[0]) >= 0) {
			return word
		}
	}
	return ""
}

// withoutConflictMarks returns the bytes of text with the lines that a merge
// left from the offset on as blanks, so that both sides parse.
func withoutConflictMarks(text *hashline.Text, from int) []byte {
	src := text.Bytes()
	copied := false
	for n := max(text.LineAt(from), 1); n <= text.Lines(); n++ {
		if !isConflictMark(text.Line(n)) {
			continue
		}
		if !copied {
			src, copied = bytes.Clone(src), true
		}
		start, _ := text.Span(n)
		for i := range text.Line(n) {
			src[start+i] = ' '
		}
	}
	return src
}

func isConflictMark(line []byte) bool {
	if len(line) < 7 || bytes.IndexByte([]byte("<=>|"), line[0]) < 0 {
		return false
	}
	for _, c := range line[:7] {
		if c != line[0] {
			return false
		}
	}
	return len(line) == 7 || line[7] == ' '
}

// header stands before a segment to make it a file.
const header = "package p;"

type segmentParser struct {
	text *hashline.Text
	src  []byte // the bytes of text without conflict marks
	buf  []byte
}

// segment adds the declarations of lines first to last, which start with a
// word that starts a declaration.
func (p *segmentParser) segment(first, last int, list *symbol.List) {
	const allErrors = 256 << 10 // a larger segment may be given up after ten
	doc := p.docStart(first)
	last = p.trim(first, last)
	start, _ := p.text.Span(doc)
	_, end := p.text.Span(last)
	p.buf = p.buf[:0]
	if declWord(p.text.Line(first)) != "package" {
		p.buf = append(p.buf, header...)
	}
	base := 1 + len(p.buf) - start
	p.buf = append(p.buf, p.src[start:end]...)
	mode := mode
	if len(p.buf) <= allErrors {
		mode |= parser.AllErrors
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", p.buf, mode)
	u := &unit{text: p.text, src: p.src, file: file, base: base, end: end}
	if err == nil {
		u.decls(file.Decls, list)
		return
	}
	p.broken(u, first, last, list)
}

// docStart returns the first line of the comment that ends just before line n.
func (p *segmentParser) docStart(n int) int {
	for n > 1 && bytes.HasPrefix(p.text.Line(n-1), []byte("//")) {
		n--
	}
	return n
}

// trim returns the last line of first to last that is neither blank nor a
// comment in column 0: such a comment belongs to what follows.
func (p *segmentParser) trim(first, last int) int {
	for last > first {
		line := p.text.Line(last)
		if len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			break
		}
		last--
	}
	return last
}

// broken adds what is left of a segment with errors. Its first declaration
// ends where a closing bracket stands in column 0, otherwise with the segment.
func (p *segmentParser) broken(u *unit, first, last int, list *symbol.List) {
	end := last
	for n := first + 1; n <= last; n++ {
		if line := p.text.Line(n); len(line) > 0 && (line[0] == '}' || line[0] == ')') {
			end = n
			break
		}
	}
	before := len(list.Symbols)
	for _, d := range u.file.Decls {
		if _, bad := d.(*ast.BadDecl); !bad {
			u.decl(d, list)
		}
	}
	added := list.Symbols[before:]
	if len(added) == 0 {
		if s, ok := byFirstLine(p.text.Line(first)); ok {
			s.Start, s.NameLine, s.End = first, first, end
			list.Symbols = append(list.Symbols, s)
		}
		return
	}
	for i := range added {
		limit := last
		if s := &added[i]; s.Start == first && len(added) == 1 {
			s.End = max(end, s.Start)
			limit = s.End
		}
		clamp(&added[i], limit)
	}
}

// clamp keeps s and what is in it before the line after last.
func clamp(s *symbol.Symbol, last int) {
	s.End = max(min(s.End, last), s.Start)
	for i := range s.Children {
		clamp(&s.Children[i], s.End)
	}
}

// byFirstLine reads the name off a line that starts a declaration from which
// the parser could recover nothing.
func byFirstLine(line []byte) (s symbol.Symbol, ok bool) {
	word := declWord(line)
	rest := bytes.TrimSpace(line[len(word):])
	s.Signature = collapse(line)
	recv := ""
	switch word {
	case "func":
		s.Kind = symbol.Function
		if bytes.HasPrefix(rest, []byte("(")) {
			i := bytes.IndexByte(rest, ')')
			if i < 0 {
				return s, false
			}
			recv, rest = receiver(rest[1:i]), bytes.TrimSpace(rest[i+1:])
		}
	case "type":
		s.Kind = symbol.Class
	case "var":
		s.Kind = symbol.Variable
	case "const":
		s.Kind = symbol.Constant
	default:
		return s, false
	}
	name := leadingName(rest)
	s.Name, s.Exported = name, token.IsExported(name)
	if recv != "" {
		s.Name, s.Kind = recv+"."+name, symbol.Method
		s.Exported = s.Exported && token.IsExported(recv)
	}
	return s, name != "" && name != "_"
}

// receiver returns the type's name of "s *T[K]".
func receiver(list []byte) string {
	list, _, _ = bytes.Cut(list, []byte{'['})
	words := bytes.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == '\t' || r == '*' || r == '(' })
	if len(words) == 0 {
		return ""
	}
	return leadingName(words[len(words)-1])
}

// leadingName returns the identifier that starts b, "" if none does.
func leadingName(b []byte) string {
	end := bytes.IndexFunc(b, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(b)
	}
	if name := string(b[:end]); token.IsIdentifier(name) {
		return name
	}
	return ""
}
