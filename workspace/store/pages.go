package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// ErrDamaged says that the file is none that this package has written, or not
// any more.
var ErrDamaged = errors.New("the store is damaged")

// The layout of a bbolt file: pages with a head of 16 bytes (number, flags,
// count, pages that follow), of which the first two are metas. Elements follow
// the head of a page; they say where, counted from themselves, their key is.
// Numbers have the byte order of the machine, which is little on all that the
// daemon runs on.
const (
	pageHead     = 16
	elementBytes = 16
	metaBytes    = 64

	branchPage = 0x01
	leafPage   = 0x02
	metaPage   = 0x04
	freePage   = 0x10

	bucketElement = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2

	minPage, maxPage = 1 << 10, 1 << 16
	// freeTail is how many free pages there may be past the end of the file.
	freeTail = 1 << 16
	// maxLevels is how many pages one may go down from the root; a file of the
	// greatest size has far fewer.
	maxLevels = 32
)

// visitor gets the elements of buckets at the leaves: the bucket's name, the
// key, and where the value is.
type visitor func(bucket string, key []byte, at int64, size int)

// verify proves with plain reads that everything bbolt may follow in a file of
// that size leads somewhere sound: no page is out of bounds, used twice, or
// both used and free. It does not look at values.
func verify(file io.ReaderAt, size int64, visit visitor) error {
	p, err := newPages(file, size)
	if err != nil {
		return err
	}
	p.visit, p.used = visit, make([]bool, p.high)
	p.used[0], p.used[1] = true, true
	if err := p.tree("", p.root, 0, nil, nil); err != nil {
		return err
	}
	return p.freelist(p.free)
}

// pages reads the pages of a file as they were after one transaction.
type pages struct {
	meta
	file  io.ReaderAt
	visit visitor
	used  []bool
}

// meta is what a meta page says.
type meta struct {
	size             int // of a page
	root, free, high uint64
	tx               uint64
}

// newPages returns the pages of the newest transaction of a file of that size.
func newPages(file io.ReaderAt, size int64) (*pages, error) {
	p := &pages{file: file}
	var err error
	p.meta, err = p.newest(size)
	return p, err
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// read reads n bytes at off.
func (p *pages) read(off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if m, err := p.file.ReadAt(b, off); m < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = damaged("it ends within a page")
		}
		return nil, err
	}
	return b, nil
}

// newest returns the meta that bbolt goes by: of the sound ones, the newest.
func (p *pages) newest(size int64) (meta, error) {
	var best meta
	for pageSize := minPage; pageSize <= maxPage; pageSize *= 2 {
		for i := range 2 {
			if int64(i)*int64(pageSize)+pageHead+metaBytes > size {
				continue
			}
			b, err := p.read(int64(i)*int64(pageSize), pageHead+metaBytes)
			if err != nil {
				return best, err
			}
			if m, ok := parseMeta(b, i); ok && m.size == pageSize && (best.size == 0 || m.tx > best.tx) {
				best = m
			}
		}
		if best.size > 0 {
			break
		}
	}
	switch {
	case best.size == 0:
		return best, damaged("no sound meta page")
	case best.high < 2 || best.high > uint64(size)/uint64(best.size)+freeTail:
		return best, damaged("%d pages of %d bytes in %d bytes", best.high, best.size, size)
	}
	return best, nil
}

func parseMeta(b []byte, i int) (meta, bool) {
	le := binary.LittleEndian
	if le.Uint64(b) != uint64(i) || le.Uint16(b[8:]) != metaPage {
		return meta{}, false
	}
	b = b[pageHead:]
	h := fnv.New64a()
	h.Write(b[:metaBytes-8])
	if le.Uint32(b) != metaMagic || le.Uint32(b[4:]) != metaVersion || le.Uint64(b[56:]) != h.Sum64() {
		return meta{}, false
	}
	return meta{size: int(le.Uint32(b[8:])), root: le.Uint64(b[16:]), free: le.Uint64(b[32:]), high: le.Uint64(b[40:]), tx: le.Uint64(b[48:])}, true
}

// page is the head of a page and what follows it.
type page struct {
	flags uint16
	count int
	bytes []byte // of the first page, or of one inside of a value
	at    int64  // of bytes in the file
	size  int    // with all pages that follow
}

// load reads page id.
func (p *pages) load(id uint64) (page, error) {
	if id >= p.high {
		return page{}, damaged("page %d of %d", id, p.high)
	}
	at := int64(id) * int64(p.size)
	b, err := p.read(at, p.size)
	if err != nil {
		return page{}, err
	}
	le := binary.LittleEndian
	more := uint64(le.Uint32(b[12:]))
	if le.Uint64(b) != id || id+more >= p.high {
		return page{}, damaged("page %d says that it is %d with %d more", id, le.Uint64(b), more)
	}
	return page{flags: le.Uint16(b[8:]), count: int(le.Uint16(b[10:])), bytes: b, at: at, size: p.size * int(more+1)}, nil
}

// claim reads page id and marks it, with the pages that follow, as used.
func (p *pages) claim(id uint64) (page, error) {
	g, err := p.load(id)
	if err != nil {
		return page{}, err
	}
	for i := id; i < id+uint64(g.size/p.size); i++ {
		if p.used[i] {
			return page{}, damaged("page %d is used twice", i)
		}
		p.used[i] = true
	}
	return g, nil
}

// slice returns n bytes at off of g.
func (p *pages) slice(g page, off, n int) ([]byte, error) {
	switch {
	case off < 0 || n < 0 || off+n > g.size:
		return nil, damaged("an element out of its page")
	case off+n <= len(g.bytes):
		return g.bytes[off : off+n], nil
	}
	return p.read(g.at+int64(off), n)
}

// tree proves the pages of a bucket below page id, whose first key is low and
// whose last is before high; nil is no bound.
func (p *pages) tree(bucket string, id uint64, level int, low, high []byte) error {
	if level > maxLevels {
		return damaged("too many levels")
	}
	g, err := p.claim(id)
	if err != nil {
		return err
	}
	return p.elements(bucket, g, level, low, high)
}

// elements proves the elements of a page and what they lead to.
func (p *pages) elements(bucket string, g page, level int, low, high []byte) error {
	if g.flags != branchPage && g.flags != leafPage || g.flags == branchPage && g.count == 0 {
		return damaged("a page with flags %x and %d elements", g.flags, g.count)
	}
	all := make([]element, g.count)
	for i := range all {
		e, err := p.element(g, i)
		if err != nil {
			return err
		}
		if len(e.key) == 0 || i > 0 && bytes.Compare(all[i-1].key, e.key) >= 0 ||
			i == 0 && low != nil && !bytes.Equal(e.key, low) || high != nil && bytes.Compare(e.key, high) >= 0 {
			return damaged("keys out of order")
		}
		all[i] = e
	}
	for i, e := range all {
		var err error
		if g.flags == branchPage {
			to := high
			if i+1 < len(all) {
				to = all[i+1].key
			}
			err = p.tree(bucket, e.child, level+1, e.key, to)
		} else {
			err = p.leaf(bucket, g, e, level)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// element is one element of a page.
type element struct {
	key   []byte
	child uint64 // the page of a branch
	flags uint32 // the rest is of a leaf
	off   int    // of the value in its page
	size  int    // of the value
}

// element returns element i of g.
func (p *pages) element(g page, i int) (e element, err error) {
	le := binary.LittleEndian
	off := pageHead + i*elementBytes
	b, err := p.slice(g, off, elementBytes)
	if err != nil {
		return e, err
	}
	pos, size := int(le.Uint32(b)), int(le.Uint32(b[4:]))
	if g.flags == leafPage {
		e.flags, e.size = le.Uint32(b), int(le.Uint32(b[12:]))
		pos, size = int(le.Uint32(b[4:])), int(le.Uint32(b[8:]))
	} else {
		e.child = le.Uint64(b[8:])
	}
	if pos < elementBytes {
		return e, damaged("a key within the elements")
	}
	e.off = off + pos + size
	if e.off+e.size > g.size {
		return e, damaged("a value out of its page")
	}
	e.key, err = p.slice(g, off+pos, size)
	return e, err
}

// leaf proves one element of a leaf.
func (p *pages) leaf(bucket string, g page, e element, level int) error {
	switch {
	case e.flags == 0 && bucket == "":
		return damaged("a value outside of all buckets")
	case e.flags == 0:
		if p.visit != nil {
			p.visit(bucket, e.key, g.at+int64(e.off), e.size)
		}
		return nil
	case bucket != "" || len(e.key) == 0:
		return damaged("a bucket in a bucket, or without a name")
	}
	root, inner, err := p.bucket(g, e)
	switch {
	case err != nil:
		return err
	case root != 0:
		return p.tree(string(e.key), root, level+1, nil, nil)
	default:
		return p.elements(string(e.key), inner, level+1, nil, nil)
	}
}

// bucket returns where the bucket of element e starts: its root, or for a small
// one a page inside of the value.
func (p *pages) bucket(g page, e element) (root uint64, inner page, err error) {
	if e.flags != bucketElement || e.size < pageHead {
		return 0, inner, damaged("an element with flags %x", e.flags)
	}
	value, err := p.slice(g, e.off, e.size)
	if err != nil {
		return 0, inner, err
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return root, inner, nil
	}
	if e.size < 2*pageHead {
		return 0, inner, damaged("a bucket without a page")
	}
	inner = page{
		flags: binary.LittleEndian.Uint16(value[pageHead+8:]), count: int(binary.LittleEndian.Uint16(value[pageHead+10:])),
		bytes: value[pageHead:], at: g.at + int64(e.off) + pageHead, size: e.size - pageHead,
	}
	if inner.flags != leafPage {
		return 0, inner, damaged("a small bucket with flags %x", inner.flags)
	}
	return 0, inner, nil
}

// freelist proves that the pages listed as free are used by nothing.
func (p *pages) freelist(id uint64) error {
	g, err := p.claim(id)
	if err != nil {
		return err
	}
	count, off := g.count, pageHead
	if g.flags != freePage {
		return damaged("the list of free pages has flags %x", g.flags)
	}
	if count == 0xffff {
		b, err := p.slice(g, off, 8)
		if err != nil {
			return err
		}
		if n := binary.LittleEndian.Uint64(b); n > uint64(len(p.used)) {
			return damaged("%d free pages of %d", n, len(p.used))
		}
		count, off = int(binary.LittleEndian.Uint64(b)), off+8
	}
	ids, err := p.slice(g, off, 8*count)
	if err != nil {
		return err
	}
	for ; len(ids) > 0; ids = ids[8:] {
		id := binary.LittleEndian.Uint64(ids)
		if id >= uint64(len(p.used)) || p.used[id] {
			return damaged("page %d is free and in use", id)
		}
		p.used[id] = true
	}
	return nil
}
