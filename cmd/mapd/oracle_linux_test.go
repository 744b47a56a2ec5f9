package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// TestMasterOracleDaemon changes a repository under a daemon in all ways, also
// while the daemon is stopped by a signal. Afterwards its index has the files
// that git lists, and its client was told of every line that it holds and that is
// gone, and of nothing that is not so.
func TestMasterOracleDaemon(t *testing.T) {
	if raceEnabled {
		t.Skip("the daemon is a process of its own; its parts run under the race detector in their rooms")
	}
	rounds := 6
	if slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), "oracle") {
		rounds = 500
	}
	o := newOracle(t)
	longest := time.Duration(0)
	for round := range rounds {
		stopped := round%3 == 2
		if stopped {
			o.signal(syscall.SIGSTOP)
		}
		for range 1 + o.r.IntN(15) {
			o.operate()
		}
		if stopped {
			o.signal(syscall.SIGCONT)
		}
		longest = max(longest, o.settle(round))
		o.readAll()
	}
	t.Logf("%d notices, %d ranges of them proven; at most %v until the index was right", o.notices, o.proven, longest)
	if rounds > 3 && o.proven == 0 {
		t.Error("no notice could be checked")
	}
}

// oracle is a repository, a daemon, and a client that holds lines.
type oracle struct {
	t      *testing.T
	r      *rand.Rand
	house  *house
	client *client.Client
	root   string
	log    []string
	serial int // makes every line unique
	served map[string]served

	notices, proven int

	mu   sync.Mutex // guards told
	told []wire.Stale
}

// served is what the client was shown of a file last.
type served struct {
	snapshot string
	lines    []string
}

const oracleCommits = 5

func newOracle(t *testing.T) *oracle {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{t: t, r: rand.New(rand.NewPCG(21, 22)), house: &house{}, root: root, served: map[string]served{}}
	o.git("init", "-q")
	for c := range oracleCommits {
		for i := range 60 {
			if c == 0 || o.r.IntN(2) == 0 {
				writeFile(t, filepath.Join(root, fmt.Sprintf("d%d/e%d/f%d.go", (i+c)%4, i%3, i)), o.content())
			}
		}
		if err := os.RemoveAll(filepath.Join(root, fmt.Sprint("d", c%4))); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(root, ".gitignore"), fmt.Sprintf("e%d/\n", c%3))
		o.git("add", "-A")
		o.git("commit", "-qm", "x")
		o.git("tag", fmt.Sprint("c", c))
	}
	o.house.env, o.house.runtime = environment(t)
	o.house.serve(t, "mapd", "serve")
	o.client, err = client.Dial(t.Context(), client.Options{Socket: o.house.socket, AnyBuild: true, Notify: o.notified})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.client.Close() })
	p := wire.InitializeParams{WorkspaceFolders: []wire.WorkspaceFolder{{URI: fileURI(root)}}}
	p.Options.Stale = wire.StalePush
	if _, err := o.client.Initialize(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	o.settle(-1)
	o.readAll()
	return o
}

func (o *oracle) git(args ...string) string {
	o.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = o.root
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("git %q: %v %s", args, err, out)
	}
	return string(out)
}

// content returns a file whose lines occur nowhere else.
func (o *oracle) content() string {
	var b strings.Builder
	for range 3 + o.r.IntN(8) {
		o.serial++
		fmt.Fprintf(&b, "func f%d() {}\n", o.serial)
	}
	return b.String()
}

func (o *oracle) signal(s syscall.Signal) {
	o.t.Helper()
	if err := syscall.Kill(o.house.pid, s); err != nil {
		o.t.Fatal(err)
	}
	o.log = append(o.log, s.String())
}

func (o *oracle) notified(method string, params []byte) {
	var s wire.Stale
	if method == wire.NotifyStale && json.Unmarshal(params, &s) == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.told = append(o.told, s)
	}
}

// operate does something to the repository. That some of it fails is no matter.
func (o *oracle) operate() {
	name := func() string {
		path := filepath.Join(o.root, fmt.Sprintf("d%d", o.r.IntN(4)))
		if depth := o.r.IntN(8); depth > 0 {
			path = filepath.Join(path, fmt.Sprintf("e%d", o.r.IntN(3)))
			if depth > 1 {
				path = filepath.Join(path, fmt.Sprintf("f%d.go", o.r.IntN(60)))
			}
		}
		return path
	}
	a, b := name(), name()
	var op string
	switch n := o.r.IntN(30); {
	case n < 10: // change some lines of a file, in one step or in two
		op = "edit " + a
		if old, err := os.ReadFile(a); err == nil {
			lines := strings.SplitAfter(string(old), "\n")
			at := o.r.IntN(len(lines))
			lines[at] = o.content()
			content := []byte(strings.Join(lines, ""))
			if n < 5 {
				_ = os.WriteFile(a, content, 0o644)
			} else if os.WriteFile(o.root+".new", content, 0o644) == nil {
				_ = os.Rename(o.root+".new", a)
			}
		}
	case n < 14:
		op = "write " + a
		_ = os.MkdirAll(filepath.Dir(a), 0o755)
		_ = os.WriteFile(a, []byte(o.content()), 0o644)
	case n < 19:
		op = "rename " + a + " to " + b
		_ = os.Rename(a, b)
	case n < 23:
		op = "remove " + a
		_ = os.RemoveAll(a)
	case n < 25:
		op = "link " + a + " to " + b
		_ = os.Symlink(b, a)
	case n < 26:
		op = "ignore"
		_ = os.WriteFile(filepath.Join(filepath.Dir(a), ".gitignore"), []byte(filepath.Base(b)+"\n"), 0o644)
	default:
		to := fmt.Sprint("c", o.r.IntN(oracleCommits))
		op = "checkout " + to
		o.git("clean", "-fdxq")
		o.git("checkout", "-qf", to)
	}
	o.log = append(o.log, strings.ReplaceAll(op, o.root+"/", ""))
}

// settle waits until the index has as many files as git lists and the client was
// told all, and returns how long the former took. It fails if that never comes.
func (o *oracle) settle(round int) (took time.Duration) {
	o.t.Helper()
	want := o.listed()
	start := time.Now()
	for {
		var status wire.StatusResult
		if err := o.client.Call(o.t.Context(), wire.MethodStatus, struct{}{}, &status); err != nil {
			o.t.Fatal(err)
		}
		w := status.Workspaces[0]
		right := w.State == "ready" && w.Files == want
		if right && took == 0 {
			took = time.Since(start)
		}
		untold := o.untold()
		if right && untold == "" {
			o.check()
			return took
		}
		if time.Since(start) > patience {
			o.t.Fatalf("round %d, after\n%s\n%d files are listed, the workspace is %+v; not told: %s", round,
				strings.Join(o.log[max(0, len(o.log)-20):], "\n"), want, w, untold)
		}
	}
}

// listed returns how many regular files git lists.
func (o *oracle) listed() int {
	n := 0
	for path := range strings.SplitSeq(o.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"), "\x00") {
		real, err := filepath.EvalSymlinks(filepath.Dir(filepath.Join(o.root, path)))
		if err != nil || real != filepath.Dir(filepath.Join(o.root, path)) || path == "" {
			continue // in the list of the commit, and behind a link by now
		}
		if info, err := os.Lstat(filepath.Join(o.root, path)); err == nil && info.Mode().IsRegular() {
			n++
		}
	}
	return n
}

// untold returns a line that the client holds, that its file has no more, and of
// which no notice came; or "".
func (o *oracle) untold() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	covered := map[string]map[int]bool{}
	for _, s := range o.told {
		for _, r := range s.Ranges {
			for n := r.Served.Start; n <= r.Served.End; n++ {
				if covered[s.From] == nil {
					covered[s.From] = map[int]bool{}
				}
				covered[s.From][n] = true
			}
		}
	}
	for path, s := range o.served {
		now, _ := os.ReadFile(filepath.Join(o.root, path))
		for i, line := range s.lines {
			if !strings.Contains(string(now), line+"\n") && !covered[s.snapshot][i+1] {
				return fmt.Sprintf("%s:%d %q", path, i+1, line)
			}
		}
	}
	return ""
}

// check compares the notices that lead to the live bytes with these.
func (o *oracle) check() {
	o.t.Helper()
	o.mu.Lock()
	told := o.told
	o.told = nil
	o.mu.Unlock()
	for _, s := range told {
		o.notices++
		was, held := o.served[s.Path]
		if !held || was.snapshot != s.From {
			o.t.Fatalf("a notice of lines that are not held: %+v", s)
		}
		if s.To == nil {
			continue
		}
		now, ok := o.read(s.Path)
		if !ok || now.snapshot != *s.To {
			continue // something else was there for a while
		}
		for _, r := range s.Ranges {
			o.proven++
			before := was.lines[r.Served.Start-1 : r.Served.End]
			var after []string
			if r.Now != nil {
				after = now.lines[r.Now.Start-1 : r.Now.End]
			}
			same := slices.Equal(before, after)
			gone := !slices.ContainsFunc(before, func(line string) bool { return slices.Contains(now.lines, line) })
			if r.Status == "moved" && !same || r.Status == "deleted" && !gone || r.Status == "changed" && !gone {
				o.t.Fatalf("after\n%s\n%+v says of %q that it is %s at %v, where %q stands", strings.Join(o.log[max(0, len(o.log)-20):], "\n"),
					s, before, r.Status, r.Now, after)
			}
		}
	}
}

// read reads a whole file.
func (o *oracle) read(path string) (served, bool) {
	o.t.Helper()
	plain := false
	var r wire.ReadResult
	err := o.client.Call(o.t.Context(), wire.MethodRead, wire.ReadParams{Path: path, Anchors: &plain, Map: wire.MapNever}, &r)
	if err != nil {
		return served{}, false
	}
	s := served{snapshot: r.Snapshot}
	for _, c := range r.Content {
		s.lines = append(s.lines, strings.Split(c.Text, "\n")...)
	}
	return s, true
}

// readAll makes the client hold some files as they are, and nothing else.
func (o *oracle) readAll() {
	o.t.Helper()
	if err := o.client.Call(o.t.Context(), wire.MethodForget, struct{}{}, nil); err != nil {
		o.t.Fatal(err)
	}
	o.mu.Lock()
	o.told = nil // of what is forgotten; all came before the reply
	o.mu.Unlock()
	o.served = map[string]served{}
	all, err := filepath.Glob(filepath.Join(o.root, "d*", "e*", "f*.go"))
	if err != nil {
		o.t.Fatal(err)
	}
	for range min(20, len(all)) {
		path, err := filepath.Rel(o.root, all[o.r.IntN(len(all))])
		if err != nil {
			o.t.Fatal(err)
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(o.root, path)); err != nil || real != filepath.Join(o.root, path) {
			continue // the client would know it by two names
		}
		if s, ok := o.read(path); ok && !slices.Equal(s.lines, []string{""}) {
			o.served[path] = s
		}
	}
}
