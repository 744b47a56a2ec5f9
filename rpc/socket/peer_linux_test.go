package socket

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPeerInOtherMountNamespace connects from a process that sees other mounts.
func TestPeerInOtherMountNamespace(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := listen(t, path)
	peer := player("/proc/self/exe", "connect", path)
	peer.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		peer.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		peer.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	}
	var heard bytes.Buffer
	peer.Stdout = &heard
	if err := peer.Start(); err != nil {
		t.Skipf("this system makes no mount namespaces: %v", err)
	}
	refused := make(chan error, 1)
	accepted := make(chan error, 1)
	go func() {
		_, _, err := l.Accept(func(err error) { refused <- err })
		accepted <- err
	}()
	err := receive(t, refused)
	var namespace *NamespaceError
	if !errors.Is(err, ErrRefused) || !errors.As(err, &namespace) || namespace.PID != peer.Process.Pid {
		t.Errorf("%v", err)
	}
	if err := peer.Wait(); err != nil {
		t.Error(err)
	}
	if line := heard.String(); !strings.Contains(line, "permission_denied") || !strings.Contains(line, "mount namespace") || !strings.Contains(line, "serve --stdio") || !strings.HasSuffix(line, "}\n") {
		t.Errorf("the peer heard %q", line)
	}
	l.Close()
	if err := receive(t, accepted); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// TestPeerOfAnotherUser connects to a process of another user.
func TestPeerOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	binary := copyOfSelf(t, dir)
	other := player(binary, "listen", path)
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	stdin, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := CheckPeer(c); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "user 65534") {
		t.Errorf("%v", err)
	}
	stdin.Close()
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
}

// copyOfSelf copies the test binary into dir.
func copyOfSelf(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "binary")
	if err := os.WriteFile(path, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBuildOfCopies asks copies of the binary for their build: one that deletes
// itself first, and one that was stripped.
func TestBuildOfCopies(t *testing.T) {
	want, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(binary, remove string) string {
		out, err := player(binary, "build", remove).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	binary := copyOfSelf(t, shortDir(t))
	if got := ask(binary, binary); got != want {
		t.Errorf("deleted: %s, want %s", got, want)
	}
	strip, err := exec.LookPath("strip")
	if err != nil {
		t.Skip("strip is not installed")
	}
	binary = copyOfSelf(t, shortDir(t))
	if out, err := exec.Command(strip, binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := ask(binary, ""); got != want {
		t.Errorf("stripped: %s, want %s", got, want)
	}
}

// TestBuildIsOfTheGoBuildID compares with what the go command says.
func TestBuildIsOfTheGoBuildID(t *testing.T) {
	binary := copyOfSelf(t, shortDir(t))
	id, err := exec.Command("go", "tool", "buildid", binary).Output()
	if err != nil {
		t.Skipf("go tool buildid: %v", err)
	}
	sum := sha256.Sum256(bytes.TrimSpace(id))
	if got, _ := Build(); got != hex.EncodeToString(sum[:6]) {
		t.Errorf("%s, want the digest of %s", got, id)
	}
}

func note(name string, kind uint32, desc string) []byte {
	pad := func(s string) string { return s + strings.Repeat("\x00", -len(s)&3) }
	var b []byte
	for _, n := range []uint32{uint32(len(name)), uint32(len(desc)), kind} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return append(b, pad(name)+pad(desc)...)
}

func TestFindNote(t *testing.T) {
	gnu, golang := note("GNU\x00", 3, "0123456789abcdefghij"), note(noteName, noteBuildID, "abc/defgh")
	for name, test := range map[string]struct {
		notes []byte
		want  string
	}{
		"alone":      {golang, "abc/defgh"},
		"behind":     {append(bytes.Clone(gnu), golang...), "abc/defgh"},
		"before":     {append(bytes.Clone(golang), gnu...), "abc/defgh"},
		"none":       {gnu, ""},
		"empty":      {nil, ""},
		"empty id":   {note(noteName, noteBuildID, ""), ""},
		"other kind": {note(noteName, 5, "abc"), ""},
		"no padding": {golang[:len(golang)-3], "abc/defgh"},
	} {
		got, found := findNote(test.notes, binary.LittleEndian, noteName, noteBuildID)
		if string(got) != test.want || found != (test.want != "") {
			t.Errorf("%s: %q, %v", name, got, found)
		}
	}
}

func FuzzFindNote(f *testing.F) {
	f.Add(note(noteName, noteBuildID, "abc"))
	f.Add(note("GNU\x00", 3, "0123456789abcdefghij"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\x04\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, notes []byte) {
		id, found := findNote(notes, binary.LittleEndian, noteName, noteBuildID)
		if found != (len(id) > 0) || found && !bytes.Contains(notes, id) {
			t.Errorf("%q, %v", id, found)
		}
	})
}
