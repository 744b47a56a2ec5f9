package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
)

// extractFunc is an Extractor that counts its calls.
type extractFunc struct {
	calls atomic.Int64
	f     func(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error)
}

func (x *extractFunc) Extract(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
	x.calls.Add(1)
	return x.f(ctx, lang, text)
}

func outlineOf(lang outline.Language, text *hashline.Text, why symbol.Why) *outline.Outline {
	return &outline.Outline{
		Language: lang, Lines: text.Lines(), Bytes: text.Size(),
		List: symbol.List{Source: symbol.Parser, Why: why, Symbols: []symbol.Symbol{{Name: string(text.Line(1)), Kind: symbol.Function, Start: 1, End: 1}}},
	}
}

// plain extracts at once.
func plain(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
	return outlineOf(lang, text, ""), nil
}

// version makes a Version without touching a file, for use in a bubble.
func (c *Cache) version(path, content string) *Version {
	b := []byte(content)
	digest := hashline.Sum(b)
	return &Version{cache: c, name: path, record: c.newRecord(c.snapshotID(path, digest), path, path, newContent(digest, b, nil))}
}

// An outline is a function of bytes and language: equal bytes share it
// whatever their path, another language or other bytes have their own.
func TestPureDerivation(t *testing.T) {
	x := &extractFunc{f: plain}
	c, f, dir := openFolder(t, Options{Outlines: x})
	for name, content := range map[string]string{"a.go": "one\n", "b.go": "one\n", "c.py": "one\n", "d.go": "two\n"} {
		write(t, filepath.Join(dir, name), content)
	}
	get := func(name string) *outline.Outline {
		v := mustRead(t, c, f, name)
		o, err := v.Outline(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if peeked, ok := v.Peek(); !ok || peeked != o {
			t.Errorf("%s: Peek gives another outline", name)
		}
		return o
	}
	if _, ok := mustRead(t, c, f, "a.go").Peek(); ok {
		t.Error("an outline is there that nobody asked for")
	}
	a, b, py, d := get("a.go"), get("b.go"), get("c.py"), get("d.go")
	if a != b || a == py || a == d || py.Language != outline.Python || d.Symbols[0].Name != "two" {
		t.Error("outlines are shared wrongly")
	}
	write(t, filepath.Join(dir, "a.go"), "two\n")
	if get("a.go") != d {
		t.Error("a.go with the bytes of d.go has another outline")
	}
	if n := x.calls.Load(); n != 3 {
		t.Errorf("3 different outlines took %d extractions", n)
	}
}

// Many who ask at once wait for one extraction. It outlives the first who
// asked, and ends when nobody waits any more.
func TestOutlineShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var ended atomic.Int64
		x := &extractFunc{f: func(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
			select {
			case <-release:
				return plain(ctx, lang, text)
			case <-ctx.Done():
				ended.Add(1)
				return nil, ctx.Err()
			}
		}}
		c := NewCache(Options{Outlines: x})
		defer c.Close()
		v := c.version("/f.go", "x\n")
		ask := func(ctx context.Context) chan error {
			result := make(chan error, 1)
			go func() {
				o, err := v.Outline(ctx)
				if err == nil && o.Symbols[0].Name != "x" {
					err = errors.New("wrong outline")
				}
				result <- err
			}()
			return result
		}

		first, leave := context.WithCancel(t.Context())
		one := ask(first)
		synctest.Wait()
		var rest []chan error
		for range 50 {
			rest = append(rest, ask(t.Context()))
		}
		synctest.Wait()
		leave()
		if err := <-one; !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left got %v", err)
		}
		synctest.Wait()
		if ended.Load() != 0 || x.calls.Load() != 1 {
			t.Fatalf("%d extractions, %d ended with the first who asked", x.calls.Load(), ended.Load())
		}
		close(release)
		for _, r := range rest {
			if err := <-r; err != nil {
				t.Error(err)
			}
		}

		// All leave: the extraction ends, and who comes then starts a new one.
		release = make(chan struct{})
		v = c.version("/g.go", "x y\n")
		v.content.text = hashline.NewText([]byte("x\n"))
		alone, leave := context.WithCancel(t.Context())
		one = ask(alone)
		synctest.Wait()
		leave()
		<-one
		again := ask(t.Context())
		synctest.Wait()
		if ended.Load() != 1 || x.calls.Load() != 3 {
			t.Errorf("after all left: %d ended, %d started", ended.Load(), x.calls.Load())
		}
		close(release)
		if err := <-again; err != nil {
			t.Error(err)
		}
	})
}

// An outline that hit a limit is remembered for a while only; one that is
// worse for what the bytes are stays.
func TestOutlineFailedExpires(t *testing.T) {
	for why, stays := range map[symbol.Why]bool{
		symbol.Timeout: false, symbol.Memory: false, symbol.Crashed: false,
		symbol.SyntaxErrors: true, symbol.TooLarge: true, symbol.Unsupported: true, "": true,
	} {
		synctest.Test(t, func(t *testing.T) {
			x := &extractFunc{f: func(_ context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
				return outlineOf(lang, text, why), nil
			}}
			c := NewCache(Options{Outlines: x})
			defer c.Close()
			v := c.version("/f.go", "x\n")
			for _, after := range []time.Duration{0, 10*time.Minute - 1, 1} {
				time.Sleep(after)
				if o, err := v.Outline(t.Context()); err != nil || o.Why != why {
					t.Fatalf("%q: %v", why, err)
				}
				want := int64(1)
				if after == 1 && !stays {
					want = 2
				}
				if n := x.calls.Load(); n != want {
					t.Errorf("%q: %d extractions %v later, want %d", why, n, after, want)
				}
			}
		})
	}
}

// An extractor that panics costs its file the outline and nothing else.
func TestOutlinePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &extractFunc{f: func(context.Context, outline.Language, *hashline.Text) (*outline.Outline, error) { panic("boom") }}
		c := NewCache(Options{Outlines: x})
		defer c.Close()
		for range 2 {
			var p *PanicError
			if _, err := c.version("/f.go", "x\n").Outline(t.Context()); !errors.As(err, &p) || p.Value != "boom" || len(p.Stack) == 0 {
				t.Errorf("outline: %v", err)
			}
		}
		if x.calls.Load() != 2 {
			t.Error("a panic was remembered")
		}
	})
}

func TestOutlineNone(t *testing.T) {
	c := NewCache(Options{})
	defer c.Close()
	if _, err := c.version("/f", "\x00").Outline(t.Context()); !errors.Is(err, ErrBinary) {
		t.Errorf("outline of a binary file: %v", err)
	}
	if _, err := c.version("/f", "text").Outline(t.Context()); !errors.Is(err, errNoExtractor) {
		t.Errorf("outline without an extractor: %v", err)
	}
}

// The memory of outlines stays in its bound, the least recently used goes.
func TestBoundedOutlines(t *testing.T) {
	x := &extractFunc{f: plain}
	c := NewCache(Options{Outlines: x, Limits: Limits{OutlineBytes: 5000}})
	defer c.Close()
	for i := range 100 {
		for _, name := range []string{"/kept.go", fmt.Sprintf("/%d.go", i)} {
			if _, err := c.version(name, name+"\n").Outline(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := c.Stats(); s.OutlineBytes > 5000 || s.Outlines == 0 {
				t.Fatalf("%d outlines in %d bytes", s.Outlines, s.OutlineBytes)
			}
		}
	}
	if n := x.calls.Load(); n != 101 {
		t.Errorf("%d extractions for 100 outlines and one in constant use", n)
	}
	var sum int64
	for at := c.outlines.recent.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*outlineEntry).cost
	}
	if s := c.Stats(); sum != s.OutlineBytes || s.Outlines != c.outlines.recent.Len() {
		t.Errorf("books %+v, sum %d", s, sum)
	}
}

// Close ends the reads and extractions in flight and waits for them; what
// comes later is refused. No goroutine (TestMain) and no descriptor is left.
func TestQuietClose(t *testing.T) {
	descriptors := openDescriptors(t)
	src := newFaulty()
	src.restamp = aged
	started := make(chan struct{}, 1)
	x := &extractFunc{f: func(ctx context.Context, _ outline.Language, _ *hashline.Text) (*outline.Outline, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	c, f, dir := openFolder(t, Options{Outlines: x, source: src, Limits: Limits{ReadBytes: 4096}})
	write(t, filepath.Join(dir, "f.go"), "x\n")
	v := mustRead(t, c, f, "f.go")

	var all sync.WaitGroup
	errs := make(chan error, 3)
	all.Go(func() { _, err := v.Outline(t.Context()); errs <- err })
	<-started
	reading, release := make(chan struct{}), make(chan struct{})
	src.atRead = func(off int64) error {
		if off == 0 {
			close(reading)
			<-release
		}
		return nil
	}
	readDone := make(chan error, 1)
	all.Go(func() { _, err := c.Read(t.Context(), f, "f.go"); readDone <- err })
	<-reading
	all.Go(func() { _, err := c.Read(t.Context(), f, "f.go"); errs <- err }) // waits for the budget

	closed := make(chan struct{})
	go func() { c.Close(); close(closed) }()
	for range 2 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Errorf("cut off by Close: %v", err)
		}
	}
	select {
	case <-closed:
		t.Error("Close did not wait for a read")
	default:
	}
	close(release)
	if err := <-readDone; err != nil {
		t.Errorf("the read under way when Close came: %v", err)
	}
	<-closed
	all.Wait()
	c.Close()
	if _, err := c.Read(t.Context(), f, "f.go"); !errors.Is(err, ErrClosed) {
		t.Errorf("read after Close: %v", err)
	}
	if _, err := v.Outline(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("outline after Close: %v", err)
	}
	if n := openDescriptors(t); n != descriptors {
		t.Errorf("%d descriptors open, %d before", n, descriptors)
	}
}
