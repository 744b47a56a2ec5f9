package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mapd/workspace/watch"
)

// beforeAdd is the system's source with a hook that runs before a directory is
// watched.
func beforeAdd(hook func(dir string)) watch.Source {
	return func() (watch.Stream, error) {
		s, err := watch.System()
		if err != nil {
			return nil, err
		}
		return &hookedStream{s, hook}, nil
	}
}

type hookedStream struct {
	watch.Stream
	hook func(dir string)
}

func (h *hookedStream) Add(dir string) error {
	h.hook(dir)
	return h.Stream.Add(dir)
}

// A file that appears in the moment before its directory is watched has no
// event: the listing must come after the watch. So for the root, what is below
// it at the start, and what comes later.
func TestWatchThenList(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "old/f"), "")
	c := NewCache(Options{})
	defer c.Close()
	hook := func(d string) {
		if within(dir, d) {
			os.WriteFile(filepath.Join(d, "late"), nil, 0o644)
		}
	}
	w := openWorkspace(t, c, dir, WorkspaceOptions{Watch: beforeAdd(hook)})
	if got := paths(settle(t, w)); got != "late old/f old/late" {
		t.Errorf("at the start: %s", got)
	}
	write(t, filepath.Join(dir, "new/g"), "")
	if got := paths(settle(t, w)); got != "late new/g new/late old/f old/late" {
		t.Errorf("a new directory: %s", got)
	}
}

// The same for what the rules are read from.
func TestWatchThenReadRules(t *testing.T) {
	dir := memoryDir(t)
	gitIn(t, dir, "init", "-q")
	for _, name := range []string{"by-info", "by-file", "kept"} {
		write(t, filepath.Join(dir, name), "")
	}
	c := NewCache(Options{})
	defer c.Close()
	var seen sync.Map
	hook := func(d string) {
		if _, again := seen.LoadOrStore(d, true); again {
			return
		}
		switch d {
		case filepath.Join(dir, ".git/info"):
			os.WriteFile(filepath.Join(d, "exclude"), []byte("by-info\n"), 0o644)
		case dir:
			os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("by-file\n"), 0o644)
		}
	}
	w := openWorkspace(t, c, dir, WorkspaceOptions{Watch: beforeAdd(hook)})
	if got := paths(settle(t, w)); got != ".gitignore kept" {
		t.Errorf("at the start: %s", got)
	}
	write(t, filepath.Join(dir, ".git/info/exclude"), "kept\n")
	if got := paths(settle(t, w)); got != ".gitignore by-info" {
		t.Errorf("after a change: %s", got)
	}
	gitIn(t, dir, "add", "-f", "by-file")
	if got := paths(settle(t, w)); got != ".gitignore by-file by-info" {
		t.Errorf("with a tracked file: %s", got)
	}
	generation := w.Index().Generation
	gitIn(t, dir, "update-index", "--refresh") // writes the index without a change of files
	gitIn(t, dir, "update-index", "--index-version", "4")
	if settle(t, w); w.Index().Generation != generation {
		t.Error("an index of git with the same files made a scan")
	}
}

// A repository inside a root that is none: its rules are watched too.
func TestWatchNestedRepository(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "repo/a.log"), "")
	write(t, filepath.Join(dir, "repo/b"), "")
	gitIn(t, filepath.Join(dir, "repo"), "init", "-q")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	if got := paths(settle(t, w)); got != "repo/a.log repo/b" {
		t.Errorf("at the start: %s", got)
	}
	write(t, filepath.Join(dir, "repo/.git/info/exclude"), "*.log\n")
	if got := paths(settle(t, w)); got != "repo/b" {
		t.Errorf("after a change of its excludes: %s", got)
	}
	write(t, filepath.Join(dir, "away/c.log"), "")
	gitIn(t, filepath.Join(dir, "away"), "init", "-q")
	settle(t, w)
	write(t, filepath.Join(dir, "away/.git/info/exclude"), "*.log\n")
	if got := paths(settle(t, w)); got != "repo/b" {
		t.Errorf("after a repository was made: %s", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, "repo/.git/info")); err != nil {
		t.Fatal(err)
	}
	if got := paths(settle(t, w)); got != "repo/a.log repo/b" {
		t.Errorf("without the directory of its excludes: %s", got)
	}
	write(t, filepath.Join(dir, "repo/.git/info/exclude"), "b\n")
	if got := paths(settle(t, w)); got != "repo/a.log" {
		t.Errorf("with that directory made again: %s", got)
	}
}

// A repository that is made step by step, each seen before the next.
func TestWatchRepositoryStepByStep(t *testing.T) {
	dir := memoryDir(t)
	made := filepath.Join(dir, "made")
	write(t, filepath.Join(made, "a.log"), "")
	gitIn(t, made, "init", "-q")
	write(t, filepath.Join(made, ".git/info/exclude"), "*.log\n")
	names, err := os.ReadDir(filepath.Join(made, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	for first := range names { // each of them once comes last
		slow := filepath.Join(dir, fmt.Sprint("slow", first))
		write(t, filepath.Join(slow, "a.log"), "")
		write(t, filepath.Join(slow, "b"), "")
		c := NewCache(Options{})
		w := openWorkspace(t, c, slow, WorkspaceOptions{})
		settle(t, w)
		if err := os.Mkdir(filepath.Join(slow, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		settle(t, w)
		for i := range names {
			name := names[(first+1+i)%len(names)].Name()
			cmd := exec.Command("cp", "-r", filepath.Join(made, ".git", name), filepath.Join(slow, ".git", name))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			settle(t, w)
		}
		if got := paths(settle(t, w)); got != "b" {
			t.Errorf("with %s last: %s", names[first].Name(), got)
		}
		c.Close()
	}
}

// A directory that is replaced by another one at once is watched again, also
// if the system gives it the same inode.
func TestDirectoryReplaced(t *testing.T) {
	for _, dir := range []string{memoryDir(t), t.TempDir()} {
		src := newFaulty()
		src.restamp = func(s stamp) stamp {
			if s.kind == directory {
				s.ino = 7
			}
			return s
		}
		c := NewCache(Options{source: src})
		defer c.Close()
		w := openWorkspace(t, c, dir, WorkspaceOptions{})
		for i := range 20 {
			if err := os.RemoveAll(filepath.Join(dir, "d")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "d/f"), "")
			settle(t, w)
			write(t, filepath.Join(dir, "d/g"), "")
			if got := paths(settle(t, w)); got != "d/f d/g" {
				t.Fatalf("round %d: %s", i, got)
			}
		}
	}
}

// No event tells that a directory above the root was renamed.
func TestRootMoved(t *testing.T) {
	dir := memoryDir(t)
	root := filepath.Join(dir, "above/root")
	write(t, filepath.Join(root, "f"), "")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, root, WorkspaceOptions{})
	settle(t, w)
	if err := os.Rename(filepath.Join(dir, "above"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	if ix := settle(t, w); len(ix.Files()) != 0 || ix.State() != Degraded {
		t.Errorf("%s: %s", ix.State(), paths(ix))
	}
	write(t, filepath.Join(root, "g"), "")
	if ix := settle(t, w); paths(ix) != "g" || ix.Why != "" {
		t.Errorf("%s %s: %s", ix.State(), ix.Why, paths(ix))
	}
}

// While a directory has no watch, a cookie proves nothing.
func TestDegradedSettle(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "a/f"), "")
	var refuse atomic.Bool
	refuse.Store(true)
	source := func() (watch.Stream, error) {
		s, err := watch.System()
		return &poorStream{s, &refuse}, err
	}
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{Watch: source, Sweep: time.Hour})
	settle(t, w)
	for i := range 100 {
		name := fmt.Sprint("a/f", i)
		write(t, filepath.Join(dir, name), "")
		if _, ok := settle(t, w).Lookup(name); !ok {
			t.Fatalf("%s is missing", name)
		}
	}
}
