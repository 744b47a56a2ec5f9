package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mapd/hashline"
)

// ways are the kinds of writes that are killed, each from "old content\n".
var ways = map[string]struct {
	name, want string
	opt        WriteOptions
	links      bool
}{
	"replace":         {"f", "the new content\n", WriteOptions{}, false},
	"in place, long":  {"f", "the new content\n", WriteOptions{}, true},
	"in place, short": {"f", "new\n", WriteOptions{}, true},
	"create":          {"a/new", "the new content\n", WriteOptions{Create: true}, false},
}

// runIfVictim turns this process into one that writes a file and is killed at
// a step of it, if it was started as one.
func runIfVictim() {
	args := strings.Split(os.Getenv("MAPD_TEST_VICTIM"), "\n")
	if len(args) != 4 {
		return
	}
	dir, journal, way := args[0], args[1], ways[args[2]]
	at, err := strconv.Atoi(args[3])
	if err != nil {
		panic(err)
	}
	src := newFaulty()
	step := 0
	src.step = func(string) error {
		if step++; step-1 == at {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	}
	c := NewCache(Options{source: src, Journal: journal})
	f, err := c.Folders(dir)
	if err != nil {
		panic(err)
	}
	if _, err := c.Write(context.Background(), f, way.name, way.opt, become(way.want)); err != nil {
		panic(err)
	}
	c.Close()
	os.Exit(0)
}

// A daemon killed at any step of a write leaves the old bytes or the new ones,
// and the next one leaves no trace of it.
func TestKilled(t *testing.T) {
	const old = "old content\n"
	for way, tc := range ways {
		for at := 0; ; at++ {
			dir, journal := memoryDir(t), memoryDir(t)
			path := filepath.Join(dir, tc.name)
			if tc.opt.Create {
				path = filepath.Join(dir, "f")
			}
			write(t, path, old)
			if tc.links {
				if err := os.Link(path, path+".link"); err != nil {
					t.Fatal(err)
				}
			}
			victim := exec.CommandContext(t.Context(), "/proc/self/exe")
			victim.Env = append(os.Environ(), fmt.Sprintf("MAPD_TEST_VICTIM=%s\n%s\n%s\n%d", dir, journal, way, at))
			out, err := victim.CombinedOutput()
			var exit *exec.ExitError
			if err == nil {
				break // past the last step
			}
			if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("%s at %d: %v\n%s", way, at, err, out)
			}
			half := contentOf(t, path)
			c := NewCache(Options{Journal: journal})
			left := c.Leftovers()
			c.Close()
			what := fmt.Sprintf("%s, killed at %d", way, at)
			noTemps(t, dir)
			if len(left.Kept) != 0 {
				t.Errorf("%s: kept %v", what, left.Kept)
			}
			got, err := os.ReadFile(filepath.Join(dir, tc.name))
			if string(got) != tc.want && (string(got) != old || tc.opt.Create) && !(tc.opt.Create && errors.Is(err, os.ErrNotExist)) {
				t.Errorf("%s: the file held %q and holds %q, %v", what, half, got, err)
			}
			if !tc.links && half != old && half != tc.want {
				t.Errorf("%s: the file held %q before anybody cleaned up", what, half)
			}
			if entries, _ := os.ReadDir(journal); len(entries) != 0 {
				t.Errorf("%s: the journal still holds %v", what, entries)
			}
		}
	}
}

// What a sweep must not touch: files of a daemon that lives, bytes that are
// neither the old nor the new ones, names that only look alike.
func TestSweepKeeps(t *testing.T) {
	journal, dir := t.TempDir(), t.TempDir()
	alive := NewCache(Options{Journal: journal})
	defer alive.Close()
	dead := "00000000deadbeef"
	if err := os.WriteFile(filepath.Join(journal, journalPrefix+dead), []byte(strconv.Quote(dir)+"\n\"/none\"\nnoise\n\"relative\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alive.leftovers.note(alive, filepath.Join(dir, "f"))
	at := func(name string) string { return filepath.Join(dir, name) }
	theirs := &leftovers{epoch: dead}
	oldSum, newSum := hashline.Sum([]byte("old")), hashline.Sum([]byte("new"))
	write(t, filepath.Join(dir, "f"), "whatever")
	removed := []string{at(theirs.draftName()), at(theirs.swapName(oldSum, newSum)), at(theirs.swapName(newSum, oldSum)), at(theirs.undoName(inode(t, filepath.Join(dir, "f")), 3))}
	foreign := at(theirs.swapName(oldSum, newSum))
	kept := []string{
		foreign,
		at(alive.leftovers.draftName()),
		filepath.Join(dir, ".mapd-"+dead+"-0123456789abcdef.swap"),
		filepath.Join(dir, ".mapd-"+dead+".new"),
		filepath.Join(dir, ".mapd.new"),
		filepath.Join(dir, "mapd-"+dead+"-0123456789abcdef.new"),
	}
	for _, path := range append(removed, kept...) {
		content := "new"
		if path == foreign {
			content = "foreign"
		} else if strings.HasSuffix(path, ".undo") {
			content = "oldnew"
		}
		write(t, path, content)
	}
	next := NewCache(Options{Journal: journal})
	defer next.Close()
	for _, path := range removed {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is still there", filepath.Base(path))
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s was removed", filepath.Base(path))
		}
	}
	if got := contentOf(t, filepath.Join(dir, "f")); got != "whatever" {
		t.Errorf("a file that holds neither old nor new bytes became %q", got)
	}
	left := next.Leftovers()
	if left.Removed != len(removed) || len(left.Kept) != 1 || left.Kept[0] != foreign {
		t.Errorf("%+v", left)
	}
	if _, err := os.Stat(filepath.Join(journal, journalPrefix+alive.Epoch())); err != nil {
		t.Error("the journal of a daemon that lives is gone")
	}
}

// Without a journal, a write removes what is old in its directory.
func TestSweepOnWrite(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	theirs := &leftovers{epoch: "00000000deadbeef"}
	stray := filepath.Join(dir, theirs.draftName())
	write(t, filepath.Join(dir, "sub/f"), "old\n")
	write(t, filepath.Join(dir, "f"), "old\n")
	write(t, stray, "x")
	if _, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stray); err != nil {
		t.Error("a young file of another daemon was removed")
	}
	c2 := NewCache(Options{})
	defer c2.Close()
	c2.source.close()
	c2.source = src
	src.restamp = func(s stamp) stamp { s.ctime -= int64(2 * time.Hour); return s }
	if _, err := c2.Write(t.Context(), f, "f", WriteOptions{}, add("+")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("an old file of another daemon is still there")
	}
}

func TestIsTemp(t *testing.T) {
	l := &leftovers{epoch: newEpoch()}
	for _, name := range []string{l.draftName(), l.swapName(hashline.Sum(nil), hashline.Sum(nil)), l.undoName(7, 8)} {
		if !IsTemp(name) || len(name) > 255 {
			t.Errorf("%s is not recognised", name)
		}
	}
	for _, name := range []string{"", ".mapd-", "main.go", ".mapd-x-y.new", l.draftName() + "x", "x" + l.draftName()} {
		if IsTemp(name) {
			t.Errorf("%s is taken for ours", name)
		}
	}
}

func TestHalfWritten(t *testing.T) {
	for _, tc := range []struct{ old, b string }{
		{"old content\n", "the new content\n"}, {"old content\n", "new\n"}, {"aaaa", "aaab"}, {"", "new"}, {"old", ""}, {"aaaa", "bbbb"}, {"same start, old end", "same start, new"},
	} {
		for k := 0; k <= len(tc.b); k++ {
			live := tc.b[:k] + tc.old[min(k, len(tc.old)):]
			want := live != tc.old && live != tc.b
			if got := halfWritten([]byte(live), []byte(tc.old), []byte(tc.b)); got != want {
				t.Errorf("%q over %q, %d bytes: %v, want %v", tc.b, tc.old, k, got, want)
			}
		}
		for _, live := range []string{"foreign", tc.old + "x", tc.b + "x", "x" + tc.old} {
			if halfWritten([]byte(live), []byte(tc.old), []byte(tc.b)) {
				t.Errorf("%q is taken for %q half over %q", live, tc.b, tc.old)
			}
		}
	}
}
