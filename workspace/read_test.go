package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A change that leaves size and mtime as they were is seen by the next read.
func TestBytesAreTruth(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	path := filepath.Join(dir, "a.go")
	stamp := time.Unix(1_700_000_000, 0)
	var snapshots []string
	for _, content := range []string{"package a\n", "package b\n", "package a\n"} {
		write(t, path, content)
		if err := os.Chtimes(path, stamp, stamp); err != nil {
			t.Fatal(err)
		}
		v := mustRead(t, c, f, "a.go")
		if got := string(v.Text().Bytes()); got != content {
			t.Fatalf("read %q, the file holds %q", got, content)
		}
		snapshots = append(snapshots, v.Snapshot())
	}
	if snapshots[0] == snapshots[1] || snapshots[0] != snapshots[2] {
		t.Errorf("snapshots of contents a, b, a: %q", snapshots)
	}
}

// Bytes written between two reads by a store through a memory map have no
// event and no new stamp on some systems; a read sees them all the same.
func TestBytesAreTruthMappedStore(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	path := filepath.Join(dir, "m.txt")
	write(t, path, strings.Repeat("x", 8192))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	mem, err := unix.Mmap(int(file.Fd()), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	for i := range 100 {
		mem[i] = 'y'
		if got := mustRead(t, c, f, "m.txt").Bytes(); !bytes.Equal(got, mem) {
			t.Fatalf("store %d was not seen", i)
		}
	}
}

// A version never mixes two states of a file.
func TestOneVersion(t *testing.T) {
	const size = 256 << 10
	old, next := strings.Repeat("a", size), strings.Repeat("b", size)
	coarse := func(s stamp) stamp { // stamps that never move, as on a slow clock
		now := time.Now().UnixNano()
		s.mtime, s.ctime = now-now%int64(time.Second), now-now%int64(time.Second)
		return s
	}
	for name, restamp := range map[string]func(stamp) stamp{"stamps": aged, "coarse stamps": coarse} {
		t.Run(name, func(t *testing.T) {
			src := newFaulty()
			src.restamp = restamp
			c, f, dir := openFolder(t, Options{source: src})
			path := filepath.Join(dir, "f")
			changed := 0
			src.afterRead = func(end int64) error {
				if end == size && changed == 0 {
					changed++
					return os.WriteFile(path, []byte(next), 0o644)
				}
				return nil
			}
			var v *Version
			for tries, late := 0, true; late && tries < 100; tries++ { // a read on a busy machine may use up its window
				write(t, path, old)
				changed = 0
				start := time.Now()
				v = mustRead(t, c, f, "f")
				late = v.Unstable() && time.Since(start) > readWindow/2
			}
			if string(v.Bytes()) != next || v.Unstable() {
				t.Errorf("read %d bytes starting %q, unstable %v, want the new content", v.Size(), v.Bytes()[:1], v.Unstable())
			}
		})
	}
}

// A file that never holds still is read a bounded number of times and said to
// be unstable; when it rests, it is not.
func TestOneVersionUnstable(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	path := filepath.Join(dir, "log")
	write(t, path, "start\n")
	opens := 0
	src.atOpen = func() error { opens++; return nil }
	src.atRead = func(off int64) error {
		if off > 0 {
			return nil
		}
		log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer log.Close()
		_, err = log.WriteString("more\n")
		return err
	}
	start := time.Now()
	v := mustRead(t, c, f, "log")
	if !v.Unstable() || opens > readTries {
		t.Errorf("unstable %v after %d tries", v.Unstable(), opens)
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("it took %v", d)
	}
	src.atRead = nil
	if v := mustRead(t, c, f, "log"); v.Unstable() {
		t.Error("a file at rest is said to be unstable")
	}
}

// A file that is truncated or replaced while it is read gives one of its
// states, never an error.
func TestReadWhileReplaced(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	path := filepath.Join(dir, "f.txt")
	states := map[string]bool{strings.Repeat("a", 50_000): true, strings.Repeat("b", 50_000): true, strings.Repeat("c", 70_000): true}
	write(t, path, strings.Repeat("a", 50_000))
	done, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			for s := range states {
				select {
				case <-done:
					stopped <- nil
					return
				default:
				}
				if err := os.WriteFile(path+".new", []byte(s), 0o644); err != nil {
					stopped <- err
					return
				}
				if err := os.Rename(path+".new", path); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	for range 3000 {
		v, err := c.Read(t.Context(), f, "f.txt")
		if err != nil {
			t.Errorf("read: %v", err)
			break
		}
		if !v.Unstable() && !states[string(v.Bytes())] {
			t.Errorf("a mix of states: %d bytes", v.Size())
			break
		}
		if v.Path() != path {
			t.Errorf("path %q", v.Path())
			break
		}
	}
	close(done)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

func TestReadNames(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "s")
	write(t, filepath.Join(dir, "src/a.go"), "package a\n")
	for _, name := range []string{"a$(touch PWNED).py", "new\nline.txt", "\xff\xfe latin", "gone (deleted)", strings.Repeat("n", 255), "-rf", " "} {
		write(t, filepath.Join(dir, name), "x\n")
		if v := mustRead(t, c, f, name); v.Name() != name {
			t.Errorf("the name of %q is %q", name, v.Name())
		}
	}
	links := map[string]string{
		"in":      "src/a.go",
		"in-abs":  filepath.Join(dir, "src/a.go"),
		"dir-in":  "src",
		"out":     filepath.Join(outside, "secret"),
		"out-rel": "../../../../../../../../" + filepath.Join(outside, "secret"),
		"dir-out": outside,
		"loop":    "loop",
		"loop-a":  "loop-b",
		"loop-b":  "loop-a",
		"dangles": "src/none",
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name string
		want error  // nil: it reads
		as   string // the Name it has then
	}{
		{"src/a.go", nil, "src/a.go"},
		{"./src//a.go", nil, "src/a.go"},
		{"src/../src/a.go", nil, "src/a.go"},
		{"dir-in/../src/a.go", nil, "src/a.go"},
		{filepath.Join(dir, "src/a.go"), nil, "src/a.go"},
		{"in", nil, "src/a.go"},
		{"in-abs", nil, "src/a.go"},
		{"dir-in/a.go", nil, "src/a.go"},
		{"out", ErrOutside, ""},
		{"out-rel", ErrOutside, ""},
		{"dir-out/secret", ErrOutside, ""},
		{"dir-out/none", ErrOutside, ""},
		{"dir-out", ErrOutside, ""},
		{"../" + filepath.Base(outside) + "/secret", ErrOutside, ""},
		{"../none", ErrOutside, ""},
		{"..", ErrOutside, ""},
		{"/etc/passwd", ErrOutside, ""},
		{"/etc/none", ErrOutside, ""},
		{"/", ErrOutside, ""},
		{dir + "-sibling", ErrOutside, ""},
		{filepath.Join(outside, "secret"), ErrOutside, ""},
		{"loop", ErrNotFile, ""},
		{"loop-a", ErrNotFile, ""},
		{"dangles", ErrNotFound, ""},
		{"none", ErrNotFound, ""},
		{"none/at/all", ErrNotFound, ""},
		{"src/a.go/x", ErrNotFound, ""},
		{"src/a.go/", ErrNotFound, ""},
		{"", ErrName, ""},
		{"a\x00b", ErrName, ""},
		{strings.Repeat("a/", 2048), ErrName, ""},
		{strings.Repeat("a", 4097), ErrName, ""},
		{strings.Repeat("n", 256), ErrName, ""},
	} {
		v, err := c.Read(t.Context(), f, tc.name)
		if !errors.Is(err, tc.want) {
			t.Errorf("read %.60q: %v, want %v", tc.name, err, tc.want)
		} else if err == nil && v.Name() != tc.as {
			t.Errorf("the name of %q is %q, want %q", tc.name, v.Name(), tc.as)
		} else if err != nil && !strings.HasPrefix(err.Error(), "read ") {
			t.Errorf("message %q does not say what failed", err)
		}
	}
}

// A name with as many bytes as the system takes is read.
func TestReadLongestPath(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	t.Chdir(dir)
	name := ""
	for len(dir)+len(name)+1 < unix.PathMax-260 {
		part := strings.Repeat("d", 250)
		if err := os.Mkdir(part, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chdir(part); err != nil {
			t.Fatal(err)
		}
		name += part + "/"
	}
	last := strings.Repeat("f", unix.PathMax-1-len(dir)-1-len(name))
	if err := os.WriteFile(last, []byte("deep\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if v := mustRead(t, c, f, name+last); string(v.Bytes()) != "deep\n" {
		t.Errorf("read %q", v.Bytes())
	}
	if _, err := c.Read(t.Context(), f, name+last+"f"); !errors.Is(err, ErrName) {
		t.Errorf("one byte more: %v", err)
	}
}

func TestReadKinds(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a short name for the socket
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "socket"}); err != nil {
		t.Fatal(err)
	}
	devices, err := c.Folders("/dev")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		f          Folders
		name, kind string
	}{
		{f, "fifo", "a named pipe"}, {f, "socket", "a socket"},
		{devices, "null", "a character device"}, {devices, "zero", "a character device"},
	} {
		_, err := c.Read(t.Context(), tc.f, tc.name)
		var kind *NotFileError
		if !errors.As(err, &kind) || kind.Kind != tc.kind || !errors.Is(err, ErrNotFile) {
			t.Errorf("read %s: %v", tc.name, err)
		}
	}
	// Looking at a FIFO must not wake a writer that waits for a reader.
	if _, err := unix.Open(fifo, unix.O_WRONLY|unix.O_NONBLOCK, 0); err != unix.ENXIO {
		t.Errorf("the pipe has a reader: %v", err)
	}
}

// Whatever is swapped in between two steps of one read: it never blocks and
// never shows what lies outside.
func TestReadSwapped(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "f"), "secret")
	for name, swap := range map[string]func(path string) error{
		"link out":  func(p string) error { return os.Symlink(filepath.Join(outside, "f"), p) },
		"pipe":      func(p string) error { return unix.Mkfifo(p, 0o644) },
		"directory": func(p string) error { return os.Mkdir(p, 0o755) },
		"nothing":   func(p string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			src := newFaulty()
			c, f, dir := openFolder(t, Options{source: src})
			path := filepath.Join(dir, "f")
			write(t, path, "inside")
			src.atOpen = func() error {
				src.atOpen = nil
				if err := os.Remove(path); err != nil {
					return err
				}
				return swap(path)
			}
			v, err := c.Read(t.Context(), f, "f")
			if err == nil && string(v.Bytes()) != "inside" {
				t.Errorf("read %q", v.Bytes())
			}
		})
	}
	// A directory of the path becomes a link that leads out.
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	write(t, filepath.Join(dir, "sub/f"), "inside")
	src.atFind = func(string) error {
		src.atFind = nil
		if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
			return err
		}
		return os.Symlink(outside, filepath.Join(dir, "sub"))
	}
	if _, err := c.Read(t.Context(), f, "sub/f"); !errors.Is(err, ErrOutside) {
		t.Errorf("a directory swapped for a link: %v", err)
	}
}

func TestReadPermission(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src})
	path := filepath.Join(dir, "f")
	write(t, path, "x")
	for _, tc := range []struct{ give, want error }{
		{syscall.EACCES, ErrPermission}, {syscall.EIO, ErrIO}, {syscall.EMFILE, ErrIO}, {syscall.ENFILE, ErrIO}, {syscall.ESTALE, ErrIO},
	} {
		src.atOpen = func() error { return tc.give }
		if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, tc.want) || !errors.Is(err, tc.give) {
			t.Errorf("open fails with %v: %v", tc.give, err)
		}
		src.atOpen, src.atRead = nil, func(int64) error { return tc.give }
		if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, tc.want) {
			t.Errorf("reading fails with %v: %v", tc.give, err)
		}
		src.atRead, src.atFind = nil, func(string) error { return tc.give }
		if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, tc.want) {
			t.Errorf("finding fails with %v: %v", tc.give, err)
		}
		src.atFind = nil
	}
	if os.Getuid() == 0 {
		return // may read everything
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, ErrPermission) {
		t.Errorf("mode 0: %v", err)
	}
}

func TestReadDirectory(t *testing.T) {
	c, f, dir := openFolder(t, Options{Limits: Limits{DirEntries: 3, DirScan: 5}})
	write(t, filepath.Join(dir, "sub/b.txt"), "")
	var e *DirectoryError
	_, err := c.Read(t.Context(), f, ".")
	if !errors.As(err, &e) || fmt.Sprint(e.Entries) != "[sub/]" || e.Path != dir || e.More != 0 || e.AtLeast {
		t.Fatalf("listing: %+v, %v", e, err)
	}
	if !strings.HasPrefix(e.Error(), "EISDIR") || !strings.HasSuffix(e.Error(), "\nsub/") {
		t.Errorf("message %q", e.Error())
	}
	for i, want := range []string{"", "", "", "", "… and 1 more", "… and 2 more", "… and at least 3 more", "… and at least 3 more"} {
		d := filepath.Join(dir, fmt.Sprint("d", i))
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range i {
			write(t, filepath.Join(d, fmt.Sprint(n, "\n")), "")
		}
		_, err := c.Read(t.Context(), f, filepath.Base(d))
		if !errors.As(err, &e) || len(e.Entries) != min(i, 3) || !strings.HasSuffix(e.Error(), want) {
			t.Errorf("%d entries: %v", i, err)
		}
		if i > 0 && !strings.Contains(e.Error(), `\n"`) {
			t.Errorf("a name with a newline is not quoted: %q", e.Error())
		}
	}
}

func TestReadCancelled(t *testing.T) {
	c, f, dir := openFolder(t, Options{})
	write(t, filepath.Join(dir, "f"), "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Read(ctx, f, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a context that ended: %v", err)
	}
}
