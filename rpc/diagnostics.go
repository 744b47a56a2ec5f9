package rpc

import (
	"fmt"

	"go.lsp.dev/protocol"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/workspace"
)

// diagnostic is LSP's Diagnostic, as far as it is used.
type diagnostic struct {
	Range    protocol.Range              `json:"range"`
	Severity protocol.DiagnosticSeverity `json:"severity"`
	Code     string                      `json:"code"`
	Source   string                      `json:"source"`
	Message  string                      `json:"message"`
}

// staleCode is the code of all diagnostics.
const staleCode = "stale-lines"

// diagnostics says which lines that the session holds of a file are not as they
// were shown, where they are in version v; nil if the file is gone. They stand
// until the lines are read again or are as they were.
func (s *Session) diagnostics(f recovery.File, v *workspace.Version) []diagnostic {
	out := []diagnostic{}
	change := recovery.Change{File: f, Snapshot: recovery.Gone, Map: versions{s.server, f.Path, v}.between}
	text := hashline.NewText(nil)
	if v != nil {
		if v.Binary() {
			return out
		}
		text = v.Text()
		change.Snapshot = v.Snapshot()
	}
	l := locator{text: text, encoding: s.encoding}
	for _, stale := range change.Standing() {
		for _, r := range stale.Ranges {
			out = append(out, diagnostic{
				Range: l.around(r), Severity: protocol.DiagnosticSeverityWarning,
				Code: staleCode, Source: "mapd", Message: staleMessage(r, v == nil),
			})
		}
	}
	return out
}

// around returns the place of stale lines: the lines, or the empty range where
// they stood.
func (l locator) around(r recovery.StaleRange) protocol.Range {
	if r.Now != nil && r.Now.Valid() && r.Now.End <= l.text.Lines() {
		return l.lines(r.Now.Start, r.Now.End)
	}
	at := protocol.Position{Line: uint32(max(0, min(r.At.Start, l.text.Lines())-1))}
	return protocol.Range{Start: at, End: at}
}

func staleMessage(r recovery.StaleRange, gone bool) string {
	lines := fmt.Sprintf("Lines %s, as they were shown,", r.Served)
	if r.Served.Len() == 1 {
		lines = fmt.Sprintf("Line %s, as it was shown,", r.Served)
	}
	switch {
	case gone:
		return lines + " went with the file (deleted)."
	case r.Status == recovery.Moved:
		return fmt.Sprintf("%s moved to %s (moved): the same text under other numbers.", lines, r.Now)
	case r.Status == recovery.Deleted:
		return lines + " stood here (deleted)."
	case r.Status == recovery.Ambiguous:
		return lines + " cannot be told from lines like it (ambiguous): read again."
	default:
		return fmt.Sprintf("%s changed (%s): read again.", lines, r.Status)
	}
}
