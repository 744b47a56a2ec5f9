package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mapd/hashline"
	"mapd/outline/symbol"
	"mapd/testdata/corpus"
)

// realFiles returns every nth Go file of the standard library from a size on.
func realFiles(t testing.TB, n, size int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	i := 0
	err := filepath.WalkDir(corpus.GoRoot(t, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		if stat, err := d.Info(); err != nil || stat.Size() < int64(size) {
			return nil
		}
		if i++; i%n == 0 {
			files[path], err = os.ReadFile(path)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 30 {
		t.Fatalf("only %d files: no standard library?", len(files))
	}
	return files
}

// def is what the oracle knows of a definition.
type def struct {
	name       string
	start, end int
}

// oracle finds definitions by another way than Extract: one walk over all nodes
// with token positions. The blank identifier and the struct types of values are
// left to the golden files.
func oracle(t testing.TB, src []byte) (top, members, nested []def) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	at := func(name string, from, to ast.Node) def { return def{name, line(from.Pos()), line(to.End() - 1)} }
	isFunc := func(e ast.Expr) bool { _, ok := ast.Unparen(e).(*ast.FuncLit); return ok }
	depth := 0 // of functions
	ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
		depth = 0
		for _, s := range stack {
			switch s.(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				depth++
			}
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			name := n.Name.Name
			if n.Recv != nil {
				recv := string(src[fset.PositionFor(n.Recv.List[0].Type.Pos(), false).Offset:fset.PositionFor(n.Recv.List[0].Type.End(), false).Offset])
				recv, _, _ = strings.Cut(strings.Trim(recv, "*() "), "[")
				name = recv + "." + name
			}
			top = append(top, at(name, n, n))
		case *ast.TypeSpec:
			decl := stack[len(stack)-1].(*ast.GenDecl)
			var from ast.Node = n
			if !decl.Lparen.IsValid() {
				from = decl
			}
			if depth == 0 {
				top = append(top, at(n.Name.Name, from, n))
			} else {
				nested = append(nested, at(n.Name.Name, from, n))
			}
			if st, ok := n.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						members = append(members, at(name.Name, f, f))
					}
				}
			}
			if it, ok := n.Type.(*ast.InterfaceType); ok {
				for _, f := range it.Methods.List {
					for _, name := range f.Names {
						members = append(members, at(name.Name, f, f))
					}
				}
			}
		case *ast.ValueSpec:
			decl := stack[len(stack)-1].(*ast.GenDecl)
			var from ast.Node = n
			if !decl.Lparen.IsValid() {
				from = decl
			}
			for i, name := range n.Names {
				switch {
				case depth == 0:
					top = append(top, at(name.Name, from, n))
				case len(n.Values) == len(n.Names) && isFunc(n.Values[i]):
					nested = append(nested, at(name.Name, from, n))
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if len(n.Rhs) != len(n.Lhs) || !isFunc(n.Rhs[i]) {
					continue
				}
				switch left := left.(type) {
				case *ast.Ident:
					nested = append(nested, at(left.Name, left, n.Rhs[i]))
				case *ast.SelectorExpr:
					nested = append(nested, at(left.Sel.Name, left, n.Rhs[i]))
				}
			}
		}
		return true
	})
	blank := func(d def) bool { return d.name == "_" || strings.HasSuffix(d.name, "._") }
	return slices.DeleteFunc(top, blank), slices.DeleteFunc(members, blank), slices.DeleteFunc(nested, blank)
}

// found returns the definitions of a list that the oracle would know.
func found(list symbol.List) (top, members, nested []def) {
	var parents []*symbol.Symbol
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, depth int) bool {
		parents = append(parents[:depth], s)
		d := def{s.Name, s.Start, s.End}
		switch {
		case s.Local:
			nested = append(nested, d)
		case depth == 0:
			top = append(top, d)
		case depth >= 1 && (s.Kind == symbol.Field || s.Kind == symbol.Method):
			members = append(members, d)
		}
		return true
	})
	return top, members, nested
}

// missing returns the elements of want that got lacks.
func missing(want, got []def) (out []def) {
	have := map[def]int{}
	for _, d := range got {
		have[d]++
	}
	for _, d := range want {
		if have[d]--; have[d] < 0 {
			out = append(out, d)
		}
	}
	return out
}

// TestRealFiles compares with the oracle over a sample of the standard library:
// names and lines must be exact. Of members only recall is measured: the oracle
// does not know embedded fields and fields of fields.
func TestRealFiles(t *testing.T) {
	total, files := 0, realFiles(t, 13, 0)
	for path, src := range files {
		list := extract(t, src)
		if list.Source != symbol.Parser || list.Why != "" {
			t.Errorf("%s: %s %s", path, list.Source, list.Why)
		}
		wantTop, wantMembers, wantNested := oracle(t, src)
		gotTop, gotMembers, gotNested := found(list)
		total += len(wantTop) + len(wantMembers) + len(wantNested)
		for what, diff := range map[string][]def{
			"missing": missing(wantTop, gotTop), "invented": missing(gotTop, wantTop), "missing member": missing(wantMembers, gotMembers),
			"missing nested": missing(wantNested, gotNested), "invented nested": missing(gotNested, wantNested),
		} {
			if len(diff) > 0 {
				t.Errorf("%s: %s %v", path, what, diff[:min(len(diff), 5)])
			}
		}
	}
	t.Logf("%d definitions in %d files", total, len(files))
}

// TestChunks checks that a large file cut in chunks gives what its parts give.
func TestChunks(t *testing.T) {
	var whole bytes.Buffer
	var want []def
	whole.WriteString("package p\n")
	for path, src := range realFiles(t, 29, 8<<10) {
		if whole.Len() > largeFile+goodChunk {
			break
		}
		body := afterImports(t, path, src)
		lines := bytes.Count(whole.Bytes(), []byte("\n")) - bytes.Count(src[:len(src)-len(body)], []byte("\n"))
		top, _, _ := oracle(t, src)
		for _, d := range top {
			want = append(want, def{d.name, d.start + lines, d.end + lines})
		}
		whole.Write(body)
		whole.WriteString("\nvar f =\nfunc() {}\n")
		at := bytes.Count(whole.Bytes(), []byte("\n"))
		want = append(want, def{"f", at - 1, at})
	}
	for _, damage := range []string{"", "\nfunc broken( {\n}\n"} {
		list := extract(t, append(whole.Bytes(), damage...))
		got, _, _ := found(list)
		if list.Source == symbol.Parser != (damage == "") {
			t.Errorf("source %s %s", list.Source, list.Why)
		}
		if damage != "" {
			got = got[:len(got)-1]
		}
		if lost, extra := missing(want, got), missing(got, want); len(lost)+len(extra) > 0 {
			t.Errorf("%d missing %v, %d invented %v", len(lost), lost[:min(len(lost), 3)], len(extra), extra[:min(len(extra), 3)])
		}
	}
}

// TestLargeIsBounded checks what a file with too many declarations or with one
// that is too large gives.
func TestLargeIsBounded(t *testing.T) {
	line := "var a int\n"
	list := extract(t, []byte("package p\n"+strings.Repeat(line, MaxSymbols*5/2)))
	if len(list.Symbols) == 0 {
		t.Fatal("no symbols")
	}
	last := list.Symbols[len(list.Symbols)-1]
	if len(list.Symbols) != MaxSymbols || list.Why != symbol.TooLarge || last.Name != Elided || last.Start != MaxSymbols+1 || last.End != MaxSymbols*5/2+1 {
		t.Errorf("%d symbols, %s, the last %+v", len(list.Symbols), list.Why, last)
	}
	src := "package p\nvar a = []int{\n" + strings.Repeat("1,\n", maxChunk/3) + "}\n"
	if _, err := Extract(t.Context(), hashline.NewText([]byte(src))); err != ErrTooLarge {
		t.Errorf("got %v", err)
	}
}

// afterImports returns what follows the imports of a file.
func afterImports(t *testing.T, path string, src []byte) []byte {
	file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	end := file.Name.End()
	for _, d := range file.Decls {
		end = d.End()
	}
	return src[end-1:]
}

// breakages damage a file at an offset within a declaration.
var breakages = map[string]func(src []byte, at int) []byte{
	"missing brace": func(src []byte, at int) []byte {
		if i := bytes.Index(src[at:], []byte("\n}\n")); i >= 0 {
			return slices.Concat(src[:at+i+1], src[at+i+2:])
		}
		return src
	},
	"unclosed paren": func(src []byte, at int) []byte { return insert(src, at, "f((") },
	"unclosed brace": func(src []byte, at int) []byte { return insert(src, at, "if x {") },
	"string":         func(src []byte, at int) []byte { return insert(src, at, `x := "abc`) },
	"raw string":     func(src []byte, at int) []byte { return insert(src, at, "x := `abc") },
	"comment":        func(src []byte, at int) []byte { return insert(src, at, "/* abc") },
	"conflict": func(src []byte, at int) []byte {
		return insert(src, at, "<<<<<<< HEAD\nx := 1\n=======\nx := 2\n>>>>>>> other")
	},
	"cut": func(src []byte, at int) []byte { return src[:at] },
}

// insert puts a line in at the start of the line of an offset.
func insert(src []byte, at int, line string) []byte {
	at = bytes.LastIndexByte(src[:at], '\n') + 1
	return slices.Concat(src[:at], []byte(line+"\n"), src[at:])
}

// TestBroken measures how many of the declarations that a damage leaves alone
// are still found, at their lines, and that nothing else is.
func TestBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	files := realFiles(t, 40, 10<<10)
	paths := slices.Sorted(func(yield func(string) bool) {
		for p := range files {
			if !yield(p) {
				return
			}
		}
	})
	for name, damage := range breakages {
		kept, all, extra := 0, 0, 0
		for _, path := range paths {
			src := files[path]
			at := len(src)/4 + rng.IntN(len(src)/2)
			broken := damage(src, at)
			text := hashline.NewText(src)
			line := text.LineAt(at)
			top, _, _ := oracle(t, src)
			got, _, _ := found(extract(t, broken))
			have := map[def]int{}
			for _, d := range got {
				have[d]++
			}
			added := bytes.Count(broken, []byte("\n")) - bytes.Count(src, []byte("\n"))
			for _, d := range top {
				switch {
				case d.end < line:
				case d.start > line && name != "cut":
					d.start, d.end = d.start+added, d.end+added
				default: // the damaged one is found or not
					for g := range have {
						if g.name == d.name {
							have[g]--
						}
					}
					continue
				}
				all++
				if have[d]--; have[d] >= 0 {
					kept++
				}
			}
			for _, n := range have {
				extra += max(n, 0)
			}
		}
		t.Logf("%-15s recall %.4f of %d, %d invented", name, float64(kept)/float64(all), all, extra)
		if float64(kept) < .98*float64(all) || float64(extra) > .01*float64(all) {
			t.Errorf("%s: %d of %d kept, %d invented", name, kept, all, extra)
		}
	}
}

// TestHostile checks that no input takes the extractor down or long.
func TestHostile(t *testing.T) {
	deep := func(open, mid, end string) string {
		return "package p\nvar x = " + strings.Repeat(open, 100_000) + mid + strings.Repeat(end, 100_000) + "\nfunc after() {}\n"
	}
	for name, src := range map[string]string{
		"parens":     deep("(", "1", ")"),
		"unary":      deep("!", "a", ""),
		"operators":  deep("1+", "1", ""),
		"types":      deep("[]", "int{}", ""),
		"functions":  "package p\nvar x = " + strings.Repeat("func() { f := ", 30_000) + "1" + strings.Repeat("}", 30_000) + "\nfunc after() {}\n",
		"ifs":        "package p\nfunc f() {" + strings.Repeat("if a {\n", 90_000) + strings.Repeat("}\n", 90_000) + "}\nfunc after() {}\n",
		"garbage":    "package p\n" + strings.Repeat("func f(((", 20_000) + "\nfunc after() {}\n",
		"backquotes": "package p\n" + strings.Repeat("func a() { ` }\n", 10_000) + "\nfunc after() {}\n",
		"words":      strings.Repeat("func\n", 50_000) + "\nfunc after() {}\n",
		"long name":  "package p\nvar " + strings.Repeat("n", 1<<20) + " int\nfunc after() {}\n",
		"nul":        "package p\n\x00\xff\xfe\nfunc after() {}\n",
	} {
		t.Run(name, func(t *testing.T) {
			list := extract(t, []byte(src))
			if !slices.ContainsFunc(list.Symbols, func(s symbol.Symbol) bool { return s.Name == "after" }) {
				t.Errorf("after is lost; %d symbols, %s %s", len(list.Symbols), list.Source, list.Why)
			}
		})
	}
}
