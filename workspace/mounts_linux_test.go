package workspace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inNamespace runs the test again in a process with mounts of its own, where
// it may mount, and reports true there. It skips where that is not allowed.
func inNamespace(t *testing.T) bool {
	t.Helper()
	if os.Getenv("MAPD_TEST_NAMESPACE") != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "MAPD_TEST_NAMESPACE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case err == nil:
	case errors.As(err, &exit):
		t.Errorf("%s", out)
	default:
		t.Skip("no namespaces here:", err)
	}
	return false
}

func mount(t *testing.T, source, target, kind string, flags uintptr, options string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		t.Skip("mount is not allowed here:", err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

// A real file system that is full, and one that is read-only.
func TestFailClosedMounts(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	c, _, dir := openFolder(t, Options{})
	mount(t, "tmpfs", dir, "tmpfs", 0, "size=256k")
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	small := strings.Repeat("a line of text\n", 2000)
	for _, name := range []string{"f", "linked"} {
		write(t, filepath.Join(dir, name), small)
	}
	if err := os.Link(filepath.Join(dir, "linked"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	for _, name := range []string{"f", "linked", "new/file"} {
		opt := WriteOptions{Create: name == "new/file"}
		_, err := c.Write(t.Context(), f, name, opt, become(strings.Repeat(small, 9)))
		if !errors.Is(err, ErrIO) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("write %s to a full disk: %v", name, err)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("write %s: %s became\n%s", name, before, after)
		}
	}
	if res, err := c.Write(t.Context(), f, "f", WriteOptions{}, become(small+"+")); err != nil || res.InPlace != "" {
		t.Errorf("%+v, %v", res, err)
	}

	// A file that is a mount point keeps its inode, because it cannot be renamed.
	mount(t, filepath.Join(dir, "other"), filepath.Join(dir, "f"), "", unix.MS_BIND, "")
	if res, err := c.Write(t.Context(), f, "f", WriteOptions{}, become("through the mount\n")); err != nil || res.InPlace == "" {
		t.Errorf("%+v, %v", res, err)
	}
	if got := contentOf(t, filepath.Join(dir, "linked")); got != "through the mount\n" {
		t.Errorf("the file behind the mount holds %q", got)
	}

	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip("remount is not allowed here:", err)
	}
	before = tree(t, dir)
	for _, name := range []string{"linked", "new/file"} {
		_, err := c.Write(t.Context(), f, name, WriteOptions{Create: name == "new/file"}, become("x"))
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("write %s to a read-only disk: %v", name, err)
		}
	}
	if after := tree(t, dir); after != before {
		t.Errorf("%s became\n%s", before, after)
	}
}

// A root that was mounted over or replaced is another directory.
func TestFolderMountedOver(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	c, f, dir := openFolder(t, Options{})
	write(t, filepath.Join(dir, "f"), "below\n")
	mount(t, "tmpfs", dir, "tmpfs", 0, "size=256k")
	if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a file that is mounted over: %v", err)
	}
	write(t, filepath.Join(dir, "f"), "above\n")
	if v := mustRead(t, c, f, "f"); string(v.Bytes()) != "above\n" {
		t.Errorf("read %q", v.Bytes())
	}
}

// As a user who owns neither the file nor its directory.
func TestWriteAsOther(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv("MAPD_TEST_NAMESPACE") != "" {
		if os.Getenv("MAPD_TEST_NAMESPACE") == "" {
			t.Skip("needs root")
		}
		dir := os.Getenv("MAPD_TEST_DIR")
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(65534, 65534, 65534), syscall.Setresuid(65534, 65534, 65534)); err != nil {
			t.Skip("cannot become another user:", err)
		}
		writeAsOther(t, dir)
		return
	}
	dir := t.TempDir()
	for d := dir; d != "/"; d = filepath.Dir(d) {
		if st, err := os.Stat(d); err == nil && st.Mode().Perm()&0o001 == 0 {
			if err := os.Chmod(d, st.Mode()|0o011); err != nil {
				t.Skip(err)
			}
		}
	}
	for name, mode := range map[string]os.FileMode{"writable": 0o666, "readable": 0o644, "secret": 0o600, "open/f": 0o666, "sticky/f": 0o666} {
		write(t, filepath.Join(dir, name), "old\n")
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(dir, "open"), 0o777), os.Chmod(filepath.Join(dir, "sticky"), 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MAPD_TEST_DIR", dir)
	inNamespace(t)
}

func writeAsOther(t *testing.T, dir string) {
	c := NewCache(Options{})
	defer c.Close()
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(t.Context(), f, "secret"); !errors.Is(err, ErrPermission) {
		t.Errorf("read of a file of mode 0600: %v", err)
	}
	for _, name := range []string{"readable", "secret"} {
		if _, err := c.Write(t.Context(), f, name, WriteOptions{}, become("x")); !errors.Is(err, ErrPermission) {
			t.Errorf("write %s: %v", name, err)
		}
	}
	if _, err := c.Write(t.Context(), f, "new", WriteOptions{Create: true}, become("x")); !errors.Is(err, ErrPermission) {
		t.Errorf("create: %v", err)
	}
	for name, why := range map[string]string{"writable": "directory", "open/f": "owner", "sticky/f": ""} {
		ino := inode(t, filepath.Join(dir, name))
		res, err := c.Write(t.Context(), f, name, WriteOptions{}, add("+"))
		if err != nil || res.InPlace == "" || !strings.Contains(res.InPlace, why) {
			t.Errorf("write %s: %+v, %v", name, res, err)
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(dir, name), &st); err != nil || st.Uid != 0 || st.Ino != ino || contentOf(t, filepath.Join(dir, name)) != "old\n+" {
			t.Errorf("%s belongs to %d, inode %d was %d", name, st.Uid, st.Ino, ino)
		}
	}
	noTemps(t, dir)
}

// On an overlay a file of the lower layer becomes another inode when it is
// first written; that is no change of another program.
func TestWriteOverlay(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	c, _, dir := openFolder(t, Options{})
	for _, separate := range []bool{false, true} {
		base := filepath.Join(dir, map[bool]string{false: "same", true: "separate"}[separate])
		layer := func(name string) string { return filepath.Join(base, name) }
		write(t, layer("lower/sub/f"), "old\n")
		write(t, layer("upper/x/keep"), "")
		if separate {
			mount(t, "tmpfs", layer("upper"), "tmpfs", 0, "size=1m")
		} else if err := os.RemoveAll(layer("upper/x")); err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{layer("upper/up"), layer("upper/work"), layer("merged")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		mount(t, "overlay", layer("merged"), "overlay", 0, "lowerdir="+layer("lower")+",upperdir="+layer("upper/up")+",workdir="+layer("upper/work"))
		f, err := c.Folders(layer("merged"))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if res, err := c.Write(t.Context(), f, "sub/f", WriteOptions{}, add("+")); err != nil || !res.Changed {
				t.Fatalf("separate %v: %+v, %v", separate, res, err)
			}
		}
		if got := contentOf(t, layer("merged/sub/f")); got != "old\n+++" || contentOf(t, layer("lower/sub/f")) != "old\n" {
			t.Errorf("separate %v: the file holds %q", separate, got)
		}
		if _, err := c.Write(t.Context(), f, "new/f", WriteOptions{Create: true}, become("x")); err != nil {
			t.Error(err)
		}
		noTemps(t, layer("merged"))
	}
}
