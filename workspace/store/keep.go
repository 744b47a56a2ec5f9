package store

import (
	"errors"
	"syscall"
	"time"
)

// keep owns the file: it opens it, writes to it, and tries it again when it
// could not be used. It runs until Close.
func (s *Store) keep() {
	s.open(false)
	close(s.opened)
	retry := time.NewTicker(s.opt.Retry)
	defer retry.Stop()
	var due <-chan time.Time // when what is queued is written
	for {
		select {
		case <-s.wake:
			if due == nil {
				due = time.After(s.opt.Delay)
			}
		case <-due:
			due = nil
			s.write()
		case <-s.full:
			s.write()
		case done := <-s.flush:
			s.write()
			close(done)
		case db := <-s.broken:
			if db == s.db {
				s.renew()
			}
		case <-retry.C:
			s.again()
		case <-s.quit:
			s.write()
			s.leave(Closed, nil)
			return
		}
	}
}

// open tries the file, and empties it first if that is asked for.
func (s *Store) open(empty bool) {
	db, reset, err := openDatabase(s.opt.Path, s.opt.Wait, empty)
	if reset != nil {
		s.opt.Log.Warn("store emptied", "path", s.opt.Path, "why", reset)
		s.mu.Lock()
		s.stats.Damaged++
		s.mu.Unlock()
	}
	if err != nil {
		state := Unusable
		switch {
		case errors.Is(err, ErrLocked):
			state = Locked
		case full(err):
			state = Full
		}
		s.leave(state, err)
		return
	}
	s.life.Lock()
	s.db = db
	s.life.Unlock()
	s.say(Ready, nil)
}

// say sets the state, and logs one that is new and bad.
func (s *Store) say(state State, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.stats.State != state {
		s.opt.Log.Warn("store not used", "path", s.opt.Path, "state", state, "err", err)
	}
	s.stats.State, s.stats.Why = state, ""
	if err != nil {
		s.stats.Why = err.Error()
	}
}

// leave closes the file, if it is open, after all readers have left it.
func (s *Store) leave(state State, err error) {
	s.life.Lock()
	db := s.db
	s.db = nil
	s.life.Unlock()
	if db != nil {
		if e := db.close(); e != nil {
			s.opt.Log.Warn("store closed", "path", s.opt.Path, "err", e)
		}
	}
	s.say(state, err)
}

// renew starts over with an empty file in the place of a damaged one.
func (s *Store) renew() {
	s.leave(Opening, nil)
	s.open(true)
}

// again tries what did not work, and whether the path still leads to the file.
func (s *Store) again() {
	if s.db == nil || !s.db.stands() {
		s.leave(Opening, nil)
		s.open(false)
		return
	}
	s.say(Ready, nil) // there may be room by now
}

// write writes what is queued.
func (s *Store) write() {
	items := s.take()
	if len(items) == 0 {
		return
	}
	if s.db != nil && !s.db.stands() {
		s.again()
	}
	start := time.Now()
	err := s.store(items)
	if errors.Is(err, ErrDamaged) {
		s.renew()
		err = s.store(items)
	}
	s.mu.Lock()
	s.writing = nil
	if err == nil {
		s.stats.Puts += int64(len(items))
	} else {
		s.stats.Dropped += int64(len(items))
	}
	s.stats.Flushes++
	s.stats.FlushTime += time.Since(start)
	s.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, errNoFile):
	case full(err):
		s.say(Full, err)
	default:
		s.leave(Unusable, err)
	}
}

// errNoFile says that there is no file to write to; Stats says why.
var errNoFile = errors.New("no file")

// take empties the queue into what is being written, where readers find it.
func (s *Store) take() []item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing, s.queue, s.queued = s.queue, map[keyID][]byte{}, 0
	items := make([]item, 0, len(s.writing))
	for id, value := range s.writing {
		items = append(items, item{id, value})
	}
	return items
}

// store puts items in transactions of bounded size, and takes out the oldest
// values past the limit.
func (s *Store) store(items []item) error {
	if s.db == nil {
		return errNoFile
	}
	for len(items) > 0 {
		n, bytes := 0, 0
		for n < len(items) && (n == 0 || bytes+len(items[n].value) <= batchBytes) {
			bytes += len(items[n].value)
			n++
		}
		if err := s.db.put(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return s.trim()
}

// trim brings the file a tenth below its limit when it is past it. What a value
// takes is a little more than its bytes, so that it may need another turn.
func (s *Store) trim() error {
	for {
		used, err := s.db.inUse()
		if err != nil || used <= s.opt.Limit {
			return err
		}
		n, err := s.db.evict(used - s.opt.Limit/10*9)
		if err != nil || n == 0 {
			return err
		}
		s.mu.Lock()
		s.stats.Evicted += n
		s.mu.Unlock()
	}
}

// full reports whether err says that there is no room.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
