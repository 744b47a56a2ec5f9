package rpc

import (
	"bytes"
	"fmt"

	"go.lsp.dev/protocol"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/buffers"
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

// diagnosticSource and staleCode are the source and the code of all diagnostics.
const (
	diagnosticSource = "mapd"
	staleCode        = "stale-lines"
)

// sight is the text in which a client sees the lines of a file: the file itself,
// or what its editor has of it.
type sight struct {
	*locator
	// lines are where the lines of the file are in what the editor has; nil if
	// the client sees the file.
	lines *hashline.LineMap
}

// sight returns how the client sees version v.
func (s *Session) sight(docs *buffers.Set, v *workspace.Version) sight {
	if held := s.held(docs, v.Path()); held != nil {
		if d, err := s.heldDocument(held, held.URI); err == nil {
			return d.sight(v)
		}
	}
	return sight{locator: newLocator(v.Text(), s.encoding, false)}
}

// sight returns how the lines of version v are seen in a document.
func (d *document) sight(v *workspace.Version) sight {
	if d.file == v || bytes.Equal(d.text.Bytes(), v.Bytes()) {
		return sight{locator: d.locator}
	}
	return sight{locator: d.locator, lines: hashline.MapLines(v.Text(), d.text)}
}

// diagnostics says which lines that the session holds of a file are not as they
// were shown, where the client sees them in version v; nil if the file is gone.
// They stand until the lines are read again or are as they were.
func (s *Session) diagnostics(f recovery.File, v *workspace.Version, in sight) []diagnostic {
	out := []diagnostic{}
	change := recovery.Change{File: f, Snapshot: recovery.Gone, Map: versions{s.server, f.Path, v}.between}
	if v != nil {
		if v.Binary() {
			return out
		}
		change.Snapshot = v.Snapshot()
	}
	for _, stale := range change.Standing() {
		for _, r := range stale.Ranges {
			place, ok := in.around(r)
			if !ok {
				continue
			}
			out = append(out, diagnostic{
				Range: place, Severity: protocol.DiagnosticSeverityWarning,
				Code: staleCode, Source: diagnosticSource, Message: staleMessage(r, v == nil),
			})
		}
	}
	return out
}

// around returns the place of stale lines: the lines, or the empty range where
// they stood. There is none where the editor has changed all that tells of it.
func (in sight) around(r recovery.StaleRange) (protocol.Range, bool) {
	now := r.At
	if r.Now != nil && r.Now.Valid() {
		now = *r.Now
	}
	if in.lines != nil {
		var ok bool
		if now, ok = follow(in.lines, now); !ok {
			return protocol.Range{}, false
		}
	}
	if r.Now != nil && now.Valid() && now.End <= in.text.Lines() {
		return in.locator.lines(now.Start, now.End), true
	}
	if in.text.Lines() == 0 {
		return protocol.Range{}, true
	}
	at := in.at(in.startOf(max(1, min(now.Start, in.text.Lines()))))
	return protocol.Range{Start: at, End: at}, true
}

// follow returns where the proven ones of some lines are: from the first to the
// last. An empty range is where the line that follows it is.
func follow(m *hashline.LineMap, lines hashline.Range) (out hashline.Range, found bool) {
	if !lines.Valid() {
		lines.End = lines.Start
	}
	for n := lines.Start; n <= min(lines.End, m.Lines()); n++ {
		f := m.Line(n)
		if !f.Status.Proven() {
			continue
		}
		if !found {
			out, found = f.Now, true
		}
		out.End = f.Now.End
	}
	return out, found
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
