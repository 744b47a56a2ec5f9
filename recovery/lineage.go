package recovery

import (
	"sync"

	"mapd/hashline"
)

// Lineage remembers the edits that were made through the daemon, so that lines
// are followed through them exactly and not by comparing texts. It is shared by
// all sessions and safe for concurrent use. Changes of other programs in
// between are bridged by a comparison.
type Lineage struct {
	mu    sync.Mutex // guards all below
	edits map[string][]edit
	order []string // the paths of all edits, the oldest first
}

type edit struct {
	from, to string // snapshots
	lines    *hashline.LineMap
}

const (
	// maxEdits and maxFileEdits bound what a Lineage remembers, in all and of one
	// file. An edit that is forgotten is compared like a foreign change.
	maxEdits     = 16384
	maxFileEdits = 128
)

// NewLineage returns a Lineage without edits.
func NewLineage() *Lineage { return &Lineage{edits: map[string][]edit{}} }

// Add notes that an edit made the version with snapshot to of the version with
// snapshot from.
func (l *Lineage) Add(path, from, to string, lines *hashline.LineMap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.edits[path]) >= maxFileEdits {
		l.dropLocked(path)
	}
	for len(l.order) >= maxEdits {
		oldest := l.order[0]
		l.order = l.order[1:]
		l.dropLocked(oldest)
	}
	l.edits[path] = append(l.edits[path], edit{from, to, lines})
	l.order = append(l.order, path)
}

// dropLocked forgets the oldest edit of a path, if it has any.
func (l *Lineage) dropLocked(path string) {
	edits := l.edits[path]
	switch len(edits) {
	case 0:
	case 1:
		delete(l.edits, path)
	default:
		// A new array, so that views returned by of stay as they are.
		l.edits[path] = append([]edit(nil), edits[1:]...)
	}
}

// of returns the edits of a path, the oldest first. They must not be modified.
func (l *Lineage) of(path string) []edit {
	l.mu.Lock()
	defer l.mu.Unlock()
	edits := l.edits[path]
	return edits[:len(edits):len(edits)]
}

// Map returns which lines of the version with snapshot from are which lines of
// the version with snapshot to: through the known edits as far as they reach,
// and by one comparison for what is between. It reports false when text does
// not have a version that it takes.
func (l *Lineage) Map(path, from, to string, text func(snapshot string) (*hashline.Text, bool)) (*hashline.LineMap, bool) {
	if from == to {
		t, ok := text(from)
		if !ok {
			return nil, false
		}
		return hashline.Identity(t.Lines()), true
	}
	edits := l.of(path)
	// The edits that led to the newer version, back to the older one or as far
	// as they are without gap.
	first, arrived := len(edits), to
	var after *hashline.LineMap
	passed := map[string]*hashline.LineMap{to: nil} // by snapshot, the way on from it
	for i := len(edits) - 1; i >= 0 && arrived != from; i-- {
		if edits[i].to != arrived {
			continue
		}
		first, arrived, after = i, edits[i].from, compose(edits[i].lines, after)
		if way, ok := passed[arrived]; ok { // a round trip proves less than the bytes
			after = way
		}
		passed[arrived] = after
	}
	if arrived == from {
		return after, true
	}
	// The edits that were made from the older version, the last time that the
	// file was at it.
	left, rest := from, edits[:first]
	for i := len(rest) - 1; i >= 0; i-- {
		if rest[i].from == from {
			rest = rest[i:]
			break
		}
	}
	var before *hashline.LineMap
	for _, e := range rest {
		if e.from == left {
			before, left = compose(before, e.lines), e.to
		}
	}
	between, ok := compare(left, arrived, text)
	if !ok {
		return nil, false
	}
	way := compose(compose(before, between), after)
	if before == nil && after == nil {
		return way, true
	}
	// What the edits changed may have been put back by the change between them,
	// as a checkout does. Then the bytes prove more than the way.
	if straight, ok := compare(from, to, text); ok && straight.Proven() > way.Proven() {
		return straight, true
	}
	return way, true
}

// compare returns the map between two versions by comparing them; nil if they
// are the same.
func compare(from, to string, text func(string) (*hashline.Text, bool)) (*hashline.LineMap, bool) {
	if from == to {
		return nil, true
	}
	old, ok := text(from)
	if !ok {
		return nil, false
	}
	new, ok := text(to)
	if !ok {
		return nil, false
	}
	return hashline.MapLines(old, new), true
}

// compose is LineMap.Compose in which nil is a map that changes nothing.
func compose(m, next *hashline.LineMap) *hashline.LineMap {
	switch {
	case m == nil:
		return next
	case next == nil:
		return m
	default:
		return m.Compose(next)
	}
}
