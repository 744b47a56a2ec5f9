package grammar

import "bytes"

// Syntax that is newer than the grammars of JavaScript and TypeScript, rewritten
// to what they know with the same length. Signatures show the text as written.

// A rewriter holds a text of which a copy is made when the first word changes.
type rewriter struct {
	text []byte
	src  []byte
}

// set writes word over the bytes from at on; all of word must fit.
func (r *rewriter) set(at int, word string) {
	if &r.src[0] == &r.text[0] {
		r.src = bytes.Clone(r.text)
	}
	copy(r.src[at:], word)
}

// each calls found with the place of each word, as a whole word with a space or
// a line's end behind it.
func (r *rewriter) each(word string, found func(at int)) {
	needle := []byte(word)
	for at := 0; ; {
		k := bytes.Index(r.text[at:], needle)
		if k < 0 {
			return
		}
		at += k
		end := at + len(word)
		if end < len(r.text) && isSpace(r.text[end]) && (at == 0 || !isWord(r.text[at-1])) {
			found(at)
		}
		at = end
	}
}

// before returns the last byte in front of at that is no space, 0 if there is
// none.
func (r *rewriter) before(at int) byte {
	for at--; at >= 0; at-- {
		if !isSpace(r.text[at]) {
			return r.text[at]
		}
	}
	return 0
}

// lineHead returns the text of the line in front of at.
func (r *rewriter) lineHead(at int) []byte {
	return bytes.TrimSpace(r.text[bytes.LastIndexByte(r.text[:at], '\n')+1 : at])
}

// after returns what follows the space behind the word that ends at end.
func (r *rewriter) after(end int) []byte { return r.text[skipSpace(r.text, end):] }

func jsPrepare(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	r := &rewriter{text, text}
	r.declarations()
	return r.src
}

// declarations makes "using x =" and "await using x =" declarations of
// constants, and fields of accessors.
func (r *rewriter) declarations() {
	r.each("using", func(at int) {
		next := r.after(at + len("using"))
		if len(next) == 0 || !isWord(next[0]) || bytes.HasPrefix(next, []byte("in ")) {
			return
		}
		switch head := r.lineHead(at); {
		case len(head) == 0:
			r.set(at, "const")
		case bytes.Equal(head, []byte("await")):
			r.set(bytes.LastIndex(r.text[:at], head), "     ")
			r.set(at, "const")
		}
	})
	r.each("accessor", func(at int) {
		next := r.after(at + len("accessor"))
		if len(next) == 0 || !isWord(next[0]) && next[0] != '#' {
			return
		}
		for _, word := range bytes.Fields(r.lineHead(at)) {
			switch string(word) {
			case "public", "private", "protected", "static", "override", "readonly", "abstract", "declare":
			default:
				return
			}
		}
		r.set(at, "        ")
	})
}

// tsxPrepare also makes "global {" inside a module an if statement, which tsIf
// knows, and blanks what stands in front of type parameters and "type" in
// export type *.
func tsxPrepare(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	r := &rewriter{text, text}
	r.typeScript()
	return r.src
}

// tsPrepare also ends call signatures; in TSX the same text is an element.
func tsPrepare(text []byte) []byte {
	if len(text) == 0 {
		return text
	}
	r := &rewriter{text, text}
	r.typeScript()
	r.callSignatures()
	return r.src
}

func (r *rewriter) typeScript() {
	r.declarations()
	r.each("global", func(at int) {
		if next := r.after(at + len("global")); len(next) > 0 && next[0] == '{' && len(r.lineHead(at)) == 0 {
			r.set(at, "if(10)")
		}
	})
	for _, word := range []string{"const", "in", "out"} {
		r.each(word, func(at int) {
			c := r.before(at)
			if word == "out" && c == 'n' && r.afterIn(at) {
				c = ','
			}
			if c != '<' && c != ',' {
				return
			}
			if next := r.after(at + len(word)); len(next) > 0 && isWord(next[0]) && !bytes.HasPrefix(next, []byte("enum ")) {
				r.set(at, "     "[:len(word)])
			}
		})
	}
	for at := 0; ; at += len("]+?") { // a mapped type that adds "?"
		k := bytes.Index(r.text[at:], []byte("]+?"))
		if k < 0 {
			break
		}
		at += k
		r.set(at+1, " ")
	}
	r.each("type", func(at int) {
		if next := r.after(at + len("type")); len(next) > 0 && next[0] == '*' && bytes.Equal(r.lineHead(at), []byte("export")) {
			r.set(at, "    ")
		}
	})
}

// callSignatures ends what stands before a call signature with type parameters
// on a line of its own: the grammar would go on reading the type before it.
func (r *rewriter) callSignatures() {
	for at := 0; ; at++ {
		k := bytes.IndexByte(r.text[at:], '<')
		if k < 0 {
			return
		}
		at += k
		if at == 0 || r.text[at-1] != ' ' && r.text[at-1] != '\t' || !startsUpper(r.after(at+1)) || len(r.lineHead(at)) > 0 {
			continue
		}
		head := withoutComments(r.text[:at])
		if n := len(head); n > 0 && !goesOn(head) {
			switch c := head[n-1]; {
			case isWord(c), c == '>', c == ')', c == ']', c == '}':
				r.set(at-1, ";")
			}
		}
	}
}

func startsUpper(text []byte) bool { return len(text) > 0 && text[0] >= 'A' && text[0] <= 'Z' }

// withoutComments returns text without the space and block comments at its end.
func withoutComments(text []byte) []byte {
	for {
		text = bytes.TrimRight(text, " \t\r\n")
		if !bytes.HasSuffix(text, []byte("*/")) {
			return text
		}
		k := bytes.LastIndex(text, []byte("/*"))
		if k < 0 {
			return text
		}
		text = text[:k]
	}
}

// goesOn reports whether a type must follow text.
func goesOn(head []byte) bool {
	for _, end := range []string{"=>", "new", "extends", "return", "keyof", "is", "infer", "typeof", "as", "satisfies"} {
		if bytes.HasSuffix(head, []byte(end)) {
			return true
		}
	}
	return false
}

// afterIn reports whether the word in front of at is the "in" of a type
// parameter.
func (r *rewriter) afterIn(at int) bool {
	head := bytes.TrimRight(r.text[:at], " \t\r\n")
	if !bytes.HasSuffix(head, []byte("in")) {
		return false
	}
	c := r.before(len(head) - 2)
	return c == '<' || c == ','
}
