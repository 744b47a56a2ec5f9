package buffers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// editor drives a Set as one connection does.
type editor struct {
	t    *testing.T
	set  *Set
	pool *Pool
	err  error // of the last change
}

func newEditor(t *testing.T, limits Limits) *editor {
	pool := NewPool(1 << 20)
	e := &editor{t: t, set: NewSet(limits, pool), pool: pool}
	t.Cleanup(func() {
		var bytes int64
		for _, d := range e.set.All() {
			bytes += d.cost()
		}
		if bytes != e.set.Bytes() || bytes != pool.Used() {
			t.Errorf("the documents take %d bytes, the set says %d and the pool %d", bytes, e.set.Bytes(), pool.Used())
		}
		e.set.Release()
		if pool.Used() != 0 {
			t.Errorf("%d bytes are left in the pool", pool.Used())
		}
	})
	return e
}

func (e *editor) open(key string, version int64, text string) {
	e.set, e.err = e.set.Open(Document{Key: key, URI: key, Version: version}, text)
}

// change inserts text at the start of a line, or replaces all if line < 0.
func (e *editor) change(key string, version int64, line int, text string) {
	c := Change{Text: text}
	if line >= 0 {
		at := Position{Line: uint64(line)}
		c.Range = &Range{at, at}
	}
	e.set, e.err = e.set.Change(key, version, []Change{c}, UTF16)
}

// holds fails unless the text of a document is want; "?" stands for one that is
// lost, "!" for one without room, "-" for a document that is not there.
func (e *editor) holds(key, want string) {
	e.t.Helper()
	got := "-"
	if d, found := e.set.Get(key); found {
		text, err := d.Text()
		switch {
		case errors.Is(err, ErrLost):
			got = "?"
		case errors.Is(err, ErrFull):
			got = "!"
		default:
			got = string(text.Bytes())
		}
	}
	if got != want {
		e.t.Errorf("%s: %q, want %q", key, got, want)
	}
}

var roomy = Limits{Documents: 10, Bytes: 1 << 20}

func TestVersionsMustNotFall(t *testing.T) {
	e := newEditor(t, roomy)
	e.open("a", 5, "one\n")
	e.change("a", 6, 0, "x")
	e.holds("a", "xone\n")
	e.change("a", 9, 0, "y") // gaps are allowed
	e.holds("a", "yxone\n")
	e.change("a", 9, 0, "z") // several changes of one version
	e.holds("a", "zyxone\n")
	e.change("a", 8, 0, "z")
	if e.holds("a", "?"); e.err == nil {
		t.Error("a version that fell is no error")
	}
	e.change("a", 10, 0, "z")
	e.holds("a", "?")
	e.change("a", 9, -1, "an old whole text") // version 10 was seen
	e.holds("a", "?")
	e.change("a", 11, -1, "whole")
	e.holds("a", "whole")
	e.change("a", 12, 0, "x")
	e.holds("a", "xwhole")
}

func TestLostUntilItIsSentWhole(t *testing.T) {
	e := newEditor(t, roomy)
	e.open("a", 1, "one\n")
	e.open("b", 1, "other\n")
	e.set, e.err = e.set.Change("a", 2, []Change{{Range: &Range{Start: Position{Line: 1}}}}, UTF16)
	if e.holds("a", "?"); e.err == nil {
		t.Error("a range that runs backwards is no error")
	}
	e.holds("b", "other\n")
	e.open("a", 1, "again\n")
	e.holds("a", "again\n")
	e.set, e.err = e.set.Lose("a", errors.New("nonsense"))
	e.holds("a", "?")
	e.set, e.err = e.set.Save("a", "saved\n")
	if e.holds("a", "saved\n"); e.err != nil {
		t.Error(e.err)
	}
	e.set, e.err = e.set.Change("a", 2, []Change{{Range: &Range{Start: Position{Line: 1}}, Text: "lost "}, {Text: "B"}, {Range: &Range{}, Text: "A"}}, UTF16)
	e.holds("a", "AB")
	if e.set, e.err = e.set.Save("a", "else"); e.err == nil {
		t.Error("a text that was saved and is another one is no error")
	}
	e.holds("a", "else")
	for _, f := range []func(){
		func() { e.change("c", 1, -1, "x") },
		func() { e.set, e.err = e.set.Close("c") },
		func() { e.set, e.err = e.set.Save("c", "x") },
		func() { e.set, e.err = e.set.Lose("c", ErrFull) },
	} {
		if f(); e.err == nil || e.set.Len() != 2 {
			t.Errorf("a document that is not open: %v", e.err)
		}
	}
	e.set, e.err = e.set.Close("a")
	e.holds("a", "-")
}

func TestASetStaysAsItWas(t *testing.T) {
	e := newEditor(t, roomy)
	e.open("b", 1, "b")
	before := e.set
	e.open("a", 1, "a")
	e.change("b", 2, -1, "changed")
	e.set, _ = e.set.Close("a")
	if d, _ := before.Get("b"); before.Len() != 1 || d.Version != 1 || !d.text.Equal([]byte("b")) {
		t.Error("the set before has changed")
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	e := newEditor(t, Limits{Documents: 3, Bytes: 4000})
	e.open("a", 1, "a")
	e.open("big", 1, strings.Repeat("x", 5000))
	if e.holds("big", "!"); !errors.Is(e.err, ErrFull) {
		t.Errorf("over the limit of bytes: %v", e.err)
	}
	e.change("big", 2, -1, "small")
	e.holds("big", "small")
	e.change("a", 2, 0, strings.Repeat("y", 5000))
	e.holds("a", "!")
	e.open("c", 1, "c")
	if e.set.Complete() != true {
		t.Error("not complete")
	}
	e.open("d", 1, "d")
	if e.holds("d", "-"); e.set.Complete() || !errors.Is(e.err, ErrFull) {
		t.Errorf("over the limit of documents: %v", e.err)
	}
	e.set, e.err = e.set.Close("d")
	if !e.set.Complete() {
		t.Error("still not complete")
	}
	e.open(strings.Repeat("long name", 1000), 1, "")
	if e.set.Len() != 3 || e.set.Complete() {
		t.Errorf("a long name: %d documents", e.set.Len())
	}
}

func TestThePoolIsShared(t *testing.T) {
	pool := NewPool(2500)
	one, two := NewSet(roomy, pool), NewSet(roomy, pool)
	one, err := one.Open(Document{Key: "a"}, strings.Repeat("x", 1500))
	if err != nil {
		t.Fatal(err)
	}
	two, err = two.Open(Document{Key: "a"}, strings.Repeat("x", 1500))
	if !errors.Is(err, ErrFull) {
		t.Errorf("past the limit of all: %v", err)
	}
	one.Release()
	if two, err = two.Change("a", 1, []Change{{Text: strings.Repeat("x", 1500)}}, UTF8); err != nil {
		t.Error(err)
	}
	two.Release()
	if pool.Used() != 0 {
		t.Errorf("%d bytes are left", pool.Used())
	}
}

func ExampleSet() {
	set := NewSet(Limits{Documents: 100, Bytes: 1 << 20}, NewPool(1<<20))
	set, _ = set.Open(Document{Key: "greet.go", LanguageID: "go", Version: 1}, "package greet\r\n")
	end := Position{Line: 0, Character: 1000} // clamped: before the line end
	set, _ = set.Change("greet.go", 2, []Change{{Range: &Range{end, end}, Text: "ing"}}, UTF16)
	d, _ := set.Get("greet.go")
	text, _ := d.Text()
	fmt.Printf("%d %q\n", d.Version, text.Bytes())
	// Output: 2 "package greeting\r\n"
}
