package workspace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"mapd/hashline"
)

// newEpoch returns 16 hexadecimal digits that no other daemon has.
func newEpoch() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// snapshotID names (file, digest) by 64 bits of a keyed hash, so that a file
// that returns to earlier bytes gets its earlier number without anybody
// remembering it. A counter would be shorter on the wire, but needs a table of
// every version ever seen, which nothing bounds. Among 10 million versions of
// one daemon's life two share a number with probability 3 in a million; the
// key is secret, so nobody can search for such a pair beforehand.
func (c *Cache) snapshotID(file string, digest hashline.Digest) uint64 {
	var scratch [512]byte
	b := append(scratch[:0], c.key[:]...)
	b = append(b, digest[:]...)
	b = append(b, file...)
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:])
}

func (c *Cache) snapshotString(id uint64) string {
	return c.epoch + "." + strconv.FormatUint(id, 10)
}

// Snapshot returns the version that the snapshot string s names, if it is of
// this daemon's life and still in the history.
func (c *Cache) Snapshot(s string) (*Version, bool) {
	epoch, number, _ := strings.Cut(s, ".")
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil || epoch != c.epoch || c.snapshotString(id) != s {
		return nil, false
	}
	rec := c.history.get(id)
	if rec == nil {
		return nil, false
	}
	return &Version{cache: c, record: rec, name: rec.path, language: c.settings.plain.language(rec.path, rec.content.bytes)}, true
}
