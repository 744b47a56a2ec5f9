package wire

// MethodFind is the method that searches the folders of a session.
const MethodFind = "mapd/find"

// The modes of a FindParams.
const (
	FindAuto   = "auto"   // symbols, or text if none matches
	FindSymbol = "symbol" // symbols by their names
	FindText   = "text"   // lines by their text
)

// The default of FindParams.Limit, and the most that it may be.
const (
	DefaultFindLimit = 50
	MaxFindLimit     = 1000
)

// FindParams are the parameters of mapd/find.
type FindParams struct {
	Query  string `json:"query"`
	Kind   string `json:"kind,omitzero"`   // of the symbols that count; "": all
	Path   string `json:"path,omitzero"`   // glob of the files that count; "": all
	Mode   string `json:"mode,omitzero"`   // "": auto
	Regexp bool   `json:"regexp,omitzero"` // Query is a regular expression, so the search is for text
	Limit  *int   `json:"limit,omitzero"`  // nil: DefaultFindLimit
}

// FindResult is the result of mapd/find.
type FindResult struct {
	Mode      string     `json:"mode"` // what was searched in the end: symbol or text
	Results   []FindHit  `json:"results"`
	Truncated bool       `json:"truncated"` // there are more
	Degraded  []Degraded `json:"degraded,omitempty"`
	Stale     []Stale    `json:"stale,omitempty"`
}

// FindHit is a symbol, or a line with the innermost symbol around it. All of it
// is true of one version. Lines are 1-based and inclusive.
type FindHit struct {
	Path      string   `json:"path"`
	Snapshot  string   `json:"snapshot"`
	Name      string   `json:"name,omitzero"` // of the symbol; absent for a line outside of all
	Kind      string   `json:"kind,omitzero"`
	Start     int      `json:"start"` // of the symbol that was found, or the line
	End       int      `json:"end"`
	Container string   `json:"container,omitzero"` // the symbol around the one of Name
	Anchor    string   `json:"anchor"`             // of the line that Text shows
	Text      string   `json:"text"`               // the line that names the symbol, or the one that was found
	Cut       *FindCut `json:"cut,omitzero"`       // Text is a part of a line that is too long
}

// FindCut says which part of a line is shown. Bytes are file bytes without the
// terminator.
type FindCut struct {
	From       int `json:"from,omitzero"` // offset in the line
	ShownBytes int `json:"shownBytes"`
	TotalBytes int `json:"totalBytes"`
}

// Degraded says why an answer about a folder may lack something.
type Degraded struct {
	Root string `json:"root"`
	Why  string `json:"why"`
}
