package grammar

import (
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/golden"
)

// TestNewerSyntax checks that syntax newer than the grammar costs at most its
// own construct: the definitions around it are all found.
func TestNewerSyntax(t *testing.T) {
	for _, c := range []struct{ language, code string }{
		{"typescript", "interface Box<in out T, const U> { value: T }"},
		{"typescript", "export type * from './types';"},
		{"typescript", "class A { accessor x = 1; static accessor #y = 2; after() {} }"},
		{"typescript", "function f<const T extends readonly unknown[]>(x: T): T { return x; }"},
		{"typescript", "type All<T> = { [K in keyof T]+?: T[K] };"},
		{"typescript", "declare const f: {\n  (x: string): void\n  <\n    A,\n    B\n  >(x: A, y: B): void\n};"},
		{"javascript", "{ using handle = open(); await using other = open(); }"},
		{"javascript", "import data from './data.json' with { type: 'json' };"},
		{"javascript", "import defer * as lazy from './lazy.js';"},
		{"javascript", "const pattern = /[\\p{L}--[a-z]]/v;"},
		{"python", "def f[T = int](x: T) -> T: return x"},
		{"python", "class C[T: (int, str) = int]: pass"},
		{"python", "type X[*Ts = *tuple[int]] = tuple[*Ts]"},
		{"python", "try:\n    pass\nexcept* ValueError, TypeError:\n    pass"},
		{"python", "x = t'hello {name!r:>{width}}'"},
		{"rust", "gen fn numbers() -> i32 { yield 1; }"},
		{"rust", "fn f() { let c = async move || { 1 }; }"},
		{"rust", "fn f<T>() -> impl Sized + use<T> { }"},
		{"rust", "unsafe extern \"C\" { pub safe fn g(); }"},
		{"kotlin", "fun interface Runner { fun run() }"},
		{"kotlin", "data object Nothing"},
		{"kotlin", "context(a: Logger) fun log() {}"},
		{"php", "class P { public string $x { get => 1; set { $this->x = $value; } } }"},
		{"php", "$x |> strlen(...);"},
		{"swift", "func f() throws(Failure) { }"},
		{"swift", "struct S: ~Copyable { consuming func f() {} }"},
		{"java", "void main() { switch (o) { case Point(var x, _) when x > 0 -> {} default -> {} } }"},
		{"csharp", "class P(int x) { public int X => field; int[] a = [1, ..b]; }"},
		{"cpp", "template <typename T> void f(this T self) { auto [a, ...b] = x; }"},
		{"cpp", "export module mine;"},
		{"c", "constexpr int x = 0b1'0; [[nodiscard]] int f(typeof(x) y) { return nullptr == 0; }"},
		{"scala", "given Ordering[Int] with { def compare(a: Int, b: Int) = 0 }"},
		{"ruby", "def f(*, **, &) = g(*, **, &)\nit_block = [1].map { it }"},
		{"lua", "goto done\n::done::"},
	} {
		before, after := neighbours(c.language)
		src := before + "\n" + c.code + "\n\n" + after
		list, err := Outline(c.language, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, []byte(src), list)
		found := make(map[string]*symbol.Symbol)
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			found[s.Name] = s
			return true
		})
		lines := strings.Count(src, "\n")
		for name, line := range map[string]int{"before_first": 1, "after_last": lines - 2} {
			if s := found[name]; s == nil || s.Start != line || s.End != line+2 {
				t.Errorf("%s: %s: %s is not on lines %d to %d: %+v\n%s", c.language, c.code, name, line, line+2, s, golden.Dump(list))
			}
		}
	}
}

// neighbours returns definitions of three lines each to stand around a
// construct.
func neighbours(language string) (before, after string) {
	forms := map[string]string{
		"typescript": "function NAME(): void {\n  return;\n}\n",
		"javascript": "function NAME() {\n  return;\n}\n",
		"python":     "def NAME():\n    x = 1\n    return x\n",
		"rust":       "fn NAME() {\n    let x = 1;\n}\n",
		"kotlin":     "fun NAME() {\n    println()\n}\n",
		"php":        "function NAME() {\n    return 1;\n}\n",
		"swift":      "func NAME() {\n    print(1)\n}\n",
		"java":       "class NAME {\n    int x;\n}\n",
		"csharp":     "class NAME {\n    int x;\n}\n",
		"cpp":        "int NAME() {\n    return 1;\n}\n",
		"c":          "int NAME(void) {\n    return 1;\n}\n",
		"scala":      "class NAME {\n  val x = 1\n}\n",
		"ruby":       "def NAME\n  1\nend\n",
		"lua":        "function NAME()\n  return 1\nend\n",
	}
	form := forms[language]
	before = strings.ReplaceAll(form, "NAME", "before_first")
	if language == "php" {
		before = strings.Replace(before, "function", "<?php function", 1)
	}
	return before, strings.ReplaceAll(form, "NAME", "after_last")
}
