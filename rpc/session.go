package rpc

import (
	"context"
	"io/fs"
	"math"
	"slices"
	"sync/atomic"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/buffers"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// Session is what the daemon knows about one agent: its folders, its choices
// and what it was shown. A named session outlives its connection.
type Session struct {
	server *Server
	id     string // "s1", unique in one daemon's life
	name   string // "" for a session that ends with its connection

	// folders is replaced as a whole when the client changes them.
	folders atomic.Pointer[workspace.Folders]
	set     folderSet

	ledger *recovery.Ledger // shared by the connections of a named session
	edits  *edits           // shared like ledger
	pieces pieces           // of long lines
	umask  fs.FileMode      // of the client
	reads  *recovery.Reads  // those that never arrived; shared like ledger
	stale  string           // how the client learns of stale lines
	// progress says that the client shows it; reported are the roots that it was
	// told of, guarded by set.mu; each has a token of its own.
	progress bool
	reported map[string]bool
	reports  int
	// diagnosing says that the client takes diagnostics without asking.
	diagnosing bool
	pusher     *pusher // nil for a client that is told nothing without asking; set before it is served

	width        hashline.Width
	delivery     string
	client       string
	pid          int              // of the peer; 0 if unknown
	encoding     buffers.Encoding // of LSP positions
	hierarchical bool             // the client takes nested document symbols
	folds        int              // how many folding ranges the client wants at most
	// documents are those that the editor has open; only the read loop replaces them.
	documents atomic.Pointer[buffers.Set]

	outlining chan struct{} // one element for each outline that is made for it
	reading   chan struct{} // one element for each read of a mapd/readMany that runs
	enlarging chan struct{} // one element while a large reply is made
	// documenting has an element for each request about documents that runs, if the
	// session has large ones open.
	documenting chan struct{}
	peer        *peer // its connection, set before it is served

	requests atomic.Int64
}

// newSession checks the parameters of initialize.
func (s *Server) newSession(p wire.InitializeParams, who Peer) (*Session, error) {
	ses := &Session{
		server:       s,
		outlining:    make(chan struct{}, outlinesAtOnce),
		reading:      make(chan struct{}, readsAtOnce),
		enlarging:    make(chan struct{}, 1),
		documenting:  make(chan struct{}, documentsAtOnce),
		name:         p.Options.Session,
		width:        hashline.DefaultWidth,
		delivery:     orDefault(p.Options.Delivery, wire.DeliverInline),
		stale:        orDefault(p.Options.Stale, wire.StaleAttach),
		pid:          who.PID,
		progress:     p.Capabilities.Window.WorkDoneProgress,
		reported:     map[string]bool{},
		diagnosing:   p.Capabilities.TextDocument.PublishDiagnostics != nil && p.Options.Stale != wire.StaleOff,
		encoding:     chooseEncoding(p.Capabilities.General.PositionEncodings),
		hierarchical: p.Capabilities.TextDocument.DocumentSymbol.Hierarchical,
		folds:        math.MaxInt,
	}
	if limit := p.Capabilities.TextDocument.FoldingRange.RangeLimit; limit != nil {
		ses.folds = int(*limit)
	}
	ses.documents.Store(buffers.NewSet(s.opt.Limits.Documents, s.texts))
	ses.umask = 0o022
	if u := p.Options.Umask; u != nil {
		if *u < 0 || *u > 0o777 {
			return nil, wire.Errorf(wire.InvalidParams, "umask is %d; it must be 0 to 511 (octal 777)", *u)
		}
		ses.umask = fs.FileMode(*u)
	}
	if p.ClientInfo != nil {
		ses.client = p.ClientInfo.Name
	}
	if a := p.Options.Anchors; a != nil && a.Width != 0 {
		ses.width = hashline.Width(a.Width)
		if ses.width < hashline.MinWidth || ses.width > hashline.MaxWidth {
			return nil, wire.Errorf(wire.InvalidParams, "anchors.width is %d; it must be %d to %d", a.Width, hashline.MinWidth, hashline.MaxWidth)
		}
	}
	if err := oneOf("delivery", ses.delivery, wire.DeliverInline, wire.DeliverSeparate); err != nil {
		return nil, err
	}
	if err := oneOf("stale", ses.stale, wire.StaleAttach, wire.StalePush, wire.StaleOff); err != nil {
		return nil, err
	}
	folders, err := s.folders(givenFolders(p))
	if err != nil {
		return nil, err
	}
	ses.folders.Store(&folders)
	return ses, nil
}

// givenFolders returns the folders of initialize: workspaceFolders, else
// rootUri, else none.
func givenFolders(p wire.InitializeParams) []wire.WorkspaceFolder {
	if len(p.WorkspaceFolders) == 0 && p.RootURI != nil && *p.RootURI != "" {
		return []wire.WorkspaceFolder{{URI: *p.RootURI}}
	}
	return p.WorkspaceFolders
}

// folders resolves the folders of a session.
func (s *Server) folders(given []wire.WorkspaceFolder) (workspace.Folders, error) {
	dirs := make([]string, 0, len(given))
	for _, f := range given {
		dir, err := uriPath(f.URI)
		if err != nil {
			return workspace.Folders{}, err
		}
		dirs = append(dirs, dir)
	}
	folders, err := s.cache.Folders(dirs...)
	if err != nil {
		return workspace.Folders{}, err
	}
	for _, root := range folders.Roots() {
		if !s.allowed(root) {
			return workspace.Folders{}, wire.Errorf(wire.OutsideWorkspace, "the folder %s lies outside the roots that MAPD_ROOTS or the configuration allows", quotePath(root))
		}
	}
	return folders, nil
}

// open reads a file of the session's folders.
func (s *Session) open(ctx context.Context, name string) (*workspace.Version, error) {
	folders := *s.folders.Load()
	if len(folders.Roots()) == 0 { // they may have left since the request came
		return nil, errNoFolder
	}
	v, err := s.server.cache.Read(ctx, folders, name)
	if err == nil {
		s.wanted(v.Path())
	}
	return v, err
}

// errNoFolder answers a request about files in a session without folders.
var errNoFolder = wire.Errorf(wire.OutsideWorkspace, "this session has no folder; name one in initialize, as rootUri or workspaceFolders")

// chooseEncoding returns the encoding of LSP positions: UTF-8 if the client offers
// it, else UTF-16, which every client knows, unless it offers nothing but UTF-32.
func chooseEncoding(offered []string) buffers.Encoding {
	switch {
	case slices.Contains(offered, string(buffers.UTF8)):
		return buffers.UTF8
	case slices.Contains(offered, string(buffers.UTF32)) && !slices.Contains(offered, string(buffers.UTF16)):
		return buffers.UTF32
	default:
		return buffers.UTF16
	}
}
