package grammar

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/corpus"
)

// goTruth returns what go/parser knows about a file: functions, methods, types
// with their fields and methods, and the values of the package.
func goTruth(path string) []truth {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var found []truth
	add := func(kind, name string, node ast.Node) {
		found = append(found, truth{kind, name, fset.Position(node.Pos()).Line, fset.Position(node.End() - 1).Line})
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil && len(d.Recv.List) == 1 {
				name = receiver(d.Recv.List[0].Type) + "." + name
			}
			add("function", name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				node := ast.Node(spec)
				if !d.Lparen.IsValid() {
					node = d
				}
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add("type", s.Name.Name, node)
					members(s.Type, add)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add("value", name.Name, node)
					}
				}
			}
		}
	}
	return found
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.ParenExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	}
	return ""
}

func members(t ast.Expr, add func(kind, name string, node ast.Node)) {
	switch t := t.(type) {
	case *ast.StructType:
		for _, f := range t.Fields.List {
			for _, name := range f.Names {
				add("field", name.Name, f)
			}
			if len(f.Names) == 0 {
				add("field", receiver(f.Type), f)
			}
		}
	case *ast.InterfaceType:
		for _, f := range t.Methods.List {
			for _, name := range f.Names {
				add("method", name.Name, f)
			}
		}
	}
}

// TestGoOracle checks the Go table, and with it the walker, against go/parser
// on the files of Go's own distribution.
func TestGoOracle(t *testing.T) {
	var all []truths
	for _, dir := range []string{"net/http", "go/types", "runtime", "encoding", "reflect"} {
		for _, path := range filesIn(t, corpus.GoRoot(t, "src", dir), 20, func(path string, size int64) bool {
			return strings.HasSuffix(path, ".go") && !strings.Contains(path, "testdata") && size > 2<<10
		}) {
			if defs := goTruth(path); defs != nil {
				all = append(all, truths{path, &defs})
			}
		}
	}
	s := &score{}
	for _, one := range all {
		src, err := os.ReadFile(one.Path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Outline("go", src)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, src, list)
		s.compare(t, one.Path, *one.Definitions, list, func(sym *symbol.Symbol) bool {
			return !sym.Local && sym.Kind != symbol.Field
		})
	}
	s.check(t, "go", 40)
}

func TestBrokenGo(t *testing.T) {
	testBroken(t, "go", filesIn(t, corpus.GoRoot(t, "src", "net"), 12, func(path string, size int64) bool {
		return strings.HasSuffix(path, ".go") && !strings.Contains(path, "testdata") && size > 4<<10 && size < 100<<10
	}), .98)
}
