package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitIn runs git in dir without configuration of the user.
func gitIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// generateRepository makes a repository with commits c0, c1, …, each of which
// changes about a third of the files, moves directories and changes what is
// ignored.
func generateRepository(t testing.TB, dir string, commits, files int) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	gitIn(t, dir, "init", "-q")
	for c := range commits {
		for i := range files {
			path := filepath.Join(dir, fmt.Sprintf("d%d/e%d/f%d.go", (i+c)%7, i%11, i))
			if r.IntN(3) == 0 {
				write(t, path, fmt.Sprintf("package p\n\n// version %d of %d\n", c, i))
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint("d", c%7))); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, ".gitignore"), fmt.Sprintf("e%d/\n*.log\n", c%11))
		gitIn(t, dir, "add", "-A")
		gitIn(t, dir, "commit", "-qm", "x", "--allow-empty")
		gitIn(t, dir, "tag", fmt.Sprint("c", c))
	}
}

// After each checkout between far commits the index equals a fresh one.
func TestMasterOracleCheckout(t *testing.T) {
	files, rounds := 200, 6
	if strings.Contains(os.Getenv("MAPD_SUITE"), "oracle") {
		files, rounds = 3000, 60
	}
	const commits = 8
	dir := memoryDir(t)
	generateRepository(t, dir, commits, files)
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	r := rand.New(rand.NewPCG(7, 8))
	for round := range rounds {
		to := fmt.Sprint("c", r.IntN(commits))
		gitIn(t, dir, "checkout", "-qf", to)
		got := settle(t, w)
		fresh := openWorkspace(t, c, dir, WorkspaceOptions{})
		want := settle(t, fresh)
		fresh.Close()
		if g, s := describe(got), describe(want); g != s || got.Why != "" || len(got.Files()) == 0 {
			t.Fatalf("round %d, checkout of %s (%s): %s", round, to, got.Why, cmp.Diff(strings.Split(s, "\n"), strings.Split(g, "\n")))
		}
	}
}
