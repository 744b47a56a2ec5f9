package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// exchanged is a source where a file was exchanged for another one since its
// name led to it, so many times.
type exchanged struct {
	source
	times int
}

func (e *exchanged) find(path string) (node, error) {
	n, err := e.source.find(path)
	if err != nil || e.times == 0 {
		return n, err
	}
	e.times--
	return elsewhere{n, e.times}, nil
}

// elsewhere is a node that has got another name.
type elsewhere struct {
	node
	number int
}

func (e elsewhere) realPath(s stamp) (string, error) {
	path, err := e.node.realPath(s)
	return path + ".swap" + string(rune('a'+e.number)), err
}

// A file is read and written under the name that it has, whatever the inode that
// the name led to is called a moment later: a write to that one is lost.
func TestExchangedWhileItIsFound(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	from := &exchanged{source: newSystem()}
	c := NewCache(Options{source: from})
	defer c.Close()
	folders, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	from.times = 3
	v, err := c.Read(t.Context(), folders, "f")
	if err != nil || v.Path() != path {
		t.Fatalf("read: %v %v", v, err)
	}
	from.times = 3
	_, err = c.Write(t.Context(), folders, "f", WriteOptions{NoSync: true}, func(*Version) ([]byte, error) { return []byte("new\n"), nil })
	if got, rerr := os.ReadFile(path); err != nil || rerr != nil || string(got) != "new\n" {
		t.Errorf("write: %v; the file holds %q, %v", err, got, rerr)
	}
	from.times = 1000
	if _, err := c.Read(t.Context(), folders, "f"); err == nil {
		t.Error("a file that never keeps its name was read under one")
	}
}
