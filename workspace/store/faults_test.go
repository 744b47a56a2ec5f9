package store

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// rounds is how often a fault is tried: all of them in the suite.
func rounds(t testing.TB, few int) int {
	if os.Getenv("MAPD_SUITE") == "faults" {
		return 100
	}
	t.Logf("%d of 100 rounds; MAPD_SUITE=faults runs all", few)
	return few
}

const values = 120

// filled returns the bytes of a file with some values.
func filled(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outlines.db")
	s := open(t, Options{Path: path})
	fill(s, 0, values)
	fill(s, 0, values/4) // again, which leaves pages that are free
	s.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// survive opens a store whose file holds b: no value of it is wrong, and it
// works.
func survive(t testing.TB, what string, b []byte) (hits int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "outlines.db")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Path: path})
	defer s.Close()
	hits = check(t, s, values)
	fill(s, 0, 20)
	for n := range 20 {
		if got, ok := s.Get(keyOf(n)); !ok || !bytes.Equal(got, valueOf(n)) {
			t.Fatalf("%s: value %d is not there after it was put again: %+v", what, n, s.Stats())
		}
	}
	return hits
}

func TestCutAtEveryPage(t *testing.T) {
	whole := filled(t)
	page := os.Getpagesize()
	step := max(1, len(whole)/page/rounds(t, 12))
	for n := 0; n*page < len(whole); n += step {
		for _, at := range []int{n * page, n*page + 1, n*page + 17, (n+1)*page - 1} {
			survive(t, "cut", whole[:min(at, len(whole))])
		}
	}
	if n := survive(t, "whole", whole); n != values {
		t.Fatalf("%d of %d values in a file that is whole", n, values)
	}
}

func TestFlippedBits(t *testing.T) {
	whole := filled(t)
	page := os.Getpagesize()
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds(t, 15) {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(30) {
			at := r.IntN(len(b))
			if r.IntN(2) == 0 { // heads and elements are what structure is made of
				at = at/page*page + r.IntN(200)
			}
			if at < len(b) {
				b[at] ^= 1 << r.IntN(8)
			}
		}
		survive(t, "flips", b)
	}
}

// Every bit of the heads of pages, where a circle of pages is one flip away.
func TestEveryBitOfStructure(t *testing.T) {
	whole := filled(t)
	page := os.Getpagesize()
	every := 499
	if os.Getenv("MAPD_SUITE") == "faults" {
		every = 11
	}
	n := 0
	for p := 0; p < len(whole); p += page {
		for i := range 48 * 8 {
			if n++; n%every != 0 || bytes.Equal(whole[p:p+16], make([]byte, 16)) {
				continue
			}
			b := bytes.Clone(whole)
			b[p+i/8] ^= 1 << (i % 8)
			survive(t, "flip", b)
		}
	}
}

func TestGarbage(t *testing.T) {
	for _, b := range [][]byte{{0}, []byte("not a store\n"), bytes.Repeat([]byte{0xff}, 1<<16), make([]byte, 1<<16)} {
		survive(t, "garbage", b)
	}
}

// While the store is open its file is cut: the mapped pages past the end fault,
// and that must not end the process.
func TestCutWhileOpen(t *testing.T) {
	for _, size := range []int64{0, 100, 4096, 3 * 4096, 20*4096 + 5} {
		path := filepath.Join(t.TempDir(), "outlines.db")
		s := open(t, Options{Path: path})
		fill(s, 0, values)
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		check(t, s, values)
		fill(s, 0, values)
		if n := check(t, s, values); n != values && s.Stats().State != Ready {
			t.Errorf("cut at %d: %d values, %+v", size, n, s.Stats())
		}
		s.Close()
	}
}

// A writer that meets the fault.
func TestCutBeforeWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outlines.db")
	s := open(t, Options{Path: path})
	fill(s, 0, values)
	db := s.db
	if err := os.Truncate(path, 2*4096); err != nil {
		t.Fatal(err)
	}
	stamp, err := stampOf(db.file)
	if err != nil {
		t.Fatal(err)
	}
	db.stamp.Store(&stamp) // as if it was cut between the look at the file and the write
	fill(s, 0, values)
	check(t, s, values)
	if !db.lost {
		t.Error("the write did not meet the fault")
	}
	fill(s, 0, values)
	if n := check(t, s, values); n != values || s.Stats().Damaged == 0 {
		t.Errorf("%d values afterwards, %+v", n, s.Stats())
	}
}

// Another program writes into the open file.
func TestFlippedWhileOpen(t *testing.T) {
	for i := range rounds(t, 5) {
		path := filepath.Join(t.TempDir(), "outlines.db")
		s := open(t, Options{Path: path})
		fill(s, 0, values)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := file.Stat()
		r := rand.New(rand.NewPCG(uint64(i), 3))
		for range 50 {
			file.WriteAt([]byte{byte(r.Uint32())}, r.Int64N(info.Size()/4096)*4096+r.Int64N(64))
		}
		file.Close()
		check(t, s, values)
		fill(s, 0, values)
		if n := check(t, s, values); n != values {
			t.Errorf("%d values afterwards, %+v", n, s.Stats())
		}
		s.Close()
	}
}

func TestRemovedWhileOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	path := filepath.Join(dir, "outlines.db")
	s := open(t, Options{Path: path})
	fill(s, 0, values)
	os.RemoveAll(dir)
	check(t, s, values)
	fill(s, 0, 40)
	if n := check(t, s, 40); n != 40 {
		t.Errorf("%d of 40", n)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// Of two daemons one has the file; the other goes on without, says so, and
// gets it when the first one ends.
func TestTwoDaemons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outlines.db")
	first := open(t, Options{Path: path})
	fill(first, 0, values)
	second := open(t, Options{Path: path, Wait: time.Millisecond, Retry: 5 * time.Millisecond})
	if n := check(t, second, values); n != 0 || second.Stats().State != Locked || second.Stats().Why == "" {
		t.Errorf("%d values, %+v", n, second.Stats())
	}
	fill(second, 0, values)
	if n := check(t, first, values); n != values {
		t.Errorf("%d values in the first", n)
	}
	first.Close()
	for end := time.Now().Add(20 * time.Second); second.Stats().State != Ready; {
		if time.Now().After(end) {
			t.Fatalf("%+v", second.Stats())
		}
		time.Sleep(time.Millisecond)
	}
	if n := check(t, second, values); n != values {
		t.Errorf("%d values", n)
	}
}

func TestNoPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(file, "outlines.db"), dir, link, "/proc/none/outlines.db"} {
		s := open(t, Options{Path: path})
		fill(s, 0, 10)
		if n := check(t, s, 10); n != 0 || s.Stats().State != Unusable || s.Stats().Why == "" || s.Stats().Dropped == 0 {
			t.Errorf("%s: %d values, %+v", path, n, s.Stats())
		}
		s.Close()
	}
	if b, err := os.ReadFile(file); string(b) != "precious" {
		t.Errorf("%q, %v", b, err)
	}
}

const fillVariable = "MAPD_STORE_FILL"

// fillUntilKilled is the daemon that is killed while it writes.
func fillUntilKilled(dir string) {
	s := Open(Options{Path: filepath.Join(dir, "outlines.db"), Limit: 3 << 20, Delay: time.Millisecond})
	os.Stdout.WriteString("ready\n")
	for n := 0; ; n = (n + 1) % 5000 {
		s.Put(keyOf(n), valueOf(n))
		if n%20 == 0 {
			s.Flush()
		}
	}
}

func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(5, 6))
	for range rounds(t, 6) {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), fillVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("the test binary cannot be run again: ", err)
		}
		out.Read(make([]byte, 6))
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait()
		s := open(t, Options{Path: filepath.Join(dir, "outlines.db"), Limit: 3 << 20})
		check(t, s, 5000)
		if st := s.Stats(); st.Damaged != 0 || st.State != Ready {
			t.Fatalf("a kill damaged the store: %+v", st)
		}
		s.Close()
	}
}
