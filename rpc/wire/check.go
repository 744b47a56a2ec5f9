package wire

import "mapd/hashline"

// The methods about what a session holds.
const (
	MethodCheck  = "mapd/check"
	MethodLedger = "mapd/ledger"
	MethodForget = "mapd/forget"

	// NotifyStale is the notification that delivered lines have changed.
	NotifyStale = "mapd/stale"
)

// The ways a session learns that lines it holds went stale.
const (
	StaleAttach = "attach" // in its next reply
	StalePush   = "push"   // in a notification of its own
	StaleOff    = "off"
)

// CheckParams are the parameters of mapd/check.
type CheckParams struct {
	Path     string   `json:"path,omitzero"`
	URI      string   `json:"uri,omitzero"`
	Anchors  []string `json:"anchors"`
	Snapshot string   `json:"snapshot,omitzero"` // the version that all anchors come from
}

// MaxAnchors is the number of anchors one mapd/check may hold.
const MaxAnchors = 10_000

// CheckResult is the result of mapd/check.
type CheckResult struct {
	Path           string            `json:"path"`
	Snapshot       string            `json:"snapshot"` // of the live version
	Fresh          bool              `json:"fresh"`    // every anchor is current
	Results        []CheckedAnchor   `json:"results"`  // in the order of the request
	Remaps         map[string]string `json:"remaps"`   // proven ones only: anchor sent -> live anchor
	AffectedRanges []hashline.Range  `json:"affectedRanges"`
	Reread         *Reread           `json:"reread,omitzero"`
	Stale          []Stale           `json:"stale,omitempty"`
}

// CheckedAnchor is the verdict on one anchor.
type CheckedAnchor struct {
	Anchor string `json:"anchor"` // in canonical form
	Status string `json:"status"`
	Now    string `json:"now,omitzero"` // its live anchor
}

// Reread shows live lines with their anchors: one text for each range, joined
// by empty lines.
type Reread struct {
	Ranges []hashline.Range `json:"ranges"`
	Text   string           `json:"text"`
}

// Mismatch is an anchor that a rejection is about. Expected and Actual are the
// hash that was sent and the live one at that number.
type Mismatch struct {
	Anchor   string `json:"anchor"`
	Status   string `json:"status"`
	Now      string `json:"now,omitzero"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// LedgerParams are the parameters of mapd/ledger and of mapd/forget. Without a
// file they mean all.
type LedgerParams struct {
	Path string `json:"path,omitzero"`
	URI  string `json:"uri,omitzero"`
}

// LedgerResult is the result of mapd/ledger: what the session was shown.
type LedgerResult struct {
	Files []LedgerFile `json:"files"`
	Stale []Stale      `json:"stale,omitempty"`
}

// LedgerFile is what the session was shown of a file. Ranges are the live lines
// that stand for what was delivered: reading them restores what the session knew.
// Stale are those of them that are not proven to be as they were shown. Snapshot
// is the live version, empty if the file cannot be read any more.
type LedgerFile struct {
	Path     string           `json:"path"`
	Snapshot string           `json:"snapshot"`
	Ranges   []hashline.Range `json:"ranges"`
	Stale    []hashline.Range `json:"stale"`
}
