package workspace

import (
	"unicode/utf8"

	"mapd/hashline"
)

// content is what a file holds, whatever its path: a function of the bytes,
// shared by all versions with the same digest. It is immutable.
type content struct {
	digest hashline.Digest
	bytes  []byte
	text   *hashline.Text // nil for binary content
	mime   string
	lossy  bool
}

// origin is how bytes came to be: by an edit of valid text.
type origin struct{ *hashline.Applied }

// originOf returns the origin of b, or nil if it is not that edit of live or does
// not make b cheaper to describe. Both may be nil.
func originOf(b []byte, live *Version, edit *hashline.Applied) *origin {
	if live == nil || edit == nil || edit.Old != live.Text() || live.Lossy() || len(b) == 0 ||
		len(edit.New.Bytes()) != len(b) || &edit.New.Bytes()[0] != &b[0] {
		return nil
	}
	return &origin{edit}
}

// same reports whether the bytes are known to be those of the live text.
func (o *origin) same() bool { return o != nil && !o.Changed() }

// valid reports whether the bytes are UTF-8: the new lines are, because the old
// ones were.
func (o *origin) valid() bool {
	for _, h := range o.Hunks {
		if !h.New.Valid() {
			continue
		}
		start, _ := o.New.Span(h.New.Start)
		_, end := o.New.Span(h.New.End)
		if !utf8.Valid(o.New.Bytes()[start:end]) {
			return false
		}
	}
	return true
}

// newContent makes the content of b. from, which may be nil, makes it cheaper.
func newContent(digest hashline.Digest, b []byte, from *origin) *content {
	c := &content{digest: digest, bytes: b}
	var binary bool
	if from != nil {
		c.lossy = !from.valid()
		if c.mime, binary = sniffKnown(b, false, func() bool { return !c.lossy }); !binary {
			c.text = from.New
		}
	} else if c.mime, binary = sniff(b); !binary {
		c.text = hashline.NewText(b)
		c.lossy = !utf8.Valid(b)
	}
	c.lossy = c.lossy && !binary
	return c
}

// cost is the memory that the content holds, in bytes: what was read, the line
// index, and a constant for the rest.
func (c *content) cost() int64 {
	n := int64(len(c.bytes)) + 256
	if c.text != nil {
		n += 4 * int64(c.text.Lines())
	}
	return n
}
