package workspace

import (
	"cmp"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"mapd/hashline"
	"mapd/workspace/names"
)

// outliner makes the outlines of a workspace: those that somebody wants, then
// those of files that changed last, then the rest. One goroutine chooses; as
// many make them as the Cache has slots, which all its workspaces share. Before
// each one requests go first.
//
// An outline that hit a limit is tried again when somebody wants its file and
// enough time has passed, not by itself: many such files would keep a processor
// busy for good.
//
// The index keeps the names of an outline. The outline itself goes to the store,
// and is in memory only as long as requests use it.
type outliner struct {
	w       *Workspace
	todo    []outlineKey           // the last comes first
	waiting map[outlineKey][]*File // by what their outlines follow from
	running sync.WaitGroup
	rests   rests
	took    chan outlined // what was made since
	saved   time.Time     // when the names were saved
	unsaved bool          // names were made since
	made    int           // outlines since there was nothing to do
}

// makeOutlines runs until the workspace is closed.
func (w *Workspace) makeOutlines() {
	o := &outliner{w: w, waiting: map[outlineKey][]*File{}, took: make(chan outlined, 64)}
	defer o.end()
	for {
		if group := o.next(); group != nil {
			w.yield()
			if !o.start(group) {
				return
			}
			continue
		}
		o.running.Wait()
		o.tidy()
		o.save()
		select {
		case <-w.work:
		case <-o.rests.woken():
			o.plan(o.rests.take(false))
		case <-w.ctx.Done():
			return
		}
	}
}

// end waits for the outlines that are being made and saves the names.
func (o *outliner) end() {
	o.running.Wait()
	o.rests.stop()
	if o.unsaved {
		o.w.saveNames()
	}
}

// save saves the names of a workspace that is ready, and not too often.
func (o *outliner) save() {
	if ix := o.w.Index(); o.unsaved && ix.Generation > 0 && time.Since(o.saved) >= namesPeriod {
		o.w.saveNames()
		o.saved, o.unsaved = time.Now(), false
	}
}

// largeBatch is how many outlines leave so much memory behind that it is worth a
// collection.
const largeBatch = 2000

// tidy gives back to the system what a large batch has left: without work no
// collection would come for it for a long time.
func (o *outliner) tidy() {
	o.todo, o.waiting = nil, map[outlineKey][]*File{} // a map never shrinks
	if o.made >= largeBatch {
		debug.FreeOSMemory()
	}
	o.made = 0
	o.w.tally.tidied()
}

// namesPeriod is how often the names of a workspace are saved while it changes.
// What was made since then comes from the store, outline by outline.
const namesPeriod = 5 * time.Minute

// start makes the outline of a group in a goroutine, as soon as there is a slot.
// It returns false when the workspace is closed.
func (o *outliner) start(group []*File) bool {
	o.unsaved = true
	o.made++
	slots := o.w.cache.outlining
	select {
	case slots <- struct{}{}:
	case <-o.w.ctx.Done():
		return false
	}
	o.running.Go(func() {
		defer func() { <-slots }()
		begun := time.Now()
		o.make(group)
		select {
		case o.took <- outlined{group[0].Path, begun, time.Now()}:
		default: // many at once: then nothing is made again and again
		}
	})
	return true
}

// outlined says when the outline of a file was made.
type outlined struct {
	path       string
	begun, end time.Time
}

func keyOf(f *File) outlineKey { return outlineKey{f.Digest, f.Language} }

// next returns the files whose outline comes next, or nil. They have equal bytes.
// A file that has left the index is dropped.
func (o *outliner) next() []*File {
	for more := true; more; {
		select {
		case made := <-o.took:
			o.rests.made(made)
		default:
			more = false
		}
	}
	if o.w.hurry.Swap(false) {
		o.plan(o.rests.take(true))
	}
	if fresh := o.w.tally.takeFresh(); len(fresh) > 0 {
		o.plan(fresh)
	}
	for path := o.w.nextWanted(); path != ""; path = o.w.nextWanted() {
		if f, ok := o.w.Index().Lookup(path); ok && f.due() {
			if o.rests.files[path] == f {
				o.plan(o.rests.take(true))
			}
			if group := o.take(keyOf(f)); group != nil {
				return group
			}
		}
	}
	for len(o.todo) > 0 {
		key := o.todo[len(o.todo)-1]
		o.todo = o.todo[:len(o.todo)-1]
		if group := o.take(key); group != nil {
			return group
		}
	}
	return nil
}

// plan puts files in front of what is to be done, those that changed last first.
// The large ones of a large batch come before all: begun last they would be
// waited for when everything else is done.
func (o *outliner) plan(files []*File) {
	const large = 256 << 10
	due := slices.DeleteFunc(slices.Clone(files), func(f *File) bool { return !f.due() })
	batch := len(due) >= largeBatch
	slices.SortFunc(due, func(a, b *File) int {
		if batch && (a.Size >= large || b.Size >= large) {
			return cmp.Compare(a.Size, b.Size)
		}
		return cmp.Compare(a.stamp.ctime, b.stamp.ctime)
	})
	for _, f := range due {
		if o.rests.delay(f) {
			continue
		}
		key := keyOf(f)
		if o.waiting[key] == nil {
			o.todo = append(o.todo, key)
		}
		o.waiting[key] = append(o.waiting[key], f)
	}
}

// take takes the files that wait for one outline, nil if none does any more.
func (o *outliner) take(key outlineKey) []*File {
	group := o.waiting[key]
	delete(o.waiting, key)
	group = slices.DeleteFunc(o.w.tally.living(group), func(f *File) bool { return !f.due() })
	if len(group) == 0 {
		return nil
	}
	return group
}

// nextWanted takes the path that was wanted first, "" if there is none.
func (w *Workspace) nextWanted() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wanted) == 0 {
		return ""
	}
	path := w.wanted[0]
	w.wanted = w.wanted[1:]
	return path
}

// make makes the outline of files with equal bytes. Whatever comes of it, they
// are not due any more.
func (o *outliner) make(group []*File) {
	m, again := o.outline(group)
	if o.w.ctx.Err() != nil {
		return
	}
	due := int64(never)
	if again {
		due = time.Now().Add(o.w.cache.limits.FailedOutline).UnixNano()
	}
	for _, f := range group {
		o.w.tally.note(f, m, due, o.w.namesLimit())
	}
}

// namesLimit is how many bytes the names of the index may have at this moment.
func (w *Workspace) namesLimit() int64 {
	if w.cache.pressed.Load() {
		return 0
	}
	return w.set.Load().indexBytes
}

// outline returns what is kept of the outline of what a group says that its
// files hold, nil if there is none. again says that another try later may do
// better.
func (o *outliner) outline(group []*File) (m *made, again bool) {
	var body []byte
	for _, f := range group {
		if b := o.w.takeBody(f); b != nil {
			body = b
		}
	}
	f, cache := group[0], o.w.cache
	if f.Binary || cache.outlines.extract == nil {
		return nil, false
	}
	for i := 0; body == nil; i++ {
		if i == len(group) {
			return nil, false // all have changed, and their events come
		}
		body = o.content(group[i])
	}
	out, err := cache.outlines.pass(o.w.ctx, newContent(f.Digest, body, nil), f.Language)
	if err != nil {
		return nil, true
	}
	return &made{names: names.Pack(out), lines: out.Lines}, out.Why.Transient()
}

// content reads the file of f, and returns nil unless it holds what f says.
func (o *outliner) content(f *File) []byte {
	looker := o.w.Looker()
	defer looker.Close()
	got, err := looker.read(o.w.ctx, f.Path)
	if err != nil {
		return nil
	}
	defer got.release()
	if hashline.Sum(got.bytes) != f.Digest {
		return nil
	}
	return got.buffer.take(len(got.bytes))
}
