package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mapd/hashline"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(fillVariable); dir != "" {
		fillUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, opt Options) *Store {
	t.Helper()
	opt.Log = slog.New(slog.DiscardHandler)
	s := Open(opt)
	t.Cleanup(func() { s.Close() })
	return s
}

// keyOf and valueOf make the nth key and its value, of 0 to 20 KB.
func keyOf(n int) Key {
	return Key{Digest: hashline.Sum(fmt.Append(nil, n)), Kind: fmt.Sprint("kind", n%3)}
}

func valueOf(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	b := make([]byte, r.IntN(1+r.IntN(20_000)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func fill(s *Store, from, to int) {
	for n := from; n < to; n++ {
		s.Put(keyOf(n), valueOf(n))
		if n%50 == 49 {
			s.Flush()
		}
	}
	s.Flush()
}

// check reads the first values and fails on one that is wrong. It returns how
// many are there.
func check(t testing.TB, s *Store, to int) (hits int) {
	t.Helper()
	for n := range to {
		got, ok := s.Get(keyOf(n))
		if ok && !bytes.Equal(got, valueOf(n)) {
			t.Fatalf("value %d comes back as another one", n)
		}
		if ok {
			hits++
		}
	}
	return hits
}

func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "outlines.db")
	s := open(t, Options{Path: path})
	s.Put(keyOf(0), valueOf(0))
	if check(t, s, 2) != 1 {
		t.Error("a value that waits to be written is not found")
	}
	fill(s, 0, 200)
	if n := check(t, s, 200); n != 200 {
		t.Errorf("%d of 200 values", n)
	}
	if _, ok := s.Get(Key{Digest: keyOf(0).Digest, Kind: "other"}); ok {
		t.Error("another kind has the value")
	}
	s.Close()
	if _, ok := s.Get(keyOf(0)); ok || s.Stats().State != Closed {
		t.Error("a value after Close")
	}
	s = open(t, Options{Path: path})
	if n := check(t, s, 200); n != 200 {
		t.Errorf("%d of 200 values after a restart", n)
	}
	st := s.Stats()
	if st.State != Ready || st.Why != "" || st.Entries != 200 || st.Hits != 200 || st.Misses != 0 || st.Damaged != 0 || st.FileBytes < st.Bytes {
		t.Errorf("%+v", st)
	}
	for at, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", at, info.Mode(), err)
		}
	}
	// A new value in the place of an old one.
	s.Put(keyOf(3), []byte("newer"))
	s.Flush()
	if got, _ := s.Get(keyOf(3)); string(got) != "newer" || s.Stats().Entries != 200 {
		t.Errorf("%q, %d entries", got, s.Stats().Entries)
	}
}

// The file stays near its limit, and what was put last is there.
func TestLimit(t *testing.T) {
	const limit = 2 << 20
	path := filepath.Join(t.TempDir(), "outlines.db")
	s := open(t, Options{Path: path, Limit: limit})
	for n := 0; n < 1500; n += 50 {
		fill(s, n, n+50)
		if used, err := s.db.inUse(); err != nil || used > limit {
			t.Fatalf("%d bytes in use after %d values, %v", used, n, err)
		}
	}
	if s.Stats().Evicted == 0 || check(t, s, 1000) > 400 {
		t.Error("nothing went")
	}
	for n := 1450; n < 1500; n++ {
		if _, ok := s.Get(keyOf(n)); !ok {
			t.Errorf("value %d of 1500 is gone", n)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 3*limit {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	st := s.Stats()
	s.Close()
	if s = open(t, Options{Path: path}); check(t, s, 1) >= 0 && s.Stats().Entries != st.Entries || s.Stats().Bytes != st.Bytes {
		t.Errorf("counted %+v, found %+v", st, s.Stats())
	}
}

// More than the queue holds is dropped, and not waited for.
func TestQueueIsBounded(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "outlines.db"), Queue: 10_000, Delay: time.Hour})
	check(t, s, 1)
	for n := range 50 {
		s.Put(keyOf(n), make([]byte, 900))
	}
	if st := s.Stats(); st.Dropped < 35 || st.Dropped > 41 {
		t.Errorf("%d of 50 dropped", st.Dropped)
	}
}
