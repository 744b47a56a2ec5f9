package wire

import (
	"mapd/hashline"
	"mapd/outline/symbol"
)

// The methods of mapd.
const (
	MethodRead     = "mapd/read"
	MethodReadMany = "mapd/readMany"
	MethodMap      = "mapd/map"
	MethodStatus   = "mapd/status"
	MethodStop     = "mapd/stop"

	// NotifyFileMap is the notification that carries a map in separate delivery.
	NotifyFileMap = "mapd/fileMap"
)

// The ways a map is asked for in ReadParams.Map.
const (
	MapAuto   = "auto"   // when a read of the whole file is truncated
	MapAlways = "always" // with any view
	MapNever  = "never"
	MapOnly   = "only" // the map and no content
)

// The ways a map is delivered.
const (
	DeliverInline   = "inline"   // a further text block
	DeliverSeparate = "separate" // a mapd/fileMap notification right after the reply
)

// The defaults of ReadParams and MapParams.
const (
	DefaultMaxLines    = 2000
	DefaultMaxBytes    = 51200
	DefaultMapMaxBytes = 102400
)

// File names the file of a request: by Path, relative to the first folder or
// absolute inside a folder, or by URI.
type File struct {
	Path string `json:"path,omitzero"`
	URI  string `json:"uri,omitzero"`
}

// ReadParams are the parameters of mapd/read. At most one of Ranges, Symbol,
// Cursor and Offset/Limit selects the view; Ranges win over Offset/Limit.
// Lines are 1-based and ranges inclusive.
type ReadParams struct {
	Path        string           `json:"path,omitzero"`
	URI         string           `json:"uri,omitzero"`
	Offset      *int             `json:"offset,omitzero"` // first line
	Limit       *int             `json:"limit,omitzero"`  // lines
	Ranges      []hashline.Range `json:"ranges,omitempty"`
	Symbol      string           `json:"symbol,omitzero"`
	Cursor      string           `json:"cursor,omitzero"`
	Anchors     *bool            `json:"anchors,omitzero"`     // nil: true
	Map         string           `json:"map,omitzero"`         // "": auto
	Delivery    string           `json:"delivery,omitzero"`    // "": the session's
	MaxLines    *int             `json:"maxLines,omitzero"`    // nil: DefaultMaxLines
	MaxBytes    *int             `json:"maxBytes,omitzero"`    // of the text as sent; nil: DefaultMaxBytes
	MapMaxBytes *int             `json:"mapMaxBytes,omitzero"` // nil: DefaultMapMaxBytes
	Images      bool             `json:"images,omitzero"`
	ToolCallID  string           `json:"toolCallId,omitzero"` // echoed in mapd/fileMap
}

// Content is one block of an answer: text, or an image with its data in
// base64.
type Content struct {
	Type     string `json:"type"` // "text" or "image"
	Text     string `json:"text,omitzero"`
	Data     string `json:"data,omitzero"`
	MimeType string `json:"mimeType,omitzero"`
}

// ReadResult is the result of mapd/read. Every field describes one version.
type ReadResult struct {
	Path     string      `json:"path"`
	Snapshot string      `json:"snapshot"`
	Content  []Content   `json:"content"`
	Details  ReadDetails `json:"details"`
	Stale    []Stale     `json:"stale,omitempty"`
}

// ReadDetails describe what ReadResult.Content shows.
type ReadDetails struct {
	FilePath    string           `json:"filePath"` // absolute and resolved
	Language    string           `json:"language"`
	TotalLines  int              `json:"totalLines"`
	TotalBytes  int              `json:"totalBytes"`
	SymbolCount *int             `json:"symbolCount,omitzero"` // if the answer used the outline
	Ranges      []hashline.Range `json:"ranges"`               // one for each content block
	Truncation  Truncation       `json:"truncation"`
	Next        *Next            `json:"next,omitzero"` // if truncated
	CutLines    []CutLine        `json:"cutLines,omitempty"`
	Map         *MapInfo         `json:"map,omitzero"`
	Symbol      *SymbolInfo      `json:"symbol,omitzero"`
	Outline     *OutlineInfo     `json:"outline,omitzero"`
	Lossy       bool             `json:"lossy,omitzero"`    // a shown line has invalid UTF-8, shown as U+FFFD
	Unstable    bool             `json:"unstable,omitzero"` // the file kept changing while it was read
}

// The values of Truncation.By.
const (
	ByLines = "lines" // maxLines
	ByBytes = "bytes" // maxBytes
	ByLine  = "line"  // a line over the limit of a shown line
)

// Truncation says how much of the file is shown. Bytes are file bytes.
type Truncation struct {
	Truncated  bool   `json:"truncated"`
	By         string `json:"by,omitzero"`
	ShownLines int    `json:"shownLines"`
	TotalLines int    `json:"totalLines"`
	ShownBytes int    `json:"shownBytes"`
	TotalBytes int    `json:"totalBytes"`
}

// Next is where a truncated view goes on: Cursor resumes exactly, Offset is the
// first line not shown at all, 0 if only the rest of cut lines is left.
type Next struct {
	Offset int    `json:"offset,omitzero"`
	Cursor string `json:"cursor"`
}

// CutLine is a line of which only a part is shown. Bytes are file bytes
// without the terminator.
type CutLine struct {
	Line       int `json:"line"`
	ShownBytes int `json:"shownBytes"`
	TotalBytes int `json:"totalBytes"`
}

// MapInfo describes a map: its level, the bytes of its text, and how many of
// the file's symbols it names.
type MapInfo struct {
	Detail       string `json:"detail"`
	Bytes        int    `json:"bytes"`
	ShownSymbols int    `json:"shownSymbols"`
	TotalSymbols int    `json:"totalSymbols"`
}

// SymbolInfo is the symbol that a read by symbol shows.
type SymbolInfo struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// OutlineInfo says how the outline was made, and why it is not better.
type OutlineInfo struct {
	Source string `json:"source"`
	Why    string `json:"why,omitzero"`
}

// Stale is what changed in lines delivered to a session: the object of
// mapd/stale, and of the stale member of replies. To is null if the file is
// gone.
type Stale struct {
	Path   string       `json:"path"`
	From   string       `json:"from"`
	To     *string      `json:"to"`
	Ranges []StaleRange `json:"ranges"`
	By     string       `json:"by,omitzero"`
}

// StaleRange is a run of delivered lines with one status, and where it is now.
type StaleRange struct {
	Served hashline.Range  `json:"served"`
	Status string          `json:"status"`
	Now    *hashline.Range `json:"now,omitzero"`
}

// ReadManyParams are the parameters of mapd/readMany.
type ReadManyParams struct {
	Reads []ReadParams `json:"reads"`
}

// MaxReads is the number of reads one mapd/readMany may hold.
const MaxReads = 256

// ReadManyResult holds one entry for each read, in order.
type ReadManyResult struct {
	Results []ReadOutcome `json:"results"`
	Stale   []Stale       `json:"stale,omitempty"`
}

// ReadOutcome is a result or an error.
type ReadOutcome struct {
	OK    *ReadResult  `json:"ok,omitzero"`
	Error *ErrorObject `json:"error,omitzero"`
}

// FileMap are the parameters of the notification mapd/fileMap.
type FileMap struct {
	CustomType string         `json:"customType"` // "file-map"
	Content    string         `json:"content"`    // the map
	Display    bool           `json:"display"`
	Details    FileMapDetails `json:"details"`
	Summary    string         `json:"summary"` // one line for a collapsed view
	ToolCallID string         `json:"toolCallId,omitzero"`
}

// FileMapDetails describe the file of a FileMap.
type FileMapDetails struct {
	FilePath    string `json:"filePath"`
	TotalLines  int    `json:"totalLines"`
	TotalBytes  int    `json:"totalBytes"`
	SymbolCount int    `json:"symbolCount"`
	Language    string `json:"language"`
}

// MapParams are the parameters of mapd/map.
type MapParams struct {
	Path     string `json:"path,omitzero"`
	URI      string `json:"uri,omitzero"`
	Detail   string `json:"detail,omitzero"`   // "": auto
	MaxBytes *int   `json:"maxBytes,omitzero"` // of the text; nil: DefaultMapMaxBytes
	Format   string `json:"format,omitzero"`   // "text", "json"; "": both
	Since    string `json:"since,omitzero"`    // a snapshot: also report what changed
}

// MapResult is the result of mapd/map. Symbols is the whole tree whatever the
// detail of the text.
type MapResult struct {
	Path     string           `json:"path"`
	Snapshot string           `json:"snapshot"`
	Text     *string          `json:"text,omitzero"`
	Symbols  *[]symbol.Symbol `json:"symbols,omitzero"`
	Imports  []symbol.Import  `json:"imports,omitempty"`
	Details  MapDetails       `json:"details"`
	Changes  *[]Change        `json:"changes,omitzero"`
	Stale    []Stale          `json:"stale,omitempty"`
}

// MapDetails describe the file of a MapResult.
type MapDetails struct {
	FilePath    string      `json:"filePath"`
	Language    string      `json:"language"`
	TotalLines  int         `json:"totalLines"`
	TotalBytes  int         `json:"totalBytes"`
	SymbolCount int         `json:"symbolCount"`
	Map         *MapInfo    `json:"map,omitzero"` // if there is a text
	Outline     OutlineInfo `json:"outline"`
	Unstable    bool        `json:"unstable,omitzero"`
}

// Change is a symbol that differs between two versions. Was are its lines in
// the older one.
type Change struct {
	Op    string          `json:"op"` // "added", "removed", "changed", "moved"
	Name  string          `json:"name"`
	Kind  string          `json:"kind"`
	Start int             `json:"start"`
	End   int             `json:"end"`
	Was   *hashline.Range `json:"was,omitzero"`
}
