package workspace

import (
	"context"

	"mapd/hashline"
	"mapd/outline"
)

// Version is a file at one moment: its resolved path and the bytes of one
// read, with everything that follows from them. It is immutable and safe for
// concurrent use, and stays usable after the Cache forgot it or was closed,
// except that no new outline is made then.
//
// Who wants to remember a version for long keeps its Snapshot string and a Pin,
// not the Version: the Version holds its bytes in memory whatever the limits.
type Version struct {
	*record
	cache    *Cache
	name     string
	language outline.Language
	unstable bool
}

// record is the part of a Version that all readers of the same bytes of the
// same file share.
type record struct {
	id       uint64
	file     string // see identities
	path     string // where it was read
	snapshot string
	content  *content
}

// head is how many bytes the detection of a language looks at.
const head = 512

func (c *Cache) newRecord(id uint64, file, path string, content *content) *record {
	return &record{id: id, file: file, path: path, snapshot: c.snapshotString(id), content: content}
}

// at returns the record of the same version, read at path.
func (r *record) at(path string) *record {
	if r.path == path {
		return r
	}
	moved := *r
	moved.path = path
	return &moved
}

// Path returns the absolute path, free of symbolic links.
func (v *Version) Path() string { return v.path }

// File names the file whatever it is called: it stays when the file is renamed.
// It is Path until then, and for most files for ever.
func (v *Version) File() string { return v.file }

// Name returns the path as the protocol shows it: relative to the session's
// first folder when it lies there, else Path. A Version from Snapshot knows no
// session and returns Path.
func (v *Version) Name() string { return v.name }

// Digest identifies the bytes.
func (v *Version) Digest() hashline.Digest { return v.content.digest }

// Text returns the lines. It is nil for a binary file.
func (v *Version) Text() *hashline.Text { return v.content.text }

// Bytes returns the content, binary or not. It must not be modified.
func (v *Version) Bytes() []byte { return v.content.bytes }

// Size returns the number of bytes.
func (v *Version) Size() int { return len(v.content.bytes) }

// Language returns the language: as settings say, else from the path and the
// first line. A Version from Snapshot knows no settings; see In.
func (v *Version) Language() outline.Language { return v.language }

// In returns the version as one in that language.
func (v *Version) In(lang outline.Language) *Version {
	other := *v
	other.language = lang
	return &other
}

// Binary reports whether the content is not text: a NUL anywhere, UTF-16, or
// the signature of a known binary format.
func (v *Version) Binary() bool { return v.content.text == nil }

// MIME returns the media type: text/plain for a text whatever its language,
// for binary content what its signature says.
func (v *Version) MIME() string { return v.content.mime }

// Lossy reports whether a text is not valid UTF-8 somewhere, so that showing
// it loses bytes.
func (v *Version) Lossy() bool { return v.content.lossy }

// Unstable reports whether the file changed during every try to read it, so
// that the bytes may mix two states.
func (v *Version) Unstable() bool { return v.unstable }

// Snapshot returns <epoch>.<n>. Two versions of one daemon's life have equal
// strings if and only if they are of the same File and have the same bytes,
// whatever was evicted in between.
func (v *Version) Snapshot() string { return v.snapshot }

// Outline returns the outline of a text. It is made once for all who wait for
// the same bytes in the same language, and kept; one that hit a limit is made
// again after Limits.FailedOutline. The error is ctx's, ErrClosed, ErrBinary,
// or a *PanicError.
func (v *Version) Outline(ctx context.Context) (*outline.Outline, error) {
	if v.Binary() {
		return nil, ErrBinary
	}
	return v.cache.outlines.get(ctx, v.content, v.language)
}

// Peek returns the outline if it is there already.
func (v *Version) Peek() (*outline.Outline, bool) {
	if v.Binary() {
		return nil, false
	}
	return v.cache.outlines.peek(v.content.digest, v.language)
}

// Pin keeps the version in the history, so that Snapshot finds it, until
// release is called; calls after the first do nothing. A pin outranks age, not
// the limit: when the pinned versions alone exceed it, the oldest go.
func (v *Version) Pin() (release func()) { return v.cache.history.pin(v.record) }
