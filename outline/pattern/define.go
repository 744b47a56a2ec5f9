package pattern

import (
	"bytes"

	"mapd/outline/symbol"
)

// language says how definitions of a language look.
type language struct {
	lexis
	blocks blocks
	words  map[string]symbol.Kind // what starts a definition; the name follows
	mods   map[string]bool        // what may stand before such a word
	// calls: a definition may also look like "name(…) {", with words before it.
	calls bool
	// macros: a line that starts with # is for a preprocessor and goes on after a
	// backslash.
	macros bool
	// members: in a type such a line needs no block.
	members bool
	// name holds bytes that names have beside letters, digits and underscores.
	name string
	ends []string // words that end a block at the indentation of its start
	docs bool     // a string before a definition documents it
	// merge: definitions of one name that follow each other are one.
	merge bool
	// special finds what has no word before it. It is asked first.
	special func(s *scanner, indent int, code, raw []byte) (definition, bool)
	script  *language // of what a script element holds
}

// blocks says what tells the end of a block.
type blocks int

const (
	byEither blocks = iota // braces where there are some, otherwise indentation
	byBraces
	byIndent
)

// definition is what a line starts.
type definition struct {
	name     string
	kind     symbol.Kind
	exported bool
	doubt    bool // it is one only if a block follows
	line     bool // it has only this line
	section  bool // it ends where the next section starts, or a word ends it
	named    bool // its name follows its block
	above    bool // it starts on the line before
	nested   bool // a section that does not end the one before
}

// exports are the modifiers that make a definition visible outside.
var exports = set("export", "pub", "public", "open", "global")

// control are words that a bracket follows without defining anything.
var control = set("if", "for", "while", "switch", "return", "else", "elif", "elseif", "do", "catch", "sizeof", "throw", "throws", "new", "delete", "case", "typedef", "using",
	"goto", "assert", "await", "yield", "with", "foreach", "unless", "until", "synchronized", "defer", "go", "select", "match", "when", "try", "finally", "lock", "fixed", "in", "not",
	"and", "or", "is", "typeof", "super", "this", "echo", "print", "exit", "die", "require", "include", "import", "local", "my", "our", "let", "var", "const", "val", "loop", "guard")

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// match returns what the line starts. code is without comments, strings and
// indentation; raw is the same with them.
func (l *language) match(s *scanner, indent int, code, raw []byte) (definition, bool) {
	if l.special != nil {
		if def, ok := l.special(s, indent, code, raw); ok {
			return def, def.name != ""
		}
	}
	if def, ok := l.byWord(s, code, raw); ok {
		return def, true
	}
	if l.calls && !s.inFunction() {
		def, ok := l.byCall(code)
		if l.members && s.inBlockOf(symbol.Class, symbol.Interface, symbol.Struct) {
			def.doubt = false
		}
		return def, ok
	}
	return definition{}, false
}

// byWord finds "modifiers word name".
func (l *language) byWord(s *scanner, code, raw []byte) (definition, bool) {
	exported := false
	at := 0
	for range 12 {
		at += len(code[at:]) - len(bytes.TrimLeft(code[at:], " \t"))
		word := wordAt(code[at:])
		if word == "" {
			return definition{}, false
		}
		at += len(word)
		if l.mods[word] {
			exported = exported || exports[word]
			at += group(code[at:])
			continue
		}
		kind, ok := l.words[word]
		if !ok || at < len(code) && !isSpace(code[at]) && code[at] != '(' && code[at] != '<' && code[at] != '*' {
			return definition{}, false
		}
		name := l.nameAt(code[at:], raw[at:])
		if name == "" {
			return definition{}, false
		}
		if (kind == symbol.Variable || kind == symbol.Constant) && s.inFunction() {
			return definition{}, false
		}
		if next, nested := l.words[name]; nested { // "enum class Name", "data class Name"
			if rest := at + bytes.Index(code[at:], []byte(name)) + len(name); rest < len(code) && isSpace(code[rest]) {
				if name2 := l.nameAt(code[rest:], raw[rest:]); name2 != "" {
					if kind != symbol.Enum {
						kind = next
					}
					name = name2
				}
			}
		}
		return definition{name: name, kind: kind, exported: exported}, true
	}
	return definition{}, false
}

// nameAt reads the name that follows a word: after type parameters, a receiver
// in brackets or a star.
func (l *language) nameAt(code, raw []byte) string {
	at := 0
	for at < len(code) && (isSpace(code[at]) || code[at] == '*' || code[at] == '&') {
		at++
	}
	if at < len(code) && (code[at] == '<' || code[at] == '(') {
		n := group(code[at:])
		if n == 0 {
			return ""
		}
		at += n
		for at < len(code) && isSpace(code[at]) {
			at++
		}
	}
	if at < len(code) && (code[at] == '"' || code[at] == '`') { // a name in quotes is masked
		if i := bytes.IndexByte(raw[at+1:min(len(raw), at+1+maxName)], code[at]); i > 0 {
			return string(raw[at+1 : at+1+i])
		}
		return ""
	}
	end := at
	for end < len(code) && (isWord(code[end]) || bytes.IndexByte([]byte(l.name), code[end]) >= 0) {
		end++
	}
	name := bytes.TrimRight(code[at:end], ".:-")
	if n := group(code[end:]); n > 0 && bytes.HasPrefix(code[end+n:], []byte(".")) && len(name) > 0 { // List<T>.name
		name = append(append(bytes.Clone(name), '.'), identifier(code[end+n+1:], "")...)
	}
	if len(name) == 0 || name[0] >= '0' && name[0] <= '9' {
		return ""
	}
	return string(name)
}

// byCall finds "type name(…) {" and "name(…) {".
func (l *language) byCall(code []byte) (definition, bool) {
	open := bytes.IndexByte(code, '(')
	if open <= 0 || hasPrefix(code[open:], "(*") || bytes.IndexByte(code[:open], '=') >= 0 && !bytes.Contains(code[:open], []byte("operator")) || control[wordAt(code)] {
		return definition{}, false
	}
	head := bytes.TrimRight(code[:open], " \t")
	start := len(head)
	for start > 0 && (isWord(head[start-1]) || bytes.IndexByte([]byte(":~.$"), head[start-1]) >= 0) {
		start--
	}
	name := string(bytes.Trim(head[start:], ":."))
	if i := bytes.Index(head, []byte("operator")); i >= 0 && (i == 0 || !isWord(head[i-1])) {
		start, name = i, string(head[i:])
	}
	if name == "" || name[0] >= '0' && name[0] <= '9' || control[name] || l.words[name] != "" || bytes.IndexByte([]byte(".,;&|?@"), code[0]) >= 0 {
		return definition{}, false
	}
	for _, c := range head[:start] {
		if bytes.IndexByte([]byte(`"'{}();?!+-/|`), c) >= 0 {
			return definition{}, false
		}
	}
	after := code[open:]
	after = bytes.TrimLeft(after[group(after):], " \t")
	arrow := bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(after, []byte("async")), " \t"), []byte("=>"))
	return definition{name: name, kind: symbol.Function, doubt: !arrow, exported: exports[wordAt(code)]}, true
}

// endsWith reports whether a line ends the block that started at its
// indentation.
func (l *language) endsWith(code []byte) bool {
	if code[0] == '}' || code[0] == ')' || code[0] == ']' || hasPrefix(code, "</") {
		return true
	}
	word := wordAt(code)
	for _, end := range l.ends {
		if word == end {
			return true
		}
	}
	return false
}

func wordAt(code []byte) string {
	n := 0
	for n < len(code) && (isWord(code[n]) || code[n] == '@' && n == 0) {
		n++
	}
	return string(code[:n])
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

// group returns the length of the brackets that start code, 0 if there are
// none or they do not close.
func group(code []byte) int {
	if len(code) == 0 {
		return 0
	}
	open := code[0]
	end := map[byte]byte{'(': ')', '<': '>', '[': ']'}[open]
	if end == 0 {
		return 0
	}
	depth := 0
	for i, c := range code {
		switch c {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
