package outline

import (
	"bytes"
	"slices"
	"strings"
)

// Language names a language in lower case, as details.language shows it:
// "go", "typescript", "tsx", "javascript", "python", "c", "json", "markdown".
// Text is a file of no language that is known.
type Language string

// The languages that Detect knows.
const (
	Text    Language = "text"    // prose, or nothing that says otherwise
	Unknown Language = "unknown" // an extension that no row knows

	Go         Language = "go"
	TypeScript Language = "typescript"
	TSX        Language = "tsx"
	JavaScript Language = "javascript" // also JSX
	Python     Language = "python"
	C          Language = "c"
	CPP        Language = "cpp"
	Rust       Language = "rust"
	Java       Language = "java"
	CSharp     Language = "csharp"
	Ruby       Language = "ruby"
	Kotlin     Language = "kotlin"
	PHP        Language = "php"
	Swift      Language = "swift"
	Scala      Language = "scala"
	Lua        Language = "lua"
	Bash       Language = "bash" // also other POSIX-like shells
	Elixir     Language = "elixir"
	Elm        Language = "elm"
	OCaml      Language = "ocaml"
	Groovy     Language = "groovy"
	HCL        Language = "hcl"
	Cue        Language = "cue"
	Protobuf   Language = "protobuf"
	Dockerfile Language = "dockerfile"
	CSS        Language = "css" // also SCSS and Less
	HTML       Language = "html"
	Svelte     Language = "svelte"

	JSON       Language = "json"
	JSONC      Language = "jsonc" // JSON with comments, JSON5
	JSONL      Language = "jsonl"
	YAML       Language = "yaml"
	TOML       Language = "toml"
	INI        Language = "ini"
	Env        Language = "env"
	Properties Language = "properties"
	CSV        Language = "csv"
	TSV        Language = "tsv"
	Markdown   Language = "markdown"
	MDX        Language = "mdx"
	RST        Language = "rst"
	AsciiDoc   Language = "asciidoc"
	LaTeX      Language = "latex"
	SQL        Language = "sql"
	Clojure    Language = "clojure" // also ClojureScript
	EDN        Language = "edn"
	Notebook   Language = "ipynb"
	Patch      Language = "diff"
	XML        Language = "xml"

	Makefile   Language = "makefile"
	Just       Language = "just"
	GraphQL    Language = "graphql"
	Nix        Language = "nix"
	Zig        Language = "zig"
	Dart       Language = "dart"
	Haskell    Language = "haskell"
	Julia      Language = "julia"
	Perl       Language = "perl"
	R          Language = "r"
	ObjectiveC Language = "objc"
	Solidity   Language = "solidity"
	Vue        Language = "vue"
	Fish       Language = "fish"
	PowerShell Language = "powershell"
	Erlang     Language = "erlang"
	FSharp     Language = "fsharp"
	VisualB    Language = "vb"
	CMake      Language = "cmake"
	Starlark   Language = "starlark"
	Thrift     Language = "thrift"
	CommonLisp Language = "lisp" // also Emacs Lisp and Scheme
	Assembly   Language = "assembly"
	Vim        Language = "vim"
	Tcl        Language = "tcl"
	Fortran    Language = "fortran"
	Pascal     Language = "pascal"
	Ada        Language = "ada"
	D          Language = "d"
	Nim        Language = "nim"
	Crystal    Language = "crystal"
	Verilog    Language = "verilog"
	VHDL       Language = "vhdl"
	Astro      Language = "astro"
	GoMod      Language = "gomod" // go.mod and go.work
)

// sniffLimit is how many bytes of a file Detect looks at.
const sniffLimit = 16 << 10

// Detect returns the language of a file from the last element of its name, and
// where the name says nothing from a #! line or an editor's mode line at the
// start of head. head may be the whole file or nothing; some extensions that
// languages share (.h, .m, .v) are told apart by it.
func Detect(name string, head []byte) Language {
	base := name[strings.LastIndexByte(name, '/')+1:]
	head = bytes.TrimPrefix(head[:min(len(head), sniffLimit)], []byte("\xef\xbb\xbf"))
	if lang, ok := byName(base); ok {
		return lang
	}
	if lang, ok := byExtension(strings.ToLower(base)); ok {
		return refine(lang, strings.ToLower(base), head)
	}
	if lang, ok := byFirstLines(head); ok {
		return lang
	}
	if dot := strings.LastIndexByte(base, '.'); dot > 0 && dot < len(base)-1 {
		return Unknown
	}
	return Text
}

// ParseLanguage returns the language that s names, in any case: by the name
// that Detect gives ("cpp"), by a common other name ("c++", "shell"), or by a
// file extension without its dot ("yml").
func ParseLanguage(s string) (Language, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if known[Language(s)] {
		return Language(s), true
	}
	if lang, ok := otherNames[s]; ok {
		return lang, true
	}
	if !strings.ContainsAny(s, "./") {
		lang, ok := extensions[s]
		return lang, ok
	}
	return "", false
}

func byName(base string) (Language, bool) {
	if lang, ok := names[base]; ok {
		return lang, true
	}
	lower := strings.ToLower(base)
	if lang, ok := names[lower]; ok {
		return lang, true
	}
	for _, p := range namePrefixes {
		if strings.HasPrefix(lower, p.prefix) {
			return p.lang, true
		}
	}
	return "", false
}

// byExtension tries the longest extension first: "a.d.ts" has "d.ts" and "ts".
func byExtension(base string) (Language, bool) {
	for {
		_, ext, found := strings.Cut(base, ".")
		if !found {
			return "", false
		}
		if lang, ok := extensions[ext]; ok {
			return lang, true
		}
		base = ext
	}
}

// refine tells apart the languages that share an extension.
func refine(lang Language, base string, head []byte) Language {
	switch {
	case lang == C && strings.HasSuffix(base, ".h"):
		head = withoutComments(head)
		switch {
		case hasLineWith(head, objcMarks):
			return ObjectiveC
		case hasLineWith(head, cppMarks):
			return CPP
		}
	case lang == ObjectiveC && !hasLineWith(head, objcMarks) && len(head) > 0:
		return Text // .m is also MATLAB and Mathematica
	case lang == Verilog && strings.HasSuffix(base, ".v") && !hasLineWith(head, verilogMarks):
		return Text // .v is also Coq and V
	case lang == TypeScript && bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")):
		return XML // Qt's translations end in .ts
	case lang == Perl && strings.HasSuffix(base, ".t") && !hasLineWith(head, perlMarks):
		return Text
	case lang == JSON && jsonLines(head):
		return JSONL
	}
	return lang
}

// jsonLines reports whether head looks like one JSON object a line: its first
// two lines are objects that end on their line.
func jsonLines(head []byte) bool {
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	second, _, whole := bytes.Cut(rest, []byte{'\n'})
	object := func(line []byte) bool {
		line = bytes.TrimSpace(line)
		return len(line) > 2 && line[0] == '{' && line[1] == '"' && line[len(line)-1] == '}'
	}
	return object(first) && object(second) && (whole || len(head) < sniffLimit)
}

// withoutComments drops /* */ comments, whose prose looks like code.
func withoutComments(src []byte) []byte {
	var out []byte
	for {
		before, rest, open := bytes.Cut(src, []byte("/*"))
		out = append(out, before...)
		if !open {
			return out
		}
		_, src, _ = bytes.Cut(rest, []byte("*/"))
	}
}

// hasLineWith reports whether a line of head, without its indentation, starts
// with one of marks.
func hasLineWith(head []byte, marks []string) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimLeft(line, " \t")
		if slices.ContainsFunc(marks, func(m string) bool { return bytes.HasPrefix(line, []byte(m)) }) {
			return true
		}
	}
	return false
}

// byFirstLines reads a #! line ("#!/usr/bin/env -S python3 -u"), an Emacs mode
// line in the first two lines ("-*- mode: ruby -*-"), or the start of an XML,
// HTML or PHP document.
func byFirstLines(head []byte) (Language, bool) {
	first, rest, _ := bytes.Cut(head, []byte{'\n'})
	if script, ok := bytes.CutPrefix(first, []byte("#!")); ok {
		if lang, ok := byInterpreter(string(script)); ok {
			return lang, true
		}
	}
	second, _, _ := bytes.Cut(rest, []byte{'\n'})
	for _, line := range [][]byte{first, second} {
		if lang, ok := byMode(string(line)); ok {
			return lang, true
		}
	}
	start := strings.ToLower(string(first[:min(len(first), 64)]))
	for _, p := range firstLinePrefixes {
		if strings.HasPrefix(start, p.prefix) {
			return p.lang, true
		}
	}
	return "", false
}

func byInterpreter(script string) (Language, bool) {
	for i, word := range strings.Fields(script) {
		word = word[strings.LastIndexByte(word, '/')+1:]
		if i == 0 && word != "env" {
			return interpreter(word)
		}
		if i == 0 || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		return interpreter(word)
	}
	return "", false
}

// interpreter looks up "python3.12" as "python".
func interpreter(word string) (Language, bool) {
	if lang, ok := interpreters[word]; ok {
		return lang, true
	}
	lang, ok := interpreters[strings.TrimRight(word, "0123456789.-")]
	return lang, ok
}

func byMode(line string) (Language, bool) {
	_, after, found := strings.Cut(line, "-*-")
	mode, _, closed := strings.Cut(after, "-*-")
	if !found || !closed {
		return "", false
	}
	for part := range strings.SplitSeq(mode, ";") {
		key, value, pair := strings.Cut(part, ":")
		if !pair {
			value = key
		} else if !strings.EqualFold(strings.TrimSpace(key), "mode") {
			continue
		}
		if lang, ok := ParseLanguage(value); ok {
			return lang, true
		}
	}
	return "", false
}
