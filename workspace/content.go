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

// newContent makes the content of b. near is the text of bytes like b, which makes
// it cheaper; it may be nil.
func newContent(digest hashline.Digest, b []byte, near *hashline.Text) *content {
	c := &content{digest: digest, bytes: b}
	var binary bool
	if c.mime, binary = sniff(b); !binary {
		if near != nil {
			c.text = near.Edited(b)
		} else {
			c.text = hashline.NewText(b)
		}
		c.lossy = !utf8.Valid(b)
	}
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
