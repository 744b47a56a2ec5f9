package store

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A disk without room: what was stored is read, what is put is dropped, the
// status says so, and nothing is damaged by it.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1500k")
	if err != nil && os.Getenv("MAPD_SUITE") != "faults" {
		t.Skipf("MAPD_SUITE=faults, as root, fills a disk: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "outlines.db")
	for round := range rounds(t, 3) {
		s := open(t, Options{Path: path})
		fill(s, 0, 60)
		fill(s, 60+500*round, 560+500*round)
		if st := s.Stats(); st.State != Full && round == 0 || st.Dropped == 0 && round == 0 {
			t.Errorf("round %d: %+v", round, st)
		}
		if n := check(t, s, 60); n != 60 && round == 0 {
			t.Errorf("round %d: %d of 60 values that were there before", round, n)
		}
		check(t, s, 560+500*round)
		s.Close()
		s = open(t, Options{Path: path})
		check(t, s, 560+500*round)
		if st := s.Stats(); st.Damaged != 0 || st.State != Ready {
			t.Fatalf("round %d: a full disk damaged the store: %+v", round, st)
		}
		s.Close()
	}
	if err := (Blobs{Dir: dir}).Save("a", "k", make([]byte, 2<<20)); !full(err) {
		t.Errorf("a blob on a full disk: %v", err)
	}
	if _, ok := (Blobs{Dir: dir}).Load("a", "k"); ok {
		t.Error("half a blob is there")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*"+blobTemp)); len(left) > 0 || err != nil {
		t.Errorf("left over: %q, %v", left, err)
	}
}
