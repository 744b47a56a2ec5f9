package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// A file keeps its snapshot strings when it is renamed; another file that gets
// its old name does not share them, and neither does a copy or a link.
func TestRenamedFilesKeepTheirSnapshots(t *testing.T) {
	dir := t.TempDir()
	c := NewCache(Options{})
	defer c.Close()
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(f.Roots()[0], name) }
	read := func(name string) *Version {
		t.Helper()
		v, err := c.Read(t.Context(), f, name)
		if err != nil {
			t.Fatal(err)
		}
		if v.Path() != at(name) || v.Name() != name {
			t.Errorf("%s is read as %s, %s", name, v.Name(), v.Path())
		}
		return v
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) { t.Helper(); must(os.WriteFile(at(name), []byte(text), 0o600)) }

	write("a.py", "x = 1\n")
	first := read("a.py")
	must(os.Rename(at("a.py"), at("b.go")))
	moved := read("b.go")
	if moved.Snapshot() != first.Snapshot() || moved.File() != first.File() || moved.Language() != "go" || first.Language() != "python" {
		t.Errorf("renamed: %s of %q in %s, was %s of %q in %s", moved.Snapshot(), moved.File(), moved.Language(), first.Snapshot(), first.File(), first.Language())
	}
	if again := read("b.go"); again.Snapshot() != first.Snapshot() {
		t.Error("read again under its new name it has another snapshot")
	}

	write("a.py", "x = 1\n")
	if other := read("a.py"); other.Snapshot() == first.Snapshot() || other.File() == first.File() {
		t.Error("a new file under the old name has the snapshot of the renamed one")
	}
	write("copy.py", "x = 1\n")
	if v := read("copy.py"); v.Snapshot() == first.Snapshot() {
		t.Error("a copy has the snapshot of the original")
	}
	must(os.Link(at("b.go"), at("link.go")))
	if v := read("link.go"); v.Snapshot() == first.Snapshot() {
		t.Error("a second link has the snapshot of the first")
	}

	// A program that moves the old file aside and writes a new one keeps the
	// file where it was, whoever reads the old one meanwhile.
	write("v.txt", "x = 1\n")
	v := read("v.txt")
	must(os.Rename(at("v.txt"), at("v.txt~")))
	write("v.txt", "x = 2\n")
	if aside := read("v.txt~"); aside.File() == v.File() {
		t.Error("a backup has become the file")
	}
	if now := read("v.txt"); now.File() != v.File() {
		t.Error("a file saved beside a backup is another file")
	}

	// A program that saves by a rename keeps the file.
	write("new", "x = 2\n")
	must(os.Rename(at("new"), at("b.go")))
	saved := read("b.go")
	if saved.File() != first.File() || saved.Snapshot() == first.Snapshot() {
		t.Error("a file saved by a rename is another file")
	}
	write("b.go", "x = 1\n")
	if v := read("b.go"); v.Snapshot() != first.Snapshot() {
		t.Error("a file that returned to its bytes has another snapshot")
	}

	// An edit of ours and a rename before anything is read.
	if _, err := c.Write(t.Context(), f, "b.go", WriteOptions{NoSync: true}, func(*Version) ([]byte, error) { return []byte("x = 3\n"), nil }); err != nil {
		t.Fatal(err)
	}
	must(os.Rename(at("b.go"), at("d.go")))
	if v := read("d.go"); v.File() != first.File() {
		t.Error("a file renamed after an edit is another file")
	}
}
