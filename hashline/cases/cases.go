// Package cases runs test cases that a person can read: txtar files in which the
// sections CASE/SECTION belong together. It is for tests alone.
//
// A text is written as it is, with Go's escapes for what cannot be seen, and \c at
// its very end for a last line without newline.
package cases

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is into the cases of testdata; read the difference before committing it")

// Case is the sections with one name.
type Case struct {
	Name     string
	Sections []string // their names, in order
	files    map[string]*txtar.File
}

// Run runs the cases of all files that match the pattern, as subtests named
// FILE/CASE; fewer than atLeast are a failure. family is called once for each
// file, with its name without extension, and returns what runs a case.
func Run(t *testing.T, pattern string, atLeast int, family func(name string) func(t *testing.T, c *Case)) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		run := family(base)
		for _, c := range parse(t, archive) {
			count++
			t.Run(base+"/"+c.Name, func(t *testing.T) { run(t, c) })
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < atLeast {
		t.Errorf("%d cases in %s, want at least %d", count, pattern, atLeast)
	}
}

func parse(t *testing.T, a *txtar.Archive) []*Case {
	t.Helper()
	var out []*Case
	for i := range a.Files {
		f := &a.Files[i]
		name, section, ok := strings.Cut(f.Name, "/")
		if !ok {
			t.Fatalf("section %q; want CASE/SECTION", f.Name)
		}
		if n := len(out); n == 0 || out[n-1].Name != name {
			out = append(out, &Case{Name: name, files: map[string]*txtar.File{}})
		}
		c := out[len(out)-1]
		if c.files[section] != nil {
			t.Fatalf("section %q stands there twice", f.Name)
		}
		c.files[section] = f
		c.Sections = append(c.Sections, section)
	}
	return out
}

// Has reports whether the case has a section.
func (c *Case) Has(section string) bool { return c.files[section] != nil }

// Raw returns a section as it is written, "" if there is none.
func (c *Case) Raw(section string) string {
	if f := c.files[section]; f != nil {
		return string(f.Data)
	}
	return ""
}

// Text returns the text that a section stands for.
func (c *Case) Text(t *testing.T, section string) string {
	t.Helper()
	return Decode(t, c.Raw(section))
}

// Compare holds got against a section, or writes it there with -update.
func (c *Case) Compare(t *testing.T, section, got string) {
	t.Helper()
	f := c.files[section]
	switch {
	case f == nil:
		t.Fatalf("got %s, which the case does not have:\n%s", section, got)
	case string(f.Data) == got:
	case *update:
		f.Data = []byte(got)
	default:
		t.Errorf("%s:\n%swant:\n%s", section, got, f.Data)
	}
}

// Decode reads the notation of a text.
func Decode(t *testing.T, written string) string {
	t.Helper()
	var sb strings.Builder
	for line := range strings.Lines(written) {
		body, noEnd := strings.CutSuffix(strings.TrimSuffix(line, "\n"), `\c`)
		s, err := strconv.Unquote(`"` + strings.NewReplacer(`"`, `\"`, "\t", `\t`).Replace(body) + `"`)
		if err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		sb.WriteString(s)
		if !noEnd {
			sb.WriteByte('\n')
		}
	}
	return sb.String()
}

// Encode writes the notation of a text.
func Encode(text string) string {
	var sb strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		quoted := strconv.Quote(body)
		sb.WriteString(strings.NewReplacer(`\"`, `"`, `\t`, "\t").Replace(quoted[1 : len(quoted)-1]))
		if !ended {
			sb.WriteString(`\c`)
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}
