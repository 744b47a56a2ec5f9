package recovery

import (
	"cmp"
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

	known  Known
	toldAt int64 // when known was told, see Ledgers.time
	own    Known // after the session's last edit of the file
	ownAt  int64
}

// fresh returns what was delivered since the session was last told.
func (f File) fresh() []*Held {
	n, _ := slices.BinarySearchFunc(f.Held, f.toldAt, func(h *Held, time int64) int { return cmp.Compare(time, h.time) })
	return f.Held[:n]
}

// Knows reports whether the session needs no news of its lines when the file is
// at that snapshot, which may be Gone.
func (f File) Knows(snapshot string) bool {
	fresh := f.fresh()
	for _, h := range fresh {
		if h.Snapshot != snapshot {
			return false
		}
	}
	return len(fresh) == len(f.Held) || f.known.at(snapshot)
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
	view     File  // but Held
	bytes    int64 // of view.known, as counted in Ledgers.bytes
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

// Bytes returns the memory of this ledger, its part of Ledgers.Bytes.
func (l *Ledger) Bytes() (bytes int64) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	for _, f := range l.files {
		bytes += f.bytes
		for _, v := range f.versions {
			bytes += v.bytes
		}
	}
	return bytes
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
		if v.file.view.toldAt > r.time { // what is known rests on this delivery
			v.file.tellLocked(set, Known{}, 0)
			v.file.view.own, v.file.view.ownAt = Known{}, 0
		}
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
		f.tellLocked(l.set, Known{}, 0)
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
// file.
func (l *Ledger) Tell(path string, known Known) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	l.tellLocked(path, known)
}

// TellIf is Tell if nothing was delivered or told of the file since the ledger
// returned f; it reports whether that is so. takeBack is for news that never
// left: unless more was told since, the session knows no more than f says. It may
// be called several times.
func (l *Ledger) TellIf(f File, known Known) (takeBack func(), ok bool) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	now := File{Path: f.Path}
	if live := l.files[f.Path]; live != nil {
		now = live.viewLocked()
	}
	if now.toldAt != f.toldAt || !slices.Equal(now.Held, f.Held) {
		return nil, false
	}
	l.tellLocked(f.Path, known)
	at := l.set.time
	return func() {
		l.set.mu.Lock()
		defer l.set.mu.Unlock()
		if live := l.files[f.Path]; live != nil && live.view.toldAt == at {
			live.tellLocked(l.set, f.known, f.toldAt)
		}
	}, true
}

// Own is Tell for an edit of the session itself, after which it knows that.
func (l *Ledger) Own(path string, known Known) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	if f := l.files[path]; f != nil {
		l.tellLocked(path, known)
		f.view.own, f.view.ownAt = known, l.set.time
	}
}

func (l *Ledger) tellLocked(path string, known Known) {
	if f := l.files[path]; f != nil {
		l.set.time++
		f.tellLocked(l.set, known, l.set.time)
	}
}

// tellLocked sets what is known, and counts it; a Known of an own edit is most
// often the same, and not counted.
func (f *file) tellLocked(set *Ledgers, known Known, at int64) {
	f.view.known, f.view.toldAt = known, at
	set.bytes += known.bytes() - f.bytes
	f.bytes = known.bytes()
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
