package watch

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// ErrLimit is wrapped by the errors of a system that has no more watches or
// descriptors to give.
var ErrLimit = errors.New("the system's limit of file watches is reached; raise fs.inotify.max_user_watches and max_user_instances")

// Event says that something happened at a path. Lost events are an Event
// without a path.
type Event struct {
	Path string
	Gone bool // the name was removed or renamed away
}

// Stream is one generation of watches.
type Stream interface {
	// Add watches the entries of a directory. Who wants to miss nothing lists
	// the directory after Add.
	Add(dir string) error
	// Events returns the channel of events, which is closed by Close.
	Events() <-chan Event
	// Close ends the watches and waits for the goroutines of the stream.
	Close() error
}

// Source starts a generation.
type Source func() (Stream, error)

// System is the Source of the operating system.
func System() (Stream, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, limit(err)
	}
	s := &stream{w: w, out: make(chan Event), done: make(chan struct{})}
	s.running.Go(s.run)
	return s, nil
}

type stream struct {
	w       *fsnotify.Watcher
	out     chan Event
	done    chan struct{} // closed by Close
	closing sync.Once
	running sync.WaitGroup
}

func (s *stream) Add(dir string) error {
	if err := s.w.Add(dir); err != nil {
		return limit(fmt.Errorf("watch %q: %w", dir, err))
	}
	return nil
}

func limit(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return err
}

func (s *stream) Events() <-chan Event { return s.out }

func (s *stream) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.done)
		err = s.w.Close()
		s.running.Wait()
	})
	return err
}

// run passes events on. Any error of the watcher means that events are lost.
func (s *stream) run() {
	defer close(s.out)
	for {
		var e Event
		select {
		case got, ok := <-s.w.Events:
			if !ok {
				return
			}
			e = Event{Path: got.Name, Gone: got.Has(fsnotify.Remove) || got.Has(fsnotify.Rename)}
		case _, ok := <-s.w.Errors:
			if !ok {
				return
			}
		case <-s.done:
			return
		}
		select {
		case s.out <- e:
		case <-s.done:
			return
		}
	}
}
