package workspace

import (
	"encoding/binary"
	"runtime/debug"
	"sync"

	"mapd/outline"
	"mapd/workspace/names"
)

// A Shelf keeps a blob for each workspace while no daemon runs. A store.Blobs is
// one.
type Shelf interface {
	// Load returns what was saved under a name and kind.
	Load(name, kind string) (body []byte, ok bool)
	Save(name, kind string, body []byte) error
}

// remembered are the names of a workspace as the last daemon left them, by what
// they follow from. Nothing in them is believed about any file: the files are
// read, and names are taken for the bytes that they hold.
type remembered struct {
	mu    sync.Mutex // guards names
	names map[outlineKey]packedNames
}

type packedNames struct {
	lines  int
	packed []byte // as names.Parse reads it
}

// namesFormat is part of the kind of the blob.
const namesFormat = "names 1 "

// loadNames reads what the last daemon knew.
func (w *Workspace) loadNames() {
	c := w.cache
	if c.shelf == nil || c.outlines.version == "" {
		return
	}
	body, ok := c.shelf.Load(w.root, namesFormat+c.outlines.version)
	if !ok || len(body) < countBytes {
		return
	}
	known := map[outlineKey]packedNames{}
	r := blobReader{b: body[countBytes:]}
	for range binary.LittleEndian.Uint64(body) {
		var key outlineKey
		copy(key.digest[:], r.bytes(uint64(len(key.digest))))
		key.language = outline.Language(r.bytes(r.uint()))
		n := packedNames{lines: int(r.uint())}
		n.packed = r.bytes(r.uint())
		if r.short {
			break
		}
		known[key] = n
	}
	w.remembered.mu.Lock()
	w.remembered.names = known
	w.remembered.mu.Unlock()
}

// recall gives f the names that were remembered for its bytes, if any were.
func (w *Workspace) recall(f *File) bool {
	w.remembered.mu.Lock()
	n, ok := w.remembered.names[keyOf(f)]
	w.remembered.mu.Unlock()
	if !ok {
		return false
	}
	list, err := names.Parse(n.packed)
	if err != nil {
		return false
	}
	w.tally.note(f, &made{names: list, lines: n.lines}, never, w.namesLimit())
	return true
}

// forgetNames drops what was remembered, once the tree was scanned, and gives
// the memory back to the system if it was much.
func (w *Workspace) forgetNames() {
	w.remembered.mu.Lock()
	much := len(w.remembered.names) >= largeBatch
	w.remembered.names = nil
	w.remembered.mu.Unlock()
	if much {
		debug.FreeOSMemory()
	}
}

// saveNames saves the names of the newest index for the next daemon. Those of an
// outline that hit a limit are not in it: it may do better.
func (w *Workspace) saveNames() {
	c, ix := w.cache, w.Index()
	if c.shelf == nil || c.outlines.version == "" || ix.Generation == 0 {
		return
	}
	counts := ix.Counts()
	body := make([]byte, countBytes, countBytes+counts.Bytes+64*counts.Named)
	n, seen := uint64(0), map[outlineKey]bool{}
	var packed []byte
	for _, f := range ix.files {
		key, m := keyOf(f), f.made.Load()
		if m == nil || f.again.Load() != never || seen[key] {
			continue
		}
		seen[key] = true
		n++
		packed, _ = m.names.AppendBinary(packed[:0]) // its error is always nil
		body = append(body, key.digest[:]...)
		body = binary.AppendUvarint(body, uint64(len(key.language)))
		body = append(body, key.language...)
		body = binary.AppendUvarint(body, uint64(m.lines))
		body = binary.AppendUvarint(body, uint64(len(packed)))
		body = append(body, packed...)
	}
	binary.LittleEndian.PutUint64(body, n)
	if err := c.shelf.Save(w.root, namesFormat+c.outlines.version, body); err != nil {
		c.counters.unsaved.Add(1)
	}
}

// countBytes is the size of the number of entries, with which a blob begins.
const countBytes = 8

// blobReader reads a blob whose checksum was right; short says that it is not of
// this format all the same.
type blobReader struct {
	b     []byte
	short bool
}

func (r *blobReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.b, r.short = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *blobReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.b, r.short = nil, true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}
