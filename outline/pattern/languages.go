package pattern

import (
	"maps"

	"mapd/outline/symbol"
)

// words maps each of the words to the kind.
func words(kind symbol.Kind, list ...string) map[string]symbol.Kind {
	m := make(map[string]symbol.Kind, len(list))
	for _, w := range list {
		m[w] = kind
	}
	return m
}

// join returns the union of maps; later ones win.
func join(list ...map[string]symbol.Kind) map[string]symbol.Kind {
	m := map[string]symbol.Kind{}
	for _, l := range list {
		maps.Copy(m, l)
	}
	return m
}

// Comments and strings that languages share.
var (
	slashes  = []string{"//"}
	hash     = []string{"#"}
	dashes   = []string{"--"}
	stars    = block{open: "/*", close: "*/", lines: true}
	starsIn  = block{open: "/*", close: "*/", lines: true, nests: true}
	double   = block{open: `"`, close: `"`, escapes: true}
	doubles  = block{open: `"`, close: `"`, escapes: true, lines: true}
	single   = block{open: "'", close: "'", escapes: true}
	singles  = block{open: "'", close: "'", escapes: true, lines: true}
	backtick = block{open: "`", close: "`", lines: true}
	template = block{open: "`", close: "`", lines: true, escapes: true}
	triple   = block{open: `"""`, close: `"""`, lines: true, escapes: true}
	triple1  = block{open: "'''", close: "'''", lines: true, escapes: true}

	cLike      = lexis{line: slashes, block: []block{stars}, quotes: []block{double}, chars: true}
	cNested    = lexis{line: slashes, block: []block{starsIn}, quotes: []block{triple, double}, chars: true}
	jsLike     = lexis{line: slashes, block: []block{stars}, quotes: []block{double, single, template}}
	hashLike   = lexis{line: hash, quotes: []block{double, single}}
	pythonLike = lexis{line: hash, quotes: []block{triple, triple1, double, single}}
	shellLike  = lexis{line: hash, quotes: []block{doubles, {open: "'", close: "'", lines: true}}, here: true}
	semicolon  = lexis{line: []string{";"}, quotes: []block{doubles}}
)

// Words that many languages share.
var (
	types = join(words(symbol.Class, "class"), words(symbol.Struct, "struct", "record"), words(symbol.Interface, "interface", "protocol", "trait"),
		words(symbol.Enum, "enum"))
	access = []string{"public", "private", "protected", "internal", "static", "final", "abstract", "override", "virtual", "sealed", "open", "inline", "async", "extern", "export", "default",
		"const", "readonly", "unsafe", "partial", "native", "strictfp", "transient", "volatile", "synchronized", "mutating", "fileprivate", "lateinit", "suspend", "data", "inner", "operator", "infix", "tailrec",
		"external", "declare", "required", "convenience", "dynamic", "lazy", "weak", "unowned", "nonisolated", "indirect", "explicit", "friend", "constexpr", "implicit", "case", "companion", "actual", "expect", "annotation", "value", "noinline", "crossinline", "vararg", "reified"}
)

func mods(more ...string) map[string]bool { return set(append(more, access...)...) }

// generic is for languages without a table: words that start definitions in
// many languages, comments that most have.
var generic = language{
	lexis: lexis{line: []string{"//"}, column: []string{"#", "--", ";", "%"}, block: []block{stars}, quotes: []block{double}},
	words: join(types, words(symbol.Function, "function", "func", "fn", "def", "fun", "sub", "subroutine", "procedure", "proc", "defun", "macro", "method"),
		words(symbol.Module, "module", "namespace", "package", "library"), words(symbol.Class, "impl", "extension", "contract", "service", "object", "type")),
	mods: mods("pub", "local"),
	name: ".$?!",
	ends: []string{"end", "endfunction", "endmodule", "endclass", "endif", "fi", "done", "esac"},
}

// languages holds the patterns by the name of the language.
var languages = map[string]*language{
	"go": {
		lexis: lexis{line: slashes, block: []block{stars}, quotes: []block{double, backtick}, chars: true}, blocks: byEither,
		words: join(words(symbol.Function, "func"), words(symbol.Class, "type"), words(symbol.Variable, "var"), words(symbol.Constant, "const")), special: goMethod,
	},
	"c":   {lexis: cLike, blocks: byBraces, words: join(words(symbol.Struct, "struct", "union"), words(symbol.Enum, "enum")), mods: mods("typedef"), macros: true, calls: true, special: cDefine},
	"cpp": {lexis: cLike, blocks: byBraces, words: join(types, words(symbol.Struct, "union"), words(symbol.Namespace, "namespace")), mods: mods("typedef", "template", "inline"), macros: true, calls: true, members: true, name: ":", special: cDefine},
	"objc": {
		lexis: cLike, blocks: byBraces, words: words(symbol.Struct, "struct", "union"), mods: mods("typedef"), macros: true, calls: true, ends: []string{"@end"}, special: objcMember,
	},
	"java":       {lexis: cLike, blocks: byBraces, words: join(types, words(symbol.Interface, "@interface")), mods: mods(), calls: true, members: true, special: annotated},
	"csharp":     {lexis: cLike, blocks: byBraces, words: join(types, words(symbol.Namespace, "namespace"), words(symbol.Function, "delegate")), mods: mods(), calls: true, members: true, name: "."},
	"javascript": {lexis: jsLike, blocks: byBraces, words: join(types, words(symbol.Function, "function", "function*")), mods: mods(), calls: true, members: true, name: "$", special: jsBinding},
	"typescript": {
		lexis: jsLike, blocks: byBraces, words: join(types, words(symbol.Function, "function"), words(symbol.Namespace, "namespace", "module"), words(symbol.Class, "type")),
		mods: mods(), calls: true, members: true, name: "$", special: jsBinding,
	},
	"python":   {lexis: pythonLike, blocks: byIndent, words: join(words(symbol.Function, "def"), words(symbol.Class, "class")), mods: set("async")},
	"starlark": {lexis: pythonLike, blocks: byIndent, words: words(symbol.Function, "def")},
	"nim":      {lexis: hashLike, blocks: byIndent, words: words(symbol.Function, "proc", "func", "method", "iterator", "template", "macro", "converter"), name: "`"},
	"rust": {
		lexis: lexis{line: slashes, block: []block{starsIn}, quotes: []block{doubles}, chars: true}, blocks: byBraces,
		words: join(types, words(symbol.Function, "fn"), words(symbol.Struct, "union"), words(symbol.Module, "mod"), words(symbol.Class, "type"), words(symbol.Constant, "const", "static")),
		mods:  set("pub", "async", "unsafe", "extern", "default"), special: rustItem,
	},
	"zig":      {lexis: lexis{line: slashes, quotes: []block{double}, chars: true}, blocks: byBraces, words: words(symbol.Function, "fn"), mods: set("pub", "export", "extern", "inline", "noinline"), special: zigBinding},
	"swift":    {lexis: cNested, words: join(types, words(symbol.Function, "func", "init", "deinit", "subscript"), words(symbol.Class, "extension", "actor", "typealias"), words(symbol.Variable, "var", "let")), mods: mods(), name: ".", special: swiftInit},
	"kotlin":   {lexis: cNested, words: join(types, words(symbol.Function, "fun"), words(symbol.Class, "object", "typealias"), words(symbol.Variable, "val", "var")), mods: mods(), name: "."},
	"scala":    {lexis: cNested, words: join(types, words(symbol.Function, "def"), words(symbol.Class, "object", "type", "given", "extension"), words(symbol.Variable, "val", "var")), mods: mods("implicit"), name: "."},
	"dart":     {lexis: jsLike, blocks: byBraces, words: join(types, words(symbol.Class, "mixin", "extension", "typedef")), mods: mods("base", "factory", "late"), calls: true, members: true, name: "."},
	"groovy":   {lexis: jsLike, blocks: byBraces, words: join(types, words(symbol.Function, "def", "task")), mods: mods(), calls: true, members: true},
	"php":      {lexis: lexis{line: []string{"//", "#"}, block: []block{stars}, quotes: []block{doubles, singles}, here: true}, blocks: byBraces, words: join(types, words(symbol.Function, "function"), words(symbol.Namespace, "namespace")), mods: mods(), name: "\\"},
	"solidity": {lexis: jsLike, blocks: byBraces, words: join(types, words(symbol.Class, "contract", "library"), words(symbol.Function, "function", "modifier"), words(symbol.Event, "event", "error")), mods: mods(), special: solidityInit},
	"d":        {lexis: cLike, blocks: byBraces, words: join(types, words(symbol.Struct, "union"), words(symbol.Class, "template"), words(symbol.Module, "module")), mods: mods(), calls: true, members: true, name: "."},
	"protobuf": {lexis: cLike, blocks: byBraces, words: join(words(symbol.Struct, "message", "extend"), words(symbol.Enum, "enum"), words(symbol.Interface, "service"), words(symbol.Method, "rpc"), words(symbol.Field, "oneof"), words(symbol.Package, "package")), name: "."},
	"thrift":   {lexis: cLike, words: join(words(symbol.Struct, "struct", "union", "exception"), words(symbol.Enum, "enum"), words(symbol.Interface, "service"), words(symbol.Class, "typedef")), blocks: byBraces},
	"graphql":  {lexis: lexis{line: hash, quotes: []block{triple, double}}, words: join(words(symbol.Class, "type", "input", "union", "scalar"), words(symbol.Interface, "interface"), words(symbol.Enum, "enum"), words(symbol.Function, "query", "mutation", "subscription", "fragment", "directive")), mods: set("extend"), name: "@", special: graphqlField, docs: true},
	"css":      {lexis: lexis{block: []block{stars}, quotes: []block{double, single}}, blocks: byBraces, special: cssRule},
	"hcl":      {lexis: lexis{line: []string{"//", "#"}, block: []block{stars}, quotes: []block{double}, here: true}, blocks: byBraces, special: hclBlock},
	"cue":      {lexis: jsLike, blocks: byBraces, special: fieldBlock},
	"nix":      {blocks: byIndent, lexis: lexis{line: hash, block: []block{stars}, quotes: []block{{open: "''", close: "''", lines: true}, doubles}}, special: nixBinding},

	"ruby":    {blocks: byIndent, lexis: lexis{line: hash, block: []block{{open: "=begin", close: "=end", lines: true, column: true}}, quotes: []block{double, single}, here: true}, words: join(words(symbol.Class, "class"), words(symbol.Module, "module"), words(symbol.Method, "def")), name: ".?!=:", ends: []string{"end"}},
	"crystal": {blocks: byIndent, lexis: hashLike, words: join(types, words(symbol.Module, "module", "lib"), words(symbol.Method, "def", "macro", "fun")), mods: mods(), name: ".?!:", ends: []string{"end"}},
	"elixir":  {blocks: byIndent, lexis: lexis{line: hash, quotes: []block{triple, triple1, double}}, words: join(words(symbol.Module, "defmodule", "defprotocol", "defimpl"), words(symbol.Function, "def", "defp", "defmacro", "defmacrop", "defguard", "defdelegate")), name: ".?!", ends: []string{"end"}},
	"lua":     {blocks: byIndent, lexis: lexis{line: dashes, block: []block{{open: "--[[", close: "]]", lines: true}}, quotes: []block{double, single, {open: "[[", close: "]]", lines: true}}}, words: words(symbol.Function, "function"), mods: set("local"), name: ".:", ends: []string{"end"}, special: luaBinding},
	"julia":   {blocks: byIndent, lexis: lexis{line: hash, block: []block{{open: "#=", close: "=#", lines: true, nests: true}}, quotes: []block{triple, double}, chars: true}, words: join(words(symbol.Function, "function", "macro"), words(symbol.Struct, "struct"), words(symbol.Class, "abstract", "primitive", "type")), mods: set("mutable"), name: ".!", ends: []string{"end"}, special: juliaModule, docs: true},
	"perl":    {lexis: lexis{line: hash, block: []block{{open: "=", close: "=cut", lines: true, column: true}}, quotes: []block{double, single}, here: true}, blocks: byBraces, words: join(words(symbol.Function, "sub", "method"), words(symbol.Package, "package"), words(symbol.Class, "class", "role")), name: ":'", special: perlPackage},
	"bash":    {lexis: shellLike, words: words(symbol.Function, "function"), name: "-:.", special: shellFunction},
	"fish":    {blocks: byIndent, lexis: hashLike, words: words(symbol.Function, "function"), name: "-", ends: []string{"end"}},
	"powershell": {
		lexis: lexis{line: hash, block: []block{{open: "<#", close: "#>", lines: true}}, quotes: []block{double, single}}, blocks: byBraces,
		words: join(words(symbol.Function, "function", "Function", "filter", "workflow"), words(symbol.Class, "class"), words(symbol.Enum, "enum")), name: "-:",
	},
	"r":       {lexis: hashLike, special: rBinding},
	"haskell": {lexis: lexis{line: dashes, block: []block{{open: "{-", close: "-}", lines: true, nests: true}}, quotes: []block{double}, chars: true}, blocks: byIndent, words: join(words(symbol.Class, "data", "newtype", "type", "instance"), words(symbol.Interface, "class"), words(symbol.Module, "module")), name: ".'", special: haskellEquation, merge: true},
	"elm":     {lexis: lexis{line: dashes, block: []block{{open: "{-", close: "-}", lines: true, nests: true}}, quotes: []block{triple, double}, chars: true}, blocks: byIndent, words: join(words(symbol.Class, "type"), words(symbol.Module, "module")), mods: set("port"), name: ".'", special: haskellEquation, merge: true},
	"ocaml":   {lexis: lexis{block: []block{{open: "(*", close: "*)", lines: true, nests: true}}, quotes: []block{doubles}, chars: true}, blocks: byIndent, words: join(words(symbol.Function, "let", "val", "external"), words(symbol.Class, "type", "class", "exception"), words(symbol.Module, "module")), mods: set("rec", "type", "and"), name: "'"},
	"fsharp":  {lexis: lexis{line: slashes, block: []block{{open: "(*", close: "*)", lines: true, nests: true}}, quotes: []block{triple, doubles}, chars: true}, blocks: byIndent, words: join(words(symbol.Function, "let", "member"), words(symbol.Class, "type", "exception"), words(symbol.Module, "module", "namespace")), mods: mods("rec", "mutable"), name: "'."},
	"erlang":  {lexis: lexis{line: []string{"%"}, quotes: []block{doubles, single}}, blocks: byIndent, special: erlangClause, merge: true},
	"clojure": {lexis: semicolon, blocks: byIndent, special: lispForm},
	"lisp":    {lexis: lexis{line: []string{";"}, block: []block{{open: "#|", close: "|#", lines: true, nests: true}}, quotes: []block{doubles}}, blocks: byIndent, special: lispForm},

	"makefile":   {lexis: lexis{line: hash}, blocks: byIndent, words: words(symbol.Function, "define"), ends: []string{"endef"}, special: makeRule},
	"just":       {lexis: lexis{line: hash}, blocks: byIndent, special: justRecipe},
	"dockerfile": {lexis: lexis{line: hash}, blocks: byIndent, special: dockerStage},
	"cmake":      {blocks: byIndent, lexis: lexis{line: hash, quotes: []block{doubles}}, special: cmakeBlock, ends: []string{"endfunction", "endmacro", "ENDFUNCTION", "ENDMACRO"}},
	"gomod":      {lexis: lexis{line: slashes}, special: goModBlock},
	"vim":        {blocks: byIndent, lexis: lexis{column: []string{`"`}}, words: words(symbol.Function, "function", "function!", "fu", "fu!", "def", "def!"), mods: set("export"), name: ":#.", ends: []string{"endfunction", "endfunc", "endfu", "enddef"}},
	"tcl":        {lexis: lexis{column: hash, quotes: []block{double}}, blocks: byBraces, words: join(words(symbol.Function, "proc", "method"), words(symbol.Namespace, "namespace")), mods: set("eval"), name: ":-"},
	"assembly":   {lexis: lexis{line: []string{"//"}, column: []string{";", "#", "@"}, block: []block{stars}}, blocks: byIndent, special: asmLabel},
	"fortran":    {blocks: byIndent, lexis: lexis{line: []string{"!"}, column: []string{"c ", "C ", "*"}, quotes: []block{double, single}}, words: foldCase(join(words(symbol.Function, "function", "subroutine"), words(symbol.Interface, "interface"))), mods: foldMods("pure", "elemental", "recursive", "integer", "real", "logical", "character", "complex", "double", "precision"), ends: endWords("end", "endfunction", "endsubroutine", "endmodule", "endprogram", "endtype", "endinterface"), special: fortranUnit},
	"pascal":     {blocks: byIndent, lexis: lexis{line: slashes, block: []block{{open: "{", close: "}", lines: true}, {open: "(*", close: "*)", lines: true}}, quotes: []block{{open: "'", close: "'"}}}, words: foldCase(words(symbol.Function, "procedure", "function", "constructor", "destructor")), mods: foldMods("class"), name: ".", ends: endWords("end")},
	"ada":        {blocks: byIndent, lexis: lexis{line: dashes, quotes: []block{double}, chars: true}, words: foldCase(join(words(symbol.Function, "procedure", "function"), words(symbol.Package, "package"), words(symbol.Class, "type", "task", "protected"))), mods: foldMods("body", "overriding"), name: ".", ends: endWords("end")},
	"vb":         {blocks: byIndent, lexis: lexis{line: []string{"'"}, quotes: []block{{open: `"`, close: `"`}}}, words: foldCase(join(types, words(symbol.Function, "sub", "function", "property"), words(symbol.Struct, "structure"), words(symbol.Module, "module"), words(symbol.Namespace, "namespace"))), mods: foldMods("public", "private", "protected", "friend", "shared", "overrides", "overridable", "partial", "async", "shadows", "overloads", "readonly", "mustinherit", "notinheritable", "mustoverride"), name: ".", ends: endWords("end")},
	"verilog":    {blocks: byIndent, lexis: cLike, words: join(words(symbol.Module, "module", "package", "program"), words(symbol.Interface, "interface"), words(symbol.Class, "class"), words(symbol.Function, "function", "task")), mods: set("automatic", "static", "virtual", "macromodule"), special: verilogFunction, ends: []string{"endmodule", "endpackage", "endinterface", "endclass", "endfunction", "endtask", "endprogram"}},
	"vhdl":       {blocks: byIndent, lexis: lexis{line: dashes, quotes: []block{double}, chars: true}, words: foldCase(join(words(symbol.Module, "entity", "architecture", "configuration"), words(symbol.Package, "package"), words(symbol.Function, "function", "procedure", "process"))), mods: foldMods("body", "pure", "impure"), ends: endWords("end")},

	"vue": {lexis: lexis{block: []block{{open: "<!--", close: "-->", lines: true}}}, special: tagBlock},
}

func init() {
	for other, like := range map[string]string{"tsx": "typescript", "svelte": "vue", "astro": "vue", "html": "vue", "xml": "vue", "edn": "clojure"} {
		languages[other] = languages[like]
	}
	languages["vue"].script = languages["typescript"]
}
