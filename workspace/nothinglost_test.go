package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// replaceFile does what an editor does: a new file renamed over the old one.
func replaceFile(path, content string) error {
	temp := path + ".editor"
	if err := os.WriteFile(temp, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

// A change that another program makes at any step of a write survives it: the
// update runs again on what is there then.
func TestNothingLost(t *testing.T) {
	foreign := map[string]struct {
		act  func(path string) error
		want string // what the file holds in the end, from "old\n" and an update that appends "+"
	}{
		"replaced": {func(p string) error { return replaceFile(p, "foreign\n") }, "foreign\n+"},
		"written":  {func(p string) error { return os.WriteFile(p, []byte("foreign\n"), 0o644) }, "foreign\n+"},
		"same size and time": {func(p string) error {
			st, err := os.Stat(p)
			if err != nil {
				return err
			}
			return errors.Join(os.WriteFile(p, []byte("OLD\n"), 0o644), os.Chtimes(p, st.ModTime(), st.ModTime()))
		}, "OLD\n+"},
		"replaced by equal bytes": {func(p string) error { return replaceFile(p, "old\n") }, "old\n+"},
		"mode":                    {func(p string) error { return os.Chmod(p, 0o755) }, "old\n+"},
		"linked":                  {func(p string) error { return os.Link(p, p+".link") }, "old\n+"},
	}
	steps := []string{
		"open directory", "look", "attributes", // reads the file
		"open directory", // sweeps its directory
		"create", "write", "write on", "adopt", "sync", "rename", "exchange",
		"look", "look", "attributes", "remove", "sync directory",
	}
	const exchange = 10
	for name, tc := range foreign {
		for at := range steps {
			src := newFaulty()
			c, f, dir := openFolder(t, Options{source: src})
			path := filepath.Join(dir, "f")
			write(t, path, "old\n")
			done, step := false, 0
			src.step = func(op string) error {
				if step++; step-1 != at || done {
					return nil
				}
				if op != steps[at] {
					t.Fatalf("step %d is %s, want %s", at, op, steps[at])
				}
				done = true
				return tc.act(path)
			}
			res, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
			if err != nil || !done {
				t.Fatalf("%s at %d %s: %v, done %v", name, at, steps[at], err, done)
			}
			got, late := contentOf(t, path), at > exchange // after the exchange the foreign program had the last word
			if !late && got != tc.want || !late && string(res.After.Bytes()) != got {
				t.Errorf("%s at %d %s: the file holds %q", name, at, steps[at], got)
			}
			if late && got != tc.want && got != strings.TrimSuffix(tc.want, "+") && got != "old\n+" {
				t.Errorf("%s late at %s: the file holds %q", name, steps[at], got)
			}
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if name == "mode" && st.Mode() != 0o755 {
				t.Errorf("%s at %d %s: mode %v", name, at, steps[at], st.Mode())
			}
			if name == "linked" && contentOf(t, path+".link") != got && !late {
				t.Errorf("%s at %d %s: the other name holds %q", name, at, steps[at], contentOf(t, path+".link"))
			}
			noTemps(t, dir)
		}
	}
}

// What appears in the place of the file between the look and the exchange is
// put back, whatever it is.
func TestNothingLostOtherKinds(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "old\n")
	for name, tc := range map[string]struct {
		act  func(path string) error
		want error
	}{
		"removed":   {func(p string) error { return nil }, ErrNotFound},
		"directory": {func(p string) error { return os.Mkdir(p, 0o755) }, nil},
		"pipe":      {func(p string) error { return unix.Mkfifo(p, 0o644) }, ErrNotFile},
		"link out":  {func(p string) error { return os.Symlink(filepath.Join(outside, "secret"), p) }, ErrOutside},
	} {
		src := newFaulty()
		c, f, dir := openFolder(t, Options{source: src})
		path := filepath.Join(dir, "f")
		write(t, path, "old\n")
		var after string
		src.step = func(op string) error {
			if op != "exchange" || after != "" {
				return nil
			}
			if err := errors.Join(os.Remove(path), tc.act(path)); err != nil {
				return err
			}
			after = withoutTemps(tree(t, dir))
			return nil
		}
		_, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
		var d *DirectoryError
		if tc.want != nil && !errors.Is(err, tc.want) || tc.want == nil && !errors.As(err, &d) {
			t.Errorf("%s: %v", name, err)
		}
		if got := tree(t, dir); withoutTemps(got) != got || got != after {
			t.Errorf("%s:\n%s became\n%s", name, after, got)
		}
		if got := contentOf(t, filepath.Join(outside, "secret")); got != "old\n" {
			t.Errorf("%s: the file outside holds %q", name, got)
		}
	}
}

func withoutTemps(tree string) string {
	var out strings.Builder
	for line := range strings.Lines(tree) {
		if !strings.Contains(line, tempPrefix) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// A second change while the first is being put back: the newer one stays.
func TestNothingLostTwice(t *testing.T) {
	for name, second := range map[string]func(path string) error{
		"replaced": func(p string) error { return replaceFile(p, "second\n") },
		"written":  func(p string) error { return os.WriteFile(p, []byte("second\n"), 0o644) },
	} {
		src := newFaulty()
		c, f, dir := openFolder(t, Options{source: src})
		path := filepath.Join(dir, "f")
		write(t, path, "old\n")
		exchanges := 0
		src.step = func(op string) error {
			if op != "exchange" {
				return nil
			}
			switch exchanges++; exchanges {
			case 1:
				return replaceFile(path, "first\n")
			case 2: // the put-back: our file has the name
				return second(path)
			}
			return nil
		}
		if _, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+")); err != nil {
			t.Fatal(err)
		}
		if got := contentOf(t, path); got != "second\n+" {
			t.Errorf("%s: the file holds %q", name, got)
		}
		noTemps(t, dir)
	}
	// Our file is removed by another program before the put-back.
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	path := filepath.Join(dir, "f")
	write(t, path, "old\n")
	exchanges := 0
	src.step = func(op string) error {
		if op == "exchange" {
			switch exchanges++; exchanges {
			case 1:
				return replaceFile(path, "first\n")
			case 2:
				return os.Remove(path)
			}
		}
		return nil
	}
	if _, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+")); err != nil || contentOf(t, path) != "first\n+" {
		t.Errorf("the file holds %q, %v", contentOf(t, path), err)
	}
	noTemps(t, dir)
}

// A file that others change all the time is given up, untouched; if it changes
// even during each put-back, the bytes stay beside it and the error says where.
func TestNothingLostGivesUp(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	path := filepath.Join(dir, "f")
	write(t, path, "old\n")
	n := 0
	always := false
	src.step = func(op string) error {
		if op == "create" || always && op == "exchange" {
			n++
			return replaceFile(path, fmt.Sprintln("foreign", n))
		}
		return nil
	}
	_, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
	if !errors.Is(err, ErrBusy) || n != writeTries || contentOf(t, path) != fmt.Sprintln("foreign", n) {
		t.Errorf("%v after %d changes, the file holds %q", err, n, contentOf(t, path))
	}
	noTemps(t, dir)
	if s := c.Stats(); s.Conflicts != writeTries {
		t.Errorf("%d conflicts counted", s.Conflicts)
	}
	always = true
	_, err = c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
	var stray *StrayError
	if !errors.As(err, &stray) || strings.Contains(err.Error(), "nothing was written") {
		t.Fatalf("a file that never rests: %v", err)
	}
	both := contentOf(t, path) + contentOf(t, stray.Path)
	if !strings.Contains(both, fmt.Sprintln("foreign", n)) || strings.Contains(contentOf(t, path), "+") {
		t.Errorf("the last foreign bytes are lost: %q", both)
	}
}

// Where the file system cannot exchange, a plain rename is used and said.
func TestWritePlain(t *testing.T) {
	for _, errno := range []syscall.Errno{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP} {
		src := newFaulty()
		c, f, dir := openFolder(t, Options{source: src})
		path := filepath.Join(dir, "f")
		write(t, path, "old\n")
		tries := 0
		src.step = func(op string) error {
			if op == "exchange" {
				if tries++; tries == 1 {
					return errors.Join(replaceFile(path, "foreign\n"), errno)
				}
				return errno
			}
			return nil
		}
		res, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
		if err != nil || !res.Plain || c.Stats().Plain != 1 || contentOf(t, path) != "foreign\n+" {
			t.Errorf("%v: %+v, %v, the file holds %q", errno, res, err, contentOf(t, path))
		}
		noTemps(t, dir)
	}
}

// Sticky directories and files that are mount points cannot be exchanged; an
// owner that cannot be given away keeps its file.
func TestWriteInPlaceInstead(t *testing.T) {
	for op, errno := range map[string]syscall.Errno{"exchange": unix.EBUSY, "adopt": unix.EPERM, "create": unix.EACCES} {
		src := newFaulty()
		c, f, dir := openFolder(t, Options{source: src})
		path := filepath.Join(dir, "f")
		write(t, path, "old\n")
		ino := inode(t, path)
		src.step = func(o string) error {
			if o == op {
				return errno
			}
			return nil
		}
		res, err := c.Write(t.Context(), f, "f", WriteOptions{}, add("+"))
		if err != nil || res.InPlace == "" || contentOf(t, path) != "old\n+" || inode(t, path) != ino {
			t.Errorf("%s fails: %+v, %v", op, res, err)
		}
		noTemps(t, dir)
	}
}

// Disk full, quota, no permission and broken disks, at each step of each way
// to write: the file is what it was, and nothing is left behind.
func TestFailClosedFaults(t *testing.T) {
	ways := map[string]struct {
		name, update string
		opt          WriteOptions
		prepare      func(path string) error
	}{
		"replace":         {"f", "new content\n", WriteOptions{}, func(string) error { return nil }},
		"in place":        {"f", "new content\n", WriteOptions{}, func(p string) error { return os.Link(p, p+".link") }},
		"in place, short": {"f", "n", WriteOptions{}, func(p string) error { return os.Link(p, p+".link") }},
		"create":          {"a/b/new", "new content\n", WriteOptions{Create: true}, func(string) error { return nil }},
	}
	// Steps whose failure is no failure of the write: clean-up, or trouble
	// after the bytes are in place.
	harmless := map[string]bool{"remove": true, "sync directory": true}
	for way, tc := range ways {
		for _, errno := range []syscall.Errno{unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EROFS} {
			for at := 0; ; at++ {
				src := newFaulty()
				c, f, dir := openFolder(t, Options{source: src})
				path := filepath.Join(dir, "f")
				write(t, path, "old\n")
				if err := tc.prepare(path); err != nil {
					t.Fatal(err)
				}
				before, step, failed := tree(t, dir), 0, ""
				src.step = func(op string) error {
					if step++; step-1 == at {
						failed = op
						return errno
					}
					return nil
				}
				res, err := c.Write(t.Context(), f, tc.name, tc.opt, become(tc.update))
				if failed == "" {
					break // past the last step
				}
				after := tree(t, dir)
				what := fmt.Sprintf("%s, %v at %d %s", way, errno, at, failed)
				switch {
				case t.Failed():
					t.FailNow() // one is enough to read
				case err == nil:
					if got := contentOf(t, filepath.Join(dir, tc.name)); got != tc.update {
						t.Errorf("%s: success, but the file holds %q", what, got)
					}
					if harmless[failed] && len(res.Warnings) == 0 && strings.Contains(after, tempPrefix) {
						t.Errorf("%s: a file is left and nobody says so", what)
					}
				case !strings.HasSuffix(err.Error(), "; nothing was written"):
					t.Errorf("%s: %v", what, err)
				case after != before && !strings.Contains(after, tempPrefix):
					t.Errorf("%s: %v, but\n%s became\n%s", what, err, before, after)
				case after != before:
					t.Errorf("%s: left behind:\n%s", what, after)
				}
			}
		}
	}
}

// Agents that append, an editor that replaces the file and readers, all at
// once: no line of anybody is lost and no reader sees a torn file.
func TestNothingLostConcurrently(t *testing.T) {
	const agents, edits, saves = 8, 40, 60
	c, f, dir := openDiskFolder(t, Options{})
	path := filepath.Join(dir, "f")
	write(t, path, "save 0\n")
	var all, readers sync.WaitGroup
	done := make(chan struct{})
	whole := func(s string) bool { return strings.HasPrefix(s, "save ") && strings.HasSuffix(s, "\n") }
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				b, err := os.ReadFile(path)
				if err != nil || !whole(string(b)) {
					t.Errorf("a reader sees %q, %v", b, err)
					return
				}
				if v, err := c.Read(t.Context(), f, "f"); err != nil || !whole(string(v.Bytes())) {
					t.Errorf("read: %v", err)
					return
				}
			}
		})
	}
	var landed sync.Map // line → the save it was added to
	for a := range agents {
		all.Go(func() {
			for e := range edits {
				line := fmt.Sprintf("agent %d edit %d\n", a, e)
				res, err := c.Write(t.Context(), f, "f", WriteOptions{NoSync: true}, add(line))
				if errors.Is(err, ErrBusy) {
					continue // nothing was written
				}
				if err != nil {
					t.Error(err)
					return
				}
				head, _, _ := strings.Cut(string(res.After.Bytes()), "\n")
				landed.Store(line, head)
			}
		})
	}
	all.Go(func() {
		for s := 1; s <= saves; s++ {
			head := fmt.Sprint("save ", s)
			if err := replaceFile(path, head+"\n"); err != nil {
				t.Error(err)
				return
			}
			// The save stays: a put-back takes microseconds.
			for deadline := time.Now().Add(5 * time.Second); ; {
				b, err := os.ReadFile(path)
				if first, _, _ := strings.Cut(string(b), "\n"); err == nil && first == head {
					break
				}
				if time.Now().After(deadline) {
					t.Errorf("%s was lost: %q, %v", head, b, err)
					return
				}
			}
		}
	})
	all.Wait()
	close(done)
	readers.Wait()
	final := contentOf(t, path)
	landed.Range(func(line, head any) bool {
		if head == fmt.Sprint("save ", saves) && strings.Count(final, line.(string)) != 1 {
			t.Errorf("%q is there %d times", line, strings.Count(final, line.(string)))
		}
		return true
	})
	noTemps(t, dir)
	t.Logf("%d conflicts", c.Stats().Conflicts)
}

// Parallel updates of several names of one inode do not overwrite each other.
func TestWriteHardLinksConcurrently(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	write(t, filepath.Join(dir, "f0"), "")
	var all sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprint("f", i)
		if i > 0 {
			if err := os.Link(filepath.Join(dir, "f0"), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		all.Go(func() {
			for e := range 10 {
				for {
					_, err := c.Write(t.Context(), f, name, WriteOptions{NoSync: true}, add(fmt.Sprintln(i, e)))
					if err == nil {
						break
					}
					if !errors.Is(err, ErrBusy) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if lines := strings.Count(contentOf(t, filepath.Join(dir, "f0")), "\n"); lines != 40 {
		t.Errorf("%d of 40 edits are there", lines)
	}
}
