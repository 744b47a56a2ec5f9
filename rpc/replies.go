package rpc

import (
	"context"
	"sync"
	"time"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// smallReplies is what a connection may have waiting, and a request may prepare,
// without being counted: whoever takes no more than that is served however much
// others take.
const smallReplies = 1 << 20

// boundReplies ends the connections that hold up most whenever more waits for
// all peers together than may, until ctx ends.
func (s *Server) boundReplies(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.replies.Full():
		}
		for s.replies.Over() {
			hoarder, bytes := s.hoarder()
			if hoarder == nil {
				break
			}
			s.log.Warn("ending a connection: too many replies wait", "pid", hoarder.who.PID, "bytes", bytes, "of", s.replies.Used())
			hoarder.cancel()
			select {
			case <-hoarder.gone:
			case <-time.After(evictGrace):
			}
		}
	}
}

// hoarder returns the connection with most bytes waiting for its peer, nil if
// none has more than few.
func (s *Server) hoarder() (most *peer, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes = smallReplies
	for p := range s.peers {
		if c := p.connection(); c != nil && p.ctx.Err() == nil {
			if n := c.Stats().QueuedBytes; n > bytes {
				most, bytes = p, n
			}
		}
	}
	return most, bytes
}

// drainEvery is how often a large reply that is to be made looks whether the one
// before it has left.
const drainEvery = 5 * time.Millisecond

// largeReply waits until a large reply may be made for the session: one at a
// time, and only when what was made before has left. A client that asks for many
// at once gets them as fast as it reads, instead of more than it may leave unread.
// done ends its turn; calls after the first do nothing.
func (s *Session) largeReply(ctx context.Context) (done func(), err error) {
	select {
	case s.enlarging <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := s.drained(ctx); err != nil {
		<-s.enlarging
		return nil, err
	}
	return sync.OnceFunc(func() { <-s.enlarging }), nil
}

// drained waits until little waits for the peer. A peer that does not read is
// ended meanwhile, and with it ctx.
func (s *Session) drained(ctx context.Context) error {
	for s.peer.connection().Stats().QueuedBytes > smallReplies {
		select {
		case <-time.After(drainEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// A preparation counts the bytes of a reply that is being made, so that they
// are bounded together with those that wait. It is safe for concurrent use.
type preparation struct {
	server *Server

	mu    sync.Mutex // guards what follows
	size  int64
	taken int64 // of the server's replies
}

// add counts n more bytes, unless there is no room for them.
func (p *preparation) add(n int) *wire.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	size := p.size + int64(n)
	if more := size - p.taken; size > smallReplies {
		if !p.server.replies.Reserve(more) {
			return wire.Errorf(wire.ServerBusy, "%d bytes of replies are on their way to all clients, the limit; ask for less, or again later", p.server.opt.Limits.Replies)
		}
		p.taken = size
	}
	p.size = size
	return nil
}

// done gives back what was counted.
func (p *preparation) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server.replies.Add(-p.taken)
	p.size, p.taken = 0, 0
}

// handOver returns reply so that the bytes count as prepared until they count
// as waiting, or are dropped.
func (p *preparation) handOver(reply conn.Reply) conn.Reply {
	queued, withdraw := reply.Queued, reply.Withdraw
	reply.Queued = func() {
		p.done()
		if queued != nil {
			queued()
		}
	}
	reply.Withdraw = func() {
		p.done()
		if withdraw != nil {
			withdraw()
		}
	}
	return reply
}
