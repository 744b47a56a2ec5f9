package ignore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs git in dir, with no configuration but that of the repository and
// home.
func git(t testing.TB, dir, home string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// fastDir returns a new directory, in memory where that is possible: making
// thousands of files on a disk takes seconds.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "mapd-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func put(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listed returns the sorted files that git lists below dir and that exist.
func listed(t testing.TB, dir, home string) []string {
	t.Helper()
	out := git(t, dir, home, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	seen := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if st, err := os.Lstat(filepath.Join(dir, name)); err == nil && !st.IsDir() && name != "" {
			seen[name] = true
		}
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// randomPattern makes a pattern of few letters, so that it often matches, out
// of all that is special.
func randomPattern(r *rand.Rand) string {
	parts := []string{"a", "b", "c", "a", "b", ".", "A", "*", "*", "**", "/", "/", "**/", "/**", "?", "[ab]", "[!a]", "[^b]", "[a-c]",
		"[]a]", "[a-]", "[\\]b]", "[[:alpha:]]", "[[:upper:]]", "[[:bogus:]]", "[a", "[[:a]", "[b-a]", "[!]a-]", "\\a", "\\*", "\\", " ", "\\ ", "***", "*/", "ab", "*b", "\t", "#", "!", "é", "[é]"}
	var b strings.Builder
	if r.IntN(8) == 0 {
		b.WriteString("!")
	}
	if r.IntN(6) == 0 {
		b.WriteString("/")
	}
	for range 1 + r.IntN(5) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	if r.IntN(5) == 0 {
		b.WriteString("/")
	}
	return b.String()
}

func randomName(r *rand.Rand) string {
	letters := []string{"a", "b", "c", "a", "b", ".", "A", "*", " ", "]", "-", "!", "[", "é", "\\", "d", "#"}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	if s := b.String(); s != "." && s != ".." {
		return s
	}
	return "a"
}

// grow makes a random tree of files below dir.
func grow(t testing.TB, r *rand.Rand, dir string, files int) {
	t.Helper()
	for range files {
		path := dir
		for range r.IntN(4) {
			path = filepath.Join(path, randomName(r))
		}
		path = filepath.Join(path, randomName(r))
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			os.WriteFile(path, nil, 0o644) // fails where a directory has the name
		}
	}
}

// Agreement with git on thousands of generated paths and patterns.
func TestAgreesWithGit(t *testing.T) {
	seed := uint64(1)
	if s := os.Getenv("MAPD_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	const trees = 150
	r := rand.New(rand.NewPCG(seed, 7))
	home, dir := fastDir(t), fastDir(t)
	git(t, dir, home, "init", "-q")
	for i := range trees {
		sub := filepath.Join(dir, fmt.Sprint("t", i))
		grow(t, r, sub, 40)
		var lines []string
		for range 1 + r.IntN(4) {
			lines = append(lines, randomPattern(r))
		}
		put(t, filepath.Join(sub, ".gitignore"), strings.Join(lines, "\n"))
	}
	all := listed(t, dir, home)
	for i := range trees {
		sub := fmt.Sprint("t", i)
		text, err := os.ReadFile(filepath.Join(dir, sub, ".gitignore"))
		if err != nil {
			t.Fatal(err)
		}
		list := Parse(text, false)
		var got []string
		walk(t, list, filepath.Join(dir, sub), "", &got)
		slices.Sort(got)
		var want []string
		for _, name := range all {
			if rest, ok := strings.CutPrefix(name, sub+"/"); ok {
				want = append(want, rest)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("patterns %q:\n got %q\nwant %q", strings.Split(string(text), "\n"), minus(got, want), minus(want, got))
		}
	}
}

func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

func walk(t *testing.T, l *List, dir, rel string, out *[]string) {
	entries, err := os.ReadDir(filepath.Join(dir, rel))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(rel, e.Name())
		if l.Match(path, e.IsDir()) == Ignored {
			continue
		}
		if e.IsDir() {
			walk(t, l, dir, path, out)
		} else {
			*out = append(*out, path)
		}
	}
}
