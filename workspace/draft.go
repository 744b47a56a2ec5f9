package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"mapd/hashline"
	"mapd/outline"
)

// Draft is text that is in no file, or not yet, such as what an editor holds. It
// is immutable and safe for concurrent use, is not part of the history, and
// shares its outline with the files that have the same bytes.
type Draft struct {
	cache    *Cache
	content  *content
	language outline.Language
}

// Draft returns the draft of b, which must not change any more.
func (c *Cache) Draft(b []byte, lang outline.Language) *Draft {
	digest := hashline.Sum(b)
	known := c.history.content(digest)
	if known == nil {
		known = newContent(digest, b, nil)
	}
	return &Draft{cache: c, content: known, language: lang}
}

// Text returns the lines. It is nil for binary content.
func (d *Draft) Text() *hashline.Text { return d.content.text }

// MIME returns the media type, as that of a Version.
func (d *Draft) MIME() string { return d.content.mime }

// Outline returns the outline of a text, as that of a Version.
func (d *Draft) Outline(ctx context.Context) (*outline.Outline, error) {
	if d.Text() == nil {
		return nil, ErrBinary
	}
	return d.cache.outlines.get(ctx, d.content, d.language)
}

// Peek returns the outline if it is there already.
func (d *Draft) Peek() (*outline.Outline, bool) {
	if d.Text() == nil {
		return nil, false
	}
	return d.cache.outlines.peek(d.content.digest, d.language)
}

// Resolve returns the real path of what an absolute path names. Elements at its
// end that are not there are kept as they stand. It opens nothing, and no file of
// a session is found by it: see Read.
func (c *Cache) Resolve(path string) (string, error) {
	if err := checkName(path); err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		return "", nameError("it is not absolute")
	}
	if err := c.enter(); err != nil {
		return "", err
	}
	defer c.leave()
	missing := ""
	for {
		n, err := c.source.find(path)
		if err == nil {
			defer n.close()
			s, err := n.stat()
			if err != nil {
				return "", classify(err)
			}
			real, err := n.realPath(s)
			if err != nil {
				return "", classify(err)
			}
			return filepath.Join(real, missing), nil
		}
		if path == "/" || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", classify(err)
		}
		missing = filepath.Join(filepath.Base(path), missing)
		path = parent(path)
	}
}
