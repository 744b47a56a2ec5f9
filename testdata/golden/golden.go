// Package golden compares outlines with files that a person has read line by
// line. With the flag -update a test writes them anew.
package golden

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mapd/outline/symbol"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Dump prints all that is known of an outline, one symbol a line:
//
//	kind name [start-end] @name line ^lead [modifiers] +exported ~local | signature | documentation
func Dump(list symbol.List) string {
	var b strings.Builder
	fmt.Fprintln(&b, list.Source, list.Why)
	for _, im := range list.Imports {
		fmt.Fprintf(&b, "import %s [%d-%d]\n", im.Path, im.Start, im.End)
	}
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, depth int) bool {
		fmt.Fprintf(&b, "%s%s %s [%d-%d]", strings.Repeat("  ", depth), s.Kind, s.Name, s.Start, s.End)
		if s.NameLine != s.Start {
			fmt.Fprintf(&b, " @%d", s.NameLine)
		}
		if s.Lead > 0 {
			fmt.Fprintf(&b, " ^%d", s.Lead)
		}
		if len(s.Modifiers) > 0 {
			fmt.Fprintf(&b, " %v", s.Modifiers)
		}
		if s.Exported {
			b.WriteString(" +")
		}
		if s.Local {
			b.WriteString(" ~")
		}
		fmt.Fprintf(&b, " | %s", s.Signature)
		if s.Docstring != "" {
			fmt.Fprintf(&b, " | %s", s.Docstring)
		}
		b.WriteByte('\n')
		return true
	})
	return b.String()
}

// File compares got with the text of the named file.
func File(t testing.TB, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// Archive compares what dump makes of the first file of a txtar archive with the
// second. Line 1 of a file is the line after its marker.
func Archive(t testing.TB, name string, dump func(src []byte) string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got := dump(archive.Files[0].Data)
	if *update {
		archive.Files = append(archive.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
