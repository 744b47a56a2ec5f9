package grammar

import (
	"bytes"
	"regexp"

	"mapd/outline/symbol"
)

// Parameters of a class or of its constructor that are members of the class at
// the same time. They are read from the text: the grammars' nodes of parameters
// are those of all functions, which the walk passes over.

// A component is such a parameter: what it is called and where.
type component struct {
	name       span
	start, end int
}

// components calls found for each parameter between the parenthesis at open and
// its partner. nameIn returns the place of the name in a parameter without its
// default value, if it is a member.
func (x *extraction) components(open int, nameIn func(text []byte) (from, to int), found func(component)) {
	start, value := open+1, 0
	add := func(end int) {
		for start < end && isSpace(x.src[start]) {
			start++
		}
		stop := end
		if value > 0 {
			stop = value
		}
		if from, to := nameIn(x.src[start:max(start, stop)]); to > from {
			last := end
			for last > start && isSpace(x.src[last-1]) {
				last--
			}
			found(component{name: span{start: start + from, end: start + to}, start: start, end: last})
		}
		start, value = end+1, 0
	}
	depth := 0
	for i := open; i < len(x.src); i++ {
		switch c := x.src[i]; c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			if c == '>' && x.src[i-1] == '=' {
				continue // an arrow
			}
			if depth--; depth == 0 {
				add(i)
				return
			}
		case ',':
			if depth == 1 {
				add(i)
			}
		case '=':
			if depth == 1 && value == 0 && i+1 < len(x.src) && x.src[i+1] != '>' {
				value = i
			}
		case '"', '\'', '`':
			if end := stringEnd(x.src, i); end > 0 {
				i = end
			}
		case '/':
			if i+1 < len(x.src) && (x.src[i+1] == '/' || x.src[i+1] == '*') {
				i = commentEnd(x.src, i) - 1
			}
		}
	}
}

// addComponents defines the parameters between the parenthesis at open, of the
// definition that is node i.
func (x *extraction) addComponents(i, open int, kind symbol.Kind, nameIn func([]byte) (int, int), sc *scope) {
	x.components(open, nameIn, func(c component) {
		x.define(sc, i, def{
			name: string(x.text[c.name.start:c.name.end]), nameAt: c.name.start,
			kind: kind, start: c.start, end: c.end,
		})
	})
}

// openAfter returns where a parenthesis opens behind the name that ends at end
// and its type parameters, or -1.
func (x *extraction) openAfter(end int) int {
	at := skipSpace(x.src, end)
	if at < len(x.src) && (x.src[at] == '<' || x.src[at] == '[') {
		depth := 0
		for ; at < len(x.src); at++ {
			switch x.src[at] {
			case '<', '[':
				depth++
			case '>', ']':
				depth--
			}
			if depth == 0 {
				break
			}
		}
		at = skipSpace(x.src, at+1)
	}
	if at < len(x.src) && x.src[at] == '(' {
		return at
	}
	return -1
}

// lastWord returns the place of the word at the end of text, as in Java and C#
// a parameter has its name.
func lastWord(text []byte) (from, to int) {
	to = len(bytes.TrimRight(text, " \t\r\n"))
	for from = to; from > 0 && (isWord(text[from-1]) || text[from-1] >= 0x80); from-- {
	}
	return from, to
}

var (
	scalaVal    = regexp.MustCompile(`^(?:@[\w.]+(?:\([^()]*\))?\s*)*(?:(?:private|protected)(?:\[\w+\])?\s+|override\s+|final\s+|inline\s+)*(?:val|var)\s+([^\s:]+)\s*:`)
	scalaPlain  = regexp.MustCompile(`^(?:@[\w.]+(?:\([^()]*\))?\s*)*(?:(?:private|protected)(?:\[\w+\])?\s+|override\s+|final\s+|val\s+|var\s+)*([^\s:]+)\s*:`)
	tsMember    = regexp.MustCompile(`^(?:@[\w.]+(?:\([^()]*\))?\s*)*(?:(?:public|private|protected|readonly|override)\s+)+([\w$]+)\s*[?:]?`)
	phpPromoted = regexp.MustCompile(`^(?:#\[[^\]]*\]\s*)*(?:(?:public|private|protected|readonly)(?:\(set\))?\s+)+[^$]*?\$(\w+)\s*$`)
)

// matched returns a function that finds the name as the group of re.
func matched(re *regexp.Regexp) func([]byte) (int, int) {
	return func(text []byte) (from, to int) {
		if m := re.FindSubmatchIndex(text); m != nil {
			return m[2], m[3]
		}
		return 0, 0
	}
}
