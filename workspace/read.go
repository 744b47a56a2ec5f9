package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"mapd/hashline"
)

// How often and how long a file that changes under the reader is read again
// before the answer says unstable.
const (
	readTries  = 5
	readWindow = 50 * time.Millisecond
)

// errChanged says that a file changed while it was read.
var errChanged = errors.New("the file changed while it was read")

// Read returns the version of a file that its bytes make now: they are read
// after the call. name is relative to the first folder, or absolute inside a
// folder; symbolic links are followed as long as they stay inside.
//
// The error is ctx's or wraps one of the errors of this package; a directory
// gives a *DirectoryError with its listing.
func (c *Cache) Read(ctx context.Context, f Folders, name string) (*Version, error) {
	v, err := c.read(ctx, f, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", show(name), err)
	}
	return v, nil
}

func (c *Cache) read(ctx context.Context, f Folders, name string) (*Version, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	c.counters.reads.Add(1)
	got, err := c.readStable(ctx, func() (found, error) { return c.find(f, name) })
	if err != nil {
		return nil, err
	}
	defer got.release()
	return c.versionIn(f, got), nil
}

// A reading is the outcome of one read: bytes on loan until release.
type reading struct {
	path     string
	stamp    stamp // from before the bytes were read
	set      *inForce
	bytes    []byte
	buffer   *buffer
	share    *share // holds the buffer's size
	unstable bool
	unsure   bool            // the bytes may mix two states, see found.judged
	digest   hashline.Digest // of bytes; zero until sum
	from     *origin         // of bytes; may be nil
}

// sum returns the digest of the bytes.
func (r *reading) sum() hashline.Digest {
	if r.digest == (hashline.Digest{}) {
		r.digest = hashline.Sum(r.bytes)
	}
	return r.digest
}

func (r *reading) release() {
	r.share.give(int64(len(r.buffer.b)))
	r.buffer.release()
}

// grow doubles the buffer. It does not wait for the budget, because whoever it
// would wait for may be waiting too.
func (r *reading) grow(pool *buffers) error {
	n := int64(len(r.buffer.b))
	if !r.share.tryTake(n) {
		return &failure{ErrIO, errors.New("the file grows while many others are read")}
	}
	bigger := pool.get(2 * n)
	copy(bigger.b, r.buffer.b)
	r.buffer.release()
	r.buffer = bigger
	return nil
}

// readStable reads what find finds until the stamps before and after agree.
// Each try finds it anew: what replaced the file is the better answer.
func (c *Cache) readStable(ctx context.Context, find func() (found, error)) (*reading, error) {
	start := time.Now()
	for try := 1; ; try++ {
		got, err := c.readOnce(ctx, find)
		if !errors.Is(err, errChanged) {
			return got, err
		}
		pause := time.Millisecond << (try - 1)
		if try == readTries || time.Since(start)+pause > readWindow {
			c.counters.unstable.Add(1)
			got.unstable = true
			return got, nil
		}
		got.release()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, ErrClosed
		case <-time.After(pause):
		}
	}
}

// readOnce reads what find finds once. With errChanged it returns the reading
// all the same.
func (c *Cache) readOnce(ctx context.Context, find func() (found, error)) (*reading, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.takeOpen(ctx); err != nil {
		return nil, err
	}
	defer c.giveOpen()
	at, err := find()
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := at.set.checkSize(at.stamp.size); err != nil {
		return nil, err
	}
	file, err := at.open()
	if err != nil {
		return nil, classify(err)
	}
	defer file.close()
	// One byte more than the size, so that growth shows.
	cost := c.buffers.size(at.stamp.size + 1)
	share := c.budget.of(cost)
	if err := share.take(ctx, c.ctx, cost); err != nil {
		return nil, err
	}
	got := &reading{path: at.path, stamp: at.stamp, set: at.set, buffer: c.buffers.get(cost), share: share}
	if err = c.fill(ctx, got, file, at); err != nil && !errors.Is(err, errChanged) {
		got.release()
		return nil, err
	}
	return got, err
}

func (s *inForce) checkSize(size int64) error {
	if size > s.fileBytes {
		return &SizeError{Size: size, Limit: s.fileBytes}
	}
	return nil
}

// fill reads all of file and returns errChanged unless it held still.
func (c *Cache) fill(ctx context.Context, got *reading, file file, at found) error {
	before := at.stamp
	n := 0
	for {
		if n == len(got.buffer.b) {
			if err := got.grow(&c.buffers); err != nil {
				return err
			}
		}
		// A piece at a time, so that a read of a slow disk ends with its request.
		piece := got.buffer.b[n:min(len(got.buffer.b), n+1<<20)]
		m, err := file.readAt(piece, int64(n))
		if err != nil {
			return classify(err)
		}
		n += m
		// Short of the buffer at the size that stat gave is the end of a regular
		// file; the stamp afterwards tells if it is no longer.
		if m == 0 || m < len(piece) && int64(n) == before.size {
			break
		}
		if err := at.set.checkSize(int64(n)); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	got.bytes = got.buffer.b[:n]
	after, err := file.stat()
	if err != nil {
		return classify(err)
	}
	if !before.same(after) {
		return errChanged
	}
	if !after.young(time.Now()) {
		return nil
	}
	if !at.judged {
		return confirm(file, got.bytes)
	}
	got.unsure = true
	return nil
}

// confirm reads file a second time and returns errChanged unless it holds the
// same bytes. It is for files whose stamps are too young to prove anything.
func confirm(file file, want []byte) error {
	var piece [16 << 10]byte
	for off := 0; ; {
		n, err := file.readAt(piece[:], int64(off))
		if err != nil {
			return classify(err)
		}
		if n == 0 {
			if off != len(want) {
				return errChanged
			}
			return nil
		}
		if off+n > len(want) || !bytes.Equal(piece[:n], want[off:off+n]) {
			return errChanged
		}
		off += n
	}
}

// versionIn returns the version that a reading makes.
func (c *Cache) versionIn(f Folders, got *reading) *Version {
	rec := c.record(got)
	return &Version{
		cache: c, record: rec, name: f.Rel(rec.path), unstable: got.unstable,
		language: got.set.language(rec.path, rec.content.bytes),
	}
}

// record returns the record of what was read, a known one when the bytes are
// known. It copies the bytes only when they are new.
func (c *Cache) record(got *reading) *record {
	digest := got.sum()
	file := c.identities.at(got.path)
	if got.stamp != (stamp{}) {
		file = c.fileOf(got.path, got.stamp)
	}
	id := c.snapshotID(file, digest)
	if rec := c.history.lookup(id, file, digest); rec != nil {
		c.counters.hits.Add(1)
		return rec.at(got.path)
	}
	content := c.history.content(digest)
	if content == nil {
		content = newContent(digest, got.buffer.take(len(got.bytes)), got.from)
	}
	return c.history.admit(c.newRecord(id, file, got.path, content)).at(got.path)
}
