package rpc

import (
	"context"
	"sort"

	"mapd/rpc/conn"
	"mapd/rpc/wire"
)

// method is one row of the table of what a peer may call.
type method struct {
	notification bool
	serial       bool // runs on the read loop: it changes the state of the session
	early        bool // allowed before initialize
	late         bool // allowed after shutdown, and while the daemon drains
	rooted       bool // needs a folder
	serve        func(ctx context.Context, p *peer, params []byte) (conn.Reply, error)
	// pin, in place of serve, is run on the read loop when the request comes: what
	// it returns answers from the state of that moment.
	pin      func(s *Session) func(ctx context.Context, params []byte) (conn.Reply, error)
	unserved func(ctx context.Context, s *Session, params []byte) // see conn.Method; nil for most
}

// methods is the allow-list: what is not here is unknown, and its parameters
// are never decoded. It is filled once and not changed.
var methods map[string]method

func init() {
	methods = map[string]method{
		"initialize":  {serial: true, early: true, serve: initialize},
		"initialized": {notification: true, serve: initialized},
		"shutdown":    {serial: true, late: true, serve: shutdown},
		"exit":        {notification: true, early: true, late: true, serve: exit},
		"$/setTrace":  {notification: true, serve: nothing},
		// What is said about progress, watched files and saves to come changes nothing.
		"window/workDoneProgress/cancel":  {notification: true, serve: nothing},
		"workspace/didChangeWatchedFiles": {notification: true, serve: nothing},
		"textDocument/willSave":           {notification: true, serve: nothing},

		wire.MethodRead:     recoverable(request(decodeStrict, (*Session).serveRead), loseRead),
		wire.MethodReadMany: recoverable(request(decodeStrict, (*Session).serveReadMany), loseReads),
		wire.MethodRecover:  bare(request(decodeStrict, (*Session).serveRecover)),
		wire.MethodMap:      request(decodeStrict, (*Session).serveMap),
		wire.MethodFind:     request(decodeStrict, (*Session).serveFind),
		wire.MethodEdit:     request(decodeEdit, (*Session).serveEdit),
		wire.MethodEditMany: request(decodeEdit, (*Session).serveEditMany),
		wire.MethodCheck:    request(decodeStrict, (*Session).serveCheck),
		wire.MethodLedger:   request(decodeStrict, (*Session).serveLedger),
		wire.MethodForget:   request(decodeStrict, plain((*Session).forget)),
		wire.MethodStatus:   bare(request(decodeStrict, plain((*Session).status))),
		wire.MethodStop:     {late: true, serve: stop},

		"workspace/symbol":            request(decodeLSP, plain((*Session).workspaceSymbol)),
		"textDocument/didOpen":        synced(didOpen),
		"textDocument/didChange":      synced(didChange),
		"textDocument/didSave":        synced(didSave),
		"textDocument/didClose":       synced(didClose),
		"textDocument/documentSymbol": aboutDocument((*Session).documentSymbol),
		"textDocument/foldingRange":   aboutDocument((*Session).foldingRange),
		"textDocument/selectionRange": aboutDocument((*Session).selectionRange),
		"textDocument/diagnostic":     aboutDocument((*Session).diagnostic),

		"workspace/didChangeWorkspaceFolders": {notification: true, serial: true, serve: changeFolders},
	}
}

// methodNames returns the requests that are answered, sorted, as initialize
// lists them.
func methodNames() []string {
	var names []string
	for name, m := range methods {
		if !m.notification {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// lookup finds a method, and refuses it where the state of the peer does not
// allow it. It sees a name only: nothing was decoded yet.
func (p *peer) lookup(name string) (conn.Method, *wire.Error) {
	m, err := p.find(name)
	if err != nil {
		p.server.metrics.failed(err.Code)
	}
	return m, err
}

func (p *peer) find(name string) (conn.Method, *wire.Error) {
	m, known := methods[name]
	session, down := p.attached()
	switch {
	case session == nil && !m.early:
		return conn.Method{}, wire.Errorf(wire.NotInitialized, "send initialize before %.100q", name)
	case down && !m.late:
		return conn.Method{}, wire.Errorf(wire.ShuttingDown, "this session was shut down; connect again")
	case !known:
		return conn.Method{}, wire.Errorf(wire.UnknownMethod, "there is no method %.100q", name)
	case isClosed(p.server.draining) && !m.late:
		return conn.Method{}, wire.Errorf(wire.ShuttingDown, "the daemon is stopping; connect again to start a new one")
	case m.rooted && len(session.folders.Load().Roots()) == 0:
		return conn.Method{}, errNoFolder
	}
	serve := m.handler(p, session)
	out := conn.Method{
		Notification: m.notification,
		Serial:       m.serial,
		Serve: p.observed(name, session, func(ctx context.Context, params []byte) (conn.Reply, error) {
			if session != nil {
				session.requests.Add(1)
			}
			return serve(ctx, params)
		}),
	}
	if m.unserved != nil {
		session.recoverable(&out, m.unserved)
	}
	return out, nil
}

// handler returns what serves a message of p that has just come.
func (m *method) handler(p *peer, session *Session) func(ctx context.Context, params []byte) (conn.Reply, error) {
	if m.pin != nil {
		return m.pin(session)
	}
	return func(ctx context.Context, params []byte) (conn.Reply, error) { return m.serve(ctx, p, params) }
}

// bare makes a method that is answered without a folder.
func bare(m method) method {
	m.rooted = false
	return m
}

// request makes a method of a function on the session.
func request[P any](decode func(string, []byte, any) error, f func(*Session, context.Context, P) (conn.Reply, error)) method {
	return method{rooted: true, serve: func(ctx context.Context, p *peer, params []byte) (conn.Reply, error) {
		session, _ := p.attached()
		var decoded P
		if err := decode("params", params, &decoded); err != nil {
			return conn.Reply{}, err
		}
		return f(session, ctx, decoded)
	}}
}

// plain makes a reply of a result that needs nothing but encoding.
func plain[P, R any](f func(*Session, context.Context, P) (R, error)) func(*Session, context.Context, P) (conn.Reply, error) {
	return func(s *Session, ctx context.Context, p P) (conn.Reply, error) {
		result, err := f(s, ctx, p)
		if err != nil {
			return conn.Reply{}, err
		}
		encoded, err := encode(result)
		return conn.Reply{Result: encoded}, err
	}
}

func nothing(context.Context, *peer, []byte) (conn.Reply, error) { return conn.Reply{}, nil }
