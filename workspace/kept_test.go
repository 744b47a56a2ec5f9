package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/workspace/store"
)

// valueStore is a Store that counts.
type valueStore struct {
	mu     sync.Mutex
	values map[store.Key][]byte
	gets   int
}

func (m *valueStore) Get(k store.Key) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gets++
	v, ok := m.values[k]
	return v, ok
}

func (m *valueStore) Put(k store.Key, v []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[store.Key][]byte{}
	}
	m.values[k] = v
}

// waitReady waits until all outlines of w are made.
func waitReady(t testing.TB, w *Workspace) *Index {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; runtime.Gosched() {
		if ix := w.Index(); ix.State() == Ready {
			return ix
		}
		if time.Now().After(end) {
			t.Fatalf("%s, %+v", w.Index().State(), w.Index().Counts())
		}
	}
}

// nameAt returns the name of the only symbol of a file.
func nameAt(t testing.TB, ix *Index, path string) string {
	t.Helper()
	f, ok := ix.Lookup(path)
	if !ok {
		t.Fatalf("%s is not in the index", path)
	}
	list, ok := f.Names()
	if !ok || list.Len() != 1 {
		t.Fatalf("%s has %d names, %v", path, list.Len(), ok)
	}
	return list.At(0).Name
}

// After a restart nothing is made again that did not change, and what is known
// is known of bytes: a file that changed, or was exchanged for another, while no
// daemon ran has the names of what it holds now, whatever its stamp.
func TestWarmRestart(t *testing.T) {
	for _, kept := range []string{"names", "store", "both"} {
		t.Run(kept, func(t *testing.T) {
			dir, outlines := memoryDir(t), &valueStore{}
			opt := Options{Version: "1"}
			if kept != "names" {
				opt.Store = outlines
			}
			if kept != "store" {
				opt.Shelf = store.Blobs{Dir: filepath.Join(t.TempDir(), "names")}
			}
			run := func() (made int64, ix *Index) {
				x := &extractFunc{f: func(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
					o := outlineOf(lang, text, "")
					o.Count = 1
					return o, nil
				}}
				opt := opt
				opt.Outlines = x
				c := NewCache(opt)
				defer c.Close()
				w := openWorkspace(t, c, dir, WorkspaceOptions{})
				settle(t, w)
				ix = waitReady(t, w)
				return x.calls.Load(), ix
			}
			for i := range 30 {
				write(t, filepath.Join(dir, fmt.Sprintf("d/f%02d.go", i)), fmt.Sprintln("file", i))
			}
			if made, _ := run(); made != 30 {
				t.Fatalf("%d outlines made at first", made)
			}
			made, ix := run()
			if made != 0 || nameAt(t, ix, "d/f07.go") != "file 7" || ix.Counts().Symbols != 30 || ix.Counts().Lines != 30 {
				t.Errorf("%d outlines made again, %+v", made, ix.Counts())
			}
			// Other bytes of equal length under the old stamp, and two files exchanged.
			path := filepath.Join(dir, "d/f03.go")
			before, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, "FILE 3\n")
			os.Chtimes(path, before.ModTime(), before.ModTime())
			a, b := filepath.Join(dir, "d/f10.go"), filepath.Join(dir, "d/f11.go")
			os.Rename(a, a+".tmp")
			os.Rename(b, a)
			os.Rename(a+".tmp", b)
			made, ix = run()
			if made != 1 || nameAt(t, ix, "d/f03.go") != "FILE 3" || nameAt(t, ix, "d/f10.go") != "file 11" || nameAt(t, ix, "d/f11.go") != "file 10" {
				t.Errorf("%d made; %s, %s, %s", made, nameAt(t, ix, "d/f03.go"), nameAt(t, ix, "d/f10.go"), nameAt(t, ix, "d/f11.go"))
			}
			// Another version of the extractors has other outlines.
			opt.Version = "2"
			if made, _ := run(); made != 30 {
				t.Errorf("another version made %d of 30", made)
			}
		})
	}
}

// What the store and the shelf give back is believed only as far as it fits.
func TestStoredOutlineMustFit(t *testing.T) {
	dir, kept := memoryDir(t), &valueStore{}
	write(t, filepath.Join(dir, "f.go"), "right\n")
	x := &extractFunc{f: func(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
		o := outlineOf(lang, text, "")
		o.Count = 1
		return o, nil
	}}
	read := func() *outline.Outline {
		c := NewCache(Options{Outlines: x, Version: "1", Store: kept})
		defer c.Close()
		f, err := c.Folders(dir)
		if err != nil {
			t.Fatal(err)
		}
		o, err := mustRead(t, c, f, "f.go").Outline(t.Context())
		if err != nil || o.Symbols[0].Name != "right" {
			t.Fatalf("%v, %v", o, err)
		}
		return o
	}
	read()
	if read(); x.calls.Load() != 1 || len(kept.values) != 1 {
		t.Errorf("made %d times, %d stored", x.calls.Load(), len(kept.values))
	}
	for k, v := range kept.values {
		for i := range v {
			kept.values[k] = append(append(append([]byte{}, v[:i]...), v[i]^1), v[i+1:]...)
			read()
			kept.values[k] = v[:i]
			read()
		}
		kept.values[k] = v
	}
	if read(); x.calls.Load() < 10 {
		t.Error("damage was not noticed")
	}
}

// An outline that hit a limit is stored nowhere.
func TestTransientIsNotStored(t *testing.T) {
	dir, kept := memoryDir(t), &valueStore{}
	shelf := store.Blobs{Dir: filepath.Join(t.TempDir(), "names")}
	write(t, filepath.Join(dir, "f.go"), "text\n")
	x := &extractFunc{f: func(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
		o := outlineOf(lang, text, symbol.Timeout)
		o.Count = 1
		return o, nil
	}}
	for range 2 {
		c := NewCache(Options{Outlines: x, Version: "1", Store: kept, Shelf: shelf})
		w := openWorkspace(t, c, dir, WorkspaceOptions{})
		settle(t, w)
		waitReady(t, w)
		c.Close()
	}
	if x.calls.Load() != 2 || len(kept.values) != 0 {
		t.Errorf("made %d times, %d stored", x.calls.Load(), len(kept.values))
	}
}

// The counts are those of the files of the newest index, after any changes, and
// what the scan leaves for outlines is bounded and given back.
func TestCounts(t *testing.T) {
	dir := memoryDir(t)
	for i := range 40 {
		write(t, filepath.Join(dir, fmt.Sprint(i, ".go")), fmt.Sprintln("file", i/2))
	}
	x := &extractFunc{f: plain}
	c := NewCache(Options{Outlines: x, Limits: Limits{ScanBytes: 60}})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	settle(t, w)
	waitReady(t, w)
	for i := range 10 {
		write(t, filepath.Join(dir, fmt.Sprint(i, ".go")), "changed\n")
		os.Remove(filepath.Join(dir, fmt.Sprint(10+i, ".go")))
		write(t, filepath.Join(dir, fmt.Sprint("new", i, ".bin")), "\x00")
	}
	settle(t, w)
	ix := waitReady(t, w)
	var want Counts
	for _, f := range ix.Files() {
		want.Files, want.Source = want.Files+1, want.Source+f.Size
		if list, ok := f.Names(); ok {
			want.Named, want.Symbols, want.Lines = want.Named+1, want.Symbols+int64(list.Len()), want.Lines+1
			want.Bytes += int64(list.Size()) + madeBytes
		}
	}
	if got := ix.Counts(); got != want || got.Named != 30 || got.Files != 40 {
		t.Errorf("counted %+v, there are %+v", got, want)
	}
	if n := c.bodies.Load(); n != 0 {
		t.Errorf("%d bytes are still left for outlines", n)
	}
}
