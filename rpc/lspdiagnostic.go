package rpc

import (
	"context"
	"encoding/hex"

	"mapd/hashline"
	"mapd/rpc/buffers"
)

// diagnosticParams are LSP's DocumentDiagnosticParams.
type diagnosticParams struct {
	documentParams
	PreviousResultID string `json:"previousResultId"`
}

// diagnosticReport is LSP's DocumentDiagnosticReport: "full" with the items, or
// "unchanged" if they are those of the result that the client has.
type diagnosticReport struct {
	Kind     string        `json:"kind"`
	ResultID string        `json:"resultId"`
	Items    *[]diagnostic `json:"items,omitzero"`
}

// diagnostic answers textDocument/diagnostic: the lines of the document that are
// not as this session was shown them, as publishDiagnostics has them. A document that is in no file has none.
func (s *Session) diagnostic(ctx context.Context, docs *buffers.Set, p diagnosticParams) (*diagnosticReport, error) {
	d, err := s.document(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	items, err := s.documentDiagnostics(ctx, d)
	if err != nil {
		return nil, err
	}
	encoded, err := encode(items)
	if err != nil {
		return nil, err
	}
	digest := hashline.Sum(encoded)
	report := &diagnosticReport{Kind: "full", ResultID: hex.EncodeToString(digest[:8]), Items: &items}
	if report.ResultID == p.PreviousResultID {
		report.Kind, report.Items = "unchanged", nil
	}
	return report, nil
}

// documentDiagnostics returns the diagnostics of a document, whose lines may be
// those of the file or those that the editor has.
func (s *Session) documentDiagnostics(ctx context.Context, d *document) ([]diagnostic, error) {
	v := d.file
	if v == nil {
		key, err := documentKey(d.uri)
		if err != nil || !isPath(key) {
			return []diagnostic{}, err
		}
		v, err = s.open(ctx, key)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil || v.Binary():
			return []diagnostic{}, nil // no lines of the document were ever shown
		}
	}
	return s.diagnostics(s.ledger.File(v.File()), v, d.sight(v)), nil
}
