package hashline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mapd/hashline/cases"
)

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
	cases.Run(t, "testdata/apply/*.txtar", 60, func(string) func(*testing.T, *cases.Case) { return applyCase })
}

func applyCase(t *testing.T, c *cases.Case) {
	for _, section := range c.Sections {
		if !slices.Contains([]string{"old", "edits", "new", "error", "reply"}, section) {
			t.Fatalf("section %q", section)
		}
	}
	a, err := Apply(NewText([]byte(c.Text(t, "old"))), parseEdits(t, c.Raw("edits")))
	if err != nil {
		c.Compare(t, "error", err.Error()+"\n")
		return
	}
	c.Compare(t, "new", cases.Encode(string(a.New.Bytes())))
	if c.Has("reply") {
		c.Compare(t, "reply", reply(a))
	}
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
			last.Lines = append(last.Lines, strings.TrimSuffix(cases.Decode(t, payload+"\n"), "\n"))
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
		sb.WriteString(cases.Encode(line))
	}
	return sb.String()
}
