package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"mapd/outline"
)

// A draft shares the outline of a file with the same bytes, and nothing else of
// it.
func TestDraftSharesOutlines(t *testing.T) {
	x := &extractFunc{f: plain}
	c, f, dir := openFolder(t, Options{Outlines: x})
	write(t, filepath.Join(dir, "a.go"), "one\n")
	v := mustRead(t, c, f, "a.go")
	if _, err := v.Outline(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, d := range []*Draft{c.Draft([]byte("one\n"), outline.Go), c.Draft([]byte("two\n"), outline.Go)} {
		if _, known := d.Peek(); known != (i == 0) {
			t.Errorf("draft %d is known: %v", i, known)
		}
		o, err := d.Outline(t.Context())
		if err != nil || o.Symbols[0].Name != string(d.Text().Line(1)) {
			t.Errorf("draft %d: %v %v", i, o, err)
		}
	}
	if n := x.calls.Load(); n != 2 {
		t.Errorf("%d outlines were made, want 2", n)
	}
	binary := c.Draft([]byte("\x00\x01"), outline.Go)
	if _, err := binary.Outline(t.Context()); !errors.Is(err, ErrBinary) || binary.Text() != nil || binary.MIME() == "text/plain" {
		t.Errorf("a binary draft: %v, %s", err, binary.MIME())
	}
	if _, known := binary.Peek(); known {
		t.Error("a binary draft has an outline")
	}
}

func TestResolve(t *testing.T) {
	c, _, dir := openFolder(t, Options{})
	write(t, filepath.Join(dir, "real/a.go"), "x")
	for _, link := range [][2]string{{"real", "dir"}, {"a.go", "real/link.go"}, {"nowhere.go", "real/dangling.go"}} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"real/a.go": "real/a.go", "dir/a.go": "real/a.go", "dir/link.go": "real/a.go", "dir": "real", "": "",
		"dir/new.go": "real/new.go", "dir/new/sub/x.go": "real/new/sub/x.go", "dir/a.go/x": "real/a.go/x", "dir/dangling.go": "real/dangling.go",
	} {
		if got, err := c.Resolve(filepath.Join(dir, name)); err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%q: %q %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "a.go", "/a\x00"} {
		if _, err := c.Resolve(name); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	c.Close()
	if _, err := c.Resolve(dir); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
