package format

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// latexLevels are the sectioning commands.
var latexLevels = map[string]int{
	"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6, "subparagraph": 7,
}

// latexVerbatim are the environments whose text is not LaTeX.
var latexVerbatim = map[string]bool{
	"verbatim": true, "verbatim*": true, "Verbatim": true, "lstlisting": true, "minted": true, "comment": true, "alltt": true, "filecontents": true, "filecontents*": true,
}

// scanLaTeX finds sectioning commands outside comments and verbatim text.
func scanLaTeX(d *doc) {
	l := latex{sections: sections{d: d}, b: d.src, i: d.bom, unclosed: map[string]bool{}}
	for l.i < len(l.b) && !d.stopped() {
		l.next()
	}
	l.end(d.text.Lines())
	if l.bad {
		d.broken(symbol.Segments)
	}
}

type latex struct {
	sections
	b        []byte
	i        int
	bad      bool
	failures int             // titles that are not closed
	unclosed map[string]bool // environments that are not closed from here on
}

// next moves behind the next command or comment.
func (l *latex) next() {
	k := bytes.IndexAny(l.b[l.i:], `\%`)
	if k < 0 {
		l.i = len(l.b)
		return
	}
	l.i += k
	if l.b[l.i] == '%' {
		l.i = lineEndFrom(l.b, l.i)
		return
	}
	start := l.i
	l.i++
	for l.i < len(l.b) && (isLetter(l.b[l.i]) || l.b[l.i] == '@') {
		l.i++
	}
	if l.i == start+1 { // \% and the like
		l.i = min(l.i+1, len(l.b))
		return
	}
	const longest = 32
	name := string(l.b[start+1 : min(l.i, start+longest)])
	switch {
	case latexLevels[name] > 0:
		l.title(start, latexLevels[name], name)
	case name == "begin":
		l.environment()
	case name == "verb" || name == "lstinline":
		l.verb()
	case name == "end" && bytes.HasPrefix(l.b[l.i:], []byte("{document}")):
		l.i = len(l.b)
	}
}

// title reads [short] and {title} of a sectioning command.
func (l *latex) title(start, level int, command string) {
	const mostFailures = 1000 // each costs a scan of a title's reach
	i := l.i
	if l.failures > mostFailures {
		return
	}
	if i < len(l.b) && l.b[i] == '*' {
		i++
	}
	i = skipBlank(l.b, i)
	if i < len(l.b) && l.b[i] == '[' {
		if i = bracketEnd(l.b, i); i < 0 {
			l.bad = true
			l.failures++
			return
		}
		i = skipBlank(l.b, i)
	}
	if i >= len(l.b) || l.b[i] != '{' {
		return
	}
	end := bracketEnd(l.b, i)
	if end < 0 {
		l.bad = true
		l.failures++
		return
	}
	line := l.d.lines.at(start)
	l.section(symbol.Symbol{
		Name: preview(l.b[i+1:end-1], MaxName), Kind: symbol.Heading, Start: line, NameLine: l.d.lines.at(i), Signature: `\` + command,
	}, level)
	l.i = end
}

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// bracketEnd returns the offset after the bracket that closes the one at i, -1
// if there is none in a title's reach.
func bracketEnd(b []byte, i int) int {
	const reach = 4000
	open, closing := b[i], byte('}')
	if open == '[' {
		closing = ']'
	}
	depth := 0
	for k := i; k < min(len(b), i+reach); k++ {
		switch b[k] {
		case '\\':
			k++
		case '%':
			k = lineEndFrom(b, k)
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return k + 1
			}
		}
	}
	return -1
}

// environment passes over a verbatim environment.
func (l *latex) environment() {
	rest := l.b[l.i:]
	end := bytes.IndexByte(rest[:min(len(rest), 64)], '}')
	if len(rest) == 0 || rest[0] != '{' || end < 0 {
		return
	}
	name := string(rest[1:end])
	l.i += end + 1
	if !latexVerbatim[name] || l.unclosed[name] {
		return
	}
	if k := bytes.Index(l.b[l.i:], []byte(`\end{`+name+"}")); k >= 0 {
		l.i += k
		return
	}
	l.unclosed[name], l.bad = true, true
}

// verb passes over \verb|text|.
func (l *latex) verb() {
	if l.i < len(l.b) && l.b[l.i] == '*' {
		l.i++
	}
	if l.i >= len(l.b) || strings.IndexByte(" \t\n", l.b[l.i]) >= 0 {
		return
	}
	mark := l.b[l.i]
	if mark == '{' {
		mark = '}'
	}
	line := l.b[l.i+1 : lineEndFrom(l.b, l.i)]
	if k := bytes.IndexByte(line, mark); k >= 0 {
		l.i += k + 2
	}
}
