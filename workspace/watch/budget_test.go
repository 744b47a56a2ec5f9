package watch

import (
	"errors"
	"testing"
)

// A budget counts what is open, over all streams, and gives back what is closed.
func TestBudget(t *testing.T) {
	b := NewBudget(2, 3)
	source := b.Limit(func() (Stream, error) { return &fake{make(chan Event)}, nil })
	open := func() Stream {
		t.Helper()
		s, err := source()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	expect := func(streams, watches int) {
		t.Helper()
		if s, w := b.Used(); s != streams || w != watches {
			t.Errorf("%d streams and %d watches are used, want %d and %d", s, w, streams, watches)
		}
	}
	one, two := open(), open()
	if _, err := source(); !errors.Is(err, ErrLimit) {
		t.Errorf("a third stream: %v", err)
	}
	for i, s := range []Stream{one, two, one} {
		if err := s.Add("/d"); err != nil {
			t.Errorf("watch %d: %v", i, err)
		}
	}
	if err := two.Add("/d"); !errors.Is(err, ErrLimit) {
		t.Errorf("a fourth watch: %v", err)
	}
	expect(2, 3)
	one.Close()
	one.Close()
	expect(1, 1)
	if err := two.Add("/e"); err != nil {
		t.Errorf("after a stream was closed: %v", err)
	}
	expect(1, 2)
	failing := b.Limit(func() (Stream, error) { return nil, errors.New("no") })
	if _, err := failing(); err == nil {
		t.Error("no error")
	}
	expect(1, 2)
	open().Close()
	two.Close()
	expect(0, 0)
}

func TestRoom(t *testing.T) {
	streams, watches := Room()
	if streams == 0 || watches == 0 {
		t.Skip("the system does not tell its limits")
	}
	if streams > 1<<20 || watches > 1<<30 {
		t.Errorf("%d streams, %d watches", streams, watches)
	}
}
