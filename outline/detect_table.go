package outline

// names holds whole file names, in lower case unless case matters.
var names = map[string]Language{
	"makefile": Makefile, "gnumakefile": Makefile, "bsdmakefile": Makefile, "makefile.am": Makefile, "makefile.in": Makefile, "kbuild": Makefile,
	"justfile": Just, ".justfile": Just,
	"dockerfile": Dockerfile, "containerfile": Dockerfile,
	"rakefile": Ruby, "gemfile": Ruby, "guardfile": Ruby, "vagrantfile": Ruby, "podfile": Ruby, "brewfile": Ruby, "fastfile": Ruby, "capfile": Ruby, "berksfile": Ruby, "thorfile": Ruby, ".irbrc": Ruby, ".pryrc": Ruby,
	"jenkinsfile": Groovy,
	"sconstruct":  Python, "sconscript": Python, "wscript": Python,
	"BUILD": Starlark, "WORKSPACE": Starlark, "build.bazel": Starlark, "workspace.bazel": Starlark, "module.bazel": Starlark, "buck": Starlark, "tiltfile": Starlark,
	"cmakelists.txt": CMake,
	"go.mod":         GoMod, "go.work": GoMod,
	"pipfile": TOML, "cargo.lock": TOML, "poetry.lock": TOML, "uv.lock": TOML, "gopkg.lock": TOML, "pdm.lock": TOML,
	"pipfile.lock": JSON, "composer.lock": JSON, "flake.lock": JSON, "deno.lock": JSON, ".babelrc": JSONC, ".eslintrc": JSONC, ".jshintrc": JSONC, ".jscsrc": JSONC, ".swcrc": JSONC, ".prettierrc": YAML, ".stylelintrc": YAML, ".watchmanconfig": JSON, ".bowerrc": JSON,
	".clang-format": YAML, ".clang-tidy": YAML, ".clangd": YAML, ".yamllint": YAML, ".gemrc": YAML, "pubspec.lock": YAML, "podfile.lock": YAML,
	"tsconfig.json": JSONC, "jsconfig.json": JSONC, "devcontainer.json": JSONC, ".eslintrc.json": JSONC, "api-extractor.json": JSONC, "language-configuration.json": JSONC, "tslint.json": JSONC, "bun.lock": JSONC, "deno.json": JSONC,
	".editorconfig": INI, ".gitconfig": INI, ".gitmodules": INI, ".npmrc": INI, ".flake8": INI, ".pylintrc": INI, "pylintrc": INI, ".coveragerc": INI, ".hgrc": INI, ".pypirc": INI, "setup.cfg": INI, "tox.ini": INI,
	".env": Env, ".envrc": Bash, ".flaskenv": Env,
	".bashrc": Bash, ".bash_profile": Bash, ".bash_aliases": Bash, ".bash_logout": Bash, ".profile": Bash, ".zshrc": Bash, ".zshenv": Bash, ".zprofile": Bash, ".kshrc": Bash, "bashrc": Bash, "zshrc": Bash, "pkgbuild": Bash, "apkbuild": Bash,
	".vimrc": Vim, "vimrc": Vim, ".gvimrc": Vim,
	".emacs": CommonLisp,
	"readme": Text, "license": Text, "copying": Text, "authors": Text,
}

// namePrefixes holds the starts of file names, in lower case.
var namePrefixes = []struct {
	prefix string
	lang   Language
}{
	{"dockerfile.", Dockerfile},
	{"containerfile.", Dockerfile},
	{".env.", Env},
	{"makefile.", Makefile},
	{"jenkinsfile.", Groovy},
	{"tsconfig.", JSONC},
}

// extensions holds what follows a dot of the name, in lower case. The longest
// one wins: "bundle.min.js" is looked up as "min.js", then as "js".
var extensions = map[string]Language{
	"go": Go,
	"ts": TypeScript, "mts": TypeScript, "cts": TypeScript, "tsx": TSX,
	"js": JavaScript, "jsx": JavaScript, "mjs": JavaScript, "cjs": JavaScript, "es6": JavaScript, "pac": JavaScript, "gs": JavaScript,
	"py": Python, "pyi": Python, "pyw": Python, "gyp": Python, "gypi": Python, "sage": Python, "wsgi": Python,
	"c": C, "h": C,
	"cc": CPP, "cpp": CPP, "cxx": CPP, "c++": CPP, "hh": CPP, "hpp": CPP, "hxx": CPP, "h++": CPP, "ipp": CPP, "inl": CPP, "tcc": CPP, "tpp": CPP, "ixx": CPP, "cppm": CPP, "cu": CPP, "cuh": CPP, "ino": CPP, "txx": CPP,
	"rs":   Rust,
	"java": Java,
	"cs":   CSharp, "csx": CSharp,
	"rb": Ruby, "rake": Ruby, "gemspec": Ruby, "ru": Ruby, "rbw": Ruby, "podspec": Ruby, "jbuilder": Ruby, "rbi": Ruby,
	"kt": Kotlin, "kts": Kotlin, "ktm": Kotlin,
	"php": PHP, "phtml": PHP, "php3": PHP, "php4": PHP, "php5": PHP, "phps": PHP, "phpt": PHP,
	"swift": Swift,
	"scala": Scala, "sc": Scala, "sbt": Scala,
	"lua": Lua, "rockspec": Lua, "luau": Lua,
	"sh": Bash, "bash": Bash, "zsh": Bash, "ksh": Bash, "bats": Bash, "ebuild": Bash, "command": Bash,
	"fish": Fish,
	"ex":   Elixir, "exs": Elixir,
	"elm": Elm,
	"ml":  OCaml, "mli": OCaml,
	"groovy": Groovy, "gradle": Groovy, "gvy": Groovy, "gy": Groovy, "gsh": Groovy,
	"hcl": HCL, "tf": HCL, "tfvars": HCL, "nomad": HCL, "tofu": HCL,
	"cue":   Cue,
	"proto": Protobuf, "protodevel": Protobuf,
	"dockerfile": Dockerfile,
	"css":        CSS, "scss": CSS, "less": CSS, "pcss": CSS, "postcss": CSS,
	"html": HTML, "htm": HTML, "xhtml": HTML,
	"svelte": Svelte, "vue": Vue, "astro": Astro,

	"json": JSON, "geojson": JSON, "webmanifest": JSON, "har": JSON, "avsc": JSON, "topojson": JSON, "gltf": JSON, "tfstate": JSON, "sarif": JSON, "jsonld": JSON, "map": JSON,
	"jsonc": JSONC, "json5": JSONC, "code-workspace": JSONC, "code-snippets": JSONC, "hjson": JSONC,
	"jsonl": JSONL, "ndjson": JSONL, "jsonlines": JSONL, "ldjson": JSONL,
	"yaml": YAML, "yml": YAML, "eyaml": YAML,
	"toml": TOML,
	"ini":  INI, "cfg": INI, "conf": INI, "inf": INI, "desktop": INI, "service": INI, "socket": INI, "timer": INI, "mount": INI, "target": INI, "reg": INI, "editorconfig": INI, "cnf": INI,
	"env":        Env,
	"properties": Properties,
	"csv":        CSV, "tsv": TSV, "tab": TSV,
	"md": Markdown, "markdown": Markdown, "mkd": Markdown, "mdown": Markdown, "mdwn": Markdown, "mkdn": Markdown, "rmd": Markdown, "qmd": Markdown,
	"mdx": MDX, "rst": RST, "rest": RST, "adoc": AsciiDoc, "asciidoc": AsciiDoc, "asc": AsciiDoc,
	"tex": LaTeX, "latex": LaTeX, "sty": LaTeX, "cls": LaTeX, "ltx": LaTeX, "dtx": LaTeX,
	"sql": SQL, "ddl": SQL, "dml": SQL, "pgsql": SQL, "psql": SQL, "mysql": SQL, "plsql": SQL, "pls": SQL, "pkb": SQL, "pks": SQL,
	"clj": Clojure, "cljs": Clojure, "cljc": Clojure, "cljd": Clojure, "bb": Clojure, "edn": EDN,
	"ipynb": Notebook,
	"diff":  Patch, "patch": Patch, "rej": Patch,
	"xml": XML, "xsd": XML, "xsl": XML, "xslt": XML, "svg": XML, "plist": XML, "csproj": XML, "vbproj": XML, "fsproj": XML, "vcxproj": XML, "props": XML, "targets": XML, "pom": XML, "wsdl": XML, "rss": XML, "atom": XML, "kml": XML, "gpx": XML, "xaml": XML, "axaml": XML, "resx": XML, "nuspec": XML, "xul": XML, "rng": XML, "storyboard": XML, "xib": XML, "dae": XML, "jrxml": XML, "ui": XML, "qrc": XML, "xlf": XML, "iml": XML, "dita": XML,

	"mk": Makefile, "mak": Makefile, "make": Makefile,
	"just":    Just,
	"graphql": GraphQL, "gql": GraphQL, "graphqls": GraphQL,
	"nix":  Nix,
	"zig":  Zig,
	"zon":  Zig,
	"dart": Dart,
	"hs":   Haskell, "lhs": Haskell, "hsc": Haskell, "purs": Haskell,
	"jl": Julia,
	"pl": Perl, "pm": Perl, "t": Perl, "psgi": Perl, "cgi": Perl,
	"r": R,
	"m": ObjectiveC, "mm": ObjectiveC,
	"sol": Solidity,
	"ps1": PowerShell, "psm1": PowerShell, "psd1": PowerShell,
	"erl": Erlang, "hrl": Erlang, "escript": Erlang,
	"fs": FSharp, "fsi": FSharp, "fsx": FSharp,
	"vb": VisualB, "vbs": VisualB, "bas": VisualB,
	"cmake": CMake,
	"bzl":   Starlark, "star": Starlark, "bazel": Starlark,
	"thrift": Thrift,
	"lisp":   CommonLisp, "lsp": CommonLisp, "cl": CommonLisp, "el": CommonLisp, "scm": CommonLisp, "ss": CommonLisp, "rkt": CommonLisp, "asd": CommonLisp, "fnl": CommonLisp,
	"s": Assembly, "asm": Assembly, "nasm": Assembly,
	"vim": Vim,
	"tcl": Tcl, "tk": Tcl, "itcl": Tcl,
	"f": Fortran, "for": Fortran, "f77": Fortran, "f90": Fortran, "f95": Fortran, "f03": Fortran, "f08": Fortran,
	"pas": Pascal, "dpr": Pascal, "lpr": Pascal, "pp": Pascal,
	"adb": Ada, "ads": Ada,
	"d": D, "di": D,
	"nim": Nim, "nims": Nim, "nimble": Nim,
	"cr": Crystal,
	"v":  Verilog, "sv": Verilog, "svh": Verilog, "vh": Verilog,
	"vhd": VHDL, "vhdl": VHDL,
	"mod": Text, "sum": Text, "txt": Text, "log": Text,
}

// interpreters holds the programs of #! lines, without a version.
var interpreters = map[string]Language{
	"sh": Bash, "bash": Bash, "dash": Bash, "ash": Bash, "ksh": Bash, "mksh": Bash, "zsh": Bash, "bats": Bash, "fish": Fish,
	"python": Python, "pypy": Python, "ipython": Python, "uv": Python, "sage": Python,
	"node": JavaScript, "nodejs": JavaScript, "bun": TypeScript, "deno": TypeScript, "ts-node": TypeScript, "tsx": TypeScript, "zx": JavaScript, "qjs": JavaScript,
	"ruby": Ruby, "jruby": Ruby, "rake": Ruby, "perl": Perl, "php": PHP, "lua": Lua, "luajit": Lua, "luau": Lua,
	"elixir": Elixir, "escript": Erlang, "groovy": Groovy, "scala": Scala, "scala-cli": Scala, "amm": Scala, "kotlin": Kotlin, "swift": Swift, "java": Java,
	"ocaml": OCaml, "ocamlrun": OCaml, "runhaskell": Haskell, "runghc": Haskell, "stack": Haskell,
	"Rscript": R, "julia": Julia, "clojure": Clojure, "clj": Clojure, "bb": Clojure, "make": Makefile, "just": Just,
	"pwsh": PowerShell, "tclsh": Tcl, "wish": Tcl, "expect": Tcl, "dart": Dart, "nix-shell": Bash, "rust-script": Rust, "crystal": Crystal,
	"sbcl": CommonLisp, "emacs": CommonLisp, "guile": CommonLisp, "racket": CommonLisp, "nim": Nim, "psql": SQL, "cmake": CMake,
}

// firstLinePrefixes holds how documents of a language start, in lower case.
var firstLinePrefixes = []struct {
	prefix string
	lang   Language
}{
	{"<?xml", XML},
	{"<!doctype html", HTML},
	{"<html", HTML},
	{"<?php", PHP},
	{"diff --git ", Patch},
	{"#compdef", Bash},
	{"#autoload", Bash},
}

// otherNames holds what languages are also called.
var otherNames = map[string]Language{
	"golang": Go, "c++": CPP, "cxx": CPP, "c#": CSharp, "f#": FSharp, "shell": Bash, "shellscript": Bash, "shell-script": Bash, "zsh": Bash, "posix": Bash,
	"javascriptreact": JavaScript, "typescriptreact": TSX, "node": JavaScript, "js2": JavaScript, "cperl": Perl,
	"objective-c": ObjectiveC, "objectivec": ObjectiveC, "objective-cpp": ObjectiveC, "terraform": HCL, "docker": Dockerfile, "proto": Protobuf, "proto3": Protobuf,
	"clojurescript": Clojure, "scss": CSS, "sass": CSS, "jupyter": Notebook, "notebook": Notebook, "jsonlines": JSONL, "json5": JSONC, "dotenv": Env,
	"makefile-gmake": Makefile, "make": Makefile, "restructuredtext": RST, "tex": LaTeX, "plaintext": Text, "text": Text, "plain": Text,
	"emacs-lisp": CommonLisp, "scheme": CommonLisp, "racket": CommonLisp, "common-lisp": CommonLisp, "visualbasic": VisualB, "bazel": Starlark, "systemverilog": Verilog,
}

// What a line starts with that tells languages of one extension apart.
var (
	cppMarks = []string{
		"class ", "namespace ", "template<", "template <", "using namespace ", "using std::", "public:", "private:", "protected:", "virtual ", "constexpr ", "inline namespace ",
		"#include <iostream>", "#include <string>", "#include <vector>", "#include <map>", "#include <memory>", "#include <utility>", "#include <cstd", "#include <algorithm>", "#include <functional>", "#include <type_traits>", "#include <unordered_",
		"enum class ", "explicit ", "friend ", "static constexpr ", "mutable ", "typename ",
	}
	objcMarks    = []string{"@interface", "@protocol", "@implementation", "@class", "@import", "@property", "@end", "#import", "NS_ASSUME_NONNULL_BEGIN"}
	verilogMarks = []string{"module ", "`timescale", "`include", "`define", "always ", "assign ", "endmodule", "primitive "}
	perlMarks    = []string{"#!", "use ", "package ", "my ", "BEGIN "}
)

// known is the set of all languages.
var known = func() map[Language]bool {
	set := map[Language]bool{Text: true}
	for _, m := range []map[string]Language{names, extensions, interpreters} {
		for _, lang := range m {
			set[lang] = true
		}
	}
	return set
}()
