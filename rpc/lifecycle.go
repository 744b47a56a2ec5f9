package rpc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// ledgerOwner is the part of a named session that outlives its connection.
type ledgerOwner struct {
	ledger   *recovery.Ledger
	reads    *recovery.Reads
	edits    *edits
	id       string    // of the session that last had it
	peer     *peer     // the connection that has it, nil while detached
	detached time.Time // since when, if peer is nil
}

// initialize gives the peer its session.
func initialize(ctx context.Context, p *peer, params []byte) (conn.Reply, error) {
	if session, _ := p.attached(); session != nil {
		return conn.Reply{}, wire.Errorf(wire.InvalidRequest, "this connection is initialized already")
	}
	var decoded wire.InitializeParams
	if err := decodeLSP("initialize", params, &decoded); err != nil {
		return conn.Reply{}, err
	}
	session, err := p.server.newSession(decoded, p.who)
	if err != nil {
		return conn.Reply{}, err
	}
	p.server.awaitAbandoned(ctx, session.name)
	if err := p.server.attach(p, session); err != nil {
		return conn.Reply{}, err
	}
	session.keep(p.server.marks(givenFolders(decoded)))
	result := wire.InitializeResult{
		ServerInfo: wire.ServerInfo{Name: "mapd", Version: p.server.opt.Version},
		Capabilities: wire.ServerCapabilities{
			PositionEncoding:       string(session.encoding),
			TextDocumentSync:       wire.TextDocumentSync{OpenClose: true, Change: wire.SyncIncremental},
			DocumentSymbolProvider: true, WorkspaceSymbolProvider: true,
			FoldingRangeProvider:   true,
			SelectionRangeProvider: true,
			DiagnosticProvider:     wire.DiagnosticOptions{Identifier: diagnosticSource},
			Experimental: wire.Experimental{Mapd: wire.MapdCapabilities{
				Protocol: wire.Protocol, Build: p.server.opt.Build, Methods: methodNames(),
			}},
		},
	}
	result.Capabilities.Workspace.WorkspaceFolders.Supported = true
	result.Capabilities.Workspace.WorkspaceFolders.ChangeNotifications = true
	encoded, err := encode(result)
	reply := conn.Reply{Result: encoded}
	if session.pusher != nil { // nothing may come before the answer
		reply.Placed = func() { p.background.Go(func() { session.pusher.run(p.ctx) }) }
	}
	return reply, err
}

// abandonedWait is how long a newer connection of a named session waits for what
// is left of an older one whose peer is gone.
const abandonedWait = time.Second

// awaitAbandoned waits until the older connection of a named session has ended,
// if its peer is gone: until then it is not known which of its reads were lost,
// and the first thing a client asks for after a reconnect is these.
func (s *Server) awaitAbandoned(ctx context.Context, name string) {
	s.mu.Lock()
	var older *conn.Conn
	if owner := s.named[name]; name != "" && owner != nil && owner.peer != nil {
		older = owner.peer.connection()
	}
	s.mu.Unlock()
	if older == nil || !older.Abandoned() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, abandonedWait)
	defer cancel()
	select {
	case <-older.Done():
	case <-ctx.Done():
		s.log.Warn("requests of a connection that is gone are still running", "session", name)
	}
}

// attach registers a session with its connection. A named session that another
// connection has is taken over: that one is told and closed.
func (s *Server) attach(p *peer, session *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session.name != "" {
		if err := s.claimLocked(p, session.name); err != nil {
			return err
		}
	}
	s.sessions++
	session.id = fmt.Sprintf("s%d", s.sessions)
	if owner := s.named[session.name]; session.name != "" {
		owner.id = session.id
		session.ledger, session.reads, session.edits = owner.ledger, owner.reads, owner.edits
	} else {
		session.ledger, session.reads, session.edits = s.ledgers.New(), &recovery.Reads{}, &edits{}
	}
	session.peer = p
	if session.stale == wire.StalePush || session.diagnosing {
		session.pusher = newPusher(session, p.connection())
	}
	p.mu.Lock()
	p.session = session
	p.mu.Unlock()
	return nil
}

// claimLocked makes p the connection of the named session.
func (s *Server) claimLocked(p *peer, name string) error {
	s.expireLocked()
	owner := s.named[name]
	switch {
	case owner == nil && len(s.named) >= s.opt.Limits.Sessions && !s.evictLocked():
		return wire.Errorf(wire.ServerBusy, "there are %d named sessions, all in use; end one of them", len(s.named))
	case owner == nil:
		owner = &ledgerOwner{ledger: s.ledgers.New(), reads: &recovery.Reads{}, edits: &edits{}}
		s.named[name] = owner
	case owner.peer != nil:
		owner.peer.connection().Finish(wire.Errorf(wire.SessionTaken, "session %q was taken over by a newer connection", name))
	}
	owner.peer = p
	return nil
}

// detachLocked leaves a named session without a connection, unless a newer one
// has taken it. The ledger of any other session ends.
func (s *Server) detachLocked(p *peer) {
	session, _ := p.attached()
	if session == nil {
		return
	}
	if session.name == "" {
		session.ledger.Forget("")
		return
	}
	if owner := s.named[session.name]; owner != nil && owner.peer == p {
		owner.peer, owner.detached = nil, time.Now()
	}
}

// expireLocked drops the named sessions that were detached for too long.
func (s *Server) expireLocked() {
	for name, owner := range s.named {
		if owner.peer == nil && time.Since(owner.detached) > s.opt.Limits.SessionKept {
			owner.ledger.Forget("")
			delete(s.named, name)
		}
	}
}

// evictLocked drops the named session that was detached first, if there is a
// detached one.
func (s *Server) evictLocked() bool {
	oldest := ""
	for name, owner := range s.named {
		if owner.peer == nil && (oldest == "" || owner.detached.Before(s.named[oldest].detached)) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	s.named[oldest].ledger.Forget("")
	delete(s.named, oldest)
	return true
}

// shutdown ends the session, not the daemon.
func shutdown(_ context.Context, p *peer, _ []byte) (conn.Reply, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return conn.Reply{}, wire.Errorf(wire.ShuttingDown, "this session was shut down already; send exit")
	}
	p.down = true
	return conn.Reply{Result: []byte("null")}, nil
}

// exit closes the connection once its replies have left.
func exit(_ context.Context, p *peer, _ []byte) (conn.Reply, error) {
	p.connection().Finish(nil)
	return conn.Reply{}, nil
}

// stop ends the daemon: its reply leaves, then the drain begins.
func stop(_ context.Context, p *peer, params []byte) (conn.Reply, error) {
	if err := decodeStrict(wire.MethodStop, params, &struct{}{}); err != nil {
		return conn.Reply{}, err
	}
	encoded, err := encode(wire.StopResult{PID: os.Getpid()})
	return conn.Reply{Result: encoded, Queued: p.server.Stop}, err
}

// folderChange is LSP's DidChangeWorkspaceFoldersParams.
type folderChange struct {
	Event struct {
		Added   []wire.WorkspaceFolder `json:"added"`
		Removed []wire.WorkspaceFolder `json:"removed"`
	} `json:"event"`
}

// changeFolders removes and adds folders of the session, as far as they are there. The first folder stays
// the first, as paths are relative to it, unless it is removed itself.
func changeFolders(_ context.Context, p *peer, params []byte) (conn.Reply, error) {
	session, _ := p.attached()
	var change folderChange
	if err := decodeLSP("workspace/didChangeWorkspaceFolders", params, &change); err != nil {
		return conn.Reply{}, err
	}
	removed := map[string]bool{}
	for _, f := range change.Event.Removed {
		one, err := p.server.folders([]wire.WorkspaceFolder{f})
		if err != nil { // a folder that is gone is known by its name
			if path, perr := uriPath(f.URI); perr == nil {
				removed[path] = true
			}
			continue
		}
		removed[one.Roots()[0]] = true
	}
	var given []wire.WorkspaceFolder
	for _, root := range session.folders.Load().Roots() {
		if !removed[root] {
			given = append(given, wire.WorkspaceFolder{URI: fileURI(root), Bare: session.isBare(root)})
		}
	}
	given, bad := p.server.usable(append(given, change.Event.Added...))
	folders, err := p.server.folders(given)
	if err != nil {
		return conn.Reply{}, err
	}
	session.folders.Store(&folders)
	session.keep(p.server.marks(given))
	session.reportProgress()
	return conn.Reply{}, bad
}

// usable returns those of some folders that a session can have, and why it cannot
// have the others: what an editor adds and removes together is not refused for one
// folder that is gone.
func (s *Server) usable(folders []wire.WorkspaceFolder) (usable []wire.WorkspaceFolder, bad error) {
	for _, f := range folders {
		if _, err := s.folders([]wire.WorkspaceFolder{f}); err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		usable = append(usable, f)
	}
	return usable, bad
}
