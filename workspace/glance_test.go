package workspace

import (
	"os"
	"testing"
	"time"
)

// Glance notices a change by the stamp, and reads a file that it knows only
// when its stamp is too young to tell.
func TestGlance(t *testing.T) {
	dir := t.TempDir()
	c := NewCache(Options{})
	defer c.Close()
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := f.Roots()[0] + "/a"
	glance := func() string {
		t.Helper()
		s, err := c.Glance(t.Context(), f, path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	first := glance()
	write("two") // at once: the stamp is young
	second := glance()
	if second == first {
		t.Error("a change right after a glance was not noticed")
	}
	for deadline := time.Now().Add(10 * time.Second); ; { // until the stamp has aged
		before := c.Stats().Reads
		if got := glance(); got != second {
			t.Fatalf("got %s, want %s", got, second)
		}
		if c.Stats().Reads == before && len(c.glances.seen) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("every glance reads the file")
		}
	}
	write("one")
	if glance() != first {
		t.Error("a file that returned to its bytes has another snapshot")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Glance(t.Context(), f, path); err == nil {
		t.Error("a file that is gone was not noticed")
	}
}
