package find

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/workspace"
	"mapd/workspace/grep"
	"mapd/workspace/names"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is longer than any test takes.
const patience = time.Minute

// tree is a directory that is indexed.
type tree struct {
	t     testing.TB
	dir   string
	cache *workspace.Cache
	*Search
}

// newTree makes files, by path, and searches them in the folders that roots name,
// "" for the directory itself.
func newTree(t testing.TB, files map[string]string, roots ...string) *tree {
	t.Helper()
	return newTreeOf(t, workspace.Options{Outlines: outline.New(outline.Options{})}, files, roots...)
}

func newTreeOf(t testing.TB, opt workspace.Options, files map[string]string, roots ...string) *tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{t: t, dir: dir, cache: workspace.NewCache(opt)}
	t.Cleanup(func() { tr.cache.Close() })
	for path, content := range files {
		tr.write(path, content)
	}
	if len(roots) == 0 {
		roots = []string{""}
	}
	tr.Search = &Search{
		Limit: 50, Patience: patience,
		Outline: func(ctx context.Context, v *workspace.Version) (*outline.Outline, error) { return v.Outline(ctx) },
	}
	var dirs []string
	for _, root := range roots {
		path := filepath.Join(dir, root)
		dirs = append(dirs, path)
		w, err := tr.cache.Open(path, workspace.WorkspaceOptions{Cookies: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		tr.Roots = append(tr.Roots, Root{Path: path, Workspace: w})
	}
	folders, err := tr.cache.Folders(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	tr.Read = func(ctx context.Context, path string) (*workspace.Version, error) {
		return tr.cache.Read(ctx, folders, path)
	}
	return tr
}

func (tr *tree) write(path, content string) {
	tr.t.Helper()
	full := filepath.Join(tr.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) symbols(query string) Result {
	tr.t.Helper()
	out, err := tr.Symbols(tr.t.Context(), query, names.Subsequence)
	if err != nil {
		tr.t.Fatal(err)
	}
	return out
}

func (tr *tree) text(pattern string, expression bool) Result {
	tr.t.Helper()
	p, err := grep.Compile(pattern, expression)
	if err != nil {
		tr.t.Fatal(err)
	}
	out, err := tr.Text(tr.t.Context(), p)
	if err != nil {
		tr.t.Fatal(err)
	}
	return out
}

// show returns hits as "path:line name(kind) in container", in order.
func (tr *tree) show(r Result) []string {
	var out []string
	for _, h := range r.Hits {
		rel, _ := filepath.Rel(tr.dir, h.Version.Path())
		s := fmt.Sprintf("%s:%d", rel, h.Line)
		if h.Name != "" {
			s += fmt.Sprintf(" %s(%s)", h.Name, h.Kind)
		}
		if h.Container != "" {
			s += " in " + h.Container
		}
		out = append(out, s)
	}
	return out
}

func (tr *tree) want(r Result, want ...string) {
	tr.t.Helper()
	if diff := cmp.Diff(want, tr.show(r)); diff != "" {
		tr.t.Errorf("-want +got:\n%s", diff)
	}
}

const server = `package server

// Server serves.
type Server struct{ stop, Name string }

// Stop stops.
func (s *Server) Stop() { s.stop = "it is stopped" }

func newServer() *Server {
	return &Server{stop: "not yet"}
}
`

func TestSymbols(t *testing.T) {
	tr := newTree(t, map[string]string{
		"a/server.go": server,
		"b/other.go":  "package b\n\nfunc Stop() {}\n\nfunc stopAll() {}\n\ntype ServerState int\n",
		"c/doc.md":    "# Stop signs\n\ntext\n\n## NewServer\n",
		"d/bin.go":    "package d\x00\nfunc Stop() {}\n",
	})
	tr.want(tr.symbols("Stop"), "b/other.go:3 Stop(function)", "a/server.go:7 Server.Stop(method)", "c/doc.md:1 Stop signs(heading)")
	tr.want(tr.symbols("Server.Stop"), "a/server.go:7 Server.Stop(method)")
	tr.want(tr.symbols("Server.name"), "a/server.go:4 Name(field) in Server")
	tr.want(tr.symbols("nS"), "a/server.go:9 newServer(function)", "c/doc.md:5 NewServer(heading) in Stop signs")
	tr.want(tr.symbols("NEWSERVER"), "a/server.go:9 newServer(function)", "c/doc.md:5 NewServer(heading) in Stop signs")
	tr.want(tr.symbols("nothing like it"))
	tr.Kinds = []symbol.Kind{symbol.Struct, symbol.Heading}
	tr.want(tr.symbols("server"), "a/server.go:4 Server(struct)", "c/doc.md:5 NewServer(heading) in Stop signs")
	tr.Kinds = nil
	tr.Glob, _ = NewGlob("*.md")
	tr.want(tr.symbols("server"), "c/doc.md:5 NewServer(heading) in Stop signs")
	h := tr.symbols("signs").Hits[0]
	if h.Start != 1 || h.End != 5 || h.Version.Snapshot() == "" {
		t.Errorf("%+v", h)
	}
}

func TestRanking(t *testing.T) {
	tr := newTree(t, map[string]string{
		"a/a.go": "package a\n\ntype T struct{ get int }\n\nfunc get() {}\n\nfunc (T) Get() {}\n\nfunc getAll() {}\n\nfunc GetA() {}\n",
		"b/b.go": "package b\n\nfunc Get() {}\n",
		"c/c.go": "package c\n\nfunc Get() {}\n",
	})
	ordered := []string{
		"a/a.go:5 get(function)", "a/a.go:3 get(field) in T",
		"b/b.go:3 Get(function)", "c/c.go:3 Get(function)", "a/a.go:7 T.Get(method)",
		"a/a.go:11 GetA(function)", "a/a.go:9 getAll(function)",
	}
	tr.want(tr.symbols("get"), ordered...)
	tr.Near = []string{filepath.Join(tr.dir, "c/other.go")}
	ordered[2], ordered[3] = ordered[3], ordered[2]
	tr.want(tr.symbols("get"), ordered...)
}

func TestTruncated(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d.go", i)] = "package a\n\nfunc get() {} // needle\n// needle\n"
	}
	tr := newTree(t, files)
	for limit, want := range map[int]bool{1: true, 29: true, 30: false, 31: false} {
		tr.Limit = limit
		r := tr.symbols("get")
		if r.Truncated != want || len(r.Hits) != min(limit, 30) {
			t.Errorf("limit %d: %d symbols, truncated %v", limit, len(r.Hits), r.Truncated)
		}
	}
	for limit, want := range map[int]bool{1: true, 2: true, 59: true, 60: false, 61: false} {
		tr.Limit = limit
		r := tr.text("needle", false)
		if r.Truncated != want || len(r.Hits) != min(limit, 60) {
			t.Errorf("limit %d: %d lines, truncated %v", limit, len(r.Hits), r.Truncated)
		}
		for i, h := range r.Hits {
			if rel, _ := filepath.Rel(tr.dir, h.Version.Path()); rel != fmt.Sprintf("f%02d.go", i/2) || h.Line != 3+i%2 {
				t.Fatalf("limit %d: hit %d is %s:%d", limit, i, rel, h.Line)
			}
		}
	}
}

func TestText(t *testing.T) {
	tr := newTree(t, map[string]string{
		"a/server.go":   server,
		"a/crlf.txt":    "one\r\nIT IS STOPPED\r\n",
		"a/latin.txt":   "caf\xe9 is stopped\n",
		"a/bin":         "is stopped\x00",
		"c/doc.md":      "# Stop signs\n\nit is stopped\n",
		"ignored/x.txt": "it is stopped\n",
		".gitignore":    "ignored/\n",
	})
	tr.want(tr.text("it is stopped", false),
		"a/crlf.txt:2", "a/server.go:7 Server.Stop(method)", "c/doc.md:3 Stop signs(heading)")
	tr.want(tr.text(`caf.\sis`, true), "a/latin.txt:1")
	tr.want(tr.text(`STOPPED$`, true), "a/crlf.txt:2")
	tr.want(tr.text("string }", false), "a/server.go:4 Name(field) in Server")
	tr.Near = []string{filepath.Join(tr.dir, "c/x")}
	tr.want(tr.text("it is stopped", false),
		"c/doc.md:3 Stop signs(heading)", "a/crlf.txt:2", "a/server.go:7 Server.Stop(method)")
	if h := tr.text("stopped", false).Hits[0]; h.Column != len("it is ") || h.Start != 3 || h.End != 3 {
		t.Errorf("%+v", h)
	}
	tr.Kinds = []symbol.Kind{symbol.Heading, symbol.Field}
	tr.want(tr.text("st", false), "c/doc.md:1 Stop signs(heading)", "c/doc.md:3 Stop signs(heading)", "a/server.go:4 Name(field) in Server")
	tr.Limit = 2
	if r := tr.text("st", false); len(r.Hits) != 2 || !r.Truncated {
		t.Errorf("%d hits, truncated %v", len(r.Hits), r.Truncated)
	}
	tr.Kinds, tr.Limit = nil, 50
	tr.Glob, _ = NewGlob("a/**/*.txt")
	tr.want(tr.text("stopped", false), "a/crlf.txt:2", "a/latin.txt:1")
}

// A search right after a change sees the change; also one that nobody settles,
// as each hit is read again.
func TestChangedFiles(t *testing.T) {
	tr := newTree(t, map[string]string{
		"a.go": "package a\n\nfunc Old() {}\n", "b.go": "package a\n\nfunc Old() {} // Old\n", "c.go": "package a\n\nfunc OldC() {}\n",
	})
	tr.want(tr.symbols("Old"), "a.go:3 Old(function)", "b.go:3 Old(function)", "c.go:3 OldC(function)")
	read := tr.Read
	change := func() {
		tr.write("a.go", "package a\n\n\n\nfunc OldA() {}\nfunc Old() {}\n")
		if err := os.Remove(filepath.Join(tr.dir, "b.go")); err != nil {
			t.Error(err)
		}
		tr.write("d.go", "package a // OldD\n\nfunc OldD() {}\n")
	}
	changed := false
	tr.Read = func(ctx context.Context, path string) (*workspace.Version, error) {
		if !changed { // after the index was settled, before the first hit is read
			changed = true
			change()
		}
		return read(ctx, path)
	}
	tr.Limit = 1
	tr.want(tr.symbols("Old"), "a.go:6 Old(function)")
	tr.Limit = 50
	tr.want(tr.symbols("Old"), "a.go:6 Old(function)", "a.go:5 OldA(function)", "c.go:3 OldC(function)", "d.go:3 OldD(function)")
	tr.want(tr.text("Old", false), "a.go:5 OldA(function)", "a.go:6 Old(function)", "c.go:3 OldC(function)", "d.go:1", "d.go:3 OldD(function)")
	changed = false
	change = func() { tr.write("d.go", "\n\n// OldE\n") }
	tr.want(tr.text("OldD", false)) // its lines are those of the bytes that were read last
	changed = false
	change = func() { tr.write("d.go", "bin\x00 OldE\n") }
	tr.want(tr.text("OldE", false))
}

// Folders that lie inside each other find a file once, and each in its place.
func TestFolders(t *testing.T) {
	tr := newTree(t, map[string]string{
		"a/x.go": "package a\n\nfunc Get() {}\n", "a/sub/y.go": "package a\n\nfunc Get() {}\n", "b/z.go": "package b\n\nfunc Get() {}\n",
		"a/.gitignore": "hidden/\n", "a/hidden/h.go": "package a\n\nfunc Get() {}\n",
	}, "b", "a", "a/sub", "a/hidden")
	want := []string{"b/z.go:3 Get(function)", "a/x.go:3 Get(function)", "a/sub/y.go:3 Get(function)", "a/hidden/h.go:3 Get(function)"}
	tr.want(tr.symbols("Get"), want...)
	tr.want(tr.text("func", false), want...)
	tr.Roots = append(tr.Roots, Root{Path: "/nowhere", Why: "it is large"})
	r := tr.symbols("Get")
	tr.want(r, want...)
	if len(r.Degraded) != 1 || r.Degraded[0] != (Degraded{"/nowhere", "not indexed: it is large"}) {
		t.Errorf("%+v", r.Degraded)
	}
}

func TestCancelled(t *testing.T) {
	tr := newTree(t, map[string]string{"a.go": server})
	tr.symbols("Stop")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, _ := grep.Compile("stop", false)
	if _, err := tr.Symbols(ctx, "Stop", names.Subsequence); !errors.Is(err, context.Canceled) {
		t.Errorf("symbols: %v", err)
	}
	if _, err := tr.Text(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("text: %v", err)
	}
	read := tr.Read
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	tr.Read = func(ctx context.Context, path string) (*workspace.Version, error) {
		cancel()
		return read(ctx, path)
	}
	if _, err := tr.Symbols(ctx, "Stop", names.Subsequence); !errors.Is(err, context.Canceled) {
		t.Errorf("symbols, while a file is read: %v", err)
	}
}

// TestAsNaive compares searches of the room's own sources with line by line and
// name by name ones.
func TestAsNaive(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{".", "../names", "../grep"} {
		paths, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files[strings.TrimPrefix(path, "../")] = string(b)
		}
	}
	tr := newTree(t, files)
	tr.Limit = 10_000
	for _, pattern := range []string{"func", "return nil", "Class", `\bnames?\b`, `^\t}$`, `"[^"]*"`, `(Open|Close)`, "é"} {
		re := pattern
		if pattern == strings.ToLower(pattern) {
			re = "(?i)" + re
		}
		var want []string
		for _, path := range slices.Sorted(maps.Keys(files)) {
			for i, line := range strings.Split(strings.TrimSuffix(files[path], "\n"), "\n") {
				if regexp.MustCompile(re).MatchString(line) {
					want = append(want, fmt.Sprintf("%s:%d", path, i+1))
				}
			}
		}
		var got []string
		for _, line := range tr.show(tr.text(pattern, true)) {
			got = append(got, strings.Fields(line)[0])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", pattern, diff)
		}
	}
	for _, query := range []string{"match", "Match", "qs", "t", "query.search", "TestAsNaive", "find"} {
		want := map[string]bool{}
		for path, content := range files {
			for _, s := range tr.names(content) {
				if q := names.NewQuery(query, names.QueryOptions{Weakest: names.Subsequence}); matches(q, s) {
					want[fmt.Sprintf("%s:%d", path, s.NameLine)] = true
				}
			}
		}
		got := map[string]bool{}
		for _, line := range tr.show(tr.symbols(query)) {
			got[strings.Fields(line)[0]] = true
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: %d found, -want +got\n%s", query, len(got), diff)
		}
	}
}

// names returns the symbols of a Go file, each packed alone with its parents.
func (tr *tree) names(content string) []lone {
	o, err := outline.New(outline.Options{}).Extract(tr.t.Context(), outline.Go, hashline.NewText([]byte(content)))
	if err != nil {
		tr.t.Fatal(err)
	}
	var out []lone
	var walk func(list []symbol.Symbol, wrap func(symbol.Symbol) symbol.Symbol, depth int)
	walk = func(list []symbol.Symbol, wrap func(symbol.Symbol) symbol.Symbol, depth int) {
		for _, s := range list {
			bare := s
			bare.Children = nil
			one := names.Pack(&outline.Outline{List: symbol.List{Symbols: []symbol.Symbol{wrap(bare)}}})
			out = append(out, lone{one, one.At(depth).NameLine})
			walk(s.Children, func(inner symbol.Symbol) symbol.Symbol {
				outer := s
				outer.Children = []symbol.Symbol{inner}
				return wrap(outer)
			}, depth+1)
		}
	}
	walk(o.Symbols, func(s symbol.Symbol) symbol.Symbol { return s }, 0)
	return out
}

// lone is one symbol, the last of names.
type lone struct {
	names    names.Names
	NameLine int
}

func matches(q *names.Query, s lone) bool {
	found := false
	q.Search(s.names, func(m names.Match) { found = found || m.Index == s.names.Len()-1 })
	return found
}
