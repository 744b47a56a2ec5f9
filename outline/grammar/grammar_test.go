package grammar

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/golden"
)

// TestGolden compares the outline of testdata/<language>.<suffix> with the file
// of the same name and .outline.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	covered := make(map[string]bool)
	for _, file := range files {
		if strings.HasSuffix(file, ".outline") {
			continue
		}
		language, _, _ := strings.Cut(filepath.Base(file), ".")
		language, _, _ = strings.Cut(language, "_")
		covered[language] = true
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			list, err := Outline(language, src)
			if err != nil {
				t.Fatal(err)
			}
			checkShape(t, src, list)
			golden.File(t, file+".outline", golden.Dump(list))
		})
	}
	for _, language := range Names() {
		if !covered[language] {
			t.Errorf("%s has no golden file", language)
		}
	}
}

// checkShape checks what every outline promises.
func checkShape(t *testing.T, src []byte, list symbol.List) bool {
	t.Helper()
	lines := bytes.Count(src, []byte("\n")) + 1
	ok := true
	errorf := func(format string, args ...any) {
		t.Helper()
		ok = false
		t.Errorf(format, args...)
	}
	var check func(symbols []symbol.Symbol, first, last int)
	check = func(symbols []symbol.Symbol, first, last int) {
		for _, s := range symbols {
			if s.Name == "" || s.Kind == "" {
				errorf("a symbol without name or kind: %+v", s)
			}
			if s.Start < first || s.End < s.Start || s.End > last {
				errorf("%s %s: lines %d to %d, not within %d to %d", s.Kind, s.Name, s.Start, s.End, first, last)
			}
			if s.NameLine != 0 && (s.NameLine < s.FirstLine() || s.NameLine > s.End) {
				errorf("%s %s: name on line %d, not within %d to %d", s.Kind, s.Name, s.NameLine, s.Start, s.End)
			}
			first = s.Start
			check(s.Children, s.Start, s.End)
		}
	}
	check(list.Symbols, 1, lines)
	return ok
}

// TestTables resolves every table against its grammar.
func TestTables(t *testing.T) {
	for _, name := range Names() {
		if _, err := lookup(name); err != nil {
			t.Error(err)
		}
	}
}
