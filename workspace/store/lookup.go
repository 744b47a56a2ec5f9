package store

import (
	"bytes"
	"slices"
)

// lookup returns a copy of the value of key in a bucket, nil if there is none.
// It reads the file and no mapped memory, and believes no page: a file that was
// cut or overwritten is an error.
func (p *pages) lookup(bucket, key []byte) ([]byte, error) {
	g, e, found, err := p.find(p.root, bucket)
	if err != nil || !found {
		return nil, err
	}
	root, inner, err := p.bucket(g, e)
	if err != nil {
		return nil, err
	}
	if root != 0 {
		g, e, found, err = p.find(root, key)
	} else {
		g = inner
		e, found, err = p.search(g, key)
	}
	if err != nil || !found || e.flags != 0 {
		return nil, err
	}
	value, err := p.slice(g, e.off, e.size)
	return slices.Clone(value), err
}

// find goes down from page id to the leaf that has key.
func (p *pages) find(id uint64, key []byte) (g page, e element, found bool, err error) {
	for range maxLevels {
		if g, err = p.load(id); err != nil {
			return g, e, false, err
		}
		if e, found, err = p.search(g, key); err != nil || g.flags == leafPage {
			return g, e, found, err
		}
		id = e.child
	}
	return g, e, false, damaged("too many levels")
}

// search returns the element of g with key; of a branch, the one that leads to
// it, which is the last that is not after it, or the first.
func (p *pages) search(g page, key []byte) (e element, found bool, err error) {
	if g.flags != branchPage && g.flags != leafPage || g.flags == branchPage && g.count == 0 {
		return e, false, damaged("a page with flags %x and %d elements", g.flags, g.count)
	}
	low, high := 0, g.count // the first element after key is in [low, high]
	for low < high {
		mid := (low + high) / 2
		at, err := p.element(g, mid)
		if err != nil {
			return e, false, err
		}
		if bytes.Compare(at.key, key) <= 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 && g.flags == leafPage {
		return e, false, nil
	}
	e, err = p.element(g, max(low-1, 0))
	return e, err == nil && bytes.Equal(e.key, key), err
}
