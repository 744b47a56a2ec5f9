package rpc

import (
	"errors"
	"io"
	"time"

	"mapd/rpc/wire"
)

const (
	// evictGrace is how long a connection that has to make room may take to read
	// why.
	evictGrace = time.Second
	// evictedAtOnce bounds the connections that are on their way out beyond the
	// limit.
	evictedAtOnce = 64
	// refusalTime bounds the write to a peer that is refused.
	refusalTime = 50 * time.Millisecond
)

// admit registers a connection, or says why there is none for it. When all
// places are taken, the oldest connection without a session makes room, so that
// a peer which only connects keeps nobody out.
func (s *Server) admit(p *peer) *wire.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return wire.Errorf(wire.ShuttingDown, "the daemon is shutting down; connect again to start a new one")
	}
	if limit := s.opt.Limits.Connections; len(s.peers)-s.leaving >= limit && !s.makeRoomLocked() {
		return wire.Errorf(wire.ServerBusy, "%d connections are open, the limit; close one, or try again later", limit)
	}
	s.arrivals++
	p.arrival = s.arrivals
	s.peers[p] = struct{}{}
	if s.idle != nil {
		s.idle.Stop()
	}
	return nil
}

// makeRoomLocked ends the oldest connection without a session, if there is one.
func (s *Server) makeRoomLocked() bool {
	if s.leaving >= evictedAtOnce {
		return false
	}
	var oldest *peer
	for p := range s.peers {
		if session, _ := p.attached(); session != nil || p.grace != nil {
			continue
		}
		if oldest == nil || p.arrival < oldest.arrival {
			oldest = p
		}
	}
	if oldest == nil {
		return false
	}
	s.leaving++
	oldest.grace = time.AfterFunc(evictGrace, oldest.cancel)
	if c := oldest.connection(); c != nil {
		c.Finish(wire.Errorf(wire.ServerBusy, "the daemon needs the place of this connection, which sent no initialize; connect again"))
	} else {
		oldest.cancel()
	}
	return true
}

// remove forgets a connection that has ended.
func (s *Server) remove(p *peer) {
	s.metrics.disconnected(p.connection().Stats())
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
	if p.grace != nil {
		p.grace.Stop()
		s.leaving--
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
