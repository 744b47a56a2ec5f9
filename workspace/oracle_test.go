package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mapd/workspace/ignore"
	"mapd/workspace/watch"
)

// kernel stands for the system's events: it makes operations on files and
// reports each to the streams that watch the directory, under the path that they
// watch it by, however the directory is called since. Faults are in between.
// Stamps are those of a file system that counts two seconds.
type kernel struct {
	r     *rand.Rand
	delay time.Duration // events come up to this late, and so in any order
	twice bool          // some events come twice
	lose  int           // of 100 events so many are lost
	told  bool          // and the stream says so
	full  bool          // there are no watches, and
	none  bool          // no streams

	mu      sync.Mutex // guards what follows
	streams map[*kernelStream]bool
	touched map[uint64]time.Time // when inodes were changed, for coarse stamps
}

type kernelStream struct {
	k       *kernel
	out     chan watch.Event
	done    chan struct{}
	closing sync.Once
	sending sync.WaitGroup
	watches map[uint64]string // by inode; guarded by k.mu
}

// source is a watch.Source.
func (k *kernel) source() (watch.Stream, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.none {
		return nil, fmt.Errorf("%w: %w", watch.ErrLimit, syscall.EMFILE)
	}
	s := &kernelStream{k: k, out: make(chan watch.Event), done: make(chan struct{}), watches: map[uint64]string{}}
	k.streams[s] = true
	return s, nil
}

func (s *kernelStream) Add(dir string) error {
	ino, ok := inodeAt(dir)
	if !ok {
		return syscall.ENOENT
	}
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	if s.k.full && len(s.watches) > 1 {
		return fmt.Errorf("%w: %w", watch.ErrLimit, syscall.ENOSPC)
	}
	if _, known := s.watches[ino]; !known { // as inotify: the first path stays
		s.watches[ino] = dir
	}
	return nil
}

func (s *kernelStream) Events() <-chan watch.Event { return s.out }

func (s *kernelStream) Close() error {
	s.closing.Do(func() {
		s.k.mu.Lock()
		delete(s.k.streams, s)
		s.k.mu.Unlock()
		close(s.done)
		s.sending.Wait()
		close(s.out)
	})
	return nil
}

func inodeAt(path string) (uint64, bool) {
	var st syscall.Stat_t
	if syscall.Lstat(path, &st) != nil {
		return 0, false
	}
	return st.Ino, true
}

// report tells of an event at name in the directory with that inode, or at the
// directory itself if name is empty.
func (k *kernel) report(dir uint64, name string, gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := range k.streams {
		path, watched := s.watches[dir]
		if !watched {
			continue
		}
		event := watch.Event{Path: filepath.Join(path, name), Gone: gone}
		if k.r.IntN(100) < k.lose {
			event = watch.Event{} // says that events are lost
			if !k.told {
				continue
			}
		}
		copies := 1
		if k.twice && k.r.IntN(3) == 0 {
			copies = 2
		}
		for range copies {
			k.deliver(s, event)
		}
	}
}

// deliver sends an event when its time has come. The mutex is held, so that a
// stream that is closed gets no more.
func (k *kernel) deliver(s *kernelStream, e watch.Event) {
	var after time.Duration
	if k.delay > 0 {
		after = time.Duration(k.r.Int64N(int64(k.delay)))
	}
	s.sending.Go(func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.done:
			return
		}
		select {
		case s.out <- e:
		case <-s.done:
		}
	})
}

// at does something to the entry at path and reports it in its directory.
func (k *kernel) at(path string, gone bool, do func() error) bool {
	dir, ok := inodeAt(filepath.Dir(path))
	if !ok || do() != nil {
		return false
	}
	k.report(dir, filepath.Base(path), gone)
	return true
}

func (k *kernel) write(path, content string) {
	k.mkdir(filepath.Dir(path))
	k.at(path, false, func() error {
		defer k.touch(path)
		return os.WriteFile(path, []byte(content), 0o644)
	})
}

// touch notes the time of a change, before anybody is told of it.
func (k *kernel) touch(path string) {
	ino, _ := inodeAt(path)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.touched[ino] = time.Now()
}

// coarse gives stamps the time of the bubble as a file system stores it that
// counts two seconds.
func (k *kernel) coarse(s stamp) stamp {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.ctime = k.touched[s.ino].Truncate(2 * time.Second).UnixNano()
	s.mtime = s.ctime
	return s
}

func (k *kernel) mkdir(path string) {
	if _, there := inodeAt(path); there || len(path) < 2 {
		return
	}
	k.mkdir(filepath.Dir(path))
	k.at(path, false, func() error { return os.Mkdir(path, 0o755) })
}

func (k *kernel) remove(path string) {
	if entries, err := os.ReadDir(path); err == nil {
		for _, e := range entries {
			k.remove(filepath.Join(path, e.Name()))
		}
	}
	self, _ := inodeAt(path)
	if k.at(path, true, func() error { return os.Remove(path) }) {
		k.report(self, "", true)
		k.forget(self)
	}
}

// forget drops the watches of a directory that is gone: its inode may come back
// as another one.
func (k *kernel) forget(ino uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for s := range k.streams {
		delete(s.watches, ino)
	}
}

func (k *kernel) rename(from, to string) {
	self, there := inodeAt(from)
	target, replaced := inodeAt(to)
	dir, ok := inodeAt(filepath.Dir(to))
	if !there || !ok || from == to || !k.at(from, true, func() error {
		defer k.touch(to)
		return os.Rename(from, to)
	}) {
		return
	}
	k.report(dir, filepath.Base(to), false)
	k.report(self, "", true)
	if replaced && target != self {
		k.report(target, "", true)
		k.forget(target)
	}
}

// operate does something to the tree below dir.
func (k *kernel) operate(dir string) string {
	name := func() string {
		path := dir
		for range k.r.IntN(4) {
			path = filepath.Join(path, string("abc"[k.r.IntN(3)]))
		}
		return filepath.Join(path, string("abcd"[k.r.IntN(4)]))
	}
	a, b := name(), name()
	switch n := k.r.IntN(20); {
	case n < 7:
		k.write(a, fmt.Sprint(k.r.IntN(5)))
		return "write " + a
	case n < 9:
		k.mkdir(a)
		return "mkdir " + a
	case n < 14:
		k.rename(a, b)
		return "rename " + a + " to " + b
	case n < 18:
		k.remove(a)
		return "remove " + a
	default:
		k.write(filepath.Join(filepath.Dir(a), ".gitignore"), filepath.Base(b)+"\n")
		return "ignore in " + a
	}
}

// The master oracle with every event under control: within two seconds of the
// last operation and the last late event the index equals a fresh one or is
// degraded; what nobody tells of is found by the audit; and when the faults are
// over so is the degradation.
func TestMasterOracleInjected(t *testing.T) {
	rounds := 25
	if strings.Contains(os.Getenv("MAPD_SUITE"), "oracle") {
		rounds = 600
	}
	for name, faults := range map[string]*kernel{
		"none":       {},
		"late":       {delay: time.Second},
		"twice":      {twice: true, delay: 10 * time.Millisecond},
		"overflow":   {lose: 10, told: true},
		"everything": {lose: 5, told: true, twice: true, delay: time.Second},
		"lost":       {lose: 30},
		"no watch":   {full: true},
		"no stream":  {none: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() // on a disk inodes come back
			synctest.Test(t, func(t *testing.T) {
				k := faults
				k.r, k.streams, k.touched = rand.New(rand.NewPCG(11, 12)), map[*kernelStream]bool{}, map[uint64]time.Time{}
				injectedOracle(t, k, dir, rounds)
			})
		})
	}
}

func injectedOracle(t *testing.T, k *kernel, dir string, rounds int) {
	files := newFaulty()
	files.restamp = k.coarse
	c := NewCache(Options{Watch: k.source, source: files, Outlines: &extractFunc{f: plain}})
	defer c.Close()
	open := func() *Workspace {
		w, err := c.Open(dir, WorkspaceOptions{Env: &ignore.Env{}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	defer w.Close()
	var log []string
	compare := func(what string) {
		t.Helper()
		got := w.Index()
		fresh := open()
		want := settle(t, fresh)
		fresh.Close()
		if g, s := describe(got), describe(want); g != s && got.Why == "" {
			t.Fatalf("%s, after\n%s\nthe index is (generation %d)\n%sand a fresh one\n%s", what,
				strings.Join(log[max(0, len(log)-30):], "\n"), got.Generation, g, s)
		}
	}
	wait := k.delay + 2*time.Second
	if k.lose > 0 && !k.told {
		_, wait = w.Periods() // nobody tells: the audit does
		wait += 2 * time.Second
	}
	degraded := 0
	for round := range rounds {
		for range 1 + k.r.IntN(12) {
			log = append(log, k.operate(dir))
			if k.r.IntN(4) == 0 {
				time.Sleep(time.Duration(k.r.Int64N(int64(30 * time.Millisecond))))
			}
		}
		time.Sleep(wait)
		synctest.Wait()
		compare(fmt.Sprintf("round %d", round))
		if w.Index().Why != "" {
			degraded++
		}
	}
	if scarce := k.full || k.none; scarce && degraded < rounds*3/4 || !scarce && degraded > 0 {
		t.Errorf("degraded after %d of %d rounds", degraded, rounds)
	}
	k.mu.Lock()
	k.full, k.none, k.lose = false, false, 0
	k.mu.Unlock()
	sweep, audit := w.Periods()
	time.Sleep(max(sweep, audit) + wait)
	synctest.Wait()
	if ix := w.Index(); ix.Why != "" {
		t.Errorf("still degraded: %s", ix.Why)
	}
	compare("at the end")
	if ix := w.Index(); ix.Pending() > 0 || len(ix.Files()) > 0 && ix.Indexed() == 0 {
		t.Errorf("%d of %d files are not looked at, %d have names", ix.Pending(), len(ix.Files()), ix.Indexed())
	}
}
