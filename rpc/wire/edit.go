package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods that write.
const (
	MethodEdit     = "mapd/edit"
	MethodEditMany = "mapd/editMany"
)

// The operations of an Edit.
const (
	OpReplace = "replace" // Pos..End with Lines; [] deletes
	OpAppend  = "append"  // Lines after Pos; without Pos at the end of the file
	OpPrepend = "prepend" // Lines before Pos; without Pos at the start of the file
	OpDelete  = "delete"  // Pos..End
)

// The choices of EditParams.OnStale.
const (
	OnStaleRemap  = "remap"  // follow lines that provably moved
	OnStaleReject = "reject" // reject when a line has moved
)

// MaxEdits is the number of operations one mapd/edit may hold, and the number
// of files one mapd/editMany may hold.
const MaxEdits = 10_000

// Edit is one operation on lines that anchors name.
type Edit struct {
	Op    string    `json:"op"`
	Pos   string    `json:"pos,omitzero"`
	End   string    `json:"end,omitzero"` // inclusive; absent: Pos
	Lines *[]string `json:"lines,omitzero"`
}

// UnmarshalJSONFrom keeps an anchor that is given and empty apart from one that
// is absent, which means the start or the end of the file: it becomes a space,
// which is no anchor either.
func (e *Edit) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	type plain Edit
	given := struct {
		*plain
		Pos *string `json:"pos"`
		End *string `json:"end"`
	}{plain: (*plain)(e)}
	if err := json.UnmarshalDecode(from, &given); err != nil {
		return err
	}
	for _, anchor := range []struct{ from, to *string }{{given.Pos, &e.Pos}, {given.End, &e.End}} {
		if anchor.from == nil {
			continue
		}
		if *anchor.to = *anchor.from; *anchor.to == "" {
			*anchor.to = " "
		}
	}
	return nil
}

// EditParams are the parameters of mapd/edit.
type EditParams struct {
	Path      string `json:"path,omitzero"`
	URI       string `json:"uri,omitzero"`
	Edits     []Edit `json:"edits"`
	Snapshot  string `json:"snapshot,omitzero"`
	OnStale   string `json:"onStale,omitzero"` // "": remap
	DryRun    bool   `json:"dryRun,omitzero"`
	RequestID string `json:"requestId,omitzero"`
	Create    bool   `json:"create,omitzero"`
}

// EditManyParams are the parameters of mapd/editMany.
type EditManyParams struct {
	Files     []EditParams `json:"files"`
	DryRun    bool         `json:"dryRun,omitzero"`
	RequestID string       `json:"requestId,omitzero"`
}

// EditResult is the result of mapd/edit. Applied is false for a dry run, and
// for an edit that changes nothing.
type EditResult struct {
	Applied          bool           `json:"applied"`
	NoChange         bool           `json:"noChange,omitzero"`
	DryRun           bool           `json:"dryRun,omitzero"`
	Path             string         `json:"path"`
	Snapshot         string         `json:"snapshot"`
	Diff             string         `json:"diff"`
	FirstChangedLine int            `json:"firstChangedLine,omitzero"`
	Renumber         []Renumber     `json:"renumber"`
	Anchors          []AnchoredHunk `json:"anchors"`
	Rebased          []Rebased      `json:"rebased,omitempty"`
	InPlace          bool           `json:"inPlace,omitzero"` // written into the file, not exchanged
	Warnings         []string       `json:"warnings,omitempty"`
	Stale            []Stale        `json:"stale,omitempty"`
}

// Renumber says that the numbers of the old lines greater than After grow by
// Delta. Entries add up.
type Renumber struct {
	After int `json:"after"`
	Delta int `json:"delta"`
}

// AnchoredHunk shows the lines of a hunk and one around it, with fresh anchors.
type AnchoredHunk struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Rebased is an anchor that was followed to where its line provably moved.
type Rebased struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// EditManyResult is the result of mapd/editMany.
type EditManyResult struct {
	Applied bool         `json:"applied"`
	DryRun  bool         `json:"dryRun,omitzero"`
	Files   []EditResult `json:"files"`
	Stale   []Stale      `json:"stale,omitempty"`
}

// EditOutcome is the outcome of one file in the data of a rejected
// mapd/editMany.
type EditOutcome struct {
	Path  string       `json:"path"`
	OK    bool         `json:"ok,omitzero"`
	Error *ErrorObject `json:"error,omitzero"`
}
