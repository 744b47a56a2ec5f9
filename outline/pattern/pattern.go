package pattern

import (
	"bytes"
	"context"
	"strings"
	"unicode/utf8"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// Limits of one scan.
const (
	// MaxSymbols bounds the symbols of one file; what comes after is left out.
	MaxSymbols = 200_000
	// MaxDepth is how deep definitions nest; what lies deeper is left out.
	MaxDepth = 32
	// longLine is how many bytes of a line are looked at for a definition.
	// Brackets count to its end.
	longLine = 2 << 10

	maxName      = 200
	maxSignature = 200
)

// Supports reports whether Scan has patterns of its own for the language.
func Supports(lang string) bool { return languages[lang] != nil }

// Scan returns the definitions that line patterns find in text. A language
// without patterns of its own gets those that many languages share. A file in
// which nothing is found has the source None. The error is that of ctx.
func Scan(ctx context.Context, lang string, text *hashline.Text) (symbol.List, error) {
	l := languages[lang]
	if l == nil {
		l = &generic
	}
	if lang == "text" {
		return symbol.List{Source: symbol.None, Why: symbol.Unsupported}, ctx.Err()
	}
	s := &scanner{lang: l, text: text, mask: newMasker(&l.lexis)}
	for n := 1; n <= text.Lines(); n++ {
		if n%4096 == 1 && ctx.Err() != nil {
			return symbol.List{}, ctx.Err()
		}
		s.line(n, text.Line(n))
		if s.count >= MaxSymbols {
			break
		}
	}
	s.finish()
	list := symbol.List{Symbols: s.root.children, Source: symbol.Pattern, Why: symbol.Unsupported}
	if len(list.Symbols) == 0 {
		list.Source = symbol.None
	}
	return list, nil
}

// scanner reads a text line by line and keeps the definitions that are open.
type scanner struct {
	lang  *language
	outer *language // the language around an embedded one, nil outside of it
	text  *hashline.Text
	mask  *masker
	root  scope
	open  []scope
	count int

	braces     int   // depth of { at the current place
	others     int   // depth of ( and [ since the last {
	around     []int // others before each {, down to maxAround of them
	openIndent int   // indentation of the line with the first open ( or [
	doc        int   // first line of the comments just before, 0 if there are none

	macro     bool   // the line before was for the preprocessor and goes on
	lastMacro *scope // where the macro it defines is the last child

	now      int // the current line
	lastCode int // the line with code before it
}

// scope is a definition whose end is not known yet, or the top level.
type scope struct {
	symbol   symbol.Symbol
	children []symbol.Symbol

	indent int
	braces int // depth of { before it
	state  state
	doubt  bool // it is a definition only if a block follows
	named  bool // its name follows its block
	last   int  // last line with code in it
	head   int  // last line of the brackets before its block
}

type state int

const (
	waiting state = iota // for its block to open
	inside               // its block is open
	lines                // its block is what is indented
	section              // its block is what follows
)

// line reads one line.
func (s *scanner) line(n int, raw []byte) {
	s.now = n
	s.endScript(n, raw)
	code, continued := s.mask.mask(raw)
	trimmed := bytes.TrimLeft(code, " \t")
	if len(bytes.Trim(trimmed, " \t\r\f\"'")) == 0 {
		if s.mask.text {
			s.extend(n, width(raw[:len(raw)-len(bytes.TrimLeft(raw, " \t"))]), continued)
		}
		if !s.mask.text || s.lang.docs {
			s.blank(n, raw)
		}
		return
	}
	if s.lang.macros && (s.macro || trimmed[0] == '#') {
		s.preprocessor(n, raw, trimmed)
		return
	}
	indent := width(code[:len(code)-len(trimmed)])
	start := len(code) - len(trimmed)
	if !continued && s.others > 0 && indent <= s.openIndent {
		// A word that starts a definition, not indented deeper than the line with
		// the open bracket: the bracket is one that is never closed.
		if def, ok := s.lang.byWord(s, trimmed[:min(len(trimmed), longLine)], raw[start:]); ok && def.name != "" {
			s.others = 0
		}
	}
	if !continued && s.others == 0 {
		s.openIndent = indent
		s.dedent(n, indent, trimmed)
		if def, ok := s.lang.match(s, indent, trimmed[:min(len(trimmed), longLine)], raw[start:]); ok {
			s.recover(indent)
			s.begin(n, indent, raw, def)
		}
	}
	inBrackets := s.others > 0
	s.brackets(n, code)
	s.extend(n, indent, true)
	if top := s.top(); top != nil && top.state == waiting && s.braces == top.braces && (inBrackets || s.others > 0) {
		top.head = n
	}
	s.settle(n)
	s.lastCode, s.doc = n, 0
}

// preprocessor reads a line of a macro, whose brackets need not match.
func (s *scanner) preprocessor(n int, raw, code []byte) {
	if !s.macro {
		if def, ok := cMacro(code); ok && def.name != "" {
			s.begin(n, 0, raw, def)
			s.lastMacro = s.parent()
		} else {
			s.lastMacro = nil
		}
	}
	if s.macro && s.lastMacro == s.parent() && s.lastMacro != nil && len(s.lastMacro.children) > 0 {
		s.lastMacro.children[len(s.lastMacro.children)-1].End = n
	}
	s.macro = bytes.HasSuffix(bytes.TrimRight(raw, " \t\r"), []byte("\\"))
	s.extend(n, 0, true)
	s.lastCode, s.doc = n, 0
}

// extend notes that a line belongs to what is open: all of it, or what is
// indented less.
func (s *scanner) extend(n, indent int, all bool) {
	for i := range s.open {
		if all || s.open[i].indent < indent {
			s.open[i].last = n
		}
	}
}

// blank notes a line without code: comments before a definition belong to it.
func (s *scanner) blank(n int, raw []byte) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		s.doc = 0
	case s.doc == 0 && !hasPrefix(raw, "#!") && !hasPrefix(raw, "{-#"):
		s.doc = n
	}
}

// width is the column after indentation, tabs counting to multiples of 8.
func width(space []byte) int {
	w := 0
	for _, c := range space {
		if w++; c == '\t' {
			w = (w + 7) &^ 7
		}
	}
	return w
}

// dedent ends what a line that is not indented deeper ends.
func (s *scanner) dedent(n, indent int, code []byte) {
	for len(s.open) > 0 {
		top := &s.open[len(s.open)-1]
		switch {
		case top.state == section:
			if indent == top.indent && s.lang.endsWith(code) {
				s.close(n)
			}
			return
		case top.state == inside && s.lang.blocks != byIndent:
			return
		case indent > top.indent:
			if top.state == waiting && s.lang.blocks == byEither && code[0] != '{' {
				top.state = lines
			}
			return
		case top.state == waiting && indent == top.indent && goesOn(code):
			return
		case top.state == lines && indent == top.indent && s.lang.endsWith(code):
			s.close(n)
			return
		}
		s.close(top.last)
	}
}

// goesOn reports whether a line at the indentation of a definition belongs to
// its head.
func goesOn(code []byte) bool {
	if bytes.IndexByte([]byte("{)>:&|,=+"), code[0]) >= 0 {
		return true
	}
	switch wordAt(code) {
	case "where", "throws", "extends", "implements", "requires":
		return true
	}
	return false
}

// begin opens a definition.
func (s *scanner) begin(n, indent int, raw []byte, def definition) {
	if def.section && !def.nested {
		s.endSections(s.lastCode)
	}
	if len(s.open) >= MaxDepth {
		return
	}
	sym := symbol.Symbol{
		Name: short(def.name, maxName), Kind: def.kind, Start: n, End: n, NameLine: n,
		Signature: signature(raw), Exported: def.exported,
	}
	if s.doc > 0 && s.doc < n {
		sym.Lead = s.doc
		for line := s.doc; line < min(n, s.doc+3) && sym.Docstring == ""; line++ {
			sym.Docstring = docstring(s.text.Line(line))
		}
	}
	if def.above {
		sym.Start = n - 1
	}
	sym.Local = s.inFunction()
	top := scope{symbol: sym, indent: indent, braces: s.braces, doubt: def.doubt, named: def.named, last: n}
	if s.lang.blocks == byIndent {
		top.state = lines
	}
	if def.section {
		top.state = section
	}
	s.open = append(s.open, top)
	if def.line {
		s.close(n)
	}
}

// endSections ends the section that is open, and what is open in it.
func (s *scanner) endSections(line int) {
	for i := range s.open {
		if s.open[i].state == section {
			for len(s.open) > i {
				s.close(line)
			}
			return
		}
	}
}

func (s *scanner) inFunction() bool {
	for i := range s.open {
		if isFunction(s.open[i].symbol.Kind) {
			return true
		}
	}
	return false
}

func isFunction(k symbol.Kind) bool {
	return k == symbol.Function || k == symbol.Method || k == symbol.Constructor
}

// maxAround is how deep brackets nest before mismatched ones can confuse.
const maxAround = 1 << 10

// brackets follows the brackets of a line. A lost ( inside a block does not
// outlive the block.
func (s *scanner) brackets(n int, code []byte) {
	for _, c := range code {
		switch c {
		case '(', '[':
			s.others++
		case ')', ']':
			s.others = max(s.others-1, 0)
		case '{':
			if top := s.top(); top != nil && top.state == waiting && s.others == 0 && s.braces == top.braces {
				top.state, top.doubt = inside, false
			}
			if s.braces++; s.braces <= maxAround {
				s.around = append(s.around[:s.braces-1], s.others)
			}
			s.others = 0
		case '}':
			s.closeBrace(n)
		case ';':
			if top := s.top(); top != nil && top.state == waiting && s.others == 0 && s.braces == top.braces && s.lang.blocks == byBraces {
				s.close(n)
			}
		}
	}
}

func (s *scanner) closeBrace(n int) {
	s.others = 0
	if s.braces == 0 {
		return
	}
	if s.braces--; s.braces < maxAround {
		s.others = s.around[s.braces]
	}
	for top := s.top(); top != nil && top.state == inside && s.braces <= top.braces; top = s.top() {
		s.close(n)
	}
}

// recover ends functions whose closing brace was lost, as a definition that is
// not indented deeper shows: functions hold no such definitions.
func (s *scanner) recover(indent int) {
	for top := s.top(); top != nil && top.state == inside && indent <= top.indent && isFunction(top.symbol.Kind); top = s.top() {
		s.braces = top.braces
		s.close(top.last)
	}
}

func (s *scanner) top() *scope {
	if len(s.open) == 0 {
		return nil
	}
	return &s.open[len(s.open)-1]
}

// settle gives up a definition that has waited long for its block.
func (s *scanner) settle(n int) {
	const patience = 40 // lines
	if top := s.top(); top != nil && top.state == waiting && s.others == 0 && n-top.symbol.Start > patience {
		s.close(top.head)
	}
}

// embed goes on in the language of a script element.
func (s *scanner) embed() {
	if s.lang.script != nil {
		s.outer, s.lang = s.lang, s.lang.script
		s.mask = newMasker(&s.lang.lexis)
	}
}

// endScript ends the language of a script element where the element ends.
func (s *scanner) endScript(n int, raw []byte) {
	if s.outer == nil || !bytes.HasPrefix(bytes.TrimSpace(raw[:min(len(raw), longLine)]), []byte("</script")) {
		return
	}
	for top := s.top(); top != nil && top.state != section; top = s.top() {
		s.close(min(top.last, n-1))
	}
	s.lang, s.outer = s.outer, nil
	s.mask = newMasker(&s.lang.lexis)
	s.braces, s.others = 0, 0
}

// close ends the innermost open definition.
func (s *scanner) close(end int) {
	top := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if top.doubt {
		s.parent().children = append(s.parent().children, top.children...)
		return
	}
	top.symbol.End = max(end, top.symbol.Start)
	if top.named && !s.nameAfter(&top.symbol) {
		return
	}
	top.symbol.Children = top.children
	for i := range top.children {
		top.symbol.End = max(top.symbol.End, top.children[i].End)
	}
	if s.lang.merge && s.mergesInto(&top.symbol) {
		return
	}
	s.count++
	s.parent().children = append(s.parent().children, top.symbol)
}

// nameAfter names a type after what follows its closing brace.
func (s *scanner) nameAfter(sym *symbol.Symbol) bool {
	line := s.text.Line(sym.End)
	_, after, ok := bytes.Cut(line[:min(len(line), longLine)], []byte{'}'})
	name := identifier(bytes.TrimLeft(after, " \t*"), "")
	if !ok || name == "" {
		return false
	}
	sym.Name, sym.NameLine = name, sym.End
	return true
}

// mergesInto adds a further clause of the definition before it to that.
func (s *scanner) mergesInto(sym *symbol.Symbol) bool {
	before := s.parent().children
	if len(before) == 0 {
		return false
	}
	last := &before[len(before)-1]
	if last.Name != sym.Name || last.Kind != sym.Kind {
		return false
	}
	last.End = sym.End
	last.Children = append(last.Children, sym.Children...)
	return true
}

func (s *scanner) parent() *scope {
	if top := s.top(); top != nil {
		return top
	}
	return &s.root
}

// finish ends what the end of the file ends.
func (s *scanner) finish() {
	for len(s.open) > 0 {
		top := s.top()
		end := top.last
		if top.state == waiting {
			end = top.head
		}
		s.close(end)
	}
}

// signature is a line without what opens a block at its end.
func signature(raw []byte) string {
	line := bytes.TrimSpace(raw[:min(len(raw), longLine)])
	return short(string(bytes.TrimRight(line, " \t{:")), maxSignature)
}

// docstring is the text of a comment's first line.
func docstring(line []byte) string {
	return short(strings.TrimSpace(strings.Trim(string(bytes.TrimSpace(line[:min(len(line), longLine)])), "/*#-;!%\"'{}|=<> \t")), maxName)
}

// short returns s on one line as valid UTF-8 of at most about limit bytes.
func short(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit] + "…"
	}
	return strings.ReplaceAll(s, "\t", " ")
}
