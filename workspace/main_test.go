package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"mapd/outline/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.RunIfWorker()
	runIfVictim()
	goleak.VerifyTestMain(m)
}

// openFolder returns a cache and the folder of a new directory.
func openFolder(t testing.TB, opt Options) (*Cache, Folders, string) {
	t.Helper()
	return openFolderAt(t, opt, memoryDir(t))
}

// openDiskFolder is openFolder for tests of what a disk's file system does.
func openDiskFolder(t testing.TB, opt Options) (*Cache, Folders, string) {
	t.Helper()
	return openFolderAt(t, opt, t.TempDir())
}

func openFolderAt(t testing.TB, opt Options, dir string) (*Cache, Folders, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCache(opt)
	t.Cleanup(func() { c.Close() })
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, f, dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, c *Cache, f Folders, name string) *Version {
	t.Helper()
	v, err := c.Read(t.Context(), f, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// openDescriptors returns what the process has open.
func openDescriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc/self/fd here")
	}
	return len(entries)
}
