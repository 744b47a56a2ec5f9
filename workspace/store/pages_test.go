package store

import (
	"bytes"
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// mendMetas gives the metas of a file right checksums, so that what a fuzzer
// changes in them is read.
func mendMetas(b []byte) {
	for _, at := range []int{0, os.Getpagesize()} {
		if len(b) >= at+pageHead+metaBytes {
			m := b[at+pageHead : at+pageHead+metaBytes]
			h := fnv.New64a()
			h.Write(m[:metaBytes-8])
			copy(m[metaBytes-8:], h.Sum(nil))
			for i, j := metaBytes-8, metaBytes-1; i < j; i, j = i+1, j-1 { // low byte first
				m[i], m[j] = m[j], m[i]
			}
		}
	}
}

// FuzzPages reads files of any content: proof and lookup end, with an error that
// says damaged or with a value, and lookup finds nothing that the proof has not
// seen.
func FuzzPages(f *testing.F) {
	path := filepath.Join(f.TempDir(), "outlines.db")
	s := Open(Options{Path: path})
	for n := range 40 {
		s.Put(keyOf(n), valueOf(n)[:min(len(valueOf(n)), 30)])
	}
	s.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint16(17))
	f.Add(b[:4096], uint16(3))
	f.Add([]byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		b = bytes.Clone(b)
		mendMetas(b)
		seen := map[string]bool{}
		proof := verify(bytes.NewReader(b), int64(len(b)), func(bucket string, key []byte, _ int64, _ int) { seen[bucket+string(key)] = true })
		if proof != nil && !errors.Is(proof, ErrDamaged) {
			t.Fatalf("untyped error %v", proof)
		}
		p, err := newPages(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if proof == nil || !errors.Is(err, ErrDamaged) {
				t.Fatalf("proof %v, lookup %v", proof, err)
			}
			return
		}
		id := keyOf(int(n)).id()
		value, err := p.lookup(numbersBucket, id[:])
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatalf("untyped error %v", err)
		}
		if proof == nil && (err != nil || (value != nil) != seen[string(numbersBucket)+string(id[:])]) {
			t.Fatalf("the proof saw %v, lookup says %v, %v", seen[string(numbersBucket)+string(id[:])], value, err)
		}
	})
}

// What this package reads by itself is what bbolt reads, in files of all sizes.
func TestPagesAgreeWithBolt(t *testing.T) {
	for _, n := range []int{0, 1, 3, 40, 700, 3000} {
		path := filepath.Join(t.TempDir(), "outlines.db")
		s := open(t, Options{Path: path})
		for i := range n {
			s.Put(keyOf(i), valueOf(i)[:min(len(valueOf(i)), 200)])
		}
		fill(s, n/2, n/2+min(n, 30)) // some larger, in the place of others
		s.Close()
		if n == 0 {
			continue
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, _ := file.Stat()
		p, err := newPages(file, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		err = db.View(func(tx *bbolt.Tx) error {
			for _, name := range [][]byte{numbersBucket, valuesBucket} {
				if err := tx.Bucket(name).ForEach(func(k, v []byte) error {
					count++
					if got, err := p.lookup(name, k); err != nil || !bytes.Equal(got, v) {
						t.Errorf("%d: %s %x: %d bytes, bbolt has %d; %v", n, name, k, len(got), len(v), err)
					}
					if got, err := p.lookup(name, append(bytes.Clone(k), 0)); err != nil || got != nil {
						t.Errorf("%d: a key that is not there has %d bytes, %v", n, len(got), err)
					}
					return nil
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || count < 2*n {
			t.Errorf("%d: %d elements, %v", n, count, err)
		}
		db.Close()
		file.Close()
	}
}
