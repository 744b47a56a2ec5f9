package grammar

// The grammars are C objects inside the binding's packages; the imports link
// them, and the weak declarations reach them without the binding's Go types.

// extern const void *tree_sitter_bash(void) __attribute__((weak));
// extern const void *tree_sitter_c(void) __attribute__((weak));
// extern const void *tree_sitter_cpp(void) __attribute__((weak));
// extern const void *tree_sitter_c_sharp(void) __attribute__((weak));
// extern const void *tree_sitter_css(void) __attribute__((weak));
// extern const void *tree_sitter_cue(void) __attribute__((weak));
// extern const void *tree_sitter_dockerfile(void) __attribute__((weak));
// extern const void *tree_sitter_elixir(void) __attribute__((weak));
// extern const void *tree_sitter_elm(void) __attribute__((weak));
// extern const void *tree_sitter_go(void) __attribute__((weak));
// extern const void *tree_sitter_groovy(void) __attribute__((weak));
// extern const void *tree_sitter_hcl(void) __attribute__((weak));
// extern const void *tree_sitter_html(void) __attribute__((weak));
// extern const void *tree_sitter_java(void) __attribute__((weak));
// extern const void *tree_sitter_javascript(void) __attribute__((weak));
// extern const void *tree_sitter_kotlin(void) __attribute__((weak));
// extern const void *tree_sitter_lua(void) __attribute__((weak));
// extern const void *tree_sitter_ocaml(void) __attribute__((weak));
// extern const void *tree_sitter_php(void) __attribute__((weak));
// extern const void *tree_sitter_proto(void) __attribute__((weak));
// extern const void *tree_sitter_python(void) __attribute__((weak));
// extern const void *tree_sitter_ruby(void) __attribute__((weak));
// extern const void *tree_sitter_rust(void) __attribute__((weak));
// extern const void *tree_sitter_scala(void) __attribute__((weak));
// extern const void *tree_sitter_svelte(void) __attribute__((weak));
// extern const void *tree_sitter_swift(void) __attribute__((weak));
// extern const void *tree_sitter_tsx(void) __attribute__((weak));
// extern const void *tree_sitter_typescript(void) __attribute__((weak));
import "C"

import (
	"unsafe"

	_ "github.com/smacker/go-tree-sitter/bash"
	_ "github.com/smacker/go-tree-sitter/c"
	_ "github.com/smacker/go-tree-sitter/cpp"
	_ "github.com/smacker/go-tree-sitter/csharp"
	_ "github.com/smacker/go-tree-sitter/css"
	_ "github.com/smacker/go-tree-sitter/cue"
	_ "github.com/smacker/go-tree-sitter/dockerfile"
	_ "github.com/smacker/go-tree-sitter/elixir"
	_ "github.com/smacker/go-tree-sitter/elm"
	_ "github.com/smacker/go-tree-sitter/golang"
	_ "github.com/smacker/go-tree-sitter/groovy"
	_ "github.com/smacker/go-tree-sitter/hcl"
	_ "github.com/smacker/go-tree-sitter/html"
	_ "github.com/smacker/go-tree-sitter/java"
	_ "github.com/smacker/go-tree-sitter/javascript"
	_ "github.com/smacker/go-tree-sitter/kotlin"
	_ "github.com/smacker/go-tree-sitter/lua"
	_ "github.com/smacker/go-tree-sitter/ocaml"
	_ "github.com/smacker/go-tree-sitter/php"
	_ "github.com/smacker/go-tree-sitter/protobuf"
	_ "github.com/smacker/go-tree-sitter/python"
	_ "github.com/smacker/go-tree-sitter/ruby"
	_ "github.com/smacker/go-tree-sitter/rust"
	_ "github.com/smacker/go-tree-sitter/scala"
	_ "github.com/smacker/go-tree-sitter/svelte"
	_ "github.com/smacker/go-tree-sitter/swift"
	_ "github.com/smacker/go-tree-sitter/typescript/tsx"
	_ "github.com/smacker/go-tree-sitter/typescript/typescript"
)

func bashGrammar() unsafe.Pointer       { return unsafe.Pointer(C.tree_sitter_bash()) }
func cGrammar() unsafe.Pointer          { return unsafe.Pointer(C.tree_sitter_c()) }
func cppGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_cpp()) }
func csharpGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_c_sharp()) }
func cssGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_css()) }
func cueGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_cue()) }
func dockerfileGrammar() unsafe.Pointer { return unsafe.Pointer(C.tree_sitter_dockerfile()) }
func elixirGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_elixir()) }
func elmGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_elm()) }
func golangGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_go()) }
func groovyGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_groovy()) }
func hclGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_hcl()) }
func htmlGrammar() unsafe.Pointer       { return unsafe.Pointer(C.tree_sitter_html()) }
func javaGrammar() unsafe.Pointer       { return unsafe.Pointer(C.tree_sitter_java()) }
func javascriptGrammar() unsafe.Pointer { return unsafe.Pointer(C.tree_sitter_javascript()) }
func kotlinGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_kotlin()) }
func luaGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_lua()) }
func ocamlGrammar() unsafe.Pointer      { return unsafe.Pointer(C.tree_sitter_ocaml()) }
func phpGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_php()) }
func protobufGrammar() unsafe.Pointer   { return unsafe.Pointer(C.tree_sitter_proto()) }
func pythonGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_python()) }
func rubyGrammar() unsafe.Pointer       { return unsafe.Pointer(C.tree_sitter_ruby()) }
func rustGrammar() unsafe.Pointer       { return unsafe.Pointer(C.tree_sitter_rust()) }
func scalaGrammar() unsafe.Pointer      { return unsafe.Pointer(C.tree_sitter_scala()) }
func svelteGrammar() unsafe.Pointer     { return unsafe.Pointer(C.tree_sitter_svelte()) }
func swiftGrammar() unsafe.Pointer      { return unsafe.Pointer(C.tree_sitter_swift()) }
func tsxGrammar() unsafe.Pointer        { return unsafe.Pointer(C.tree_sitter_tsx()) }
func typescriptGrammar() unsafe.Pointer { return unsafe.Pointer(C.tree_sitter_typescript()) }
