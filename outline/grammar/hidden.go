package grammar

import (
	"bytes"
	"regexp"

	"mapd/outline/symbol"
)

// hidden tells for each line whether it begins inside a comment or string, as
// far as that can be told without a parser. In a tree with errors the parser
// may take such lines for code; no definition begins there.
func (x *extraction) hidden() []bool {
	if x.inQuotes == nil {
		x.inQuotes = make([]bool, len(x.lines))
		switch {
		case x.t.lang.hide != nil:
			x.t.lang.hide(x, x.inQuotes)
		case x.t.lang.braces:
			hideRemarks(x, x.inQuotes)
		}
	}
	return x.inQuotes
}

// hideRemarks finds the lines of which all lies in a comment /* … */ that
// begins a line. A comment without an end has no lines.
func hideRemarks(x *extraction, hidden []bool) {
	open, began := false, 0
	for i := range hidden {
		line := bytes.TrimSpace(x.lineText(i))
		if !open {
			if !bytes.HasPrefix(line, []byte("/*")) {
				continue
			}
			began = i
		}
		_, rest, closed := bytes.Cut(line, []byte("*/"))
		open = !closed
		hidden[i] = open || blank(rest)
	}
	if open {
		clear(hidden[began:])
	}
}

// hideTriple finds the lines that begin inside a string of three quotes. If the
// last of them has no end, one of them lost a quote, and nothing is known.
func hideTriple(x *extraction, hidden []bool) {
	src := x.src
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '#':
			if k := bytes.IndexByte(src[i:], '\n'); k >= 0 {
				i += k
			} else {
				i = len(src)
			}
		case '"', '\'':
			if quote := bytes.Repeat(src[i:i+1], 3); bytes.HasPrefix(src[i:], quote) {
				end := tripleEnd(src, i+3, quote)
				if end < 0 {
					clear(hidden)
					return
				}
				x.hideLines(hidden, i, end)
				i = end + 2
			} else if end := stringEnd(src, i); end >= 0 {
				i = end
			}
		}
	}
}

// tripleEnd returns where the three quotes are that end a string, or -1.
func tripleEnd(src []byte, i int, quote []byte) int {
	for ; i < len(src); i++ {
		if src[i] == '\\' {
			i++
		} else if bytes.HasPrefix(src[i:], quote) {
			return i
		}
	}
	return -1
}

// hideLines hides the lines that begin behind byte from, up to byte end.
func (x *extraction) hideLines(hidden []bool, from, end int) {
	for line := x.line(from); line < len(x.lines) && x.lines[line] <= end; line++ {
		hidden[line] = true
	}
}

// hideHeredocs returns a function that finds the lines of the texts that open
// begins: they end with a line of the word that is its last group.
func hideHeredocs(open *regexp.Regexp) func(x *extraction, hidden []bool) {
	return func(x *extraction, hidden []bool) {
		for i := 0; i < len(hidden); i++ {
			m := open.FindSubmatch(x.lineText(i))
			if m == nil {
				continue
			}
			for end := i + 1; end < len(hidden); end++ {
				if bytes.Equal(bytes.TrimSpace(x.lineText(end)), m[len(m)-1]) {
					for i < end {
						i++
						hidden[i] = true
					}
					break
				}
			}
		}
	}
}

// withoutHidden returns symbols without those that begin on a hidden line. What
// lies in such a symbol stays.
func withoutHidden(symbols []symbol.Symbol, hidden []bool) []symbol.Symbol {
	kept := symbols[:0:0]
	for _, s := range symbols {
		s.Children = withoutHidden(s.Children, hidden)
		if s.Start <= len(hidden) && hidden[s.Start-1] {
			kept = append(kept, s.Children...)
		} else {
			kept = append(kept, s)
		}
	}
	return kept
}
