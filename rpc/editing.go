package rpc

import (
	"sync"

	"mapd/rpc/conn"
)

// inFlight counts the edits that are on their way, by the name of their file in
// ledgers: from before the file is written until the ledger of the editing
// session knows of it. What changed meanwhile may be the session's own doing.
// The zero value is ready for use.
type inFlight struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

func (f *inFlight) on(file string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n[file] > 0
}

func (f *inFlight) add(file string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[string]int{}
	}
	if f.n[file] += n; f.n[file] == 0 {
		delete(f.n, file)
	}
}

// claim is the files of one request that edits.
type claim struct {
	of *inFlight

	mu    sync.Mutex // guards files
	files map[string]bool
}

// add notes a file before it is written.
func (c *claim) add(file string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files[file] {
		return
	}
	if c.files == nil {
		c.files = map[string]bool{}
	}
	c.files[file] = true
	c.of.add(file, +1)
}

// release may be called several times.
func (c *claim) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for file := range c.files {
		c.of.add(file, -1)
	}
	c.files = nil
}

// claimed runs a request that edits; its claim is released when the ledger knows
// of the reply, or that there is none.
func (s *Session) claimed(run func(*claim) (conn.Reply, error)) (reply conn.Reply, err error) {
	c := &claim{of: &s.server.editing}
	returned := false
	defer func() {
		if !returned { // run panics
			c.release()
		}
	}()
	reply, err = run(c)
	returned = true
	queued, withdraw := reply.Queued, reply.Withdraw
	reply.Queued = func() {
		defer c.release()
		if queued != nil {
			queued()
		}
	}
	reply.Withdraw = func() {
		defer c.release()
		if withdraw != nil {
			withdraw()
		}
	}
	return reply, err
}
