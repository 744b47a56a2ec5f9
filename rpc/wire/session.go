package wire

import "encoding/json"

// Protocol is the version of the wire contract.
const Protocol = 1

// InitializeParams are the parameters of initialize that mapd uses; all others
// of LSP are ignored.
type InitializeParams struct {
	ClientInfo       *ClientInfo        `json:"clientInfo,omitzero"`
	RootURI          *string            `json:"rootUri,omitzero"`
	WorkspaceFolders []WorkspaceFolder  `json:"workspaceFolders,omitempty"`
	Capabilities     ClientCapabilities `json:"capabilities"`
	Options          InitializeOptions  `json:"initializationOptions"`
}

// ClientInfo names the program at the other end.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
}

// WorkspaceFolder is a folder of a session. Bare and Large are mapd's own.
type WorkspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
	// Bare marks a folder that is neither indexed nor watched, until something is
	// searched in it.
	Bare bool `json:"bare,omitzero"`
	// Large allows to index the home directory or /.
	Large bool `json:"large,omitzero"`
}

// ClientCapabilities are the capabilities that change what mapd answers.
type ClientCapabilities struct {
	General struct {
		PositionEncodings []string `json:"positionEncodings,omitempty"`
	} `json:"general"`
	Window struct {
		WorkDoneProgress bool `json:"workDoneProgress,omitzero"`
	} `json:"window,omitzero"`
	TextDocument struct {
		DocumentSymbol struct {
			Hierarchical bool `json:"hierarchicalDocumentSymbolSupport,omitzero"`
		} `json:"documentSymbol"`
		PublishDiagnostics *struct{} `json:"publishDiagnostics,omitzero"` // nil if the client does not take them
		FoldingRange       struct {
			RangeLimit *uint32 `json:"rangeLimit,omitzero"`
		} `json:"foldingRange"`
	} `json:"textDocument"`
}

// InitializeOptions are mapd's own options of initialize.
type InitializeOptions struct {
	Session  string         `json:"session,omitzero"` // a ledger that outlives the connection
	Anchors  *AnchorOptions `json:"anchors,omitzero"`
	Delivery string         `json:"delivery,omitzero"` // "inline" (default) or "separate"
	Stale    string         `json:"stale,omitzero"`    // "attach" (default), "push", "off"
	Umask    *int           `json:"umask,omitzero"`    // for files the daemon creates for this client
}

// AnchorOptions configure anchors. Width is 2 to 4, by default 4.
type AnchorOptions struct {
	Width int `json:"width,omitzero"`
}

// InitializeResult is the result of initialize.
type InitializeResult struct {
	ServerInfo   ServerInfo         `json:"serverInfo"`
	Capabilities ServerCapabilities `json:"capabilities"`
}

// ServerInfo names the daemon.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServerCapabilities are what the daemon answers.
type ServerCapabilities struct {
	PositionEncoding        string                `json:"positionEncoding"`
	TextDocumentSync        TextDocumentSync      `json:"textDocumentSync"`
	DocumentSymbolProvider  bool                  `json:"documentSymbolProvider,omitzero"`
	FoldingRangeProvider    bool                  `json:"foldingRangeProvider,omitzero"`
	SelectionRangeProvider  bool                  `json:"selectionRangeProvider,omitzero"`
	DiagnosticProvider      DiagnosticOptions     `json:"diagnosticProvider"`
	WorkspaceSymbolProvider bool                  `json:"workspaceSymbolProvider,omitzero"`
	Workspace               WorkspaceCapabilities `json:"workspace"`
	Experimental            Experimental          `json:"experimental"`
}

// TextDocumentSync says how an editor keeps the daemon up to date about the
// documents that it has open.
type TextDocumentSync struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"` // SyncIncremental
	Save      struct {
		IncludeText bool `json:"includeText"`
	} `json:"save"`
}

// SyncIncremental is LSP's TextDocumentSyncKind of changes that name a range, or
// none for the whole text.
const SyncIncremental = 2

// DiagnosticOptions say that diagnostics of a document can be asked for.
type DiagnosticOptions struct {
	Identifier            string `json:"identifier"`
	InterFileDependencies bool   `json:"interFileDependencies"`
	WorkspaceDiagnostics  bool   `json:"workspaceDiagnostics"`
}

// WorkspaceCapabilities say that folders may change during a session.
type WorkspaceCapabilities struct {
	WorkspaceFolders struct {
		Supported           bool `json:"supported"`
		ChangeNotifications bool `json:"changeNotifications"`
	} `json:"workspaceFolders"`
}

// Experimental holds mapd's own capabilities.
type Experimental struct {
	Mapd MapdCapabilities `json:"mapd"`
}

// MapdCapabilities name the contract and the build, and list the methods that
// are answered.
type MapdCapabilities struct {
	Protocol int      `json:"protocol"`
	Build    string   `json:"build"`
	Methods  []string `json:"methods"`
}

// ErrorObject is a JSON-RPC error object.
type ErrorObject struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Object returns e as it goes over the wire.
func (e *Error) Object() *ErrorObject {
	data, err := e.Data()
	if err != nil {
		data = nil
	}
	return &ErrorObject{Code: e.Code.Number(), Message: e.Message, Data: data}
}

// StatusResult is the result of mapd/status.
type StatusResult struct {
	Version       string            `json:"version"`
	Build         string            `json:"build"`
	PID           int               `json:"pid"`
	UptimeSeconds int64             `json:"uptimeSeconds"`
	Protocol      int               `json:"protocol"`
	Socket        string            `json:"socket,omitzero"`
	Limits        map[string]int64  `json:"limits"`   // bytes, counts or milliseconds, as the name says
	Memory        map[string]int64  `json:"memory"`   // bytes by owner
	Counters      map[string]int64  `json:"counters"` // of events since the start of the daemon
	Levels        map[string]int64  `json:"levels"`   // of what there is right now: goroutines, descriptors, …
	Errors        map[string]int64  `json:"errors"`   // error replies since the start, by data.code
	Methods       []MethodLatency   `json:"methods"`  // those called since the start, by name
	Sessions      []SessionStatus   `json:"sessions"`
	Workspaces    []WorkspaceStatus `json:"workspaces"`
	Store         *StoreStatus      `json:"store,omitempty"`
	// LineHashes says where the hashes of lines come from: "recomputed" means
	// that they are made of the bytes that are shown, each time.
	LineHashes string `json:"lineHashes"`
}

// StoreStatus is what is kept between daemons, in StatusResult. In every state
// but "ready" outlines are made anew, and nothing else differs.
type StoreStatus struct {
	Path      string `json:"path,omitzero"`
	State     string `json:"state"` // none, opening, ready, locked, full, unusable, closed
	Why       string `json:"why,omitzero"`
	Entries   int64  `json:"entries"`
	Bytes     int64  `json:"bytes"`     // of the outlines
	FileBytes int64  `json:"fileBytes"` // of the file
	Hits      int64  `json:"hits"`      // since the start, as all that follows
	Misses    int64  `json:"misses"`
	Damaged   int64  `json:"damaged"` // entries and files found damaged
	Puts      int64  `json:"puts"`    // entries written
	Dropped   int64  `json:"dropped"` // entries not written
	Evicted   int64  `json:"evicted"` // entries removed for others
	Flushes   int64  `json:"flushes"`
	FlushMs   int64  `json:"flushMs"` // of all flushes
}

// MethodLatency is how the calls of one method went, in StatusResult. Times are
// in microseconds of the handler alone; a percentile is the end of the bucket
// it lies in.
type MethodLatency struct {
	Method    string          `json:"method"`
	Count     int64           `json:"count"`
	Failed    int64           `json:"failed"`
	P50Micros int64           `json:"p50Micros"`
	P99Micros int64           `json:"p99Micros"`
	MaxMicros int64           `json:"maxMicros"`
	Buckets   []LatencyBucket `json:"buckets"` // in rising order, without the empty ones
}

// LatencyBucket counts the calls of a method that took no longer than
// UpToMicros and longer than the bucket before; 0 is the last one, without an
// end.
type LatencyBucket struct {
	UpToMicros int64 `json:"upToMicros,omitzero"`
	Count      int64 `json:"count"`
}

// SessionStatus is one session in StatusResult.
type SessionStatus struct {
	ID       string   `json:"id"`
	Name     string   `json:"name,omitzero"`
	Client   string   `json:"client,omitzero"`
	PID      int      `json:"pid,omitzero"`
	Folders  []string `json:"folders"`
	Attached bool     `json:"attached"`
	InFlight int      `json:"inFlight"`
	Requests int64    `json:"requests"`
	Ledger   int64    `json:"ledgerBytes"`
}

// WorkspaceStatus is one root in StatusResult. State is "indexing", "ready" or
// "degraded", and Why says why it is degraded.
type WorkspaceStatus struct {
	Root    string `json:"root"`
	State   string `json:"state"`
	Why     string `json:"why,omitzero"`
	Files   int    `json:"files"`   // in the index
	Indexed int    `json:"indexed"` // of these, looked at for an outline
	Skipped int    `json:"skipped"` // not in the index, files that ignore rules name aside
	// SkippedWhy counts Skipped by reason.
	SkippedWhy map[string]int `json:"skippedWhy,omitempty"`
	Sessions   int            `json:"sessions"`         // that have it as a folder
	Generation uint64         `json:"generation"`       // scans of the whole tree; 0 before the first one is done
	Version    uint64         `json:"version"`          // indexes published
	Watches    int            `json:"watches"`          // directories that are watched
	Symbols    int64          `json:"symbols"`          // whose names are held
	Lines      int64          `json:"lines"`            // of the files whose names are held
	NameBytes  int64          `json:"nameBytes"`        // memory of the names
	Source     int64          `json:"sourceBytes"`      // size of all files
	SweepMs    int64          `json:"sweepMs,omitzero"` // how often it is scanned while it is not watched
	AuditMs    int64          `json:"auditMs,omitzero"` // how often it is read again though nothing was reported
}

// StopResult is the result of mapd/stop: the pid of the daemon that ends.
type StopResult struct {
	PID int `json:"pid"`
}
