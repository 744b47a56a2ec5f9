package golang

import (
	"context"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// FuzzExtract checks that no input breaks the promises of a symbol list.
func FuzzExtract(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range files {
		if archive, err := txtar.ParseFile(name); err == nil {
			f.Add(archive.Files[0].Data)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		text := hashline.NewText(src)
		list, err := Extract(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		var check func(level []symbol.Symbol, from, to int)
		check = func(level []symbol.Symbol, from, to int) {
			for _, s := range level {
				if s.Start < from || s.End < s.Start || s.End > to || s.Name == "" || s.NameLine != 0 && (s.NameLine < s.Start || s.NameLine > s.End) || s.Lead > s.Start {
					t.Fatalf("%+v within %d-%d", s, from, to)
				}
				if !utf8.ValidString(s.Name + s.Signature + s.Docstring) {
					t.Fatalf("%+v is not UTF-8", s)
				}
				from = s.Start
				check(s.Children, s.Start, s.End)
			}
		}
		check(list.Symbols, 1, text.Lines())
	})
}
