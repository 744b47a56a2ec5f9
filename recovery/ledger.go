package recovery

import (
	"cmp"
	"container/list"
	"maps"
	"slices"
	"sync"

	"mapd/hashline"
)

// Delivery is what one reply shows of one version of a file.
type Delivery struct {
	Path     string // the resolved file
	Snapshot string
	Digest   hashline.Digest
	// Lines are the lines shown, cut and lossy ones included.
	Lines []hashline.Range
	// Partial are those of Lines that were cut or shown with bytes replaced.
	Partial []hashline.Range
	// Pin, if not nil, is called when the ledger starts to hold the version; the
	// release that it returns is called when it stops. Neither may call back
	// into the ledger.
	Pin func() (release func())
}

// Held is what a session was shown of one version of a file.
type Held struct {
	Snapshot string
	Digest   hashline.Digest
	// Lines are all lines delivered, Whole those delivered complete at least
	// once. Both are sorted and merged.
	Lines, Whole []hashline.Range
	// Told is the snapshot up to which the session knows what became of these
	// lines: by a notice, or because the change was its own edit. It is Gone
	// after the file was, and empty if it was told nothing since the delivery.
	Told string
}

// Gone stands for the snapshot of a file that does not exist.
const Gone = "gone"

// File is what a session was shown of one file.
type File struct {
	Path string
	Held []Held // the most recently delivered version first
}

// Ledgers are all ledgers of a user, under one bound of memory. Past the bound
// the version that was delivered longest ago is dropped, whosever it is.
type Ledgers struct {
	limit int64 // bytes

	mu      sync.Mutex // guards all below, and every Ledger
	bytes   int64
	evicted int64
	time    int64      // deliveries so far
	oldest  *list.List // of *version, the least recently delivered first
}

// NewLedgers returns an empty set of ledgers that hold at most limit bytes.
func NewLedgers(limit int64) *Ledgers { return &Ledgers{limit: limit, oldest: list.New()} }

// Bytes returns the memory that the ledgers hold, and how many versions were
// dropped for the bound so far.
func (s *Ledgers) Bytes() (bytes, evicted int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, s.evicted
}

// Ledger is what one session was shown. It is safe for concurrent use.
type Ledger struct {
	set   *Ledgers
	files map[string]*file
}

type file struct {
	path     string
	versions []*version // in no order
}

// newest returns the versions, the most recently delivered first.
func (f *file) newest() []*version {
	sorted := slices.Clone(f.versions)
	slices.SortStableFunc(sorted, func(a, b *version) int { return cmp.Compare(b.lastTime(), a.lastTime()) })
	return sorted
}

// version is one version of a file in one ledger.
type version struct {
	ledger   *Ledger
	file     *file
	snapshot string
	digest   hashline.Digest
	told     string
	all      coverage
	whole    coverage
	release  func()
	bytes    int64         // as counted in Ledgers.bytes
	at       *list.Element // nil once dropped
	// times are the numbers of its latest deliveries that were not withdrawn,
	// ascending; the last one orders the versions of a file.
	times []int64
}

// maxTimes is how many deliveries of one version are told apart by time. A
// reply is withdrawn soon or never.
const maxTimes = 8

func (v *version) lastTime() int64 {
	if len(v.times) == 0 {
		return 0
	}
	return v.times[len(v.times)-1]
}

// New returns an empty ledger.
func (s *Ledgers) New() *Ledger { return &Ledger{set: s, files: map[string]*file{}} }

// A Receipt is the record of one delivery.
type Receipt struct {
	version        *version
	lines, partial []hashline.Range
	time           int64
}

// Record notes a delivery. Call it before the reply is queued, and Withdraw on
// the receipt if the reply did not leave. A delivery without lines leaves no
// trace.
func (l *Ledger) Record(d Delivery) *Receipt {
	if len(d.Lines) == 0 {
		return nil
	}
	// No foreign code runs under the lock: the pin is taken before, and given
	// back after it if it was not needed.
	var release func()
	if d.Pin != nil {
		release = d.Pin()
	}
	l.set.mu.Lock()
	v := l.versionLocked(d)
	if v.release == nil {
		v.release, release = release, nil
	}
	l.set.time++
	r := &Receipt{v, hashline.Merge(d.Lines), hashline.Intersect(d.Lines, d.Partial), l.set.time}
	v.times = append(v.times, r.time)
	if len(v.times) > maxTimes {
		v.times = slices.Delete(v.times, 0, 1)
	}
	r.countLocked(+1)
	releases := append(l.set.trimLocked(), release)
	l.set.mu.Unlock()
	callAll(releases)
	return r
}

func callAll(fs []func()) {
	for _, f := range fs {
		if f != nil {
			f()
		}
	}
}

// versionLocked returns the place of a version, which is delivered now.
func (l *Ledger) versionLocked(d Delivery) *version {
	f := l.files[d.Path]
	if f == nil {
		f = &file{path: d.Path}
		l.files[d.Path] = f
	}
	i := slices.IndexFunc(f.versions, func(v *version) bool { return v.snapshot == d.Snapshot })
	if i < 0 {
		v := &version{ledger: l, file: f, snapshot: d.Snapshot, digest: d.Digest}
		v.at = l.set.oldest.PushBack(v)
		f.versions = append(f.versions, v)
		return v
	}
	v := f.versions[i]
	v.told = ""
	l.set.oldest.MoveToBack(v.at)
	return v
}

// countLocked adds n to the counts of the receipt's lines.
func (r *Receipt) countLocked(n int32) {
	v := r.version
	for _, lines := range r.lines {
		v.all.add(lines, n)
	}
	for _, lines := range hashline.Subtract(r.lines, r.partial) {
		v.whole.add(lines, n)
	}
	v.weighLocked()
}

// versionBytes is the memory of a version besides its runs and strings, and of
// its file's entry.
const versionBytes = 400

// weighLocked counts the version's memory anew.
func (v *version) weighLocked() {
	bytes := versionBytes + int64(len(v.file.path)+len(v.snapshot)) +
		runBytes*int64(cap(v.all.runs)+cap(v.whole.runs))
	v.ledger.set.bytes += bytes - v.bytes
	v.bytes = bytes
}

// Withdraw undoes a delivery whose reply did not leave. It is exact: lines that
// another reply delivered stay. A second call does nothing, nor does a call
// after the version was forgotten or dropped.
func (r *Receipt) Withdraw() {
	if r == nil {
		return
	}
	set := r.version.ledger.set
	set.mu.Lock()
	v := r.version
	var release func()
	if r.lines != nil && v.at != nil {
		r.countLocked(-1)
		r.lines = nil
		v.times = slices.DeleteFunc(v.times, func(t int64) bool { return t == r.time })
		if v.all.empty() {
			release = v.dropLocked()
		}
	}
	set.mu.Unlock()
	callAll([]func(){release})
}

// dropLocked takes the version out of its ledger and returns its release.
func (v *version) dropLocked() (release func()) {
	l, f := v.ledger, v.file
	l.set.oldest.Remove(v.at)
	v.at = nil
	l.set.bytes -= v.bytes
	f.versions = slices.DeleteFunc(f.versions, func(w *version) bool { return w == v })
	if len(f.versions) == 0 && l.files[f.path] == f {
		delete(l.files, f.path)
	}
	return v.release
}

// trimLocked drops the oldest versions past the bound and returns their
// releases. The one delivered last stays, whatever it weighs.
func (s *Ledgers) trimLocked() (releases []func()) {
	for s.bytes > s.limit && s.oldest.Len() > 1 {
		releases = append(releases, s.oldest.Front().Value.(*version).dropLocked())
		s.evicted++
	}
	return releases
}

// Forget drops what was delivered of one file, or with an empty path of all
// files. Anchors of those lines are then as if never served.
func (l *Ledger) Forget(path string) {
	l.set.mu.Lock()
	var releases []func()
	for name, f := range l.files {
		if path == "" || name == path {
			for _, v := range slices.Clone(f.versions) {
				releases = append(releases, v.dropLocked())
			}
		}
	}
	l.set.mu.Unlock()
	callAll(releases)
}

// Tell notes that the session knows what became of the lines that it holds of a
// file up to that snapshot, or Gone. Lines that it knows to be gone stay so until
// they are delivered again.
func (l *Ledger) Tell(path, snapshot string) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	if f := l.files[path]; f != nil {
		for _, v := range f.versions {
			if v.told != Gone {
				v.told = snapshot
			}
		}
	}
}

// File returns what the session was shown of a file; without any, a File
// without Held.
func (l *Ledger) File(path string) File {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	if f := l.files[path]; f != nil {
		return f.viewLocked()
	}
	return File{Path: path}
}

// Files returns what the session was shown, the most recently delivered file
// first.
func (l *Ledger) Files() []File {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	sorted := slices.SortedFunc(maps.Values(l.files), func(a, b *file) int {
		return cmp.Or(cmp.Compare(b.newest()[0].lastTime(), a.newest()[0].lastTime()), cmp.Compare(a.path, b.path))
	})
	out := make([]File, 0, len(sorted))
	for _, f := range sorted {
		out = append(out, f.viewLocked())
	}
	return out
}

func (f *file) viewLocked() File {
	out := File{Path: f.path}
	for _, v := range f.newest() {
		out.Held = append(out.Held, Held{v.snapshot, v.digest, v.all.ranges(), v.whole.ranges(), v.told})
	}
	return out
}
