package outline

import (
	"strings"
	"testing"

	"mapd/outline/grammar"
)

func TestDetect(t *testing.T) {
	for _, test := range []struct {
		name, head string
		want       Language
	}{
		// By extension, whatever the folder, the case and the rest of the name.
		{"main.go", "", Go},
		{"/a/b.py/main.go", "", Go},
		{"x.ts", "", TypeScript}, {"x.d.ts", "", TypeScript}, {"x.mts", "", TypeScript}, {"x.cts", "", TypeScript},
		{"x.tsx", "", TSX}, {"x.jsx", "", JavaScript}, {"x.mjs", "", JavaScript}, {"x.cjs", "", JavaScript}, {"x.min.js", "", JavaScript},
		{"x.py", "", Python}, {"x.pyi", "", Python}, {"X.PY", "", Python},
		{"x.c", "", C}, {"x.cc", "", CPP}, {"x.hpp", "", CPP}, {"x.cu", "", CPP},
		{"x.rs", "", Rust}, {"x.java", "", Java}, {"x.cs", "", CSharp}, {"x.rb", "", Ruby}, {"x.kt", "", Kotlin}, {"x.kts", "", Kotlin},
		{"x.php", "", PHP}, {"x.swift", "", Swift}, {"x.scala", "", Scala}, {"x.lua", "", Lua}, {"x.sh", "", Bash}, {"x.zsh", "", Bash},
		{"x.ex", "", Elixir}, {"x.exs", "", Elixir}, {"x.elm", "", Elm}, {"x.ml", "", OCaml}, {"x.mli", "", OCaml}, {"x.groovy", "", Groovy}, {"build.gradle", "", Groovy},
		{"x.tf", "", HCL}, {"x.hcl", "", HCL}, {"x.cue", "", Cue}, {"x.proto", "", Protobuf}, {"x.css", "", CSS}, {"x.html", "", HTML}, {"x.svelte", "", Svelte},
		{"x.json", "", JSON}, {"x.jsonc", "", JSONC}, {"x.json5", "", JSONC}, {"x.jsonl", "", JSONL}, {"x.ndjson", "", JSONL}, {"x.yml", "", YAML}, {"x.yaml", "", YAML},
		{"x.toml", "", TOML}, {"x.ini", "", INI}, {"x.properties", "", Properties}, {"x.csv", "", CSV}, {"x.tsv", "", TSV},
		{"x.md", "", Markdown}, {"x.mdx", "", MDX}, {"x.rst", "", RST}, {"x.adoc", "", AsciiDoc}, {"x.tex", "", LaTeX}, {"x.sql", "", SQL},
		{"x.clj", "", Clojure}, {"x.cljs", "", Clojure}, {"x.cljc", "", Clojure}, {"x.edn", "", EDN}, {"x.ipynb", "", Notebook}, {"x.diff", "", Patch}, {"x.patch", "", Patch}, {"x.xml", "", XML},
		{"x.mk", "", Makefile}, {"x.graphql", "", GraphQL}, {"x.nix", "", Nix}, {"x.zig", "", Zig}, {"x.dart", "", Dart}, {"x.hs", "", Haskell}, {"x.jl", "", Julia}, {"x.pl", "", Perl}, {"x.pm", "", Perl},
		{"x.r", "", R}, {"x.R", "", R}, {"x.sol", "", Solidity}, {"x.vue", "", Vue},

		// By name.
		{"Makefile", "", Makefile}, {"GNUmakefile", "", Makefile}, {"justfile", "", Just}, {"Dockerfile", "", Dockerfile}, {"Dockerfile.dev", "", Dockerfile}, {"api.dockerfile", "", Dockerfile},
		{"Gemfile", "", Ruby}, {"Rakefile", "", Ruby}, {"Jenkinsfile", "", Groovy}, {"tsconfig.json", "", JSONC}, {"tsconfig.base.json", "", JSONC}, {"package.json", "", JSON},
		{".env", "", Env}, {".env.local", "", Env}, {".bashrc", "", Bash}, {"Cargo.lock", "", TOML}, {"CMakeLists.txt", "", CMake}, {"go.mod", "", GoMod}, {"BUILD", "", Starlark},
		{".gitconfig", "", INI}, {".editorconfig", "", INI},

		// One extension, several languages.
		{"x.h", "#include <stdio.h>\nint f(void);\n", C},
		{"x.h", "/* a\n class of things\n*/\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n", C},
		{"x.h", "#pragma once\nnamespace a {\nclass B;\n}\n", CPP},
		{"x.h", "#include <vector>\n", CPP},
		{"x.h", "  template <typename T>\n", CPP},
		{"x.h", "#import <Foundation/Foundation.h>\n@interface A : NSObject\n@end\n", ObjectiveC},
		{"x.h", "", C},
		{"x.m", "@implementation A\n@end\n", ObjectiveC},
		{"x.m", "function y = f(x)\n", Text},
		{"x.v", "module top(input clk);\n", Verilog},
		{"x.v", "Theorem a : b.\n", Text},
		{"x.ts", "<?xml version=\"1.0\"?>\n<TS>\n", XML},
		{"x.json", "{\"a\":1}\n{\"a\":2}\n", JSONL},
		{"x.json", "{\n\"a\": 1\n}\n", JSON},
		{"x.json", "{\"a\":1}\n", JSON},

		// By the first lines, where the name says nothing.
		{"run", "#!/bin/sh\n", Bash},
		{"run", "#!/usr/bin/env python3\n", Python},
		{"run", "#!/usr/bin/env -S PYTHONPATH=. python3.12 -u\n", Python},
		{"run", "#! /usr/bin/perl -w\n", Perl},
		{"run", "#!/usr/bin/env node\n", JavaScript},
		{"run", "#!/usr/bin/env -S deno run\n", TypeScript},
		{"run", "#!/usr/bin/env Rscript\n", R},
		{"run", "#!/opt/unknown\n", Text},
		{"run", "#!\n", Text},
		{"run", "#!/usr/bin/env\n", Text},
		{"run", "# -*- mode: ruby -*-\n", Ruby},
		{"run", "#!/opt/x\n# -*- coding: utf-8; mode: Python -*-\n", Python},
		{"run", "-*- C++ -*-\n", CPP},
		{"run", "\xef\xbb\xbf<?xml version=\"1.0\"?>", XML},
		{"run", "<!DOCTYPE html>\n", HTML},
		{"run", "<?php\n", PHP},
		{"run", "diff --git a/x b/x\n", Patch},
		{"run.py", "#!/bin/sh\n", Python}, // the name wins
		{"LICENSE", "", Text}, {"notes.txt", "", Text}, {"x.unknown", "", Unknown}, {"", "", Text}, {".", "", Text}, {"..", "", Text}, {"x.", "", Text},
		{"x\n.go", "", Go}, {"a$(touch PWNED).py", "", Python}, {"\xff.go", "", Go},
	} {
		if got := Detect(test.name, []byte(test.head)); got != test.want {
			t.Errorf("%q %q: got %s, want %s", test.name, test.head, got, test.want)
		}
	}
}

// TestDetectLooksAtTheStartOnly checks that a whole file can be given.
func TestDetectLooksAtTheStartOnly(t *testing.T) {
	head := strings.Repeat("/* comment */\n", sniffLimit/10) + "class A;\n"
	if got := Detect("x.h", []byte(head)); got != C {
		t.Errorf("got %s", got)
	}
}

func TestParseLanguage(t *testing.T) {
	for name, want := range map[string]Language{
		"go": Go, "Go": Go, " golang ": Go, "c++": CPP, "cpp": CPP, "py": Python, "python": Python, "yml": YAML, "shell": Bash, "terraform": HCL, "objective-c": ObjectiveC, "text": Text, "d.ts": "", "klingon": "", "": "",
	} {
		got, ok := ParseLanguage(name)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q %v, want %q", name, got, ok, want)
		}
	}
}

// TestTablesAgree checks that every language the tables name has a constant's
// form, and that lower-case lookups can find their keys.
func TestTablesAgree(t *testing.T) {
	for key := range extensions {
		if key != strings.ToLower(key) {
			t.Errorf("extension %q is never found", key)
		}
	}
	for lang := range known {
		if lang == "" || strings.ToLower(string(lang)) != string(lang) {
			t.Errorf("language %q", lang)
		}
		if got, ok := ParseLanguage(string(lang)); !ok || got != lang {
			t.Errorf("ParseLanguage(%q) = %q, %v", lang, got, ok)
		}
	}
	for name, lang := range otherNames {
		if !known[lang] {
			t.Errorf("%q is %q, which no file has", name, lang)
		}
	}
}

// TestExtractorsHaveLanguages checks that no grammar has a name that no file
// can have.
func TestExtractorsHaveLanguages(t *testing.T) {
	for _, name := range grammar.Names() {
		if !known[Language(name)] {
			t.Errorf("no file is of the language %q", name)
		}
	}
}
