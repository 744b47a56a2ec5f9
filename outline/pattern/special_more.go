package pattern

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// inBlockOf reports whether the line stands directly in the block of a
// definition of one of the kinds.
func (s *scanner) inBlockOf(kinds ...symbol.Kind) bool {
	top := s.top()
	if top == nil || top.state != inside || s.braces != top.braces+1 {
		return false
	}
	for _, k := range kinds {
		if top.symbol.Kind == k {
			return true
		}
	}
	return false
}

// graphqlField finds the fields of a type.
func graphqlField(s *scanner, _ int, code, _ []byte) (definition, bool) {
	if !s.inBlockOf(symbol.Class, symbol.Interface) {
		return none, false
	}
	name := identifier(code, "")
	if name == "" || len(code) == len(name) || code[len(name)] != ':' && code[len(name)] != '(' {
		return none, false
	}
	return definition{name: name, kind: symbol.Field, line: code[len(name)] == ':'}, true
}

// cssRule finds "selector {".
func cssRule(_ *scanner, _ int, code, raw []byte) (definition, bool) {
	open := bytes.IndexByte(code, '{')
	if open <= 0 || code[0] == '}' {
		return none, false
	}
	return definition{name: short(string(bytes.TrimSpace(raw[:min(open, maxName)])), maxName), kind: symbol.Class}, true
}

// hclBlock finds `resource "type" "name" {`, which it calls resource.type.name.
func hclBlock(_ *scanner, _ int, code, raw []byte) (definition, bool) {
	open := bytes.IndexByte(code, '{')
	name := identifier(code, "-")
	if open < 0 || name == "" || bytes.IndexByte(code[:open], '=') >= 0 {
		return none, false
	}
	for _, label := range bytes.Fields(raw[len(name):open]) {
		name += "." + string(bytes.Trim(label, `"`))
	}
	return definition{name: short(name, maxName), kind: symbol.Class}, true
}

// fieldBlock finds "name: {".
func fieldBlock(_ *scanner, indent int, code, raw []byte) (definition, bool) {
	name := identifier(code, "#-$")
	rest := code[len(name):]
	if len(code) > 0 && code[0] == '"' {
		if i := bytes.IndexByte(raw[1:], '"'); i > 0 {
			name, rest = string(raw[1:1+i]), code[2+i:]
		}
	}
	rest = bytes.TrimLeft(rest, "?! ")
	if name == "" || len(rest) == 0 || rest[0] != ':' || indent > 0 && bytes.IndexByte(rest, '{') < 0 {
		return none, false
	}
	return definition{name: short(name, maxName), kind: symbol.Object}, true
}

// nixBinding finds "name = value".
func nixBinding(s *scanner, _ int, code, _ []byte) (definition, bool) {
	name := identifier(code, ".-'")
	rest := bytes.TrimLeft(code[len(name):], " ")
	if name == "" || len(rest) < 2 || rest[0] != '=' || rest[1] == '=' {
		return none, false
	}
	kind := symbol.Variable
	value := bytes.TrimSpace(rest[1:])
	if id := identifier(value, "-'"); id != "" && bytes.HasPrefix(value[len(id):], []byte(":")) || bytes.HasSuffix(value, []byte(":")) || bytes.Contains(value, []byte("}:")) {
		kind = symbol.Function
	}
	return definition{name: name, kind: kind}, true
}

// luaBinding finds "name = function(".
func luaBinding(s *scanner, _ int, code, _ []byte) (definition, bool) {
	rest := bytes.TrimPrefix(code, []byte("local "))
	name := identifier(rest, ".:")
	value, ok := bytes.CutPrefix(bytes.TrimLeft(rest[len(name):], " "), []byte("="))
	if name == "" || !ok || wordAt(bytes.TrimLeft(value, " ")) != "function" {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// juliaShort finds "name(args) = value".
func juliaShort(s *scanner, _ int, code, _ []byte) (definition, bool) {
	name := identifier(code, ".!")
	args := group(code[len(name):])
	rest := bytes.TrimLeft(code[len(name)+args:], " ")
	if name == "" || args == 0 || len(rest) < 2 || rest[0] != '=' || rest[1] == '=' || s.inFunction() {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// shellFunction finds "name() {".
func shellFunction(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	name := identifier(code, "-:.")
	rest := bytes.TrimLeft(code[len(name):], " \t")
	if name == "" || !bytes.HasPrefix(rest, []byte("()")) && !bytes.HasPrefix(rest, []byte("( )")) {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// rBinding finds "name <- function(".
func rBinding(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	name := identifier(code, ".")
	rest := bytes.TrimLeft(code[len(name):], " ")
	for _, arrow := range []string{"<<-", "<-", "="} {
		if value, ok := bytes.CutPrefix(rest, []byte(arrow)); ok && name != "" && wordAt(bytes.TrimLeft(value, " ")) == "function" {
			return definition{name: name, kind: symbol.Function}, true
		}
	}
	return none, false
}

var haskellWords = set("import", "infixl", "infixr", "infix", "deriving", "where", "foreign", "default", "if", "case", "let", "in", "of", "do", "then", "else", "port", "exposing")

// haskellEquation finds "name :: type" and "name args =".
func haskellEquation(s *scanner, indent int, code, _ []byte) (definition, bool) {
	name := identifier(code, "'")
	if indent > 0 && s.top() == nil || name == "" || name[0] >= 'A' && name[0] <= 'Z' || haskellWords[name] || s.lang.words[name] != "" {
		return none, false
	}
	inClass := s.top() != nil && (s.top().symbol.Kind == symbol.Interface || s.top().symbol.Kind == symbol.Class)
	if indent > 0 && !inClass {
		return none, false
	}
	rest := bytes.TrimLeft(code[len(name):], " ")
	if before := s.parent().children; indent == 0 && len(before) > 0 && before[len(before)-1].Name == name {
		return definition{name: name, kind: symbol.Function}, true
	}
	typed := bytes.HasPrefix(rest, []byte("::")) || bytes.HasPrefix(rest, []byte(": "))
	if !typed && (inClass || bytes.IndexByte(rest, '=') < 0 && !bytes.HasPrefix(rest, []byte("|"))) {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// erlangClause finds "name(args) ->", -module and -record.
func erlangClause(_ *scanner, indent int, code, _ []byte) (definition, bool) {
	if indent > 0 {
		return none, false
	}
	for attr, kind := range map[string]symbol.Kind{"-module(": symbol.Module, "-record(": symbol.Struct, "-type ": symbol.Class, "-define(": symbol.Constant} {
		if rest, ok := bytes.CutPrefix(code, []byte(attr)); ok {
			return definition{name: identifier(rest, ""), kind: kind}, true
		}
	}
	name := identifier(code, "")
	if name == "" || name[0] < 'a' || len(code) == len(name) || code[len(name)] != '(' {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// lispForm finds "(def… name" and its relatives at the top level.
func lispForm(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	const more = "-+*/?!<>=.:%&|$'"
	if code[0] != '(' {
		return none, false
	}
	word := identifier(code[1:], more)
	name := strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
	kind := symbol.Function
	switch {
	case name == "ns" || name == "in-package" || name == "defpackage" || name == "define-module":
		kind = symbol.Namespace
	case name == "define-record-type" || name == "defrecord" || name == "deftype" || name == "defclass" || name == "defstruct" || name == "struct" || name == "cl-defstruct":
		kind = symbol.Class
	case name == "defprotocol" || name == "definterface":
		kind = symbol.Interface
	case name == "def" || name == "defvar" || name == "defparameter" || name == "defonce" || name == "defcustom" || name == "defconst" || name == "defconstant":
		kind = symbol.Variable
	case !strings.HasPrefix(name, "def") && !strings.HasPrefix(name, "cl-def"):
		return none, false
	}
	rest := bytes.TrimLeft(code[1+len(word):], " \t'(")
	for len(rest) > 0 && rest[0] == '^' { // metadata
		n := bytes.IndexByte(rest, ' ')
		if n < 0 {
			return none, false
		}
		rest = bytes.TrimLeft(rest[n:], " ")
	}
	id := identifier(rest, more)
	return definition{name: id, kind: kind}, id != ""
}

// makeRule finds rules and variables of make.
func makeRule(s *scanner, indent int, code, _ []byte) (definition, bool) {
	if top := s.top(); top != nil && top.state == section { // the text of a define
		return none, true
	}
	if indent > 0 {
		return none, false
	}
	if rest, ok := bytes.CutPrefix(code, []byte("define ")); ok {
		name, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte{' '})
		return definition{name: short(string(name), maxName), kind: symbol.Variable, section: true}, true
	}
	if i := bytes.IndexByte(code, '='); i > 0 && bytes.IndexByte(code[:i], '(') < 0 {
		name := string(bytes.TrimRight(code[:i], " \t:?+!"))
		if name != "" && len(name) < maxName && !strings.ContainsAny(name, " \t$:") {
			return definition{name: name, kind: symbol.Variable}, true
		}
	}
	target, deps, found := bytes.Cut(code, []byte{':'})
	name := string(bytes.TrimSpace(bytes.TrimPrefix(target, []byte("@"))))
	if !found || name == "" || bytes.HasPrefix(deps, []byte("=")) || strings.HasPrefix(name, ".PHONY") || len(name) > maxName {
		return none, false
	}
	return definition{name: name, kind: symbol.Function}, true
}

// justRecipe finds the recipes of just, which may have parameters.
func justRecipe(s *scanner, indent int, code, raw []byte) (definition, bool) {
	def, ok := makeRule(s, indent, code, raw)
	if ok && def.kind == symbol.Function {
		def.name = identifier([]byte(def.name), "-")
	}
	return def, ok && def.name != ""
}

// dockerStage finds the stages of a Dockerfile.
func dockerStage(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	words := strings.Fields(string(code))
	if len(words) < 2 || !strings.EqualFold(words[0], "FROM") {
		return none, true
	}
	words = words[1:]
	for len(words) > 1 && strings.HasPrefix(words[0], "--") {
		words = words[1:]
	}
	name := words[0]
	if len(words) > 2 && strings.EqualFold(words[1], "AS") {
		name = words[2]
	}
	return definition{name: short(name, maxName), kind: symbol.Module, section: true}, true
}

// cmakeBlock finds functions, macros and targets.
func cmakeBlock(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	word := identifier(code, "")
	args, ok := bytes.CutPrefix(bytes.TrimLeft(code[len(word):], " "), []byte("("))
	name := identifier(bytes.TrimLeft(args, " "), "-:.")
	if !ok || name == "" {
		return none, true
	}
	switch strings.ToLower(word) {
	case "function", "macro":
		return definition{name: name, kind: symbol.Function}, true
	case "add_executable", "add_library", "add_custom_target", "project":
		return definition{name: name, kind: symbol.Module}, true
	}
	return none, true
}

// goModBlock finds the directives of a go.mod file.
func goModBlock(_ *scanner, indent int, code, _ []byte) (definition, bool) {
	word := identifier(code, "")
	if indent > 0 || word == "" {
		return none, true
	}
	rest := strings.TrimSpace(string(code[len(word):]))
	if rest == "(" {
		return definition{name: word, kind: symbol.Section}, true
	}
	return definition{name: short(strings.TrimSpace(word+" "+rest), maxName), kind: symbol.Key, line: true}, true
}

// asmLabel finds labels, which hold what stands before the next one.
func asmLabel(_ *scanner, indent int, code, _ []byte) (definition, bool) {
	if rest, ok := bytes.CutPrefix(code, []byte("TEXT ")); ok { // Go's assembler
		name := identifier(bytes.TrimLeft(rest, " \xc2\xb7"), "·")
		return definition{name: name, kind: symbol.Function, section: true}, true
	}
	name := identifier(code, "$.@")
	if indent > 0 || name == "" || name[0] == '.' || len(code) == len(name) || code[len(name)] != ':' {
		return none, true
	}
	return definition{name: name, kind: symbol.Function, section: true}, true
}

// tagBlock finds the elements at the left margin: the template, script and
// style of a component.
func tagBlock(s *scanner, indent int, code, _ []byte) (definition, bool) {
	if indent > 0 || len(code) < 2 || code[0] != '<' {
		return none, true
	}
	name := identifier(code[1:], "-:.")
	if name == "" {
		return none, true
	}
	if bytes.Contains(code, []byte("</"+name)) || bytes.HasSuffix(bytes.TrimSpace(code), []byte("/>")) {
		return definition{name: name, kind: symbol.Module, line: true}, true
	}
	if name == "script" {
		s.embed()
	}
	return definition{name: name, kind: symbol.Module, section: true}, true
}

// rustItem finds implementations, which have the name of their type, and macros.
func rustItem(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	if rest, ok := bytes.CutPrefix(code, []byte("macro_rules!")); ok {
		name := identifier(bytes.TrimLeft(rest, " "), "")
		return definition{name: name, kind: symbol.Function}, true
	}
	rest := bytes.TrimPrefix(bytes.TrimPrefix(code, []byte("default ")), []byte("unsafe "))
	rest, ok := bytes.CutPrefix(rest, []byte("impl"))
	if !ok || len(rest) == 0 || isWord(rest[0]) {
		return none, false
	}
	rest = bytes.TrimLeft(rest[group(rest):], " ")
	if _, target, ok := bytes.Cut(rest, []byte(" for ")); ok {
		rest = target
	}
	path := identifier(bytes.TrimLeft(rest, " &*"), ":")
	return definition{name: path[strings.LastIndexByte(path, ':')+1:], kind: symbol.Class}, true
}

// verilogFunction finds functions and tasks, whose type stands before the name.
func verilogFunction(_ *scanner, _ int, code, _ []byte) (definition, bool) {
	if word := wordAt(code); word != "function" && word != "task" {
		return none, false
	}
	end := bytes.IndexAny(code, ";(")
	if end < 0 {
		end = len(code)
	}
	words := strings.Fields(string(code[:end]))
	name := words[len(words)-1]
	return definition{name: short(name, maxName), kind: symbol.Function}, len(words) > 1
}

// fortranUnit finds modules and programs, whose content need not be indented,
// and types.
func fortranUnit(s *scanner, _ int, code, _ []byte) (definition, bool) {
	word := wordAt(code)
	rest := bytes.TrimLeft(code[len(word):], " ")
	switch strings.ToLower(word) {
	case "module", "program", "submodule":
		rest = bytes.TrimLeft(rest[group(rest):], " ")
		name := identifier(rest, "")
		if low := strings.ToLower(name); low == "procedure" || low == "function" || low == "subroutine" {
			return none, false
		}
		return definition{name: name, kind: symbol.Module, section: true, nested: true}, true
	case "type":
		if len(rest) > 0 && rest[0] == '(' {
			return none, true
		}
		if _, name, ok := bytes.Cut(rest, []byte("::")); ok {
			rest = bytes.TrimLeft(name, " ")
		}
		return definition{name: identifier(rest, ""), kind: symbol.Struct}, true
	}
	return none, false
}

// perlPackage finds "package Name;", which holds what follows.
func perlPackage(s *scanner, _ int, code, _ []byte) (definition, bool) {
	rest, ok := bytes.CutPrefix(code, []byte("package "))
	name := identifier(bytes.TrimSpace(rest), ":'")
	if !ok || name == "" || s.braces > 0 {
		return none, false
	}
	if bytes.IndexByte(code, '{') >= 0 {
		s.endSections(s.lastCode)
		return none, false
	}
	return definition{name: name, kind: symbol.Package, section: true}, true
}

// juliaModule finds modules, whose content is not indented by custom, and
// functions in a line.
func juliaModule(s *scanner, indent int, code, raw []byte) (definition, bool) {
	word := wordAt(code)
	if word == "module" || word == "baremodule" {
		name := identifier(bytes.TrimLeft(code[len(word):], " "), "")
		return definition{name: name, kind: symbol.Module, section: true, nested: true}, name != ""
	}
	return juliaShort(s, indent, code, raw)
}

// foldCase adds the words of m in upper case and capitalised.
func foldCase(m map[string]symbol.Kind) map[string]symbol.Kind {
	out := map[string]symbol.Kind{}
	for word, kind := range m {
		out[word], out[strings.ToUpper(word)], out[strings.ToUpper(word[:1])+word[1:]] = kind, kind, kind
	}
	return out
}

func foldMods(list ...string) map[string]bool { return set(endWords(list...)...) }

func endWords(list ...string) []string {
	var out []string
	for _, word := range list {
		out = append(out, word, strings.ToUpper(word), strings.ToUpper(word[:1])+word[1:])
	}
	return out
}
