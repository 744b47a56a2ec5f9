package hashline

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is into the cases of testdata; read the difference before committing it")

// TestApplyCases runs the cases in testdata/apply. A case is up to four sections
// with one name:
//
//	NAME/old     the text, one line each; Go's escapes are understood, and \c at
//	             the very end takes away the last newline
//	NAME/edits   "replace A-B", "delete A-B", "append A" or "prepend A" (end and
//	             start for no line), then the new lines after "| "
//	NAME/new     the text after the edits, or NAME/error the error
//	NAME/reply   what else Apply says: the first changed line, renumbering, what
//	             became of each old line, the diff
func TestApplyCases(t *testing.T) {
	files, err := filepath.Glob("testdata/apply/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	count := 0
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(name), ".txtar")
		for _, c := range applyCases(t, archive) {
			count++
			t.Run(family+"/"+c.name, func(t *testing.T) { c.run(t) })
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(archive), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < 60 {
		t.Errorf("%d cases, want at least 60", count)
	}
}

type applyCase struct {
	name     string
	sections map[string]*txtar.File
}

func applyCases(t *testing.T, a *txtar.Archive) []applyCase {
	var out []applyCase
	for i := range a.Files {
		f := &a.Files[i]
		name, section, ok := strings.Cut(f.Name, "/")
		if !ok || !slices.Contains([]string{"old", "edits", "new", "error", "reply"}, section) {
			t.Fatalf("section %q", f.Name)
		}
		if n := len(out); n == 0 || out[n-1].name != name {
			out = append(out, applyCase{name, map[string]*txtar.File{}})
		}
		out[len(out)-1].sections[section] = f
	}
	return out
}

func (c applyCase) run(t *testing.T) {
	old := decodeText(t, c.sections["old"].Data)
	edits := parseEdits(t, string(c.sections["edits"].Data))
	a, err := Apply(NewText([]byte(old)), edits)
	if err != nil {
		c.compare(t, "error", err.Error()+"\n")
		return
	}
	c.compare(t, "new", encodeText(string(a.New.Bytes())))
	if c.sections["reply"] != nil {
		c.compare(t, "reply", reply(a))
	}
}

func (c applyCase) compare(t *testing.T, section, got string) {
	t.Helper()
	f := c.sections[section]
	if f == nil {
		t.Fatalf("got %s, which the case does not have:\n%s", section, got)
	}
	if string(f.Data) == got {
		return
	}
	if *update {
		f.Data = []byte(got)
		return
	}
	t.Errorf("%s:\n%swant:\n%s", section, got, f.Data)
}

// decodeText reads the notation of a text.
func decodeText(t *testing.T, data []byte) string {
	t.Helper()
	var sb strings.Builder
	for line := range strings.Lines(string(data)) {
		body, noEnd := strings.CutSuffix(strings.TrimSuffix(line, "\n"), `\c`)
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(body, `"`, `\"`), "\t", `\t`) + `"`)
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

// encodeText writes the notation of a text.
func encodeText(s string) string {
	var sb strings.Builder
	for line := range strings.Lines(s) {
		body, ended := strings.CutSuffix(line, "\n")
		quoted := strconv.Quote(body)
		quoted = quoted[1 : len(quoted)-1]
		sb.WriteString(strings.ReplaceAll(strings.ReplaceAll(quoted, `\"`, `"`), `\t`, "\t"))
		if !ended {
			sb.WriteString(`\c`)
		}
		sb.WriteByte('\n')
	}
	return sb.String()
}

func parseEdits(t *testing.T, s string) []Edit {
	t.Helper()
	ops := map[string]Op{"replace": Replace, "delete": Delete, "append": Append, "prepend": Prepend}
	var out []Edit
	for line := range strings.Lines(s) {
		line = strings.TrimSuffix(line, "\n")
		if payload, ok := strings.CutPrefix(line, "| "); ok || line == "|" {
			if line == "|" {
				payload = ""
			}
			last := &out[len(out)-1]
			last.Lines = append(last.Lines, strings.TrimSuffix(decodeText(t, []byte(payload+"\n")), "\n"))
			continue
		}
		word, where, _ := strings.Cut(line, " ")
		op, ok := ops[word]
		if !ok {
			t.Fatalf("edit %q", line)
		}
		e := Edit{Op: op}
		if where != "start" && where != "end" {
			if n, err := fmt.Sscanf(where, "%d-%d", &e.Start, &e.End); err != nil && n == 0 {
				t.Fatalf("edit %q", line)
			}
			if e.End == 0 && (op == Replace || op == Delete) {
				e.End = e.Start
			}
		}
		out = append(out, e)
	}
	return out
}

// reply renders everything Apply says besides the bytes.
func reply(a *Applied) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "first %d\n", a.FirstChangedLine())
	for _, s := range a.Renumber {
		fmt.Fprintf(&sb, "after %d %+d\n", s.After, s.Delta)
	}
	var words []string
	for n := 1; n <= a.Old.Lines(); n++ {
		f := a.Map.Line(n)
		switch f.Status {
		case Current, Deleted:
			words = append(words, f.Status.String())
		default:
			words = append(words, f.Status.String()+":"+f.Now.String())
		}
	}
	fmt.Fprintf(&sb, "lines %s\n", strings.Join(words, " "))
	diff := UnifiedDiff("old", "new", a.Old, a.New, a.Hunks, DiffContext)
	for line := range strings.Lines(string(diff)) {
		sb.WriteString(encodeText(line))
	}
	return sb.String()
}
