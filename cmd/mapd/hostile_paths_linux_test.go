package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mapd/rpc/wire"
)

// attacksByPaths are names that lead to what is no file of the session, and
// files that do not hold still.
func attacksByPaths() []attack {
	return []attack{
		{name: "a FIFO, a socket, a device, /dev/zero by a link", run: notFiles},
		{name: "a sparse file of 5 GB", run: func(t *testing.T, h *house) string {
			path := h.file(t, "sparse", nil)
			if err := os.Truncate(path, 5<<30); err != nil {
				t.Skip(err)
			}
			return refusedRead(t, h.session(t), "sparse", wire.FileTooLarge)
		}},
		{name: "an unreadable file", run: unreadable},
		{name: "a file that grows while it is read", allow: 128 << 20, run: growing},
		{name: "a file truncated while it is read", allow: 128 << 20, run: truncated},
		{name: "a directory of 20,000 entries", run: directory(20_000)},
		{name: "a directory of 200,000 entries", soak: true, allow: 64 << 20, run: directory(200_000)},
		{name: "..; absolute paths; links out; broken links; loops", run: waysOut},
		{name: "a link swapped while it is read", run: swapped},
		{name: "a folder swapped for a link while it is read", run: swappedFolder},
		{name: "names that are not UTF-8", run: foreignNames},
		{name: "paths of 4,095, 4,096 and 4,097 bytes", run: longPaths},
	}
}

// refusedRead fails unless a read is refused with a code.
func refusedRead(t *testing.T, p *peer, path string, code wire.Code) string {
	t.Helper()
	m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, path))
	if m.code() != string(code) {
		t.Errorf("%.200s: %+v, want %s", path, m.Error, code)
	}
	return m.verdict()
}

func notFiles(t *testing.T, h *house) string {
	path := func(name string) string { return filepath.Join(h.folder, name) }
	if err := unix.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	near, err := net.Listen("unix", shortSocket(t))
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if err := os.Rename(near.Addr().String(), path("socket")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path("zero")); err != nil {
		t.Fatal(err)
	}
	p := h.session(t)
	got := refusedRead(t, p, "fifo", wire.NotAFile)
	refusedRead(t, p, "socket", wire.NotAFile)
	refusedRead(t, p, "zero", wire.OutsideWorkspace)
	const zero = 1<<8 | 5
	if err := unix.Mknod(path("device"), unix.S_IFCHR|0o600, zero); err == nil {
		refusedRead(t, p, "device", wire.NotAFile)
	} else {
		t.Log("no device:", err)
	}
	return got
}

// shortSocket returns a path for a socket on the file system of the tests.
func shortSocket(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func unreadable(t *testing.T, h *house) string {
	path := h.file(t, "secret", []byte("x\n"))
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(path); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	return refusedRead(t, h.session(t), "secret", wire.PermissionDenied)
}

// growing reads a file to which somebody appends lines all the time. Each answer
// is one version: whole lines, numbered without a gap, as many as it says.
func growing(t *testing.T, h *house) string {
	path := h.file(t, "log.txt", nil)
	return whileChanging(t, h, "log.txt", func(n int) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		var b []byte
		for i := range 100 {
			b = fmt.Appendf(b, "line %d\n", n*100+i+1)
		}
		_, err = f.Write(b)
		if closing := f.Close(); err == nil {
			err = closing
		}
		return err
	}, func(text []string) error {
		for i, line := range text {
			if line != fmt.Sprintf("line %d", i+1) {
				return fmt.Errorf("line %d is %q", i+1, line)
			}
		}
		return nil
	})
}

// truncated reads a file that is emptied and written again all the time, each
// time with another letter: no answer may hold two.
func truncated(t *testing.T, h *house) string {
	path := h.file(t, "t.txt", nil)
	return whileChanging(t, h, "t.txt", func(n int) error {
		letter := string(rune('a' + n%26))
		return os.WriteFile(path, []byte(strings.Repeat(strings.Repeat(letter, 40)+"\n", 1000)), 0o644)
	}, func(text []string) error {
		for _, line := range text {
			if len(line) > 0 && line[0] != text[0][0] {
				return fmt.Errorf("%q and %q in one answer", text[0], line)
			}
		}
		return nil
	})
}

// changing is how long a file is read that does not hold still.
const changing = 500 * time.Millisecond

// whileChanging reads a file while change is called over and over. check gets the
// lines of every answer that is not called unstable.
func whileChanging(t *testing.T, h *house, name string, change func(n int) error, check func(text []string) error) string {
	t.Helper()
	p := h.session(t)
	var wg sync.WaitGroup
	quit := make(chan struct{})
	wg.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			default:
			}
			if err := change(n); err != nil {
				t.Error(err)
				return
			}
			wait(100 * time.Microsecond)
		}
	})
	defer wg.Wait()
	defer close(quit)
	reads, unstable := 0, 0
	for start := time.Now(); time.Since(start) < changing; reads++ {
		m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q,"anchors":false,"map":"never"}`, name))
		var r wire.ReadResult
		if m.Error != nil || json.Unmarshal(m.Result, &r) != nil {
			t.Fatalf("%+v %.200s", m.Error, m.Result)
		}
		if r.Details.Unstable {
			unstable++
			continue
		}
		if len(r.Content) == 0 {
			continue
		}
		text, _, _ := strings.Cut(r.Content[0].Text, "\n\n[Showing ")
		if err := check(strings.Split(text, "\n")); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%d answers of one version each, %d called unstable", reads, unstable)
}

func directory(entries int) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		dir := filepath.Join(h.folder, "dir")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		one := h.file(t, "one", nil)
		for i := range entries { // links are cheaper to make than files
			if err := os.Link(one, filepath.Join(dir, fmt.Sprintf("entry%06d", i))); err != nil {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("entry%06d", i)), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		p := h.session(t)
		start := time.Now()
		m := p.call(wire.MethodRead, `{"path":"dir"}`)
		took := time.Since(start)
		if m.code() != string(wire.IsDirectory) || !strings.HasPrefix(m.Error.Message, "EISDIR") {
			t.Fatalf("%+v", m.Error)
		}
		if size := len(m.Error.Message) + len(m.Error.Data); size > 256<<10 {
			t.Errorf("the answer has %d bytes", size)
		}
		return fmt.Sprintf("%s, %d bytes, %v", m.verdict(), len(m.Error.Message), took.Round(time.Millisecond))
	}
}

func waysOut(t *testing.T, h *house) string {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.file(t, "a.txt", []byte("alpha\n"))
	for name, target := range map[string]string{
		"out": outside, "dirout": filepath.Dir(outside), "broken": "nowhere", "loop1": "loop2", "loop2": "loop1", "self": "self",
		"root": "/", "in": filepath.Join(h.folder, "a.txt"), "proc": "/proc/self/environ",
	} {
		if err := os.Symlink(target, filepath.Join(h.folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	p := h.session(t)
	got := ""
	for _, path := range []string{
		outside, "/etc/passwd", "../" + filepath.Base(filepath.Dir(outside)) + "/secret", strings.Repeat("../", 50) + "etc/passwd", "a.txt/../../x",
		"out", "dirout/secret", "root/etc/passwd", "proc", "/proc/self/mem", "/proc/self/fd/0", "./../..", "in/../../..",
	} {
		m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, path))
		if m.code() != string(wire.OutsideWorkspace) && m.code() != string(wire.NotFound) || bytes.Contains(m.Result, []byte("secret")) {
			t.Errorf("%s: %+v %.100s", path, m.Error, m.Result)
		}
		if m.code() == string(wire.OutsideWorkspace) {
			got = m.verdict()
		}
	}
	refusedRead(t, p, "loop1", wire.NotAFile)
	refusedRead(t, p, "self", wire.NotAFile)
	refusedRead(t, p, "broken", wire.NotFound)
	if m := p.call(wire.MethodRead, `{"path":"in"}`); m.Error != nil {
		t.Errorf("an absolute link that stays inside: %+v", m.Error)
	}
	return got
}

// swapped changes a name between a file of the folder and a link that leads out,
// while it is read: the bytes outside are never shown.
func swapped(t *testing.T, h *house) string {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	name, file, link := filepath.Join(h.folder, "name"), filepath.Join(h.folder, "file"), filepath.Join(h.folder, "link")
	return whileSwapping(t, h, "name", func() error {
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte("public\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file, name); err != nil {
			return err
		}
		_ = os.Remove(link)
		if err := os.Symlink(secret, link); err != nil {
			return err
		}
		return os.Rename(link, name)
	})
}

// swappedFolder exchanges a directory of the path for a link that leads out.
func swappedFolder(t *testing.T, h *house) string {
	outside := t.TempDir()
	inside, link := filepath.Join(h.folder, "dir"), filepath.Join(h.folder, "link")
	for dir, text := range map[string]string{outside: "secret\n", inside: "public\n"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	return whileSwapping(t, h, "dir/a", func() error {
		return unix.Renameat2(unix.AT_FDCWD, inside, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
	})
}

// whileSwapping reads while swap is called over and over.
func whileSwapping(t *testing.T, h *house, name string, swap func() error) string {
	t.Helper()
	if err := swap(); err != nil {
		t.Skip(err)
	}
	p := h.session(t)
	var wg sync.WaitGroup
	quit := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
			}
			if err := swap(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer wg.Wait()
	defer close(quit)
	outcomes := map[string]int{}
	for start := time.Now(); time.Since(start) < changing; {
		m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, name))
		switch {
		case bytes.Contains(m.Result, []byte("secret")):
			t.Fatal("the file outside was shown")
		case m.Error == nil && !bytes.Contains(m.Result, []byte("public")):
			t.Fatalf("%.200s", m.Result)
		}
		outcomes[orOK(m.code())]++
	}
	if outcomes["ok"] == 0 || outcomes[string(wire.OutsideWorkspace)] == 0 {
		t.Errorf("one of the two was never met: %v", outcomes)
	}
	for code := range outcomes {
		if code != "ok" && code != string(wire.OutsideWorkspace) && code != string(wire.NotFound) {
			t.Errorf("unexpected: %v", outcomes)
		}
	}
	return fmt.Sprint(outcomes)
}

func orOK(code string) string {
	if code == "" {
		return "ok"
	}
	return code
}

func foreignNames(t *testing.T, h *house) string {
	names := []string{"\xff\xfe", "a\xc0\xaf", "new\nline", "esc\x1b[2J", "tab\t", "quote\"", "a$(touch PWNED).py", "-n", " ", "%41", "sur\xed\xa0\x80"}
	for _, name := range names {
		h.file(t, name, []byte("alpha\n"))
	}
	p := h.session(t)
	for _, name := range names {
		uri := (&url.URL{Scheme: "file", Path: filepath.Join(h.folder, name)}).String()
		m := p.call(wire.MethodRead, fmt.Sprintf(`{"uri":%q}`, uri))
		if m.Error != nil || !bytes.Contains(m.Result, []byte("alpha")) {
			t.Errorf("%q: %+v", name, m.Error)
		}
	}
	m := p.call(wire.MethodRead, `{"path":"."}`)
	if m.code() != string(wire.IsDirectory) || strings.ContainsAny(m.Error.Message, "\x1b\t") {
		t.Errorf("the listing: %+v", m.Error)
	}
	return fmt.Sprintf("%d answers by URI", len(names))
}

// longPaths asks for paths around the limit of the system. Each is answered:
// the shorter as missing, the longer as no name.
func longPaths(t *testing.T, h *house) string {
	p := h.session(t)
	var got []string
	for _, size := range []int{4095, 4096, 4097, 100_000} {
		path := h.folder + "/" + strings.Repeat("d/", size)
		m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, path[:size]))
		if code := m.code(); code != string(wire.NotFound) && code != string(wire.InvalidParams) {
			t.Errorf("%d bytes: %+v", size, m.Error)
		}
		got = append(got, m.code())
	}
	deep := h.folder
	for len(deep) < 3800 {
		deep = filepath.Join(deep, strings.Repeat("d", 200))
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(deep, "a"), []byte("alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, filepath.Join(deep, "a"))); m.Error != nil {
		t.Errorf("a path of %d bytes that is there: %+v", len(deep)+2, m.Error)
	}
	refusedRead(t, p, strings.Repeat("n", 256), wire.InvalidParams)
	return strings.Join(got, ", ")
}
