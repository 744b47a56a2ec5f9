package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Report is what Check finds.
type Report struct {
	Path    string
	State   State // Ready, Locked or Unusable
	Why     string
	Missing bool // there is no file: nothing was stored yet
	Entries int64
	Bytes   int64 // of the values
	// Damaged counts values that are damaged. They are misses, and are replaced
	// when they are made again.
	Damaged int64
	// Broken says that the structure of the file is damaged: whoever opens the
	// store next empties it.
	Broken bool
}

// Check looks at a store file without changing it. Of one that a daemon uses it
// says that alone, because it may change at any time.
func Check(path string) Report {
	r := Report{Path: path, State: Ready}
	file, err := openRegular(path, os.O_RDWR)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Missing = true
		return r
	case err != nil:
		r.State, r.Why = Unusable, err.Error()
		return r
	}
	defer file.Close()
	if err := lockOpen(file, time.Now()); err != nil {
		r.State, r.Why = Unusable, err.Error()
		if errors.Is(err, ErrLocked) {
			r.State = Locked
		}
		return r
	}
	return checkLocked(r, file)
}

// checkLocked looks at every page and value of a file that nobody else uses.
func checkLocked(r Report, file *os.File) Report {
	info, err := file.Stat()
	if err != nil {
		r.State, r.Why = Unusable, err.Error()
		return r
	}
	if info.Size() == 0 {
		return r
	}
	err = verify(file, info.Size(), func(bucket string, _ []byte, at int64, size int) {
		if bucket != string(valuesBucket) {
			return
		}
		r.Entries++
		r.Bytes += int64(size)
		b := make([]byte, size)
		if _, err := file.ReadAt(b, at); err != nil || size < sealBytes {
			r.Damaged++
		} else if _, ok := unseal(keyID(b[sumBytes:sealBytes]), b); !ok {
			r.Damaged++
		}
	})
	if err != nil {
		r.State, r.Why, r.Broken = Unusable, err.Error(), errors.Is(err, ErrDamaged)
	}
	return r
}

// Repair empties a store file that Check finds broken or with damaged values.
// It holds nothing that cannot be made again. The error is ErrLocked while a
// daemon uses it.
func Repair(path string) error {
	file, err := openRegular(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("repair the store: %w; remove %s", err, path)
	}
	defer file.Close()
	if err := lockOpen(file, time.Now()); err != nil {
		return err
	}
	if r := checkLocked(Report{Path: path, State: Ready}, file); !r.Broken && r.Damaged == 0 {
		return nil
	}
	return file.Truncate(0)
}

// Check returns how many blobs there are, their bytes, and the paths of those
// that are damaged.
func (b Blobs) Check() (count int, bytes int64, bad []string, err error) {
	entries, err := os.ReadDir(b.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil, nil
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), blobSuffix) {
			continue
		}
		path := filepath.Join(b.Dir, e.Name())
		count++
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
		if _, err := readBlob(path, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			bad = append(bad, path)
		}
	}
	return count, bytes, bad, err
}

// Repair removes the blobs that are damaged.
func (b Blobs) Repair() error {
	_, _, bad, err := b.Check()
	for _, path := range bad {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
