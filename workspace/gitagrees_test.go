package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/workspace/ignore"
)

// gitLists returns the regular files that git lists below dir, tracked ones and
// others, ignored ones aside. home is where git finds the user's configuration.
func gitLists(t *testing.T, dir, home string) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(dir, path)); err == nil && info.Mode().IsRegular() && path != "" {
			files = append(files, path)
		}
	}
	slices.Sort(files)
	return files
}

// indexedFiles returns what a workspace of dir has.
func indexedFiles(t *testing.T, dir, home string) []string {
	t.Helper()
	c := NewCache(Options{})
	defer c.Close()
	w, err := c.Open(dir, WorkspaceOptions{Env: &ignore.Env{Home: home, ConfigHome: filepath.Join(home, ".config")}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ix := settle(t, w)
	if ix.Why != "" {
		t.Fatal(ix.Why)
	}
	var files []string
	for _, f := range ix.Files() {
		files = append(files, f.Path)
	}
	return files
}

// The index of a repository of thousands of paths has the files that git lists:
// with nested and negated patterns, those of the clone and of the user, files
// that are tracked though ignored, and repositories inside.
func TestIndexAgreesWithGit(t *testing.T) {
	dir, home := memoryDir(t), memoryDir(t)
	r := rand.New(rand.NewPCG(51, 32))
	gitIn(t, dir, "init", "-q")
	word := func() string {
		return []string{"a", "b", "ab", "a.o", "b.o", "build", "x y", "é", "A", "c", "d"}[r.IntN(11)]
	}
	random := func(depth int) string {
		path := word()
		for range r.IntN(depth) {
			path = filepath.Join(path, word())
		}
		return path
	}
	pattern := func() string {
		p := []string{word(), "*.o", "a*", "*b", "?", "**/" + word(), word() + "/**", word() + "/" + word(), "[ab]", "build/", "*"}[r.IntN(11)]
		if r.IntN(8) > 0 && p == "*" {
			p = "*.o"
		}
		switch r.IntN(5) {
		case 0:
			p = "/" + p
		case 1, 2:
			p = "!" + p
		case 3:
			p += "/"
		}
		return p
	}
	patterns := func(n int) string {
		var lines []string
		for range n {
			lines = append(lines, pattern())
		}
		return strings.Join(lines, "\n") + "\n"
	}
	for range 14000 {
		path := filepath.Join(dir, random(7))
		if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
			_ = os.WriteFile(path, nil, 0o644) // fails where a directory has the name
		}
	}
	for range 60 {
		if at := filepath.Join(dir, filepath.Dir(random(5))); isDirectory(at) {
			write(t, filepath.Join(at, ".gitignore"), patterns(1+r.IntN(3)))
		}
	}
	write(t, filepath.Join(dir, ".git/info/exclude"), patterns(2))
	write(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/excludes\n")
	write(t, filepath.Join(home, "excludes"), patterns(2))
	all := 0
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.Contains(path, "/.git/") {
			all++
			if r.IntN(40) == 0 {
				gitIn(t, dir, "add", "-f", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, dir, "init", "-q", filepath.Join(dir, "inner"))
	write(t, filepath.Join(dir, "inner/f"), "")
	want := gitLists(t, dir, home)
	got := indexedFiles(t, dir, home)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("git and the index differ: %s", diff)
	}
	if all < 5000 || len(want) < all/10 || len(want) > all*9/10 {
		t.Errorf("%d of %d files are left: the patterns say too little", len(want), all)
	}
	t.Logf("%d of %d files", len(want), all)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// So it is with real repositories: the one of this program, and those that the
// variable MAPD_REPOSITORIES lists, like PATH.
func TestIndexAgreesWithGitHere(t *testing.T) {
	home := t.TempDir()
	roots := filepath.SplitList(os.Getenv("MAPD_REPOSITORIES"))
	if own, err := filepath.Abs(".."); err == nil && isDirectory(filepath.Join(own, ".git")) {
		roots = append(roots, own)
	}
	if len(roots) == 0 {
		t.Skip("this is no clone; set MAPD_REPOSITORIES to run it")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, root := range roots {
		t.Run(fmt.Sprintf("%q", root), func(t *testing.T) {
			if diff := cmp.Diff(gitLists(t, root, home), indexedFiles(t, root, home)); diff != "" {
				t.Errorf("git and the index differ: %s", diff)
			}
		})
	}
}
