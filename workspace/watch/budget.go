package watch

import (
	"errors"
	"fmt"
	"sync"
)

// errOwnLimit is the cause of an ErrLimit that a Budget sets.
var errOwnLimit = errors.New("the limit that mapd sets itself, so that other programs can watch files too")

// Budget bounds what the streams of this process take from the system, whose
// watches and instances are counted for all programs of a user. It is safe for
// concurrent use.
type Budget struct {
	instances, watches int

	mu      sync.Mutex // guards what follows
	streams int
	added   int // calls of Add that succeeded in the streams that are open
}

// NewBudget returns a Budget of so many streams, which have so many watches
// together.
func NewBudget(instances, watches int) *Budget {
	return &Budget{instances: instances, watches: watches}
}

// Used returns how many streams are open, and how many watches they have.
func (b *Budget) Used() (instances, watches int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.streams, b.added
}

// Limit returns source within the budget: past it, starting a stream or adding a
// watch fails with ErrLimit.
func (b *Budget) Limit(source Source) Source {
	return func() (Stream, error) {
		if !b.take(&b.streams, b.instances) {
			return nil, fmt.Errorf("%w: %w (%d instances)", ErrLimit, errOwnLimit, b.instances)
		}
		s, err := source()
		if err != nil {
			b.give(1, 0)
			return nil, err
		}
		return &bounded{Stream: s, budget: b}, nil
	}
}

func (b *Budget) take(count *int, limit int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *count >= limit {
		return false
	}
	*count++
	return true
}

func (b *Budget) give(streams, watches int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams -= streams
	b.added -= watches
}

// bounded is a Stream that counts.
type bounded struct {
	Stream
	budget  *Budget
	closing sync.Once

	mu     sync.Mutex // guards what follows
	added  int
	closed bool
}

func (s *bounded) Add(dir string) error {
	b := s.budget
	if !b.take(&b.added, b.watches) {
		return fmt.Errorf("watch %q: %w: %w (%d watches)", dir, ErrLimit, errOwnLimit, b.watches)
	}
	if err := s.Stream.Add(dir); err != nil {
		b.give(0, 1)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		b.give(0, 1)
		return nil
	}
	s.added++
	return nil
}

func (s *bounded) Close() error {
	var err error
	s.closing.Do(func() {
		err = s.Stream.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = true
		s.budget.give(1, s.added)
	})
	return err
}
