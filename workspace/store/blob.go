package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"mapd/hashline"
)

// Blobs keeps one blob by name in a file each: what a workspace wants to know
// when it starts again. A blob is replaced as a whole, by a rename, so that
// daemons may share the directory; the last one wins. The value is usable by
// several goroutines.
type Blobs struct {
	// Dir holds the files; it is made, for the user alone.
	Dir string
	// Limit is how many bytes all files may have; 0 means 512 MiB. Past it those
	// go that were not used for the longest time.
	Limit int64
}

const (
	defaultBlobs = 512 << 20
	blobMagic    = "mapd blob 1\n"
	blobSuffix   = ".blob"
	blobTemp     = ".tmp"
	// blobHead is magic and checksum.
	blobHead = len(blobMagic) + sumBytes
	// staleTemp is the age of a temporary file that nobody writes any more.
	staleTemp = time.Hour
)

// path returns the file of a name, which may be any string.
func (b Blobs) path(name string) string {
	return filepath.Join(b.Dir, hashline.Sum([]byte(name)).String()+blobSuffix)
}

// Load returns what was saved under that name and kind. ok is false if there is
// no such blob, or one that is damaged or of another kind.
func (b Blobs) Load(name, kind string) (body []byte, ok bool) {
	path := b.path(name)
	body, err := readBlob(path, blobHeader(name, kind))
	if err != nil {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // it was used
	return body, true
}

// blobHeader binds the body of a blob to its name and kind.
func blobHeader(name, kind string) []byte {
	h := binary.AppendUvarint(nil, uint64(len(name)))
	h = append(h, name...)
	h = binary.AppendUvarint(h, uint64(len(kind)))
	return append(h, kind...)
}

// readBlob reads a file whose body must begin with header; nil is any.
func readBlob(path string, header []byte) ([]byte, error) {
	file, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	all := make([]byte, info.Size())
	if _, err := io.ReadFull(file, all); err != nil {
		return nil, damaged("%v", err)
	}
	if len(all) < blobHead || string(all[:len(blobMagic)]) != blobMagic ||
		binary.LittleEndian.Uint64(all[len(blobMagic):]) != xxh3.Hash(all[blobHead:]) {
		return nil, damaged("%s", path)
	}
	body, ok := bytes.CutPrefix(all[blobHead:], header)
	if !ok {
		return nil, fmt.Errorf("%w: of another kind", fs.ErrNotExist)
	}
	return body, nil
}

// Save replaces what is kept under that name.
func (b Blobs) Save(name, kind string, body []byte) error {
	limit := b.Limit
	if limit <= 0 {
		limit = defaultBlobs
	}
	if int64(len(body)) > limit {
		return fmt.Errorf("a blob of %d bytes is larger than the limit of %d for all", len(body), limit)
	}
	if err := os.MkdirAll(b.Dir, dirMode); err != nil {
		return err
	}
	header := blobHeader(name, kind)
	var h xxh3.Hasher
	_, _ = h.Write(header) // a Hasher never fails
	_, _ = h.Write(body)
	head := binary.LittleEndian.AppendUint64([]byte(blobMagic), h.Sum64())
	temp, err := os.CreateTemp(b.Dir, "*"+blobTemp) // with mode 0600
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, header, body} {
		if _, e := temp.Write(part); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), b.path(name))
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	b.trim(limit)
	return nil
}

// trim removes files until all are as many bytes at most, and what a daemon
// that was killed has left.
func (b Blobs) trim(limit int64) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return
	}
	var blobs []fs.FileInfo
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case strings.HasSuffix(e.Name(), blobSuffix):
			blobs, sum = append(blobs, info), sum+info.Size()
		case strings.HasSuffix(e.Name(), blobTemp) && time.Since(info.ModTime()) > staleTemp:
			os.Remove(filepath.Join(b.Dir, e.Name()))
		}
	}
	slices.SortFunc(blobs, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for len(blobs) > 1 && sum > limit {
		os.Remove(filepath.Join(b.Dir, blobs[0].Name()))
		sum -= blobs[0].Size()
		blobs = blobs[1:]
	}
}
