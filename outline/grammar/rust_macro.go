package grammar

import (
	"bytes"
	"strings"
)

// Calls of macros whose arguments are items, as those of lazy_static, cfg_if and
// thread_local. To the grammar they are tokens.

// maxMacros bounds how deep such calls are followed into each other.
const maxMacros = 3

// rustCall defines the items between the braces of the call of a macro that is
// node i, if they are items as they stand.
func rustCall(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	text := x.src[n.start:n.end]
	open := bytes.IndexAny(text, "{([")
	if sc.inFunc || x.macros >= maxMacros || open < 0 || text[open] != '{' || text[len(text)-1] != '}' {
		return
	}
	start, end := n.start+open+1, n.end-1
	branches := bytes.HasPrefix(bytes.TrimSpace(x.src[start:end]), []byte("if ")) // if #[cfg(…)] { items } else { items }
	if !branches {
		x.rustItems(start, end, sc)
		return
	}
	for start < end {
		from, to := braces(x.src[start:end])
		if from < 0 {
			return
		}
		x.rustItems(start+from+1, start+to, sc)
		start += to + 1
	}
}

// rustItems defines the items from byte start up to end if all of the text is
// items.
func (x *extraction) rustItems(start, end int, sc *scope) {
	src := bytes.ReplaceAll(x.src[start:end], []byte("static ref "), []byte("static     "))
	nodes, broken, err := x.t.parse(src)
	if err != nil || broken {
		return
	}
	y := &extraction{t: x.t, src: src, text: x.text[start:end], lines: lineStarts(src), nodes: nodes, wrapped: -1, macros: x.macros + 1}
	for _, i := range y.tops() {
		if t := y.typ(i); !strings.HasSuffix(t, "_item") && !strings.HasSuffix(t, "_comment") && t != "macro_invocation" && t != "macro_definition" && t != "use_declaration" {
			return
		}
	}
	inner := &scope{holder: sc.holder, name: sc.name, depth: sc.depth}
	y.siblings(0, len(nodes), inner)
	settle(inner.symbols)
	p := piece{symbols: inner.symbols, imports: y.list.Imports}
	p.shift(x.line(start) - 1)
	sc.symbols = append(sc.symbols, p.symbols...)
	x.list.Imports = append(x.list.Imports, p.imports...)
}

// braces returns where the first brace of text and its partner are; -1 if there
// are none.
func braces(text []byte) (from, to int) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			if depth++; depth == 1 {
				from = i
			}
		case '}':
			if depth--; depth == 0 {
				return from, i
			}
		case '"':
			if end := stringEnd(text, i); end > 0 {
				i = end
			}
		case '\'':
			if i+2 < len(text) && text[i+2] == '\'' {
				i += 2
			}
		case '/':
			if i+1 < len(text) && (text[i+1] == '/' || text[i+1] == '*') {
				i = commentEnd(text, i) - 1
			}
		}
	}
	return -1, -1
}
