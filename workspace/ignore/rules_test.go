package ignore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// files returns what the rules leave of root, sorted.
func files(t testing.TB, root string, env Env) []string {
	t.Helper()
	var out []string
	var visit func(d *Dir, rel string, entries []os.DirEntry)
	list := func(rel string) ([]os.DirEntry, Marks) {
		entries, err := os.ReadDir(filepath.Join(root, rel))
		if err != nil {
			t.Fatal(err)
		}
		var marks Marks
		for _, e := range entries {
			marks.Note(e.Name())
		}
		return entries, marks
	}
	visit = func(d *Dir, rel string, entries []os.DirEntry) {
		for _, e := range entries {
			path := filepath.Join(rel, e.Name())
			if d.Skip(e.Name(), e.IsDir()) {
				continue
			}
			if !e.IsDir() {
				out = append(out, path)
				continue
			}
			below, marks := list(path)
			if sub, ok := d.Enter(e.Name(), marks); ok {
				visit(sub, path, below)
			}
		}
	}
	entries, _ := list("")
	visit(Load(root, env).Root(), "", entries)
	slices.Sort(out)
	return out
}

// agree fails the test unless the rules and git leave the same of root.
func agree(t *testing.T, root, home string) []string {
	t.Helper()
	want := listed(t, root, home)
	got := files(t, root, Env{Home: home})
	if !slices.Equal(got, want) {
		t.Errorf("%s:\nonly we have %q\nonly git has %q", filepath.Base(root), minus(got, want), minus(want, got))
	}
	return got
}

func TestRules(t *testing.T) {
	home, dir := fastDir(t), fastDir(t)
	repo := filepath.Join(dir, "repo")
	for path, content := range map[string]string{
		".gitignore":           "*.log\n/build/\n!keep.log\nlogs/**\n!logs/important\n",
		"a.go":                 "",
		"a.log":                "",
		"keep.log":             "",
		"build/out":            "",
		"build/tracked":        "",
		"build/sub/tracked":    "",
		"sub/build/out":        "",
		"sub/.gitignore":       "!a.log\n*.tmp\n/only-here\n",
		"sub/a.log":            "",
		"sub/b.log":            "",
		"sub/x.tmp":            "",
		"sub/only-here":        "",
		"sub/deep/only-here":   "",
		"sub/deep/x.tmp":       "",
		"logs/x":               "",
		"logs/important":       "",
		"global.bak":           "",
		"excluded-by-info":     "",
		"tracked.log":          "",
		"linked/.gitignore-to": "*\n",
		"linked/f":             "",
		"name with \"q\"\n":    "",
		"nested/f":             "",
		"module/f":             "",
		"fake/.git/config":     "",
		"fake/f":               "",
	} {
		put(t, filepath.Join(repo, path), content)
	}
	put(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = x\n[include]\n\tpath = more\n")
	put(t, filepath.Join(home, "more"), "# comment\n[Core] ; comment\n\texcludesFile = \"~/glob\\\nal\" # comment\n")
	put(t, filepath.Join(home, "global"), "*.bak\n")
	git(t, dir, home, "init", "-q", repo)
	git(t, dir, home, "init", "-q", filepath.Join(repo, "nested"))
	put(t, filepath.Join(repo, ".git/info/exclude"), "excluded-by-info\r\n")
	if err := os.Symlink(".gitignore-to", filepath.Join(repo, "linked/.gitignore")); err != nil {
		t.Fatal(err)
	}
	git(t, repo, home, "add", "-f", "tracked.log", "build/tracked", "build/sub/tracked")
	module := filepath.Join(dir, "module")
	git(t, dir, home, "init", "-q", module)
	put(t, filepath.Join(module, "f"), "")
	git(t, module, home, "add", ".")
	git(t, module, home, "commit", "-qm", "x")
	git(t, repo, home, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "submodule")
	git(t, repo, home, "commit", "-qm", "x")

	got := agree(t, repo, home)
	for _, name := range []string{"keep.log", "build/tracked", "build/sub/tracked", "sub/build/out", "sub/a.log", "tracked.log", "linked/f", "fake/f", ".gitmodules", "name with \"q\"\n"} {
		if !slices.Contains(got, name) {
			t.Errorf("%q is missing", name)
		}
	}
	for _, name := range []string{"a.log", "build/out", "sub/x.tmp", "sub/only-here", "global.bak", "excluded-by-info", "nested/f", "submodule/f"} {
		if slices.Contains(got, name) {
			t.Errorf("%q is there", name)
		}
	}

	for _, sub := range []string{"sub", "sub/deep", "logs", "build/sub"} {
		if sub == "build/sub" { // ignored, but files below are tracked
			git(t, repo, home, "rm", "-q", "--cached", "build/tracked")
		}
		agree(t, filepath.Join(repo, sub), home)
	}
	git(t, repo, home, "update-index", "--index-version", "4")
	agree(t, repo, home)
	tree := filepath.Join(dir, "worktree")
	git(t, repo, home, "worktree", "add", "-q", tree)
	put(t, filepath.Join(tree, "x.log"), "")
	put(t, filepath.Join(tree, "x.bak"), "")
	put(t, filepath.Join(tree, "excluded-by-info"), "")
	put(t, filepath.Join(tree, "X.LOG"), "")
	agree(t, tree, home)
	git(t, repo, home, "config", "core.ignoreCase", "true")
	agree(t, tree, home)
	git(t, repo, home, "config", "core.excludesFile", "")
	agree(t, tree, home)
	git(t, repo, home, "config", "--unset", "core.excludesFile")
	put(t, filepath.Join(home, ".gitconfig"), "")
	put(t, filepath.Join(home, ".config/git/ignore"), "*.go\n")
	agree(t, tree, home)
	agree(t, repo, home)
}

// A root of its own: without a repository, with several, and one that its
// repository ignores.
func TestRulesRoots(t *testing.T) {
	home, dir := fastDir(t), fastDir(t)
	for path, content := range map[string]string{
		".gitignore": "*.log\n", "a.log": "", "b.go": "",
		"one/.gitignore": "*.go\n!x.log\n", "one/a.go": "", "one/x.log": "",
		"two/c.go": "", "two/c.log": "", "two/ignored/d.go": "",
	} {
		put(t, filepath.Join(dir, path), content)
	}
	git(t, dir, home, "init", "-q", "two")
	put(t, filepath.Join(dir, "two/.git/info/exclude"), "ignored\n")
	got := files(t, dir, Env{Home: home})
	// two is a repository of its own, to which the rules above it are nothing.
	want := []string{".gitignore", "b.go", "one/.gitignore", "one/x.log", "two/c.go", "two/c.log"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = files(t, filepath.Join(dir, "two/ignored"), Env{Home: home})
	if !slices.Equal(got, []string{"d.go"}) {
		t.Errorf("a root that is ignored has %q", got)
	}
}

// .ignore files outrank everything of git.
func TestRulesOwn(t *testing.T) {
	home, dir := fastDir(t), fastDir(t)
	git(t, dir, home, "init", "-q")
	for path, content := range map[string]string{
		".gitignore": "*.log\n/dist\n", ".ignore": "tracked\n!special.log\n!/dist\n/dist/cache\n",
		"tracked": "", "a.log": "", "special.log": "", "dist/f": "", "dist/a.log": "", "dist/cache/f": "",
		"sub/.ignore": "!tracked\n", "sub/tracked": "", "sub/.gitignore": "special.log\n", "sub/special.log": "",
	} {
		put(t, filepath.Join(dir, path), content)
	}
	git(t, dir, home, "add", "tracked")
	got := files(t, dir, Env{Home: home})
	want := []string{".gitignore", ".ignore", "dist/f", "special.log", "sub/.gitignore", "sub/.ignore", "sub/special.log", "sub/tracked"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Agreement on random trees with rules at every level and tracked files.
func TestRulesAgreeAtRandom(t *testing.T) {
	seed := uint64(1)
	if s := os.Getenv("MAPD_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	for i := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, i))
		home, dir := fastDir(t), fastDir(t)
		git(t, dir, home, "init", "-q")
		grow(t, r, dir, 300)
		rules := func() string {
			var b strings.Builder
			for range r.IntN(4) {
				b.WriteString(randomPattern(r) + "\n")
			}
			return b.String()
		}
		var tracked []string
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.Name() == ".git":
				return filepath.SkipDir
			case d.IsDir() && r.IntN(3) == 0:
				put(t, filepath.Join(path, ".gitignore"), rules())
			case !d.IsDir() && r.IntN(6) == 0:
				tracked = append(tracked, path)
			}
			return nil
		})
		fold := i%3 == 0
		if !fold { // else git takes files for tracked whose names differ only in case
			git(t, dir, home, append([]string{"add", "-f", "--"}, tracked...)...)
		}
		put(t, filepath.Join(dir, ".git/info/exclude"), rules())
		put(t, filepath.Join(home, ".config/git/ignore"), rules())
		if fold {
			git(t, dir, home, "config", "core.ignoreCase", "true")
		}
		agree(t, dir, home)
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, i)
		}
	}
}

// A broken index, whatever is in it, makes no file tracked and nothing worse.
func TestParseIndexBroken(t *testing.T) {
	home, dir := fastDir(t), fastDir(t)
	git(t, dir, home, "init", "-q")
	for i := range 20 {
		put(t, filepath.Join(dir, fmt.Sprint("dir/file", i)), "")
	}
	git(t, dir, home, "add", ".")
	for _, version := range []string{"2", "4"} {
		git(t, dir, home, "update-index", "--index-version", version)
		b, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			t.Fatal(err)
		}
		if names, ok := parseIndex(b, false); !ok || len(names) != 20 || !names.has("dir/file7") || !names.hasBelow("dir") || names.hasBelow("di") {
			t.Fatalf("version %s: %q, %v", version, names, ok)
		}
		for n := range b {
			parseIndex(b[:n], false)
			parseIndex(b[:n], true)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			broken := slices.Clone(b)
			for range 1 + r.IntN(4) {
				broken[r.IntN(len(broken))] = byte(r.Uint32())
			}
			parseIndex(broken, false)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"*.log\n", "!a/**/b/\n", "[[:alpha:]-z]\\", "a\\ \r\n#x\n/**"} {
		f.Add(s, "a/b.log")
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		for _, fold := range []bool{false, true} {
			Parse([]byte(text), fold).Match(path, len(text)%2 == 0)
		}
		parseConfig(text, func(string, string, string, bool) {})
	})
}
