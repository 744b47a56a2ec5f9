package workspace

import (
	"fmt"
	"path/filepath"
	"testing"

	"mapd/workspace/names"
)

// When memory is short caches give way, and every answer is what it was.
func TestPress(t *testing.T) {
	dir := memoryDir(t)
	for i := range 20 {
		write(t, filepath.Join(dir, fmt.Sprint("f", i, ".go")), fmt.Sprintln("file", i))
	}
	x := &extractFunc{f: plain}
	c := NewCache(Options{Outlines: x})
	defer c.Close()
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	var pinned *Version
	for i := range 20 {
		v := mustRead(t, c, f, fmt.Sprint("f", i, ".go"))
		if _, err := v.Outline(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			pinned = v
			defer v.Pin()()
		}
	}
	before := c.Stats()
	for range 10 {
		c.Press(true)
	}
	after := c.Stats()
	if after.Outlines != 0 || after.Versions != 1 || after.HistoryBytes >= before.HistoryBytes/10 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if v, ok := c.Snapshot(pinned.Snapshot()); !ok || v.Digest() != pinned.Digest() {
		t.Error("a pinned version is gone")
	}
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	settle(t, w)
	ix := waitReady(t, w)
	if got := ix.Counts(); got.Named != 0 || got.Bytes != 0 || got.Pending != 0 {
		t.Errorf("names are kept: %+v", got)
	}
	for i := range 20 {
		file, _ := ix.Lookup(fmt.Sprint("f", i, ".go"))
		if list, ok := w.NamesOf(t.Context(), file); !ok || list.Len() != 1 || list.At(0).Name != fmt.Sprint("file ", i) {
			t.Errorf("%s: %v names, %v", file.Path, list.Len(), ok)
		}
		if o, err := mustRead(t, c, f, file.Path).Outline(t.Context()); err != nil || names.Pack(o).At(0).Name != fmt.Sprint("file ", i) {
			t.Errorf("%s: %v", file.Path, err)
		}
	}
	c.Press(false)
	write(t, filepath.Join(dir, "f3.go"), "new\n")
	settle(t, w)
	if name := nameAt(t, waitReady(t, w), "f3.go"); name != "new" {
		t.Errorf("%q", name)
	}
}
