package workspace

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/store"
)

// Worktrees share the outlines of equal files: each is made once.
func TestWorktreesShareOutlines(t *testing.T) {
	dir := memoryDir(t)
	main, other := filepath.Join(dir, "main"), filepath.Join(dir, "other")
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		write(t, filepath.Join(main, name), "package "+name+"\n")
	}
	gitIn(t, main, "init", "-q")
	gitIn(t, main, "add", "-A")
	gitIn(t, main, "commit", "-qm", "x")
	gitIn(t, main, "worktree", "add", "-q", other)
	x := &extractFunc{f: func(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
		out := outlineOf(lang, text, "")
		out.Count = len(out.Symbols)
		return out, nil
	}}
	c := NewCache(Options{Outlines: x, Store: &memoryStore{}, Version: "1"})
	defer c.Close()
	var one, two *Workspace
	for _, w := range []**Workspace{&one, &two} {
		root := main
		if w == &two {
			root = other
		}
		*w = openWorkspace(t, c, root, WorkspaceOptions{})
		w := *w
		settle(t, w)
		awaitReady(t, w)
		if n := w.Index().Indexed(); n != 3 {
			t.Errorf("%s has the outlines of %d files", w.Root(), n)
		}
	}
	if n := x.calls.Load(); n != 3 {
		t.Errorf("%d outlines were made of 3 contents", n)
	}
	write(t, filepath.Join(other, "a.go"), "package changed\n")
	settle(t, two)
	f, _ := settle(t, one).Lookup("a.go")
	g, _ := two.Index().Lookup("a.go")
	if f.Digest == g.Digest {
		t.Error("a change in one worktree is one in the other")
	}
}

// memoryStore is a Store.
type memoryStore struct{ all sync.Map }

func (m *memoryStore) Get(k store.Key) ([]byte, bool) {
	value, ok := m.all.Load(k)
	if !ok {
		return nil, false
	}
	return value.([]byte), true
}

func (m *memoryStore) Put(k store.Key, value []byte) { m.all.Store(k, value) }

func awaitReady(t *testing.T, w *Workspace) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); w.Index().State() != Ready; {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s, %d pending", w.Root(), w.Index().State(), w.Index().Pending())
		}
	}
}

// Roots inside each other are right, each for itself.
func TestOverlappingRoots(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "a"), "1")
	write(t, filepath.Join(dir, "sub/b"), "1")
	c := NewCache(Options{})
	defer c.Close()
	outer, inner := openWorkspace(t, c, dir, WorkspaceOptions{}), openWorkspace(t, c, filepath.Join(dir, "sub"), WorkspaceOptions{})
	expect := func(inOuter, inInner string) {
		t.Helper()
		if got := paths(settle(t, outer)); got != inOuter {
			t.Errorf("the outer one has %q, want %q", got, inOuter)
		}
		if got := paths(settle(t, inner)); got != inInner {
			t.Errorf("the inner one has %q, want %q", got, inInner)
		}
	}
	expect("a sub/b", "b")
	write(t, filepath.Join(dir, "sub/c"), "1")
	expect("a sub/b sub/c", "b c")
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if ix := settle(t, inner); ix.State() != Degraded || len(ix.Files()) != 0 {
		t.Errorf("a root that is gone: %s %q", ix.State(), paths(ix))
	}
	expect("a", "")
}

// A root that is replaced by another directory, a link or a file is never taken
// for what it was.
func TestReplacedRoot(t *testing.T) {
	dir := memoryDir(t)
	root, other := filepath.Join(dir, "root"), filepath.Join(dir, "other")
	write(t, filepath.Join(root, "old"), "1")
	write(t, filepath.Join(other, "new"), "1")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, root, WorkspaceOptions{})
	settle(t, w)
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(root, filepath.Join(dir, "away"))
	move(other, root)
	if ix := settle(t, w); paths(ix) != "new" || ix.Why != "" {
		t.Errorf("another directory: %q %s", paths(ix), ix.Why)
	}
	move(root, other)
	if err := os.Symlink(other, root); err != nil {
		t.Fatal(err)
	}
	if ix := settle(t, w); len(ix.Files()) != 0 || ix.State() != Degraded {
		t.Errorf("a link: %q %s", paths(ix), ix.State())
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	write(t, root, "a file")
	if ix := settle(t, w); len(ix.Files()) != 0 || ix.State() != Degraded {
		t.Errorf("a file: %q %s", paths(ix), ix.State())
	}
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	move(filepath.Join(dir, "away"), root)
	if ix := settle(t, w); paths(ix) != "old" || ix.Why != "" {
		t.Errorf("the first one again: %q %s", paths(ix), ix.Why)
	}
}

// Names that differ in case alone are different files.
func TestCaseOnlyRename(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "name.go"), "1")
	write(t, filepath.Join(dir, "sub/x"), "1")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	settle(t, w)
	for from, to := range map[string]string{"name.go": "Name.go", "sub": "Sub"} {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	if got := paths(settle(t, w)); got != "Name.go Sub/x" {
		t.Errorf("%q", got)
	}
}

// A file system that is mounted over a root, and unmounted again.
func TestRemountedRoot(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "below"), "1")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	if got := paths(settle(t, w)); got != "below" {
		t.Errorf("at first: %q", got)
	}
	mount(t, "tmpfs", dir, "tmpfs", 0, "")
	write(t, filepath.Join(dir, "above"), "1")
	if got := paths(settle(t, w)); got != "above" {
		t.Errorf("mounted over: %q", got)
	}
	write(t, filepath.Join(dir, "more"), "1")
	if got := paths(settle(t, w)); got != "above more" {
		t.Errorf("a file of the mount: %q", got)
	}
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if got := paths(settle(t, w)); got != "below" {
		t.Errorf("unmounted: %q", got)
	}
}

// asNobody runs the test again in a process without the rights of root, and
// reports true there.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	const nobody = 65534
	cmd.Env = append(os.Environ(), "TMPDIR=/dev/shm")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Errorf("%s", out)
	case err != nil:
		t.Skip("no other user here:", err)
	}
	return false
}

// A directory that may not be read any more is counted, its files leave the
// index, and come back with the permission; so it is with the root.
func TestForbiddenDirectories(t *testing.T) {
	if !asNobody(t) {
		return
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), "1")
	write(t, filepath.Join(dir, "sub/b"), "1")
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	settle(t, w)
	for _, forbidden := range []struct{ dir, left string }{{"sub", "a"}, {".", ""}} {
		path := filepath.Join(dir, forbidden.dir)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		ix := settle(t, w)
		os.Chmod(path, 0o755)
		if paths(ix) != forbidden.left || ix.Skipped[SkipUnreadable] == 0 && ix.State() != Degraded {
			t.Errorf("%s is forbidden: %q, skipped %v, %s", forbidden.dir, paths(ix), ix.Skipped, ix.State())
		}
		if got := paths(settle(t, w)); got != "a sub/b" {
			t.Errorf("%s is allowed again: %q", forbidden.dir, got)
		}
	}
}
