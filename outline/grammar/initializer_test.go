package grammar

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/golden"
)

// TestInitializers checks which values of variables are blanked: what the
// grammar cannot read among them costs nothing then.
func TestInitializers(t *testing.T) {
	values := strings.Repeat("{1, '{', \"}\", 1'000, /* } */ .name = \"x\"},\n", 20)
	for _, c := range []struct {
		name, values string
		blanked      bool
	}{
		{"values", "{\n" + values + "}", true},
		{"few values", "{1, 2, 3}", false},
		{"a lambda", "{\n" + values + "[]{ return 1; }}", false},
		{"a conditional", "{\n" + values + "#if A\n1,\n#endif\n}", false},
		{"no end", "{\n" + values, false},
	} {
		src := "int before(void) { return 1; }\nstatic const struct entry table[] = " + c.values + ";\nint after(void) { return 2; }\n"
		out := blankMacros([]byte(src))
		if got := !bytes.Contains(out, []byte("1,")); got != c.blanked {
			t.Errorf("%s: blanked %v, want %v:\n%s", c.name, got, c.blanked, out)
		}
		if len(out) != len(src) || bytes.Count(out, []byte("\n")) != strings.Count(src, "\n") {
			t.Errorf("%s: length or lines changed", c.name)
		}
		list, err := Outline("cpp", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if c.blanked && (list.Why != "" || len(list.Symbols) != 3 || list.Symbols[1].End != list.Symbols[2].Start-1) {
			t.Errorf("%s: %s\n%s", c.name, list.Why, golden.Dump(list))
		}
	}
}

// TestInitializersLinear opens many lists that never end.
func TestInitializersLinear(t *testing.T) {
	src := bytes.Repeat([]byte("={"), 4<<20)
	if out := blankMacros(src); &out[0] != &src[0] {
		t.Error("something was blanked")
	}
}

// TestGeneratedC outlines a generated file of the binding that is nearly all
// tables.
func TestGeneratedC(t *testing.T) {
	files := filesIn(t, bindingDir(t), 1, func(path string, _ int64) bool { return strings.HasSuffix(path, "python/parser.c") })
	if len(files) == 0 {
		t.Fatal("no generated file")
	}
	src, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if left := len(bytes.Join(bytes.Fields(blankMacros(src)), nil)); left > len(src)/4 {
		t.Errorf("%d of %d bytes are left to the grammar", left, len(src))
	}
	list, err := Outline("c", src)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ts_symbol_names", "ts_parse_table", "ts_parse_actions", "ts_lex", "tree_sitter_python", "sym_identifier"} {
		found := false
		symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
			found = found || s.Name == want
			return !found
		})
		if !found {
			t.Errorf("no %s", want)
		}
	}
}
