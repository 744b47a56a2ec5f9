package recovery

import (
	"encoding/json"
	"slices"
	"sync"
)

// Read is a read that an agent asked for and did not get.
type Read struct {
	ToolCallID string `json:"toolCallId,omitzero"`
	Path       string `json:"path"`
	// Params are the parameters to ask for it again with mapd/read, as JSON.
	Params json.RawMessage `json:"params"`
}

// Reads knows which reads of one session never arrived: cancelled, lost with
// the connection, refused as busy, cut off. Every read ends as exactly one of
// settled and lost, and a lost one is taken once. It is safe for concurrent use.
type Reads struct {
	mu   sync.Mutex // guards all below and every Attempt
	next int64
	lost []lostRead // ascending by number
}

type lostRead struct {
	number  int64
	read    Read
	attempt *Attempt
}

// maxLost is how many lost reads of a session are kept; past it the oldest goes.
const maxLost = 256

// An Attempt is one read while it is served.
type Attempt struct {
	reads  *Reads
	number int64
	read   Read
	kept   bool // is among Reads.lost, or was
}

// Number returns the place of a request in the order in which requests came. It
// is for all reads of that request.
func (r *Reads) Number() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	return r.next
}

// Begin notes a read of the request with that number; several reads of one
// request begin in their order. End the attempt with Settle or Lose.
func (r *Reads) Begin(number int64, read Read) *Attempt {
	return &Attempt{reads: r, number: number, read: read}
}

// Settle notes that the read was answered, by its content or by an error of its
// own, and takes back an earlier Lose as long as nobody has taken the read. A
// later Lose stands: the answer did not leave after all.
func (a *Attempt) Settle() {
	r := a.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.lost, func(l lostRead) bool { return l.attempt == a }); i >= 0 {
		r.lost = slices.Delete(r.lost, i, i+1)
		a.kept = false
	}
}

// Lose notes that the read was not answered, or that its answer did not leave.
// It can be taken from then on. A second call does nothing.
func (a *Attempt) Lose() {
	r := a.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.kept {
		return
	}
	a.kept = true
	// Behind those of its own request, which begin and are lost in order.
	i, _ := slices.BinarySearchFunc(r.lost, a.number+1, func(l lostRead, n int64) int { return int(l.number - n) })
	r.lost = slices.Insert(r.lost, i, lostRead{a.number, a.read, a})
	if len(r.lost) > maxLost {
		r.lost = slices.Delete(r.lost, 0, 1)
	}
}

// Take returns the lost reads in the order in which they were asked for, and
// forgets them. Put gives them back if the answer that carries them is lost too.
func (r *Reads) Take() *Taken {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Taken{reads: r, lost: r.lost}
	r.lost = nil
	return t
}

// Taken are lost reads on their way back to the agent.
type Taken struct {
	reads *Reads
	lost  []lostRead
	back  bool
}

// Reads returns them, in the order in which they were asked for.
func (t *Taken) Reads() []Read {
	out := make([]Read, len(t.lost))
	for i, l := range t.lost {
		out[i] = l.read
	}
	return out
}

// Put gives the reads back, because the answer that carried them did not leave.
// A second call does nothing.
func (t *Taken) Put() {
	r := t.reads
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.back {
		return
	}
	t.back = true
	r.lost = append(slices.Clone(t.lost), r.lost...)
	slices.SortStableFunc(r.lost, func(a, b lostRead) int { return int(a.number - b.number) })
	if over := len(r.lost) - maxLost; over > 0 {
		r.lost = slices.Delete(r.lost, 0, over)
	}
}
