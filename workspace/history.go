package workspace

import (
	"container/list"
	"sync"

	"mapd/hashline"
)

// history keeps versions by snapshot and contents by digest, within a bound.
// Past the bound the version that was used longest ago goes first; pinned ones
// go only when all that is left is pinned. A content is kept, and counted,
// once, while any version has it.
type history struct {
	limit int64 // bytes

	mu       sync.Mutex // guards all below
	bytes    int64
	evicted  int64
	entries  map[uint64]*entry
	contents map[hashline.Digest]*shared
	loose    *list.List // of *entry without pins, most recently used first
	pinned   *list.List // of *entry with pins, most recently used first
}

// entry is the place of a version in the history. Evicting it drops the
// record, so that a pin that is still held does not hold the bytes.
type entry struct {
	record *record // nil once evicted
	pins   int
	at     *list.Element
}

// shared counts the entries that have one content.
type shared struct {
	content *content
	users   int
}

func newHistory(limit int64) *history {
	return &history{
		limit: limit, entries: map[uint64]*entry{}, contents: map[hashline.Digest]*shared{},
		loose: list.New(), pinned: list.New(),
	}
}

// overhead is the memory of an entry besides its content, in bytes.
func (r *record) overhead() int64 { return 400 + int64(len(r.path)) }

// lookup returns the record with id if it is of that file and digest, and
// counts it as used.
func (h *history) lookup(id uint64, file string, digest hashline.Digest) *record {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.entries[id]
	if e == nil || e.record.file != file || e.record.content.digest != digest {
		return nil
	}
	h.listOf(e).MoveToFront(e.at)
	return e.record
}

// get returns the record with id, or nil. It does not count as a use: asking
// about a version shows nothing of it to anybody.
func (h *history) get(id uint64) *record {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[id]; e != nil {
		return e.record
	}
	return nil
}

// content returns the content with digest, or nil.
func (h *history) content(digest hashline.Digest) *content {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.contents[digest]; s != nil {
		return s.content
	}
	return nil
}

// admit adds rec and returns the record to use: the one that is there already,
// if another reader was faster.
func (h *history) admit(rec *record) *record {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.admitLocked(rec); e != nil {
		return e.record
	}
	return rec
}

// admitLocked returns the entry of rec, a new one if needed. It returns nil if
// rec alone exceeds the limit, or if its id is taken by another version, which
// two in 2⁶⁴ are by chance: rec then serves its request and is not remembered.
func (h *history) admitLocked(rec *record) *entry {
	if e := h.entries[rec.id]; e != nil {
		if e.record.file != rec.file || e.record.content.digest != rec.content.digest {
			return nil
		}
		h.listOf(e).MoveToFront(e.at)
		return e
	}
	if rec.content.cost()+rec.overhead() > h.limit {
		return nil
	}
	s := h.contents[rec.content.digest]
	if s == nil {
		s = &shared{content: rec.content}
		h.contents[rec.content.digest] = s
		h.bytes += rec.content.cost()
	} else if s.content != rec.content {
		// Two readers built the same content; keep one.
		kept := *rec
		kept.content = s.content
		rec = &kept
	}
	s.users++
	h.bytes += rec.overhead()
	e := &entry{record: rec}
	e.at = h.loose.PushFront(e)
	h.entries[rec.id] = e
	h.trimLocked(e)
	return e
}

// trimLocked evicts until the bound holds. It spares the entry that was just
// added, which fits alone.
func (h *history) trimLocked(spare *entry) {
	for _, l := range []*list.List{h.loose, h.pinned} {
		for at := l.Back(); at != nil && h.bytes > h.limit; {
			e := at.Value.(*entry)
			at = at.Prev()
			if e != spare {
				h.evictLocked(e)
			}
		}
	}
}

// halve drops versions without a pin, those first that were not used for the
// longest time, until half of the bytes are left.
func (h *history) halve() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for half := h.bytes / 2; h.bytes > half && h.loose.Len() > 0; {
		h.evictLocked(h.loose.Back().Value.(*entry))
	}
}

func (h *history) evictLocked(e *entry) {
	rec := e.record
	h.listOf(e).Remove(e.at)
	delete(h.entries, rec.id)
	h.bytes -= rec.overhead()
	h.evicted++
	e.record = nil
	s := h.contents[rec.content.digest]
	if s.users--; s.users == 0 {
		h.bytes -= s.content.cost()
		delete(h.contents, rec.content.digest)
	}
}

func (h *history) listOf(e *entry) *list.List {
	if e.pins > 0 {
		return h.pinned
	}
	return h.loose
}

// pin adds rec if it was evicted meanwhile, and pins it.
func (h *history) pin(rec *record) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.admitLocked(rec)
	if e == nil {
		return func() {}
	}
	if e.pins == 0 {
		h.loose.Remove(e.at)
		e.at = h.pinned.PushFront(e)
	}
	e.pins++
	var once sync.Once
	return func() { once.Do(func() { h.unpin(e) }) }
}

// unpin takes one pin off. A version whose last pin goes counts as used now.
func (h *history) unpin(e *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.pins--
	if e.pins > 0 || e.record == nil {
		return
	}
	h.pinned.Remove(e.at)
	e.at = h.loose.PushFront(e)
}
