package buffers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Why the text of a document is not known.
var (
	// ErrLost: a change did not fit what the editor had sent before.
	ErrLost = errors.New("it was lost")
	// ErrFull: it finds no room within the limits.
	ErrFull = errors.New("there is no room for it")
)

// Document is a document that an editor has open. It is immutable.
type Document struct {
	// Key identifies the document: equal for the URIs that name the same one.
	Key        string
	URI        string // as the editor wrote it when it opened the document
	LanguageID string
	Version    int64 // the newest that the editor has sent
	text       *Text // nil if it is not known
	unknown    error // why, if it is not
}

// Text returns the text. The error wraps ErrLost or ErrFull and says why it is
// not known.
func (d *Document) Text() (*Text, error) { return d.text, d.unknown }

// overhead is what a document costs beside its strings, in bytes.
const overhead = 256

func (d *Document) cost() int64 {
	n := int64(len(d.Key)+len(d.URI)+len(d.LanguageID)) + overhead
	if d.text != nil {
		n += int64(d.text.size)
	}
	return n
}

// Limits bound the documents of one session.
type Limits struct {
	Documents int   // open at once
	Bytes     int64 // of all their texts
}

// Pool bounds the bytes of the documents of all sessions. It is safe for
// concurrent use.
type Pool struct {
	limit int64
	used  atomic.Int64
}

// NewPool returns a Pool of limit bytes.
func NewPool(limit int64) *Pool { return &Pool{limit: limit} }

// Used returns the bytes that are taken.
func (p *Pool) Used() int64 { return p.used.Load() }

// take takes n bytes, or gives them back if n is negative. It reports whether
// there was room.
func (p *Pool) take(n int64) bool {
	if p.used.Add(n) > p.limit && n > 0 {
		p.used.Add(-n)
		return false
	}
	return true
}

// Set is the open documents of a session. It is immutable: what changes it
// returns the next Set, which alone may be changed further. All changes succeed;
// their errors say what was wrong with a notification, and the next Set holds
// what can be known nevertheless.
type Set struct {
	limits Limits
	pool   *Pool
	docs   []*Document // by Key
	bytes  int64
	// strays is how many documents are open beyond the limit of documents, of
	// which nothing is kept.
	strays int
}

// NewSet returns a Set without documents, whose bytes count in pool too.
func NewSet(limits Limits, pool *Pool) *Set { return &Set{limits: limits, pool: pool} }

// Len returns the number of documents.
func (s *Set) Len() int { return len(s.docs) }

// Bytes returns what the documents cost.
func (s *Set) Bytes() int64 { return s.bytes }

// Complete reports whether the Set holds every document that is open. If not, one
// that it does not hold may be open nevertheless.
func (s *Set) Complete() bool { return s.strays == 0 }

// Get returns the document of a key.
func (s *Set) Get(key string) (*Document, bool) {
	i, found := s.search(key)
	if !found {
		return nil, false
	}
	return s.docs[i], true
}

// All returns the documents by their keys. The slice must not be modified.
func (s *Set) All() []*Document { return s.docs }

func (s *Set) search(key string) (int, bool) {
	return slices.BinarySearchFunc(s.docs, key, func(d *Document, key string) int { return strings.Compare(d.Key, key) })
}

// Release gives back to the pool what the Set takes. It must not be changed
// after that.
func (s *Set) Release() { s.pool.take(-s.bytes) }

// Open adds a document, or replaces the one with its key. d needs no text of its
// own: text is.
func (s *Set) Open(d Document, text string) (*Set, error) {
	_, known := s.Get(d.Key)
	if !known && len(s.docs) >= s.limits.Documents {
		next := *s
		next.strays++
		return &next, fmt.Errorf("open %s: %w: %d documents are open, the limit", d.URI, ErrFull, s.limits.Documents)
	}
	d.text = NewText(text)
	next, err := s.put(&d)
	if err == nil && known {
		err = fmt.Errorf("open %s: it was open already; what was sent last counts", d.URI)
	}
	return next, err
}

// OpenUnknown is Open for a document whose text cannot be taken.
func (s *Set) OpenUnknown(d Document, why error) (*Set, error) {
	next, err := s.Open(d, "")
	if _, found := next.Get(d.Key); !found {
		return next, err
	}
	return next.lose(d.Key, why)
}

// Change applies changes to a document and gives it a version, which must not be
// older than the one before. It may be the same: Neovim sends what one command
// changes in several places, such as an undo, as several changes of one version.
func (s *Set) Change(key string, version int64, changes []Change, e Encoding) (*Set, error) {
	d, found := s.Get(key)
	if !found {
		return s, fmt.Errorf("change %s: it is not open", key)
	}
	if version < d.Version {
		return s.lose(key, fmt.Errorf("version %d came after version %d", version, d.Version))
	}
	next := *d
	next.Version = version
	text := d.text
	if whole := lastWhole(changes); whole >= 0 {
		text, changes = &Text{}, changes[whole:]
	}
	if text == nil {
		out, _ := s.put(&next)
		return out, fmt.Errorf("change %s: its text is not known: %w", key, d.unknown)
	}
	text, err := text.Apply(changes, e)
	if err != nil {
		out, _ := s.put(&next)
		return out.lose(key, err)
	}
	next.text, next.unknown = text, nil
	return s.put(&next)
}

// lastWhole returns the last change that replaces the whole text, -1 if there is
// none.
func lastWhole(changes []Change) int {
	for i, c := range slices.Backward(changes) {
		if c.Range == nil {
			return i
		}
	}
	return -1
}

// Lose makes the text of a document unknown until it is sent whole again, because
// a notification about it could not be understood.
func (s *Set) Lose(key string, why error) (*Set, error) {
	if _, found := s.Get(key); !found {
		return s, fmt.Errorf("change %s: it is not open", key)
	}
	return s.lose(key, why)
}

// Save notes that a document was saved with a text.
func (s *Set) Save(key, text string) (*Set, error) {
	d, found := s.Get(key)
	if !found {
		return s, fmt.Errorf("save %s: it is not open", key)
	}
	if d.text != nil && d.text.Equal([]byte(text)) {
		return s, nil
	}
	next := *d
	next.text, next.unknown = NewText(text), nil
	out, err := s.put(&next)
	if err == nil && d.text != nil {
		err = fmt.Errorf("save %s: its text was not the one that was saved, which counts from now on", key)
	}
	return out, err
}

// Close removes a document.
func (s *Set) Close(key string) (*Set, error) {
	i, found := s.search(key)
	if !found {
		next := *s
		next.strays = max(0, s.strays-1)
		return &next, fmt.Errorf("close %s: it is not open", key)
	}
	next := *s
	next.docs = slices.Delete(slices.Clone(s.docs), i, i+1)
	cost := s.docs[i].cost()
	next.bytes -= cost
	s.pool.take(-cost)
	return &next, nil
}

// lose makes the text of a document of the Set unknown.
func (s *Set) lose(key string, why error) (*Set, error) {
	i, _ := s.search(key)
	d := *s.docs[i]
	d.text, d.unknown = nil, fmt.Errorf("%w: %w", ErrLost, why)
	out, err := s.put(&d)
	if err == nil {
		err = fmt.Errorf("%s is not known any more: %w", key, d.unknown)
	}
	return out, err
}

// put adds d or replaces the document with its key. A text for which there is no
// room is unknown; a document for which there is none even so becomes a stray.
func (s *Set) put(d *Document) (*Set, error) {
	next := *s
	i, found := s.search(d.Key)
	old := int64(0)
	if found {
		old = s.docs[i].cost()
	}
	var full error
	if !s.fits(d.cost() - old) {
		full = fmt.Errorf("%w: it has %d bytes, and all open documents %d beside it", ErrFull, d.text.sizeOrZero(), s.bytes-old)
		unknown := *d
		unknown.text, unknown.unknown = nil, full
		if d = &unknown; !s.fits(d.cost() - old) {
			if !found {
				next.strays++
				return &next, full
			}
			s.pool.used.Add(d.cost() - old) // a longer name of a document that is there already
		}
	}
	next.bytes += d.cost() - old
	next.docs = slices.Clone(s.docs)
	if found {
		next.docs[i] = d
	} else {
		next.docs = slices.Insert(next.docs, i, d)
	}
	return &next, full
}

// fits takes n more bytes if there is room for them.
func (s *Set) fits(n int64) bool {
	return (n <= 0 || s.bytes+n <= s.limits.Bytes) && s.pool.take(n)
}

func (t *Text) sizeOrZero() int {
	if t == nil {
		return 0
	}
	return t.size
}
