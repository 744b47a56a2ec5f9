package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// become is an update that ignores what is there.
func become(content string) func(*Version) ([]byte, error) {
	return func(*Version) ([]byte, error) { return []byte(content), nil }
}

// add is an update that appends.
func add(more string) func(*Version) ([]byte, error) {
	return func(v *Version) ([]byte, error) { return append(slices.Clone(v.Bytes()), more...), nil }
}

// tree describes everything below dir that a rejected write must not change.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s mode %o inode %d links %d", path, st.Mode, st.Ino, st.Nlink)
		switch {
		case d.Type() == fs.ModeSymlink:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " to %s", to)
		case d.Type().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " mtime %d content %q", st.Mtim.Nano(), content)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func inode(t testing.TB, path string) uint64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Ino
}

func contentOf(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// noTemps fails the test if a temporary file is left below dir.
func noTemps(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), tempPrefix) {
			t.Errorf("a temporary file is left: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWrite(t *testing.T) {
	c, f, dir := openDiskFolder(t, Options{})
	path := filepath.Join(dir, "f.go")
	write(t, path, "old\n")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	before := mustRead(t, c, f, "f.go")
	res, err := c.Write(t.Context(), f, "f.go", WriteOptions{}, add("new\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, path); got != "old\nnew\n" {
		t.Errorf("the file holds %q", got)
	}
	after := mustRead(t, c, f, "f.go")
	if !res.Changed || res.InPlace != "" || res.Before.Snapshot() != before.Snapshot() ||
		res.After.Snapshot() != after.Snapshot() || res.After.Name() != "f.go" || len(res.Warnings) != 0 {
		t.Errorf("result %+v", res)
	}
	if _, ok := c.Snapshot(res.After.Snapshot()); !ok {
		t.Error("the version that was written is unknown")
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != 0o640 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	noTemps(t, dir)
}

// Every rejected write leaves bytes, inode, mode and times as they were, makes
// no file, and says so.
func TestFailClosed(t *testing.T) {
	c, f, dir := openFolder(t, Options{Limits: Limits{FileBytes: 1000}})
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "s")
	write(t, filepath.Join(dir, "f"), "old\n")
	write(t, filepath.Join(dir, "locked"), "old\n")
	write(t, filepath.Join(dir, "sub/f"), "old\n")
	for _, err := range []error{
		os.Chmod(filepath.Join(dir, "locked"), 0o444),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "out")),
		os.Symlink("gone", filepath.Join(dir, "dangles")),
		os.Symlink(outside, filepath.Join(dir, "dir-out")),
		unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refuse := errors.New("stale")
	create := WriteOptions{Create: true}
	for _, tc := range []struct {
		name   string
		opt    WriteOptions
		update func(*Version) ([]byte, error)
		want   error
	}{
		{"f", WriteOptions{}, func(*Version) ([]byte, error) { return nil, refuse }, refuse},
		{"f", WriteOptions{}, become(strings.Repeat("x", 1001)), ErrTooLarge},
		{"f", create, become("x"), ErrExists},
		{"none", WriteOptions{}, become("x"), ErrNotFound},
		{"locked", WriteOptions{}, become("x"), ErrReadOnly},
		{"out", WriteOptions{}, become("x"), ErrOutside},
		{"dangles", WriteOptions{}, become("x"), ErrNotFound},
		{"dangles", create, become("x"), ErrExists},
		{"pipe", WriteOptions{}, become("x"), ErrNotFile},
		{"pipe", create, become("x"), ErrExists},
		{"sub", create, become("x"), ErrExists},
		{"../new", create, become("x"), ErrOutside},
		{"dir-out/new", create, become("x"), ErrOutside},
		{"dir-out/a/b", create, become("x"), ErrOutside},
		{filepath.Join(outside, "new"), create, become("x"), ErrOutside},
		{"f/new", create, become("x"), ErrNotFound},
		{"new/", create, become("x"), ErrName},
		{"a/b/..", create, become("x"), ErrName},
		{"a/../../x", create, become("x"), ErrName},
		{".", create, become("x"), ErrName},
		{"a/b/c", create, func(*Version) ([]byte, error) { return nil, refuse }, refuse},
		{"a/b/c", create, become(strings.Repeat("x", 1001)), ErrTooLarge},
		{"a/" + strings.Repeat("n", 256), create, become("x"), ErrName},
	} {
		before := tree(t, dir) + tree(t, outside)
		_, err := c.Write(t.Context(), f, tc.name, tc.opt, tc.update)
		if !errors.Is(err, tc.want) {
			t.Errorf("write %.40q: %v, want %v", tc.name, err, tc.want)
		} else if tc.want != refuse && !strings.HasSuffix(err.Error(), "; nothing was written") {
			t.Errorf("write %.40q: message %q", tc.name, err)
		}
		if after := tree(t, dir) + tree(t, outside); after != before {
			t.Errorf("write %.40q: rejected, but\n%s became\n%s", tc.name, before, after)
		}
	}
	var d *DirectoryError
	if _, err := c.Write(t.Context(), f, "sub", WriteOptions{}, become("x")); !errors.As(err, &d) {
		t.Errorf("write to a directory: %v", err)
	}
}

// Bytes that are there already are not written.
func TestWriteNoChange(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	write(t, filepath.Join(dir, "f"), "same\n")
	before := tree(t, dir)
	res, err := c.Write(t.Context(), f, "f", WriteOptions{}, become("same\n"))
	if err != nil || res.Changed || res.After.Snapshot() != res.Before.Snapshot() {
		t.Errorf("%+v, %v", res, err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("%s became\n%s", before, after)
	}
}

func TestFailClosedImmutable(t *testing.T) {
	c, f, dir := openDiskFolder(t, Options{})
	path := filepath.Join(dir, "f")
	write(t, path, "old\n")
	for flag, name := range map[int]string{unix.STATX_ATTR_IMMUTABLE: "immutable", unix.STATX_ATTR_APPEND: "append-only"} {
		setFlags(t, path, flag)
		before := tree(t, dir)
		_, err := c.Write(t.Context(), f, "f", WriteOptions{}, become("new\n"))
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("%s became\n%s", before, after)
		}
		setFlags(t, path, 0)
	}
}

// setFlags sets exactly the given flag of chattr on a file, and takes it off
// when the test ends. It skips the test where that cannot be done.
func setFlags(t *testing.T, path string, flag int) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// The flags of FS_IOC_SETFLAGS and those of statx have the same values.
	if err := unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, flag); err != nil {
		t.Skip("chattr is not possible here:", err)
	}
	if flag != 0 {
		t.Cleanup(func() { setFlags(t, path, 0) })
	}
}

// Links stay links, and every name of a file gets the new bytes.
func TestWriteLinks(t *testing.T) {
	c, f, dir := openDiskFolder(t, Options{})
	path := filepath.Join(dir, "sub/f")
	write(t, path, "old\n")
	for _, err := range []error{os.Symlink("sub/f", filepath.Join(dir, "a")), os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "b"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	res, err := c.Write(t.Context(), f, "b", WriteOptions{}, become("new\n"))
	if err != nil || res.After.Name() != "sub/f" || res.InPlace != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "b")); err != nil || to != filepath.Join(dir, "a") {
		t.Errorf("the link leads to %s, %v", to, err)
	}
	if got := contentOf(t, path); got != "new\n" {
		t.Errorf("its target holds %q", got)
	}

	hard := filepath.Join(dir, "hard")
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	ino := inode(t, path)
	for _, want := range []string{"longer than before\n", "short\n", ""} {
		res, err = c.Write(t.Context(), f, "hard", WriteOptions{}, become(want))
		if err != nil || res.InPlace == "" {
			t.Fatalf("%+v, %v", res, err)
		}
		if got := contentOf(t, path); got != want || inode(t, path) != ino || inode(t, hard) != ino {
			t.Errorf("the other name holds %q", got)
		}
	}
	noTemps(t, dir)
}

// A replacement has the mode, owner, access list and extended attributes of
// the file.
func TestWriteAttributes(t *testing.T) {
	c, f, dir := openDiskFolder(t, Options{})
	path := filepath.Join(dir, "f")
	write(t, path, "old\n")
	if os.Getuid() == 0 {
		if err := os.Chown(path, 12345, 23456); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Setxattr(path, "user.note", []byte("kept\x00"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	// user::rw-, user 1:r--, group::r--, mask::r--, other::---
	acl := "\x02\x00\x00\x00" + "\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x04\x00\x01\x00\x00\x00" +
		"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x04\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(path, aclXattr, []byte(acl), 0); err != nil {
		t.Log("no access lists here:", err)
	}
	if err := os.Chmod(path, 0o640|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	look := func() attributes {
		n, err := c.source.find(path)
		if err != nil {
			t.Fatal(err)
		}
		defer n.close()
		a, err := attributesOf(n)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	before := look()
	if len(before.xattrs) == 0 || before.mode&0o2000 == 0 {
		t.Fatalf("the test has nothing to keep: %+v", before)
	}
	ino := inode(t, path)
	if res, err := c.Write(t.Context(), f, "f", WriteOptions{}, become("new\n")); err != nil || res.InPlace != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	if after := look(); !after.same(before) || inode(t, path) == ino {
		t.Errorf("%+v became %+v", before, after)
	}

	// A directory that gives its files an access list does not give it to a
	// replacement of a file without.
	if err := unix.Setxattr(dir, "system.posix_acl_default", []byte(acl), 0); err != nil {
		return
	}
	plain := filepath.Join(dir, "plain")
	write(t, plain, "old\n")
	if err := unix.Removexattr(plain, aclXattr); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(plain, 0o600); err != nil {
		t.Fatal(err)
	}
	path = plain
	before = look()
	if _, err := c.Write(t.Context(), f, "plain", WriteOptions{}, become("new\n")); err != nil {
		t.Fatal(err)
	}
	if after := look(); !after.same(before) {
		t.Errorf("%+v became %+v", before, after)
	}
}

func TestWriteCreate(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	old := unix.Umask(0o77) // as a daemon has it
	defer unix.Umask(old)
	calls := 0
	res, err := c.Write(t.Context(), f, "a/b c/new.go", WriteOptions{Create: true, Mode: 0o664}, func(v *Version) ([]byte, error) {
		if calls++; v != nil {
			t.Error("update got a version of a file that does not exist")
		}
		return []byte("hello\n"), nil
	})
	if err != nil || res.Before != nil || res.After.Name() != "a/b c/new.go" || !res.Changed || calls != 1 {
		t.Fatalf("%+v, %v, %d calls", res, err, calls)
	}
	for name, mode := range map[string]fs.FileMode{"a": fs.ModeDir | 0o775, "a/b c": fs.ModeDir | 0o775, "a/b c/new.go": 0o664} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", name, st.Mode(), mode)
		}
	}
	if v := mustRead(t, c, f, "a/b c/new.go"); v.Snapshot() != res.After.Snapshot() {
		t.Error("it holds something else")
	}
	if _, err := c.Write(t.Context(), f, "a/b c/new.go", WriteOptions{Create: true}, become("again")); !errors.Is(err, ErrExists) {
		t.Errorf("created twice: %v", err)
	}
	if _, err := c.Write(t.Context(), f, "empty", WriteOptions{Create: true}, become("")); err != nil || contentOf(t, filepath.Join(dir, "empty")) != "" {
		t.Errorf("an empty file: %v", err)
	}
	if st, _ := os.Stat(filepath.Join(dir, "empty")); st.Mode() != 0o644 {
		t.Errorf("default mode %v", st.Mode())
	}
	noTemps(t, dir)
}

// Remove takes back a create, and nothing but that.
func TestUncreate(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	path := filepath.Join(dir, "new")
	res, err := c.Write(t.Context(), f, "new", WriteOptions{Create: true}, become("mine\n"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "theirs\n")
	before := tree(t, dir)
	if err := c.Uncreate(t.Context(), f, res); !errors.Is(err, ErrBusy) {
		t.Errorf("remove of a file that changed: %v", err)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("%s became\n%s", before, after)
	}
	write(t, path, "mine\n")
	if err := c.Uncreate(t.Context(), f, res); err != nil {
		t.Error(err)
	}
	if err := c.Uncreate(t.Context(), f, res); !errors.Is(err, ErrNotFound) {
		t.Errorf("remove of a file that is gone: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
}

// Trouble after the bytes are in place is a warning, not a failure.
func TestWriteWarnings(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	write(t, filepath.Join(dir, "f"), "old\n")
	src.step = func(op string) error {
		if op == "sync directory" {
			return syscall.EIO
		}
		return nil
	}
	res, err := c.Write(t.Context(), f, "f", WriteOptions{}, become("new\n"))
	if err != nil || !res.Changed || len(res.Warnings) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	src.step = func(op string) error {
		if strings.HasPrefix(op, "sync") {
			t.Error("synced although told not to")
		}
		return nil
	}
	if res, err := c.Write(t.Context(), f, "f", WriteOptions{NoSync: true}, become("newer\n")); err != nil || len(res.Warnings) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}
