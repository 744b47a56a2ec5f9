package recovery

import (
	"container/list"
	"math"
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

// Held is what a session was shown of one version of a file. It is immutable.
type Held struct {
	Snapshot string
	Digest   hashline.Digest
	// Lines are all lines delivered, Whole those delivered complete at least
	// once. Both are sorted and merged.
	Lines, Whole []hashline.Range

	time int64 // of its latest delivery, see Ledgers.time
}

// Gone stands for the snapshot of a file that does not exist.
const Gone = "gone"

// File is what a session was shown of one file, as of one moment. It is a view:
// what it costs does not depend on how many versions are held.
type File struct {
	Path string
	Held []*Held // the most recently delivered version first

	told         string // the snapshot that the session was told of last
	toldAt, gone int64  // when it was told, and when it was told that the file is gone
	own          string // the snapshot that its last edit of the file led to
	ownAt        int64
}

// Told returns the snapshot up to which the session knows what became of the
// lines of h: by a notice, or because the change was its own edit. It is Gone
// after the file was, and empty if it was told nothing since the delivery.
func (f File) Told(h *Held) string {
	switch {
	case h.time < f.gone:
		return Gone
	case h.time < f.toldAt:
		return f.told
	default:
		return ""
	}
}

// Knows reports whether the session needs no news of its lines when the file is
// at that snapshot, which may be Gone.
func (f File) Knows(snapshot string) bool {
	for _, h := range f.Held {
		if h.time < f.gone || h.time < f.toldAt && f.told == snapshot {
			return true // and so are all that were delivered before
		}
		if h.Snapshot != snapshot {
			return false
		}
	}
	return true
}

// Ledgers are all ledgers of a user, under one bound of memory. Past the bound
// the version that was delivered longest ago is dropped, whosever it is.
type Ledgers struct {
	limit int64 // bytes

	mu      sync.Mutex // guards all below, and every Ledger
	bytes   int64
	evicted int64
	time    int64      // deliveries and tellings so far
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
	set    *Ledgers
	files  map[string]*file
	recent *list.List // of *file, the most recently delivered first
}

type file struct {
	view     File // but Held
	held     recency
	versions map[string]*version // by snapshot
	at       *list.Element
}

// version is one version of a file in one ledger.
type version struct {
	ledger *Ledger
	file   *file
	held   *Held // replaced at every change
	// all and partial count the deliveries of each line, and those of them that
	// did not show it whole.
	all, partial coverage
	release      func()
	bytes        int64         // as counted in Ledgers.bytes
	at           *list.Element // nil once dropped
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
func (s *Ledgers) New() *Ledger {
	return &Ledger{set: s, files: map[string]*file{}, recent: list.New()}
}

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
	l.orderLocked(v.file)
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
		f = &file{view: File{Path: d.Path}, versions: map[string]*version{}}
		f.at = l.recent.PushFront(f)
		l.files[d.Path] = f
	}
	v := f.versions[d.Snapshot]
	if v == nil {
		v = &version{ledger: l, file: f, held: &Held{Snapshot: d.Snapshot, Digest: d.Digest}}
		v.at = l.set.oldest.PushBack(v)
		f.versions[d.Snapshot] = v
		return v
	}
	l.set.oldest.MoveToBack(v.at)
	return v
}

// orderLocked puts a file in its place among the recent ones.
func (l *Ledger) orderLocked(f *file) {
	for at := l.recent.Front(); at != nil; at = at.Next() {
		if other := at.Value.(*file); other != f && other.held.newest() <= f.held.newest() {
			l.recent.MoveBefore(f.at, at)
			return
		}
	}
	l.recent.MoveToBack(f.at)
}

// countLocked adds n to the counts of the receipt's lines.
func (r *Receipt) countLocked(n int32) {
	v := r.version
	for _, lines := range r.lines {
		v.all.add(lines, n)
	}
	for _, lines := range r.partial {
		v.partial.add(lines, n)
	}
	v.publishLocked()
}

// publishLocked makes what is held of the version anew.
func (v *version) publishLocked() {
	was := v.held
	v.held = &Held{Snapshot: was.Snapshot, Digest: was.Digest, time: v.lastTime()}
	v.held.Lines = v.all.ranges()
	v.held.Whole = v.held.Lines
	ranges := len(v.held.Lines)
	if !v.partial.empty() {
		v.held.Whole = v.all.above(v.partial)
		ranges += len(v.held.Whole)
	}
	v.file.held.replace(was, v.held)
	bytes := versionBytes + int64(len(v.file.view.Path)+len(was.Snapshot)) +
		runBytes*int64(cap(v.all.runs)+cap(v.partial.runs)) + rangeBytes*int64(ranges)
	v.ledger.set.bytes += bytes - v.bytes
	v.bytes = bytes
}

// versionBytes is the memory of a version besides its runs, ranges and strings,
// and of its file's entry; rangeBytes that of one range.
const (
	versionBytes = 480
	rangeBytes   = 16
)

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
		if len(v.times) > 1 { // else it is dropped, or was delivered often before
			v.times = slices.DeleteFunc(v.times, func(t int64) bool { return t == r.time })
		}
		r.countLocked(-1)
		r.lines = nil
		v.ledger.orderLocked(v.file)
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
	delete(f.versions, v.held.Snapshot)
	f.held.remove(v.held)
	if len(f.versions) == 0 && l.files[f.view.Path] == f {
		delete(l.files, f.view.Path)
		l.recent.Remove(f.at)
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
			for _, v := range f.versions {
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
	l.tellLocked(path, snapshot)
}

// TellIf is Tell if nothing was delivered or told of the file since the ledger
// returned f; it reports whether that is so.
func (l *Ledger) TellIf(f File, snapshot string) bool {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	now := File{Path: f.Path}
	if live := l.files[f.Path]; live != nil {
		now = live.viewLocked()
	}
	if now.toldAt != f.toldAt || !slices.Equal(now.Held, f.Held) {
		return false
	}
	l.tellLocked(f.Path, snapshot)
	return true
}

// Own is Tell for an edit of the session itself, which led to the snapshot.
func (l *Ledger) Own(path, snapshot string) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	l.tellLocked(path, snapshot)
	if f := l.files[path]; f != nil {
		f.view.own, f.view.ownAt = snapshot, l.set.time
	}
}

func (l *Ledger) tellLocked(path, snapshot string) {
	f := l.files[path]
	if f == nil {
		return
	}
	l.set.time++
	f.view.told, f.view.toldAt = snapshot, l.set.time
	if snapshot == Gone {
		f.view.gone = l.set.time
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
func (l *Ledger) Files() []File { return l.Recent(math.MaxInt) }

// Recent returns the first of Files, at most that many.
func (l *Ledger) Recent(most int) []File {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	out := make([]File, 0, min(most, len(l.files)))
	for at := l.recent.Front(); at != nil && len(out) < most; at = at.Next() {
		out = append(out, at.Value.(*file).viewLocked())
	}
	return out
}

func (f *file) viewLocked() File {
	out := f.view
	out.Held = f.held.view()
	return out
}
