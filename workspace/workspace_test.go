package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/ignore"
	"mapd/workspace/watch"
)

// memoryDir returns a new directory, in memory where that is possible.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "mapd-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// openWorkspace opens the workspace of a directory, without configuration of
// the user.
func openWorkspace(t testing.TB, c *Cache, root string, opt WorkspaceOptions) *Workspace {
	t.Helper()
	opt.Env = &ignore.Env{}
	if opt.Cookies == "" {
		opt.Cookies = t.TempDir()
	}
	w, err := c.Open(root, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func settle(t testing.TB, w *Workspace) *Index {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ix, err := w.Settle(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// describe lists an index, one file a line.
func describe(ix *Index) string {
	var b strings.Builder
	for _, f := range ix.Files() {
		fmt.Fprintf(&b, "%q %s %d %s %v\n", f.Path, f.Digest, f.Size, f.Language, f.Binary)
	}
	return b.String()
}

func paths(ix *Index) string {
	var out []string
	for _, f := range ix.Files() {
		out = append(out, f.Path)
	}
	return strings.Join(out, " ")
}

func TestWorkspace(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "a.go"), "package a\n")
	write(t, filepath.Join(dir, "sub/b.py"), "x = 1\n")
	write(t, filepath.Join(dir, "skip/c"), "c")
	write(t, filepath.Join(dir, ".gitignore"), "skip\n")
	c := NewCache(Options{})
	defer c.Close()
	var told atomic.Value
	w := openWorkspace(t, c, dir, WorkspaceOptions{Changed: func(_ *Index, p []string) { told.Store(strings.Join(p, " ")) }})
	expect := func(want, changed string) {
		t.Helper()
		ix := settle(t, w)
		if got := paths(ix); got != want || ix.Why != "" {
			t.Errorf("files %q, want %q (%s)", got, want, ix.Why)
		}
		if got := told.Load(); got != changed {
			t.Errorf("told %q, want %q", got, changed)
		}
	}
	expect(".gitignore a.go sub/b.py", ".gitignore a.go sub/b.py")
	if f, ok := w.Index().Lookup("sub/b.py"); !ok || f.Digest != hashline.Sum([]byte("x = 1\n")) || f.Language != outline.Python || f.Size != 6 {
		t.Errorf("%+v", f)
	}
	write(t, filepath.Join(dir, "a.go"), "package b\n")
	expect(".gitignore a.go sub/b.py", "a.go")
	if f, _ := w.Index().Lookup("a.go"); f.Digest != hashline.Sum([]byte("package b\n")) {
		t.Error("a.go is stale")
	}
	write(t, filepath.Join(dir, "new/deep/d.go"), "d")
	expect(".gitignore a.go new/deep/d.go sub/b.py", "new/deep/d.go")
	write(t, filepath.Join(dir, "skip/e"), "e")
	write(t, filepath.Join(dir, "new/deep/d.go"), "d") // the same bytes
	expect(".gitignore a.go new/deep/d.go sub/b.py", "new/deep/d.go")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	expect(".gitignore a.go old/deep/d.go sub/b.py", "new/deep/d.go old/deep/d.go")
	write(t, filepath.Join(dir, "old/deep/d.go"), "changed after the rename")
	expect(".gitignore a.go old/deep/d.go sub/b.py", "old/deep/d.go")
	if err := os.Link(filepath.Join(dir, "old/deep/d.go"), filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	expect(".gitignore a.go link.go old/deep/d.go sub/b.py", "link.go")
	write(t, filepath.Join(dir, "link.go"), "written by one of two names")
	expect(".gitignore a.go link.go old/deep/d.go sub/b.py", "link.go old/deep/d.go")
	if err := os.Remove(filepath.Join(dir, "link.go")); err != nil {
		t.Fatal(err)
	}
	expect(".gitignore a.go old/deep/d.go sub/b.py", "link.go")
	write(t, filepath.Join(dir, ".gitignore"), "*.py\n")
	expect(".gitignore a.go old/deep/d.go skip/c skip/e", ".gitignore skip/c skip/e sub/b.py")
	if err := os.RemoveAll(filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	expect(".gitignore a.go skip/c skip/e", "old/deep/d.go")

	// The root goes, and comes back.
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir + ".away") })
	if ix := settle(t, w); len(ix.Files()) != 0 || ix.State() != Degraded {
		t.Errorf("without its root the index has %q, %s", paths(ix), ix.State())
	}
	write(t, filepath.Join(dir, "fresh"), "")
	expect("fresh", "fresh")
}

// The master oracle: after any operations the index equals a fresh one.
func TestMasterOracle(t *testing.T) {
	rounds := 10
	if strings.Contains(os.Getenv("MAPD_SUITE"), "oracle") {
		rounds = 600
	}
	c := NewCache(Options{})
	defer c.Close()
	seed := uint64(3)
	if s := os.Getenv("MAPD_SEED"); s != "" {
		fmt.Sscan(s, &seed)
	}
	for _, disk := range []bool{false, true} {
		// Not both at once: a write through the name of a file in an ignored
		// directory is one that only the audit finds.
		for _, without := range []string{"ignore", "hard link"} {
			dir := memoryDir(t)
			if disk {
				dir = t.TempDir()
			}
			t.Run(fmt.Sprintf("disk=%v,without %s", disk, without), func(t *testing.T) {
				masterOracle(t, c, dir, rounds, without, rand.New(rand.NewPCG(seed, 4)))
			})
		}
	}
}

func masterOracle(t *testing.T, c *Cache, dir string, rounds int, without string, r *rand.Rand) {
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	var log []string
	for round := range rounds {
		for range 1 + r.IntN(12) {
			log = append(log, operate(r, dir, without))
		}
		got := settle(t, w)
		fresh := openWorkspace(t, c, dir, WorkspaceOptions{})
		want := settle(t, fresh)
		fresh.Close()
		if g, s := describe(got), describe(want); g != s || got.Why != want.Why {
			t.Fatalf("round %d, after\n%s\nthe index is (%s)\n%sand a fresh one (%s)\n%s", round,
				strings.Join(log[max(0, len(log)-30):], "\n"), got.Why, g, want.Why, s)
		}
	}
}

// operate does something to the tree below dir.
func operate(r *rand.Rand, dir, without string) string {
	name := func() string {
		path := dir
		for range r.IntN(4) {
			path = filepath.Join(path, string("abc"[r.IntN(3)]))
		}
		return filepath.Join(path, string("abcd"[r.IntN(4)]))
	}
	a, b := name(), name()
	var err error
	var op string
	switch n := r.IntN(20); {
	case n < 6:
		op = "write " + a
		err = errors.Join(os.MkdirAll(filepath.Dir(a), 0o755), os.WriteFile(a, fmt.Append(nil, r.IntN(5)), 0o644))
	case n < 9:
		op = "mkdir " + a
		err = os.MkdirAll(a, 0o755)
	case n < 13:
		op = "rename " + a + " to " + b
		err = os.Rename(a, b)
	case n < 16:
		op = "remove " + a
		err = os.RemoveAll(a)
	case n < 17:
		op = "link " + a + " to " + b
		err = os.Symlink(b, a)
	case n < 19 && without == "ignore":
		op = "hard link " + a + " to " + b
		err = os.Link(b, a)
	case n < 19:
		op = "ignore in " + a
		err = os.WriteFile(filepath.Join(filepath.Dir(a), ".gitignore"), []byte(filepath.Base(b)+"\n"), 0o644)
	default:
		op = "remove and make " + a
		err = errors.Join(os.RemoveAll(a), os.MkdirAll(filepath.Join(a, "a"), 0o755), os.WriteFile(filepath.Join(a, "a", "b"), nil, 0o644))
	}
	if err != nil {
		op += " (failed)"
	}
	return op
}

// A storm of changes while others ask: every answer of Settle holds what was
// there before the question.
func TestEventsAreHints(t *testing.T) {
	c := NewCache(Options{})
	defer c.Close()
	dir := memoryDir(t)
	sources := map[string]watch.Source{
		"real":       watch.System,
		"overflow":   hostile(func(n int) fate { return fate{lost: n%7 == 3, drop: n%7 == 3} }),
		"duplicated": hostile(func(n int) fate { return fate{copies: 3} }),
		"none": func() (watch.Stream, error) {
			return nil, fmt.Errorf("%w: test", watch.ErrLimit)
		},
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(dir, name)
			write(t, filepath.Join(root, "f"), "")
			w := openWorkspace(t, c, root, WorkspaceOptions{Watch: source})
			for i := range 30 {
				content := fmt.Sprint("content ", i)
				path := fmt.Sprint("d", i%5, "/f", i%7)
				write(t, filepath.Join(root, path), content)
				ix := settle(t, w)
				if f, ok := ix.Lookup(path); !ok || f.Digest != hashline.Sum([]byte(content)) {
					t.Fatalf("round %d: %v, index %s", i, ok, paths(ix))
				}
				if (ix.State() == Degraded) != (name == "none") {
					t.Fatalf("state %s, %s", ix.State(), ix.Why)
				}
			}
		})
	}
}

// Events that the system loses without a word cost time: a cookie that does
// not come makes a scan, and the audit finds the rest.
func TestEventsLost(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "f"), "old")
	c := NewCache(Options{})
	defer c.Close()
	deaf := hostile(func(int) fate { return fate{drop: true} })
	w := openWorkspace(t, c, dir, WorkspaceOptions{Watch: deaf, Audit: 20 * time.Millisecond})
	settle(t, w)
	st, err := os.Stat(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "f"), "new")
	if err := os.Chtimes(filepath.Join(dir, "f"), st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		if f, ok := w.Index().Lookup("f"); ok && f.Digest == hashline.Sum([]byte("new")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the audit did not find it")
		}
	}
	deaf = hostile(func(int) fate { return fate{drop: true} })
	w = openWorkspace(t, c, dir, WorkspaceOptions{Watch: deaf})
	settle(t, w)
	write(t, filepath.Join(dir, "g"), "new")
	if ix := settle(t, w); paths(ix) != "f g" {
		t.Errorf("after a lost cookie: %s", paths(ix))
	}
}

// fate is what happens to an event.
type fate struct {
	drop   bool
	lost   bool // the stream says so
	copies int
}

// hostile is the system's source with a fate for each event.
func hostile(of func(n int) fate) watch.Source {
	return func() (watch.Stream, error) {
		s, err := watch.System()
		if err != nil {
			return nil, err
		}
		h := &hostileStream{Stream: s, out: make(chan watch.Event)}
		h.running.Go(func() {
			defer close(h.out)
			n := 0
			for e := range s.Events() {
				n++
				f := of(n)
				if f.lost {
					h.out <- watch.Event{}
				}
				if !f.drop {
					for range 1 + f.copies {
						h.out <- e
					}
				}
			}
		})
		return h, nil
	}
}

type hostileStream struct {
	watch.Stream
	out     chan watch.Event
	running sync.WaitGroup
}

func (h *hostileStream) Events() <-chan watch.Event { return h.out }

func (h *hostileStream) Close() error {
	err := h.Stream.Close()
	h.running.Wait()
	return err
}

// Without watches the index says degraded, and stops when they are there again.
func TestLoudDegrade(t *testing.T) {
	dir := memoryDir(t)
	write(t, filepath.Join(dir, "a/f"), "")
	var refuse atomic.Bool
	refuse.Store(true)
	source := func() (watch.Stream, error) {
		s, err := watch.System()
		if err != nil {
			return nil, err
		}
		return &poorStream{s, &refuse}, nil
	}
	c := NewCache(Options{})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{Watch: source, Sweep: 20 * time.Millisecond})
	ix := settle(t, w)
	if ix.State() != Degraded || !strings.Contains(ix.Why, "max_user_watches") || paths(ix) != "a/f" {
		t.Errorf("%s %q: %s", ix.State(), ix.Why, paths(ix))
	}
	write(t, filepath.Join(dir, "a/g"), "")
	if ix := settle(t, w); paths(ix) != "a/f a/g" {
		t.Errorf("while degraded: %s", paths(ix))
	}
	refuse.Store(false)
	for deadline := time.Now().Add(10 * time.Second); settle(t, w).Why != ""; {
		if time.Now().After(deadline) {
			t.Fatalf("still degraded: %s", w.Index().Why)
		}
	}
	write(t, filepath.Join(dir, "a/h"), "")
	if ix := settle(t, w); paths(ix) != "a/f a/g a/h" || ix.State() == Degraded {
		t.Errorf("%s: %s", ix.State(), paths(ix))
	}
}

// poorStream has no watch for a directory named a.
type poorStream struct {
	watch.Stream
	refuse *atomic.Bool
}

func (p *poorStream) Add(dir string) error {
	if p.refuse.Load() && filepath.Base(dir) == "a" {
		return fmt.Errorf("%w: test", watch.ErrLimit)
	}
	return p.Stream.Add(dir)
}

// What cannot be indexed is counted, and is when it can be again.
func TestWorkspaceSkips(t *testing.T) {
	dir := memoryDir(t)
	c := NewCache(Options{Limits: Limits{FileBytes: 100, IndexFiles: 4}})
	defer c.Close()
	write(t, filepath.Join(dir, "large"), strings.Repeat("x", 101))
	write(t, filepath.Join(dir, "binary"), "\x00")
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	ix := settle(t, w)
	if paths(ix) != "binary" || ix.Skipped[SkipTooLarge] != 1 || !ix.Files()[0].Binary {
		t.Errorf("%s, skipped %v", paths(ix), ix.Skipped)
	}
	write(t, filepath.Join(dir, "large"), "small")
	if ix := settle(t, w); paths(ix) != "binary large" || len(ix.Skipped) != 0 {
		t.Errorf("%s, skipped %v", paths(ix), ix.Skipped)
	}
	for i := range 5 {
		write(t, filepath.Join(dir, fmt.Sprint("f", i)), "")
	}
	if ix := settle(t, w); len(ix.Files()) > 4 || ix.State() != Degraded {
		t.Errorf("%d files, %s", len(ix.Files()), ix.State())
	}
	if _, err := c.Open("/", WorkspaceOptions{}); !errors.Is(err, ErrLargeRoot) {
		t.Errorf("open of /: %v", err)
	}
	if _, err := c.Open(dir, WorkspaceOptions{Env: &ignore.Env{Home: dir}}); !errors.Is(err, ErrLargeRoot) {
		t.Errorf("open of the home directory: %v", err)
	}
}

// Close leaves no goroutine, descriptor or cookie, whenever it comes.
func TestQuietCloseWorkspace(t *testing.T) {
	dir, cookies := memoryDir(t), t.TempDir()
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprint("d", i%10, "/", i)), fmt.Sprint(i))
	}
	descriptors := openDescriptors(t)
	for i := range 10 {
		c := NewCache(Options{Outlines: &extractFunc{f: plain}})
		w, err := c.Open(dir, WorkspaceOptions{Env: &ignore.Env{}, Cookies: cookies})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := w.Settle(t.Context()); err != nil && !errors.Is(err, ErrClosed) {
					t.Error(err)
				}
			})
		}
		if i%2 == 0 {
			settle(t, w)
		}
		if i%3 == 0 {
			c.Close() // ends the workspace as well
		}
		w.Close()
		w.Close()
		all.Wait()
		if _, err := w.Settle(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("settle after Close: %v", err)
		}
		c.Close()
		if _, err := c.Open(dir, WorkspaceOptions{Env: &ignore.Env{}, Cookies: cookies}); !errors.Is(err, ErrClosed) {
			t.Errorf("open after Close: %v", err)
		}
	}
	if n := openDescriptors(t); n != descriptors {
		t.Errorf("%d descriptors open, %d before", n, descriptors)
	}
	if entries, _ := os.ReadDir(cookies); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}
