package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCheckAndRepair(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outlines.db")
	if r := Check(path); !r.Missing || r.State != Ready {
		t.Errorf("missing: %+v", r)
	}
	if err := Repair(path); err != nil {
		t.Error(err)
	}
	whole := filled(t)
	put := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(whole)
	if r := Check(path); r.State != Ready || r.Entries != values || r.Damaged != 0 || r.Broken || r.Missing {
		t.Errorf("whole: %+v", r)
	}
	if err := Repair(path); err != nil || Check(path).Entries != values {
		t.Errorf("repair took what was sound: %v", err)
	}
	at := bytes.LastIndex(whole, valueOf(values - 2)[:100]) // written once, so that no old copy is left
	b := bytes.Clone(whole)
	b[at+50] ^= 4
	put(b)
	if r := Check(path); r.State != Ready || r.Damaged != 1 || r.Broken {
		t.Errorf("a flip in a value: %+v", r)
	}
	put(whole[:len(whole)/2])
	if r := Check(path); r.State != Unusable || !r.Broken || r.Why == "" {
		t.Errorf("half: %+v", r)
	}
	if err := Repair(path); err != nil {
		t.Error(err)
	}
	if r := Check(path); r.State != Ready || r.Broken || r.Entries != 0 {
		t.Errorf("repaired: %+v", r)
	}
	s := open(t, Options{Path: path})
	fill(s, 0, 1)
	if r := Check(path); r.State != Locked {
		t.Errorf("in use: %+v", r)
	}
	if err := Repair(path); !errors.Is(err, ErrLocked) {
		t.Errorf("in use: %v", err)
	}
}

func TestBlobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	b := Blobs{Dir: dir, Limit: 10_000}
	if _, ok := b.Load("a", "k"); ok {
		t.Error("there is one already")
	}
	body := []byte(strings.Repeat("body", 100))
	if err := b.Save("a", "k", body); err != nil {
		t.Fatal(err)
	}
	if got, ok := b.Load("a", "k"); !ok || !bytes.Equal(got, body) {
		t.Errorf("%q, %v", got, ok)
	}
	for _, other := range [][2]string{{"b", "k"}, {"a", "l"}, {"a", ""}} {
		if _, ok := b.Load(other[0], other[1]); ok {
			t.Errorf("%q has the blob", other)
		}
	}
	if info, err := os.Stat(b.path("a")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	whole, err := os.ReadFile(b.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for _, bad := range [][]byte{whole[:i], append(append(bytes.Clone(whole[:i]), whole[i]^1), whole[i+1:]...)} {
			if err := os.WriteFile(b.path("a"), bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, ok := b.Load("a", "k"); ok {
				t.Fatalf("damage at %d is not noticed", i)
			}
		}
	}
	if n, _, bad, err := b.Check(); n != 1 || len(bad) != 1 || err != nil {
		t.Errorf("%d, %q, %v", n, bad, err)
	}
	if err := b.Repair(); err != nil {
		t.Error(err)
	}
	if n, _, bad, err := b.Check(); n != 0 || len(bad) != 0 || err != nil {
		t.Errorf("%d, %q, %v", n, bad, err)
	}
}

// Past the limit those go that were not used for the longest time.
func TestBlobLimit(t *testing.T) {
	b := Blobs{Dir: t.TempDir(), Limit: 10_000}
	leftover := filepath.Join(b.Dir, "1"+blobTemp)
	if err := os.WriteFile(leftover, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-3 * time.Hour)
	os.Chtimes(leftover, old, old)
	for i, name := range []string{"a", "b", "c"} {
		if err := b.Save(name, "k", make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
		at := old.Add(time.Duration(i) * time.Minute)
		os.Chtimes(b.path(name), at, at)
	}
	if _, ok := b.Load("a", "k"); !ok {
		t.Error("a is gone")
	}
	if err := b.Save("d", "k", make([]byte, 3000)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if _, ok := b.Load(name, "k"); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if _, err := os.Stat(leftover); err == nil {
		t.Error("a leftover stays")
	}
	if b.Save("e", "k", make([]byte, 20_000)) == nil {
		t.Error("more than the limit was saved")
	}
}
