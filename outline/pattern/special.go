package pattern

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// What follows finds definitions that no word starts. Each function gets a line
// without comments, strings and indentation, and the same as it stands in the
// file. It returns true if the line needs no further look; without a name then
// it defines nothing.

var none = definition{}

// goMethod finds "func (r *T) Name".
func goMethod(s *scanner, _ int, code, _ []byte) (definition, bool) {
	rest, ok := bytes.CutPrefix(code, []byte("func ("))
	if !ok {
		return none, false
	}
	n := group(code[len("func "):])
	if n == 0 {
		return none, true
	}
	name := identifier(bytes.TrimLeft(code[len("func ")+n:], " "), "")
	recv, _, _ := bytes.Cut(rest[:n-2], []byte{'['})
	words := bytes.FieldsFunc(recv, func(r rune) bool { return r == ' ' || r == '*' })
	if name == "" || len(words) == 0 {
		return none, true
	}
	return definition{name: string(words[len(words)-1]) + "." + name, kind: symbol.Method, exported: name[0] >= 'A' && name[0] <= 'Z'}, true
}

// cDefine finds macros and typedefs, and tells "struct s {" from
// "struct s *f(void)".
func cDefine(s *scanner, indent int, code, raw []byte) (definition, bool) {
	if code[0] == '#' {
		return cMacro(code)
	}
	if rest, ok := bytes.CutPrefix(code, []byte("typedef ")); ok {
		if def, ok := cTypedef(s, rest); ok {
			return def, true
		}
	}
	def, ok := s.lang.byWord(s, code, raw)
	if !ok {
		return cPrototype(s, indent, code)
	}
	_, after, _ := bytes.Cut(code, []byte(def.name))
	after = bytes.TrimLeft(after, " \t\r")
	switch {
	case len(after) == 0 || after[0] == '{' || after[0] == ':' || after[0] == '<' || hasPrefix(after, "final"):
		def.doubt = true
		return def, true
	case def.kind == symbol.Struct || def.kind == symbol.Enum || def.kind == symbol.Class:
		if s.inFunction() {
			return none, true
		}
		def, ok = cPrototype(s, indent, code)
		if !ok {
			def, _ = s.lang.byCall(code)
		}
		return def, true
	}
	return def, true
}

// cMacro finds "#define NAME". Other lines for the preprocessor define nothing.
func cMacro(code []byte) (definition, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(code[1:], " \t"), []byte("define"))
	rest = bytes.TrimLeft(rest, " \t")
	name := identifier(rest, "")
	if !ok || name == "" {
		return none, true
	}
	kind := symbol.Constant
	if len(rest) > len(name) && rest[len(name)] == '(' {
		kind = symbol.Function
	}
	return definition{name: name, kind: kind, line: true}, true
}

// cTypedef finds "typedef … name;" and "typedef struct {", which has its name at
// its end.
func cTypedef(s *scanner, rest []byte) (definition, bool) {
	rest = bytes.TrimRight(rest, " \t\r")
	word := wordAt(rest)
	kind, isType := s.lang.words[word]
	tail := bytes.TrimSpace(rest[len(word):])
	if isType && (len(tail) == 0 || tail[0] == '{') {
		return definition{name: word, kind: kind, named: true, doubt: true}, true
	}
	if len(rest) < 2 || rest[len(rest)-1] != ';' || bytes.IndexByte(rest, '{') >= 0 {
		return none, false
	}
	if i := bytes.Index(rest, []byte("(*")); i >= 0 { // a pointer to a function
		name := identifier(bytes.TrimLeft(rest[i+2:], " *"), "")
		return definition{name: name, kind: symbol.Class, line: true}, true
	}
	rest = bytes.TrimRight(rest, "; \t")
	if i := bytes.IndexByte(rest, '['); i > 0 {
		rest = bytes.TrimRight(rest[:i], " \t")
	}
	start := len(rest)
	for start > 0 && isWord(rest[start-1]) {
		start--
	}
	return definition{name: identifier(rest[start:], ""), kind: symbol.Class, line: true}, true
}

// cPrototype finds "type name(…);" at the left margin, and a definition whose
// type stands on the line before.
func cPrototype(s *scanner, indent int, code []byte) (definition, bool) {
	def, ok := s.lang.byCall(code)
	if !ok || indent > 0 || s.inFunction() {
		return none, false
	}
	if i := bytes.Index(code, []byte(def.name)); i > 0 {
		def.doubt = false
	} else if s.lastCode > 0 && s.lastCode == s.now-1 && onlyWords(s.text.Line(s.lastCode)) {
		def.above = true
	}
	return def, true
}

// onlyWords reports whether a line at the left margin is the type of what
// follows.
func onlyWords(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	if len(line) == 0 || len(line) > 80 || !isWord(line[0]) || control[wordAt(line)] {
		return false
	}
	for _, c := range line {
		if !isWord(c) && c != ' ' && c != '*' && c != '\t' {
			return false
		}
	}
	return true
}

// objcMember finds @interface, @implementation, @protocol, methods, properties
// and macros.
func objcMember(s *scanner, indent int, code, raw []byte) (definition, bool) {
	if code[0] == '#' {
		return cDefine(s, indent, code, raw)
	}
	if bytes.HasPrefix(code, []byte("@property")) {
		words := bytes.FieldsFunc(code, func(r rune) bool { return r == ' ' || r == '*' || r == ';' })
		name := identifier(words[len(words)-1], "")
		return definition{name: name, kind: symbol.Property, line: true}, true
	}
	for word, kind := range map[string]symbol.Kind{"@interface ": symbol.Class, "@implementation ": symbol.Class, "@protocol ": symbol.Interface} {
		if rest, ok := bytes.CutPrefix(code, []byte(word)); ok {
			forward := bytes.HasSuffix(bytes.TrimSpace(rest), []byte(";"))
			if name := identifier(bytes.TrimSpace(rest), ""); name != "" && !forward {
				return definition{name: name, kind: kind, section: true}, true
			}
			return none, true
		}
	}
	if code[0] != '-' && code[0] != '+' || indent > 0 {
		return none, false
	}
	rest := bytes.TrimLeft(code[1:], " \t")
	rest = bytes.TrimLeft(rest[group(rest):], " \t")
	var name strings.Builder
	for len(rest) > 0 {
		part := identifier(rest, "")
		name.WriteString(part)
		rest = bytes.TrimLeft(rest[len(part):], " \t")
		if part == "" || len(rest) == 0 || rest[0] != ':' {
			break
		}
		name.WriteByte(':')
		rest = bytes.TrimLeft(rest[1:], " \t")
		rest = bytes.TrimLeft(rest[group(rest):], " \t")
		rest = bytes.TrimLeft(rest[len(identifier(rest, "")):], " \t")
	}
	return definition{name: name.String(), kind: symbol.Method}, true
}

// annotated passes over annotations in front of a definition.
func annotated(s *scanner, _ int, code, raw []byte) (definition, bool) {
	at := 0
	for at < len(code) && code[at] == '@' && !bytes.HasPrefix(code[at:], []byte("@interface")) {
		at += 1 + len(identifier(code[at+1:], "."))
		at += group(code[at:])
		for at < len(code) && isSpace(code[at]) {
			at++
		}
	}
	if at == 0 {
		return none, false
	}
	if at == len(code) {
		return none, true
	}
	if def, ok := s.lang.byWord(s, code[at:], raw[at:]); ok {
		return def, true
	}
	if s.inFunction() {
		return none, true
	}
	return s.lang.byCall(code[at:])
}

// jsBinding finds functions that are bound to names: "const f = (a) =>",
// "f = function", "x.y = async function", "f: function".
func jsBinding(s *scanner, _ int, code, _ []byte) (definition, bool) {
	rest, exported, declared := code, false, false
	for {
		word := wordAt(rest)
		switch word {
		case "export", "default", "static", "async", "public", "private", "protected", "readonly", "declare":
			exported = exported || word == "export"
		case "const", "let", "var":
			declared = true
		default:
			word = ""
		}
		if word == "" || len(rest) == len(word) || !isSpace(rest[len(word)]) {
			break
		}
		rest = bytes.TrimLeft(rest[len(word):], " \t")
	}
	name := identifier(rest, ".$#")
	value := bytes.TrimLeft(rest[len(name):], " \t")
	if name == "" || len(value) < 2 || control[name] {
		return none, false
	}
	if declared && value[0] == ':' { // a type
		_, value, _ = bytes.Cut(value, []byte("= "))
		value = append([]byte("= "), value...)
	}
	if value[0] != '=' && (value[0] != ':' || declared) || value[1] == '=' || value[1] == '>' {
		return none, false
	}
	value = bytes.TrimLeft(value[1:], " \t")
	value = bytes.TrimLeft(bytes.TrimPrefix(value, []byte("async")), " \t")
	isFunc := bytes.HasPrefix(value, []byte("function"))
	if arrow := bytes.Index(value, []byte("=>")); !isFunc && arrow > 0 && len(value) > 0 {
		head := bytes.TrimSpace(value[:arrow])
		isFunc = len(head) > 0 && (group(head) > 0 || len(identifier(head, "$")) == len(head))
	}
	switch {
	case isFunc:
		return definition{name: name[strings.LastIndexByte(name, '.')+1:], kind: symbol.Function, exported: exported}, true
	case declared && !s.inFunction():
		return definition{name: name, kind: symbol.Variable, exported: exported}, true
	}
	return none, false
}

// zigBinding finds "const T = struct {" and "test ... {".
func zigBinding(s *scanner, indent int, code, raw []byte) (definition, bool) {
	rest := code
	for _, mod := range []string{"pub ", "export ", "threadlocal "} {
		rest = bytes.TrimPrefix(rest, []byte(mod))
	}
	exported := len(rest) < len(code)
	if after, ok := bytes.CutPrefix(rest, []byte("test ")); ok {
		name := strings.Trim(string(bytes.TrimRight(raw[len(code)-len(after):], " {\r")), `"`)
		return definition{name: short("test "+name, maxName), kind: symbol.Function}, true
	}
	word := wordAt(rest)
	if word != "const" && word != "var" {
		return none, false
	}
	name := identifier(bytes.TrimLeft(rest[len(word):], " "), "")
	for what, kind := range map[string]symbol.Kind{"struct": symbol.Struct, "enum": symbol.Enum, "union": symbol.Struct, "opaque": symbol.Struct, "error": symbol.Enum} {
		_, value, _ := bytes.Cut(rest, []byte("= "))
		for _, mod := range []string{"packed ", "extern "} {
			value = bytes.TrimPrefix(value, []byte(mod))
		}
		if wordAt(value) == what && bytes.IndexByte(value, '{') > 0 {
			return definition{name: name, kind: kind, exported: exported}, name != ""
		}
	}
	if indent > 0 || name == "" {
		return none, true
	}
	return definition{name: name, kind: symbol.Constant, exported: exported}, true
}

// swiftInit finds members that have no name of their own.
func swiftInit(s *scanner, _ int, code, _ []byte) (definition, bool) {
	rest := code
	for word := wordAt(rest); s.lang.mods[word] && len(rest) > len(word); word = wordAt(rest) {
		rest = bytes.TrimLeft(rest[len(word):], " ")
	}
	word := wordAt(rest)
	if word != "init" && word != "deinit" && word != "subscript" {
		return none, false
	}
	kind := symbol.Constructor
	if word == "subscript" {
		kind = symbol.Method
	}
	return definition{name: word, kind: kind}, len(s.open) > 0 && !s.inFunction()
}

// solidityInit is the same for Solidity.
func solidityInit(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	word := wordAt(code)
	if word != "constructor" && word != "receive" && word != "fallback" || len(code) == len(word) || code[len(word)] != '(' {
		return none, false
	}
	return definition{name: word, kind: symbol.Constructor}, true
}

// identifier returns the letters, digits, underscores and bytes of more that b
// starts with, without what no name ends with. It is not a number.
func identifier(b []byte, more string) string {
	n := 0
	for n < len(b) && n < maxName && (isWord(b[n]) || strings.IndexByte(more, b[n]) >= 0) {
		n++
	}
	if n == 0 || b[0] >= '0' && b[0] <= '9' {
		return ""
	}
	return string(b[:n])
}
