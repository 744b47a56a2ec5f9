package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// The buckets. The number of a value is 8 bytes, high byte first, and grows.
var (
	numbersBucket = []byte("numbers") // id of a key -> number of its value
	valuesBucket  = []byte("values")  // number -> value as seal made it
)

const (
	sumBytes  = 8
	sealBytes = sumBytes + idBytes
	// firstMap is how much of the address space is taken at first, so that few
	// files outgrow it.
	firstMap = 32 << 20
)

// errTouched says that another program has written to the file.
var errTouched = fmt.Errorf("%w: another program has changed it while it was open", ErrDamaged)

// seal appends a value as it is stored: a checksum, the id of its key, the
// value. The checksum is of both.
func seal(dst []byte, id keyID, value []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, sumBytes)...)
	dst = append(dst, id[:]...)
	dst = append(dst, value...)
	binary.LittleEndian.PutUint64(dst[at:], xxh3.Hash(dst[at+sumBytes:]))
	return dst
}

// unseal returns the value in b, and whether it is sound and that of id.
func unseal(id keyID, b []byte) ([]byte, bool) {
	if len(b) < sealBytes || binary.LittleEndian.Uint64(b) != xxh3.Hash(b[sumBytes:]) || string(b[sumBytes:sealBytes]) != string(id[:]) {
		return nil, false
	}
	return b[sealBytes:], true
}

// database is an open file that was proven sound and is locked.
type database struct {
	path   string
	file   *os.File
	mapped *os.File // the same open file, which is bbolt's
	db     *bbolt.DB

	turn  atomic.Uint64             // counts starts and ends of writes
	stamp atomic.Pointer[fileStamp] // after the last one
	view  atomic.Pointer[pages]     // of the last transaction

	entries, bytes atomic.Int64
	lost           bool // a write ended in a panic: bbolt's locks are held for ever
}

// fileStamp tells whether anything was written to a file.
type fileStamp struct {
	ino          uint64
	size         int64
	mtime, ctime unix.Timespec
}

func stampOf(f *os.File) (fileStamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fileStamp{}, err
	}
	return fileStamp{uint64(st.Ino), st.Size, st.Mtim, st.Ctim}, nil
}

// errRenewed says that a file was emptied because it was found damaged while it
// was in use.
var errRenewed = damaged("it was found so while it was in use")

// openDatabase opens and locks the file at path. A file that is damaged is
// emptied, and one of which that is known; reset says why.
func openDatabase(path string, wait time.Duration, empty bool) (d *database, reset error, err error) {
	file, err := lockFile(path, wait)
	if err != nil {
		return nil, nil, err
	}
	d = &database{path: path, file: file}
	if empty {
		reset, err = errRenewed, file.Truncate(0)
	} else {
		reset, err = d.prove()
	}
	if err == nil {
		err = d.look()
	}
	if err != nil {
		d.close()
		return nil, reset, err
	}
	return d, reset, nil
}

// prove verifies the file, and empties one that is damaged.
func (d *database) prove() (reset, err error) {
	info, err := d.file.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	err = verify(d.file, info.Size(), func(bucket string, _ []byte, _ int64, size int) {
		if bucket == string(valuesBucket) {
			d.entries.Add(1)
			d.bytes.Add(int64(size))
		}
	})
	if errors.Is(err, ErrDamaged) {
		d.entries.Store(0)
		d.bytes.Store(0)
		return err, d.file.Truncate(0)
	}
	return nil, err
}

// look notes what the file holds now, for readers and to tell later whether
// another program has written to it.
func (d *database) look() error {
	stamp, err := stampOf(d.file)
	if err != nil {
		return err
	}
	var view *pages
	if stamp.size > 0 {
		if view, err = newPages(d.file, stamp.size); err != nil {
			return err
		}
	}
	d.stamp.Store(&stamp)
	d.view.Store(view)
	return nil
}

// open hands the file to bbolt, which locks it once more through the same open
// file.
func (d *database) open() error {
	err := guard(func() (err error) {
		d.db, err = bbolt.Open(d.path, fileMode, &bbolt.Options{
			Timeout: time.Second, NoSync: true, NoGrowSync: true, FreelistType: bbolt.FreelistMapType,
			InitialMmapSize: firstMap,
			OpenFile: func(string, int, os.FileMode) (*os.File, error) {
				fd, err := unix.FcntlInt(d.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
				if err != nil {
					return nil, err
				}
				d.mapped = os.NewFile(uintptr(fd), d.path)
				return d.mapped, nil
			},
		})
		return err
	})
	if err != nil {
		return err
	}
	return d.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{numbersBucket, valuesBucket} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
}

// guard runs f, which uses mapped memory. A fault in it, and whatever bbolt
// panics with, is ErrDamaged.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = damaged("%v", v)
		}
	}()
	return f()
}

// untouched returns nil unless another program has written to the file since
// this one did.
func (d *database) untouched() error {
	now, err := stampOf(d.file)
	if err != nil {
		return err
	}
	if *d.stamp.Load() != now {
		return errTouched
	}
	return nil
}

// stands reports whether path still leads to the file.
func (d *database) stands() bool {
	there, err := os.Lstat(d.path)
	if err != nil {
		return false
	}
	here, err := d.file.Stat()
	return err == nil && os.SameFile(there, here)
}

// write runs one transaction. Only one goroutine writes.
func (d *database) write(f func(tx *bbolt.Tx) error) error {
	if err := d.untouched(); err != nil {
		return err
	}
	if d.db == nil {
		if err := d.open(); err != nil {
			return err
		}
	}
	return d.update(f)
}

func (d *database) update(f func(tx *bbolt.Tx) error) error {
	d.turn.Add(1)
	finished := false
	err := guard(func() error {
		err := d.db.Update(f)
		finished = true
		return err
	})
	d.lost = d.lost || !finished
	err = errors.Join(err, d.look())
	d.turn.Add(1)
	return err
}

// get returns the value of id. ok is false if there is none, or one that is
// damaged, which bad tells. It reads while the file is written to: pages that
// change under it show as damage, and then it starts again.
func (d *database) get(id keyID) (value []byte, ok, bad bool, err error) {
	for range readTries {
		view := d.view.Load()
		turn := d.turn.Load()
		value, ok, bad, err = view.get(id)
		if ok || d.turn.Load() == turn && d.view.Load() == view {
			break
		}
	}
	return value, ok, bad, err
}

// readTries is how often a value is looked for that is not found because of
// writes.
const readTries = 4

func (p *pages) get(id keyID) (value []byte, ok, bad bool, err error) {
	if p == nil { // an empty file
		return nil, false, false, nil
	}
	number, err := p.lookup(numbersBucket, id[:])
	if err != nil || number == nil {
		return nil, false, false, err
	}
	stored, err := p.lookup(valuesBucket, number)
	if err != nil {
		return nil, false, false, err
	}
	value, ok = unseal(id, stored)
	return value, ok, !ok, nil
}

// item is a value to be stored.
type item struct {
	id    keyID
	value []byte // sealed
}

// put stores items in one transaction and takes out those that were there
// under the same keys.
func (d *database) put(items []item) error {
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(string(a.id[:]), string(b.id[:])) })
	var entries, bytes int64
	err := d.write(func(tx *bbolt.Tx) error {
		entries, bytes = 0, 0
		numbers, values := tx.Bucket(numbersBucket), tx.Bucket(valuesBucket)
		values.FillPercent = 1 // they are only appended
		var n uint64
		if last, _ := values.Cursor().Last(); len(last) == 8 {
			n = binary.BigEndian.Uint64(last)
		}
		for _, it := range items {
			if old := numbers.Get(it.id[:]); old != nil {
				if v := values.Get(old); len(v) >= sealBytes && string(v[sumBytes:sealBytes]) == string(it.id[:]) {
					entries, bytes = entries-1, bytes-int64(len(v))
					if err := values.Delete(old); err != nil {
						return err
					}
				}
			}
			n++
			number := binary.BigEndian.AppendUint64(nil, n)
			if err := errors.Join(numbers.Put(it.id[:], number), values.Put(number, it.value)); err != nil {
				return err
			}
			entries, bytes = entries+1, bytes+int64(len(it.value))
		}
		return nil
	})
	if err == nil {
		d.entries.Add(entries)
		d.bytes.Add(bytes)
	}
	return err
}

// inUse returns the bytes of the pages that hold something.
func (d *database) inUse() (n int64, err error) {
	err = guard(func() error {
		return d.db.View(func(tx *bbolt.Tx) error {
			stats := d.db.Stats()
			n = tx.Size() - int64(stats.FreePageN+stats.PendingPageN)*int64(d.db.Info().PageSize)
			return nil
		})
	})
	return n, err
}

// evict takes out the oldest values, until they are as many bytes, and returns
// how many it took.
func (d *database) evict(bytes int64) (evicted int64, err error) {
	var freed int64
	err = d.write(func(tx *bbolt.Tx) error {
		evicted, freed = 0, 0
		numbers, values := tx.Bucket(numbersBucket), tx.Bucket(valuesBucket)
		var old [][]byte
		for c := values.Cursor(); freed < bytes; {
			number, v := c.Next()
			if len(old) == 0 {
				number, v = c.First()
			}
			if number == nil {
				break
			}
			old, freed = append(old, slices.Clone(number)), freed+int64(len(v))
		}
		for _, number := range old {
			if err := forget(numbers, values, number); err != nil {
				return err
			}
			evicted++
		}
		return nil
	})
	if err == nil {
		d.entries.Add(-evicted)
		d.bytes.Add(-freed)
	}
	return evicted, err
}

// forget deletes a value, and its key if that is its newest value.
func forget(numbers, values *bbolt.Bucket, number []byte) error {
	if v := values.Get(number); len(v) >= sealBytes {
		id := slices.Clone(v[sumBytes:sealBytes])
		if string(numbers.Get(id)) == string(number) {
			if err := numbers.Delete(id); err != nil {
				return err
			}
		}
	}
	return values.Delete(number)
}

// size returns the size of the file.
func (d *database) size() int64 { return d.stamp.Load().size }

// close lets go of the file. After a write that panicked bbolt holds its own
// locks, and would wait for ever: then the mapping stays until the process
// ends, and nothing else.
func (d *database) close() error {
	var err error
	switch {
	case d.db == nil:
	case d.lost:
		err = d.mapped.Close()
	default:
		err = guard(d.db.Close)
	}
	return errors.Join(err, unix.Flock(int(d.file.Fd()), unix.LOCK_UN), d.file.Close())
}
