package find

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNearness(t *testing.T) {
	n := newNearness([]string{"/r/a/b/x.go", "/r/c/y.go"})
	for path, want := range map[string]int{
		"/r/a/b/x.go": 0, "/r/c/y.go": 0, "/r/a/b/z.go": 1, "/r/a/z.go": 2, "/r/a/b/d/z.go": 2,
		"/r/c/d/e/z.go": 3, "/r/z.go": 2, "/r/d/z.go": 3, "/z.go": 3, "/other/z.go": 4,
	} {
		if got := n.of(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := newNearness(nil).of("/a/b"); got != 0 {
		t.Errorf("nothing was read: %d", got)
	}
}

// The distance is that of the tree of directories.
func TestNearnessByDefinition(t *testing.T) {
	paths := rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 6).Draw(t, "names"), "/") + ".go"
	})
	between := func(a, b string) int {
		x, y := strings.Split(parent(a), "/"), strings.Split(parent(b), "/")
		same := 0
		for same < len(x) && same < len(y) && x[same] == y[same] {
			same++
		}
		return len(x) + len(y) - 2*same
	}
	rapid.Check(t, func(t *rapid.T) {
		read := rapid.SliceOfN(paths, 1, 5).Draw(t, "read")
		path := paths.Draw(t, "path")
		want := maxNear
		for _, r := range read {
			if r == path {
				want = 0
			} else {
				want = min(want, 1+between(r, path))
			}
		}
		if got := newNearness(read).of(path); got != want {
			t.Fatalf("%s from %v: %d, want %d", path, read, got, want)
		}
	})
}
