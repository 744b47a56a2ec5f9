package golang

import (
	"bytes"
	"context"
	"errors"
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
		line = p.segment(line, p.segmentEnd(line), list)
	}
	return nil
}

// segmentEnd returns the last line before the next declaration after line n.
func (p *segmentParser) segmentEnd(n int) int {
	for n < p.text.Lines() && !startsDecl(p.text.Line(n+1)) {
		n++
	}
	return n
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
// word that starts a declaration. It returns the last line it used: a string or
// comment that does not end in the segment may hold lines that only look like
// the next declaration.
func (p *segmentParser) segment(first, last int, list *symbol.List) (used int) {
	start, _ := p.text.Span(first)
	if _, end := p.text.Span(last); end-start > maxChunk {
		p.named(first, p.closing(first, last), list)
		return last
	}
	u, err := p.parse(first, last)
	if longer := p.pastLiteral(last, err); longer > last {
		if whole, err := p.parse(first, longer); err == nil {
			whole.decls(whole.file.Decls, list)
			return longer
		}
	}
	if err == nil {
		u.decls(u.file.Decls, list)
	} else {
		p.broken(u, first, p.trim(first, last), list)
	}
	return last
}

// parse parses lines first to last with the comment before them.
func (p *segmentParser) parse(first, last int) (*unit, error) {
	head := header
	if declWord(p.text.Line(first)) == "package" {
		head = ""
	}
	return p.parseAs(head, first, p.trim(first, last), "")
}

// parseAs parses lines first to last with the comment before them, between head
// and tail.
func (p *segmentParser) parseAs(head string, first, last int, tail string) (*unit, error) {
	const allErrors = 256 << 10 // a larger segment may be given up after ten
	start, _ := p.text.Span(p.docStart(first))
	_, end := p.text.Span(last)
	p.buf = append(append(append(p.buf[:0], head...), p.src[start:end]...), tail...)
	mode := mode
	if len(p.buf) <= allErrors {
		mode |= parser.AllErrors
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", p.buf, mode)
	return &unit{text: p.text, src: p.src, file: file, base: 1 + len(head) - start, end: end}, err
}

// pastLiteral returns the end of the segment after line last that holds the end
// of the raw string or comment which err says is not terminated, 0 if there is
// none nearby.
func (p *segmentParser) pastLiteral(last int, err error) int {
	const nearby = 64 << 10
	var errs scanner.ErrorList
	if !errors.As(err, &errs) {
		return 0
	}
	for _, e := range errs {
		closing := ""
		switch e.Msg {
		case "raw string literal not terminated":
			closing = "`"
		case "comment not terminated":
			closing = "*/"
		default:
			continue
		}
		_, from := p.text.Span(last)
		if i := bytes.Index(p.src[from:min(len(p.src), from+nearby)], []byte(closing)); i >= 0 {
			return p.segmentEnd(p.text.LineAt(from + i))
		}
	}
	return 0
}

// docStart returns the first line of the comment that ends just before line n.
func (p *segmentParser) docStart(n int) int {
	for n > 1 && bytes.HasPrefix(bytes.TrimLeft(p.text.Line(n-1), " \t"), []byte("//")) {
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

// broken adds what is left of a segment with errors: the specs of a group each
// by itself; of another declaration what the parser could recover, or at least
// its name. It ends where a closing bracket stands in column 0, otherwise with
// the segment.
func (p *segmentParser) broken(u *unit, first, last int, list *symbol.List) {
	if word := declWord(p.text.Line(first)); word != "func" && opensGroup(p.text.Line(first), word) {
		p.group(word, first+1, last, list)
		return
	}
	end := p.closing(first, last)
	before := len(list.Symbols)
	p.recovered(u, last, list)
	added := list.Symbols[before:]
	switch {
	case len(added) == 0:
		p.named(first, end, list)
	case len(added) == 1 && added[0].Start == first:
		added[0].End = max(end, first)
		clamp(&added[0], end)
	}
}

// closing returns the line up to last with the bracket in column 0 that closes
// what starts at line first, last if there is none.
func (p *segmentParser) closing(first, last int) int {
	for n := first + 1; n <= last; n++ {
		if line := p.text.Line(n); len(line) > 0 && (line[0] == '}' || line[0] == ')') {
			return n
		}
	}
	return last
}

// named adds a declaration of which only the first line is understood.
func (p *segmentParser) named(first, end int, list *symbol.List) {
	if s, ok := byFirstLine(p.text.Line(first)); ok {
		s.Start, s.NameLine, s.End = first, first, end
		list.Symbols = append(list.Symbols, s)
	}
}

// recovered adds the declarations of a unit with errors, up to line last.
func (p *segmentParser) recovered(u *unit, last int, list *symbol.List) {
	before := len(list.Symbols)
	u.broken = true
	u.decls(u.file.Decls, list)
	for i := range list.Symbols[before:] {
		clamp(&list.Symbols[before+i], last)
	}
}

// opensGroup reports whether a line is a word and a parenthesis.
func opensGroup(line []byte, word string) bool {
	return string(bytes.TrimSpace(line[len(word):])) == "("
}

// group adds the specs on lines first to last of a group whose lines do not
// parse together. A spec starts at each line with the indentation of the first
// one and a letter.
func (p *segmentParser) group(word string, first, last int, list *symbol.List) {
	indent := -1
	start := 0
	for n := first; n <= last+1; n++ {
		at := -1
		if n <= last {
			line := p.text.Line(n)
			rest := bytes.TrimLeft(line, " \t")
			if len(rest) > 0 && (isLetter(rest[0]) || word == "import" && rest[0] == '"') {
				at = len(line) - len(rest)
			}
			if indent < 0 {
				indent = at
			}
		}
		if n <= last && (at < 0 || at > indent) {
			continue
		}
		if start > 0 {
			head := header + word + "("
			u, _ := p.parseAs(head, start, n-1, ")")
			p.recovered(u, n-1, list)
		}
		start = n
	}
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// clamp keeps s and what is in it before the line after last.
func clamp(s *symbol.Symbol, last int) {
	s.End = max(min(s.End, last), s.Start)
	if s.NameLine > s.End {
		s.NameLine = 0
	}
	kept := s.Children[:0]
	for i := range s.Children {
		if c := &s.Children[i]; c.Start <= s.End {
			clamp(c, s.End)
			kept = append(kept, *c)
		}
	}
	s.Children = kept
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
