package rpc

import (
	"context"
	"errors"
	"io"
	"time"

	"mapd/rpc/wire"
)

const (
	// evictGrace is how long a connection that has to make room may take to read
	// why, and then to end.
	evictGrace = 250 * time.Millisecond
	// refusalTime bounds the write to a peer that is refused.
	refusalTime = 50 * time.Millisecond
)

// admit registers a connection, or refuses it and says why. When all places are
// taken, it waits until the oldest connection without a session has made room,
// so that a peer which only connects keeps nobody out. Whoever accepts
// connections is to wait for it: others then wait in the backlog of the socket,
// where they cost nothing.
func (s *Server) admit(ctx context.Context, rwc io.ReadWriteCloser, who Peer) (*peer, error) {
	p := &peer{server: s, who: who, gone: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(ctx)
	for {
		victim, refused := s.register(p)
		switch {
		case refused != nil:
			p.cancel()
			s.metrics.connected(false)
			return nil, errors.Join(refused, refuse(rwc, refused))
		case victim == nil:
			s.metrics.connected(true)
			return p, nil
		}
		victim.makeRoom()
	}
}

// register takes a place for p. If there is none, it returns the connection
// that has to make room first, or why p is refused.
func (s *Server) register(p *peer) (victim *peer, refused *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, wire.Errorf(wire.ShuttingDown, "the daemon is shutting down; connect again to start a new one")
	}
	if limit := s.opt.Limits.Connections; len(s.peers) >= limit {
		if victim = s.oldestIdleLocked(); victim == nil {
			return nil, wire.Errorf(wire.ServerBusy, "%d connections are open, the limit; close one, or try again later", limit)
		}
		victim.evicted = true
		return victim, nil
	}
	s.arrivals++
	p.arrival = s.arrivals
	s.peers[p] = struct{}{}
	if s.idle != nil {
		s.idle.Stop()
	}
	return nil, nil
}

// oldestIdleLocked returns the oldest connection without a session that was not
// told to go yet, nil if there is none.
func (s *Server) oldestIdleLocked() *peer {
	var oldest *peer
	for p := range s.peers {
		if session, _ := p.attached(); session != nil || p.evicted {
			continue
		}
		if oldest == nil || p.arrival < oldest.arrival {
			oldest = p
		}
	}
	return oldest
}

// makeRoom ends the connection and waits for that, though not for ever.
func (p *peer) makeRoom() {
	c := p.connection()
	if c == nil || c.Stats().QueuedBytes > 0 { // it would not read why
		p.cancel()
	} else {
		c.Finish(wire.Errorf(wire.ServerBusy, "the daemon needs the place of this connection, which sent no initialize; connect again"))
	}
	timer := time.AfterFunc(evictGrace, p.cancel)
	defer timer.Stop()
	select {
	case <-p.gone:
	case <-time.After(2 * evictGrace):
	}
}

// remove forgets a connection that has ended.
func (s *Server) remove(p *peer) {
	s.metrics.disconnected(p.connection().Stats())
	defer close(p.gone)
	if session, _ := p.attached(); session != nil {
		session.leave()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
	if session, _ := p.attached(); session != nil {
		session.documents.Load().Release()
	}
	s.detachLocked(p)
	if s.stopped && len(s.peers) == 0 {
		close(s.drained)
	}
	s.armIdleLocked()
}

// refuse tells a peer in one line why it is not served, and hangs up. The line
// fits into the buffer of a new socket, so that nothing waits for the peer.
func refuse(rwc io.ReadWriteCloser, reason *wire.Error) error {
	line, err := encode(struct {
		Version string            `json:"jsonrpc"`
		ID      *int              `json:"id"`
		Error   *wire.ErrorObject `json:"error"`
	}{"2.0", nil, reason.Object()})
	if err != nil {
		return errors.Join(err, rwc.Close())
	}
	if socket, ok := rwc.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = socket.SetWriteDeadline(time.Now().Add(refusalTime)) // a peer that is gone needs no line
		_, _ = rwc.Write(append(line, '\n'))
	}
	return rwc.Close()
}
