package find

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mapd/workspace/grep"
)

// TestRipgrep compares searches of the Go distribution's sources with those of
// ripgrep: the same lines, and the processor time of both. It needs rg in PATH,
// or its path in MAPD_RG.
func TestRipgrep(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), "rg") {
		t.Skip("set MAPD_SUITE=rg to compare with ripgrep")
	}
	rg, err := exec.LookPath(cmp.Or(os.Getenv("MAPD_RG"), "rg"))
	if err != nil {
		t.Fatalf("the suite rg needs ripgrep: %v", err)
	}
	tr, _ := sources(t)
	tr.Limit = 1 << 30
	for _, c := range []struct {
		pattern string
		regexp  bool
	}{
		{"Zyzzyva", false}, {"zyzzyva", false}, {"ErrBufferFull", false}, {"errbufferfull", false}, {"ßen", false},
		{`func \w+Reader\(`, true}, {`(?:read|write)all`, true}, {`\bTODO\(\w+\):`, true}, {`^\s*\}\s*else\s*\{$`, true}, {`[0-9]{9}$`, true},
	} {
		want, theirs := ripgrep(t, rg, tr.dir, c.pattern, c.regexp)
		got, ours := mapd(t, tr, c.pattern, c.regexp)
		t.Logf("%-22q %6d lines: %v of processor time, ripgrep %v: %.2f", c.pattern, len(got), ours.Round(time.Millisecond), theirs.Round(time.Millisecond), float64(ours)/float64(theirs))
		if !slices.Equal(got, want) {
			t.Errorf("%q: %s", c.pattern, difference(want, got))
		}
	}
}

// ripgrep returns the lines of dir that match, sorted, and the least processor
// time of a few runs.
func ripgrep(t *testing.T, rg, dir, pattern string, expression bool) (lines []string, used time.Duration) {
	args := []string{
		"--no-config", "--no-ignore", "--hidden", "--encoding", "none", "--crlf", "--no-heading",
		"--with-filename", "--line-number", "--smart-case", "--color", "never",
	}
	if !expression {
		args = append(args, "--fixed-strings")
	}
	used = time.Duration(1 << 62)
	for range 3 {
		cmd := exec.Command(rg, append(args, "--", pattern, dir)...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatal(err)
		}
		used = min(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		lines = nil
		for line := range strings.Lines(string(out)) {
			path, rest, _ := strings.Cut(strings.TrimPrefix(line, dir+"/"), ":")
			number, _, _ := strings.Cut(rest, ":")
			if !strings.HasPrefix(path, "Binary file") {
				lines = append(lines, path+":"+number)
			}
		}
	}
	slices.Sort(lines)
	return lines, used
}

// mapd is ripgrep by a search of this package.
func mapd(t *testing.T, tr *tree, pattern string, expression bool) (lines []string, used time.Duration) {
	p, err := grep.Compile(pattern, expression)
	if err != nil {
		t.Fatal(err)
	}
	used = time.Duration(1 << 62)
	for range 3 {
		before := processorTime()
		r, err := tr.Text(t.Context(), p)
		if err != nil || r.Truncated {
			t.Fatalf("%v, truncated %v", err, r.Truncated)
		}
		used = min(used, processorTime()-before)
		lines = nil
		for _, h := range r.Hits {
			rel, _ := filepath.Rel(tr.dir, h.Version.Path())
			lines = append(lines, fmt.Sprintf("%s:%d", rel, h.Line))
		}
	}
	slices.Sort(lines)
	return lines, used
}

// difference names the first lines that only one side has.
func difference(want, got []string) string {
	only := func(a, b []string) []string {
		var out []string
		for _, line := range a {
			if _, both := slices.BinarySearch(b, line); !both && len(out) < 5 {
				out = append(out, line)
			}
		}
		return out
	}
	return fmt.Sprintf("only ripgrep has %q, only mapd %q", only(want, got), only(got, want))
}
