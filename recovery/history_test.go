package recovery

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mapd/hashline"
)

// step is one change of a file: what it was, what it became, and for each old
// line the new one that it is; 0 if it is none, unknown if that is open.
type step struct {
	old, new *hashline.Text
	truth    []int
}

const unknown = -1

// strategies are what tools do with a line reference after a foreign change.
// Each returns the line that it would take, or 0 if it refuses.
var strategies = []struct {
	name string
	take func(s step, n int) int
}{
	{"position only", func(s step, n int) int {
		if n > s.new.Lines() {
			return 0
		}
		return n
	}},
	{"2-letter content hash", func(s step, n int) int {
		content := func(t *hashline.Text) hashline.Hash { return hashline.Sum16(nil, t.Line(n), nil) & 0xff }
		if n > s.new.Lines() || content(s.old) != content(s.new) {
			return 0
		}
		return n
	}},
	{"nearest equal line", func(s step, n int) int {
		for d := range max(s.new.Lines(), n) {
			for _, k := range [...]int{n - d, n + d} {
				if k >= 1 && k <= s.new.Lines() && bytes.Equal(s.old.Line(n), s.new.Line(k)) {
					return k
				}
			}
		}
		return 0
	}},
	{"unique equal line", func(s step, n int) int {
		found := 0
		for k := 1; k <= s.new.Lines(); k++ {
			if bytes.Equal(s.old.Line(n), s.new.Line(k)) {
				if found > 0 {
					return 0
				}
				found = k
			}
		}
		return found
	}},
}

// TestAnchorSurvival counts what becomes of anchors over a history of changes,
// and what other ways of finding the line again would have done. The history is
// a generated one, in which the identity of each line is known; or with
// MAPD_REPO=path the latest commits of a git repository, in which a line is
// taken to be where it is proven to be.
func TestAnchorSurvival(t *testing.T) {
	steps := generatedSteps(t)
	if repo := os.Getenv("MAPD_REPO"); repo != "" {
		steps = gitSteps(t, repo)
	}
	count := map[Status]int{}
	wrong := make([]int, len(strategies))
	total := 0
	for _, s := range steps {
		texts := map[string]*hashline.Text{"v1": s.old, "live": s.new}
		all := []hashline.Range{rng(1, s.old.Lines())}
		scene := &Scene{Held: []*Held{{Snapshot: "v1", Lines: all, Whole: all}}, Live: s.new, Texts: fakeTexts{texts, nil}}
		for n := 1; n <= s.old.Lines(); n++ {
			v := scene.Resolve(s.old.Anchor(n, 4), "")
			count[v.Status]++
			total++
			truth := s.truth[n-1]
			if truth == unknown {
				continue
			}
			if v.Accepted() && v.Line != truth {
				t.Errorf("line %d %q led to line %d, it is %d", n, s.old.Line(n), v.Line, truth)
			}
			for i, other := range strategies {
				if line := other.take(s, n); line != 0 && line != truth {
					wrong[i]++
				}
			}
		}
	}
	if total == 0 {
		t.Fatal("no lines")
	}
	share := func(n int) string { return fmt.Sprintf("%.2f%%", 100*float64(n)/float64(total)) }
	t.Logf("%d changes, %d lines: current %s, moved and proven %s, changed %s, deleted %s, ambiguous %s",
		len(steps), total, share(count[Current]), share(count[Moved]), share(count[Changed]), share(count[Deleted]), share(count[Ambiguous]))
	for i, other := range strategies {
		t.Logf("silently wrong with %s: %s", other.name, share(wrong[i]))
	}
	if wrong[0] == 0 {
		t.Error("line numbers alone are never wrong: this history shows nothing")
	}
}

// generatedSteps changes generated files in a few hunks each.
func generatedSteps(t *testing.T) (out []step) {
	for seed := range uint64(60) {
		p := &played{
			lived: newLived(t, ""), rng: rand.New(rand.NewPCG(seed, 9)),
			ledger: NewLedgers(1 << 20).New(), history: map[string][]tracked{},
		}
		for range 200 {
			p.lines = append(p.lines, p.fresh())
		}
		p.publish()
		before, old := p.lines, p.texts[p.at]
		for range 1 + p.rng.IntN(3) {
			p.change(false)
		}
		at := map[int]int{}
		for i, l := range p.lines {
			at[l.id] = i + 1
		}
		s := step{old: old, new: p.texts[p.at]}
		for _, l := range before {
			s.truth = append(s.truth, at[l.id])
		}
		out = append(out, s)
	}
	return out
}

// gitSteps returns the changes of text files in the latest commits of a
// repository.
func gitSteps(t *testing.T, repo string) (out []step) {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", repo}, args...)...)
		data, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(data)
	}
	for commit := range strings.FieldsSeq(git("log", "--no-merges", "--format=%H", "-n", "500")) {
		for line := range strings.Lines(git("diff-tree", "-r", "--root", "--no-commit-id", "--diff-filter=M", commit)) {
			fields := strings.Fields(line)
			old, new := git("cat-file", "blob", fields[2]), git("cat-file", "blob", fields[3])
			if strings.ContainsRune(old+new, 0) || len(old)+len(new) > 4<<20 {
				continue
			}
			s := step{old: hashline.NewText([]byte(old)), new: hashline.NewText([]byte(new))}
			m := hashline.MapLines(s.old, s.new)
			for n := 1; n <= m.Lines(); n++ {
				f := m.Line(n)
				switch {
				case f.Status.Proven():
					s.truth = append(s.truth, f.Now.Start)
				case f.Status == hashline.Ambiguous:
					s.truth = append(s.truth, unknown)
				default:
					s.truth = append(s.truth, 0)
				}
			}
			out = append(out, s)
		}
	}
	return out
}
