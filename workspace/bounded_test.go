package workspace

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A file of the limit is read, one byte more is not, and a sparse file of
// 5 GB costs nothing.
func TestBoundedFileBytes(t *testing.T) {
	const limit = 10_000
	c, f, dir := openFolder(t, Options{Limits: Limits{FileBytes: limit}})
	path := filepath.Join(dir, "f")
	write(t, path, strings.Repeat("x", limit))
	if v := mustRead(t, c, f, "f"); v.Size() != limit {
		t.Errorf("read %d bytes", v.Size())
	}
	for _, size := range []int64{limit + 1, 5 << 30} {
		if err := os.Truncate(path, size); err != nil {
			t.Skip("no sparse files here:", err)
		}
		_, err := c.Read(t.Context(), f, "f")
		var e *SizeError
		if !errors.As(err, &e) || e.Size != size || e.Limit != limit || !errors.Is(err, ErrTooLarge) {
			t.Errorf("a file of %d bytes: %v", size, err)
		}
	}
}

// A file that grows past the limit, or past its own size, while it is read.
func TestBoundedGrowing(t *testing.T) {
	const limit = 40_000
	src := newFaulty()
	src.restamp = aged
	c, f, dir := openFolder(t, Options{source: src, Limits: Limits{FileBytes: limit}})
	path := filepath.Join(dir, "f")
	write(t, path, "start\n")
	grow := 30_000
	src.afterRead = func(int64) error {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.Write(make([]byte, grow))
		grow = 0
		return err
	}
	if v := mustRead(t, c, f, "f"); v.Size() != 30_006 || v.Unstable() {
		t.Errorf("read %d bytes of a file that grew, unstable %v", v.Size(), v.Unstable())
	}
	grow = 30_000
	if _, err := c.Read(t.Context(), f, "f"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file that grew past the limit: %v", err)
	}
}

// Reads wait for the budget and hold it only while they read.
func TestBoundedReadBytes(t *testing.T) {
	src := newFaulty()
	src.restamp = aged
	c, f, dir := openFolder(t, Options{source: src, Limits: Limits{ReadBytes: 8192}})
	write(t, filepath.Join(dir, "f"), strings.Repeat("x", 3000))
	reading, release := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	now, most := 0, 0
	src.atRead = func(off int64) error {
		mu.Lock()
		defer mu.Unlock()
		if off > 0 {
			return nil
		}
		now++
		most = max(most, now)
		mu.Unlock()
		reading <- struct{}{}
		<-release
		mu.Lock()
		now--
		return nil
	}
	errs := make(chan error)
	for range 4 {
		go func() {
			_, err := c.Read(t.Context(), f, "f")
			errs <- err
		}()
	}
	<-reading
	<-reading
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Read(ctx, f, "f"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read past the budget whose context ends: %v", err)
	}
	for i := range 4 {
		release <- struct{}{}
		if err := <-errs; err != nil {
			t.Error(err)
		}
		if i < 2 {
			<-reading
		}
	}
	if most != 2 {
		t.Errorf("%d reads of 4 KiB at once under a budget of 8 KiB", most)
	}
	if !c.budget.large.tryTake(8192) {
		t.Error("the budget was not given back")
	}
}

// Small reads do not wait behind large ones that fill the budget.
func TestBoundedReadBytesLeavesRoomForSmallReads(t *testing.T) {
	src := newFaulty()
	c, f, dir := openFolder(t, Options{source: src, Limits: Limits{ReadBytes: 4 * smallReads}})
	write(t, filepath.Join(dir, "f"), "small")
	for n := int64(8 << 20); c.budget.of(n).tryTake(n); {
	}
	large, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 1)
	go func() { waiting <- c.budget.of(100<<20).take(large, c.ctx, 100<<20) }()
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	if _, err := c.Read(ctx, f, "f"); err != nil {
		t.Errorf("a small read beside large ones: %v", err)
	}
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("a large read past the budget: %v", err)
	}
}

// Reading many versions keeps the history in its bound, whatever is pinned.
func TestBoundedHistory(t *testing.T) {
	const limit = 1 << 20
	c, f, dir := openFolder(t, Options{Limits: Limits{HistoryBytes: limit}})
	r := rand.New(rand.NewPCG(1, 2))
	var releases []func()
	for i := range 400 {
		name := fmt.Sprint("f", i%50)
		write(t, filepath.Join(dir, name), strings.Repeat(fmt.Sprintln(i%170), r.IntN(5000)))
		v := mustRead(t, c, f, name)
		if i%3 == 0 {
			releases = append(releases, v.Pin())
		}
		if i%7 == 0 && len(releases) > 0 {
			releases[0]()
			releases = releases[1:]
		}
		checkHistory(t, c.history)
	}
	if c.Stats().Evicted == 0 {
		t.Error("nothing was evicted: the test proves nothing")
	}
	for _, release := range releases {
		release()
		release()
		checkHistory(t, c.history)
	}
	if n := c.Stats().Pinned; n != 0 {
		t.Errorf("%d pinned after all pins were released", n)
	}
}

// checkHistory compares the books of h with what it holds.
func checkHistory(t *testing.T, h *history) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	var bytes int64
	users := map[*content]int{}
	for id, e := range h.entries {
		if e.record == nil || e.record.id != id {
			t.Fatal("an evicted version is in the history")
		}
		bytes += e.record.overhead()
		if users[e.record.content]++; users[e.record.content] == 1 {
			bytes += e.record.content.cost()
		}
	}
	if bytes != h.bytes || h.bytes > h.limit {
		t.Fatalf("the history holds %d bytes, its books say %d, the limit is %d", bytes, h.bytes, h.limit)
	}
	if len(users) != len(h.contents) || h.loose.Len()+h.pinned.Len() != len(h.entries) {
		t.Fatalf("%d contents in use, %d kept; %d+%d versions listed, %d kept", len(users), len(h.contents), h.loose.Len(), h.pinned.Len(), len(h.entries))
	}
}

// The oldest version goes first, a pinned one only when nothing else is left,
// and what is gone is unknown and gets its own string back when it is read.
func TestHistoryOrder(t *testing.T) {
	const size = 10_000
	c, f, dir := openFolder(t, Options{Limits: Limits{HistoryBytes: 5 * (size + 1000)}})
	read := func(i int) *Version {
		name := fmt.Sprint("f", i)
		write(t, filepath.Join(dir, name), strings.Repeat(string(rune('a'+i)), size))
		return mustRead(t, c, f, name)
	}
	known := func(v *Version) bool {
		got, ok := c.Snapshot(v.Snapshot())
		if ok && (got.Path() != v.Path() || got.Digest() != v.Digest()) {
			t.Fatalf("snapshot %s names another version", v.Snapshot())
		}
		return ok
	}
	var vs []*Version
	for i := range 5 {
		vs = append(vs, read(i))
	}
	release := vs[0].Pin()
	read(1) // used again
	vs = append(vs, read(5))
	for i, want := range []bool{true, true, false, true, true, true} {
		if known(vs[i]) != want {
			t.Errorf("version %d known: %v, want %v", i, !want, want)
		}
	}
	if again := read(2); again.Snapshot() != vs[2].Snapshot() || !known(vs[2]) {
		t.Errorf("an evicted version read again is %s, was %s", again.Snapshot(), vs[2].Snapshot())
	}
	var pins []func()
	for i := 10; i < 15; i++ {
		pins = append(pins, read(i).Pin())
	}
	if known(vs[0]) {
		t.Error("the oldest pinned version outlived the bound")
	}
	release() // of a version that is gone: nothing happens
	for _, p := range pins {
		p()
	}
	checkHistory(t, c.history)
}

// A version pinned after it was evicted is known again.
func TestPinEvicted(t *testing.T) {
	c, f, dir := openFolder(t, Options{Limits: Limits{HistoryBytes: 20_000}})
	write(t, filepath.Join(dir, "a"), strings.Repeat("a", 15_000))
	write(t, filepath.Join(dir, "b"), strings.Repeat("b", 15_000))
	write(t, filepath.Join(dir, "big"), strings.Repeat("b", 25_000))
	a := mustRead(t, c, f, "a")
	mustRead(t, c, f, "b")
	if _, ok := c.Snapshot(a.Snapshot()); ok {
		t.Fatal("a was not evicted")
	}
	defer a.Pin()()
	if _, ok := c.Snapshot(a.Snapshot()); !ok {
		t.Error("a pinned version is unknown")
	}
	big := mustRead(t, c, f, "big")
	big.Pin()()
	if _, ok := c.Snapshot(big.Snapshot()); ok {
		t.Error("a version larger than the history is in it")
	}
	if _, ok := c.Snapshot(a.Snapshot()); !ok {
		t.Error("a version larger than the history evicted another")
	}
	checkHistory(t, c.history)
}

func TestSnapshotStrings(t *testing.T) {
	c, f, dir := openFolder(t, Options{Epoch: "0123456789abcdef"})
	write(t, filepath.Join(dir, "a"), "same\n")
	write(t, filepath.Join(dir, "b"), "same\n")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	a, b, link := mustRead(t, c, f, "a"), mustRead(t, c, f, "b"), mustRead(t, c, f, "link")
	if a.Snapshot() == b.Snapshot() || a.Snapshot() != link.Snapshot() {
		t.Errorf("snapshots: a %s, b %s, link to a %s", a.Snapshot(), b.Snapshot(), link.Snapshot())
	}
	if a.Digest() != b.Digest() || a.Text() != b.Text() {
		t.Error("equal contents are not shared")
	}
	if got, ok := c.Snapshot(a.Snapshot()); !ok || got.Name() != a.Path() {
		t.Errorf("the version of %s: %v", a.Snapshot(), ok)
	}
	number := strings.TrimPrefix(a.Snapshot(), "0123456789abcdef.")
	for _, s := range []string{"", ".", "0123456789abcdef", "0123456789abcdef.", number, "0123456789abcdef.0" + number,
		"0123456789abcdef.+" + number, "fedcba9876543210." + number, a.Snapshot() + "0", " " + a.Snapshot(), "0123456789abcdef.1"} {
		if _, ok := c.Snapshot(s); ok {
			t.Errorf("snapshot %q is known", s)
		}
	}
	other, f2, dir2 := openFolder(t, Options{})
	write(t, filepath.Join(dir2, "a"), "same\n")
	if v := mustRead(t, other, f2, "a"); v.Snapshot() == a.Snapshot() || len(v.Snapshot()) < 18 {
		t.Errorf("snapshot of another epoch: %s", v.Snapshot())
	}
}
