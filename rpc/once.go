package rpc

import (
	"maps"
	"slices"
	"sync"

	"mapd/hashline"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

const (
	// keptRequests is how many requestIds a session remembers.
	keptRequests = 256
	// keptLoops is how many edits without an effect a session remembers.
	keptLoops = 64
	// loopLimit is the identical edit without an effect that is refused.
	loopLimit = 3
)

// edits is what a session remembers of its edits: the replies of those that
// may be sent again, and those that changed nothing. The zero value is ready.
type edits struct {
	mu    sync.Mutex // guards what follows
	order []string   // ids of sent, the oldest first
	sent  map[string]*sentEdit
	loops map[loop]int
}

// loop is an edit that changed nothing.
type loop struct {
	file   string // Version.File
	params hashline.Digest
}

// sentEdit is an edit under a requestId.
type sentEdit struct {
	params hashline.Digest
	done   chan struct{} // closed when reply and ok are set
	reply  conn.Reply
	ok     bool
}

// once runs an edit, or gives the reply of the edit that came with the same id
// and the same parameters before; a copy that comes while that one runs waits
// for it. A failed edit is not remembered: the same id may try again.
func (e *edits) once(id string, params any, run func() (conn.Reply, error)) (conn.Reply, error) {
	if id == "" {
		return run()
	}
	digest, err := digestOf(params)
	if err != nil {
		return conn.Reply{}, err
	}
	for {
		first, mine := e.enter(id, digest)
		if mine {
			return e.lead(id, first, run)
		}
		if first.params != digest {
			return conn.Reply{}, wire.Errorf(wire.InvalidParams, "requestId %.100q was used for another edit; nothing was written", id)
		}
		<-first.done
		if first.ok {
			return first.reply, nil
		}
	}
}

// enter returns the edit under an id, and whether it is the caller's to run.
func (e *edits) enter(id string, params hashline.Digest) (sent *sentEdit, mine bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if sent, ok := e.sent[id]; ok {
		return sent, false
	}
	if e.sent == nil {
		e.sent = map[string]*sentEdit{}
	}
	sent = &sentEdit{params: params, done: make(chan struct{})}
	e.sent[id] = sent
	e.order = append(e.order, id)
	if len(e.order) > keptRequests {
		delete(e.sent, e.order[0])
		e.order = slices.Delete(e.order, 0, 1)
	}
	return sent, true
}

// lead runs the edit for all that wait for it.
func (e *edits) lead(id string, sent *sentEdit, run func() (conn.Reply, error)) (reply conn.Reply, err error) {
	defer func() { // also when run panics
		e.mu.Lock()
		defer e.mu.Unlock()
		if !sent.ok && e.sent[id] == sent {
			delete(e.sent, id)
			e.order = slices.DeleteFunc(e.order, func(o string) bool { return o == id })
		}
		close(sent.done)
	}()
	reply, err = run()
	sent.reply, sent.ok = conn.Reply{Result: reply.Result}, err == nil
	return reply, err
}

// noChange counts an edit that changed nothing, and refuses it when it has been
// made too often since the session last changed the file.
func (e *edits) noChange(file string, p wire.EditParams) error {
	p.RequestID = ""
	digest, err := digestOf(p)
	if err != nil {
		return err
	}
	key := loop{file, digest}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loops == nil || len(e.loops) >= keptLoops {
		e.loops = map[loop]int{key: e.loops[key]}
	}
	if e.loops[key]++; e.loops[key] < loopLimit {
		return nil
	}
	return wire.Errorf(wire.NoChangeLoop, "this edit was made %d times and changes nothing: the lines are already as it wants them; nothing was written", e.loops[key])
}

// changed ends the loops of a file.
func (e *edits) changed(file string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.loops, func(l loop, _ int) bool { return l.file == file })
}

func digestOf(params any) (hashline.Digest, error) {
	b, err := encode(params)
	return hashline.Sum(b), err
}
