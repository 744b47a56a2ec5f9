package rpc

import (
	"context"
	"encoding/hex"

	"go.lsp.dev/protocol"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/buffers"
	"mapd/workspace"
)

// What diagnostics of stale lines say of themselves.
const (
	diagnosticSource = "mapd"
	diagnosticCode   = "stale-lines"
)

// A diagnostic is LSP's Diagnostic of lines that went stale.
type diagnostic struct {
	Range    protocol.Range `json:"range"`
	Severity int            `json:"severity"` // protocol.DiagnosticSeverityWarning
	Code     string         `json:"code"`
	Source   string         `json:"source"`
	Message  string         `json:"message"`
}

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
// not what this session was shown of them. A document that is in no file has none.
func (s *Session) diagnostic(ctx context.Context, docs *buffers.Set, p diagnosticParams) (*diagnosticReport, error) {
	d, err := s.document(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	items, err := s.diagnostics(ctx, d)
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

// diagnostics returns the diagnostics of a document, whose lines may be those of
// the file or those that the editor has.
func (s *Session) diagnostics(ctx context.Context, d *document) ([]diagnostic, error) {
	out := []diagnostic{}
	v := d.file
	if v == nil {
		key, err := documentKey(d.uri)
		if err != nil || !isPath(key) {
			return out, err
		}
		v, err = s.open(ctx, key)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return out, nil // not in a file that was ever shown
		}
	}
	stale := s.staleLines(v)
	if len(stale) > 0 && d.file == nil {
		stale = mapped(stale, hashline.MapLines(v.Text(), d.text))
	}
	for _, r := range stale {
		out = append(out, diagnostic{
			Range: d.locator.lines(r.Start, r.End), Severity: int(protocol.DiagnosticSeverityWarning),
			Code: diagnosticCode, Source: diagnosticSource, Message: "changed since an agent was shown these lines",
		})
	}
	return out, nil
}

// staleLines returns the lines of a version that are not what the session was
// shown of its file, as mapd/ledger lists them.
func (s *Session) staleLines(v *workspace.Version) []hashline.Range {
	file := s.ledger.File(v.File())
	if len(file.Held) == 0 || v.Binary() {
		return nil
	}
	change := recovery.Change{File: file, Snapshot: v.Snapshot(), Live: v.Text(), Map: s.server.versions(v).between}
	return change.Survey().Stale
}

// mapped returns which lines the proven ones of rs are in a newer text.
func mapped(rs []hashline.Range, m *hashline.LineMap) []hashline.Range {
	var lines []int
	for _, r := range rs {
		for n := r.Start; n <= r.End; n++ {
			if f := m.Line(n); f.Status.Proven() {
				lines = append(lines, f.Now.Start)
			}
		}
	}
	return hashline.Compact(lines)
}
