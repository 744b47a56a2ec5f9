package mcp

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"mapd/hashline"
	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// textBlocks encodes texts as an array of content blocks. Bytes that are not
// UTF-8 become U+FFFD.
func textBlocks(texts ...string) []byte {
	out := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"type":"text","text":`...)
		out, _ = jsontext.AppendQuote(out, strings.ToValidUTF8(text, "\uFFFD"))
		out = append(out, '}')
	}
	return append(out, ']')
}

// withStale is textBlocks with the notices of a reply.
func withStale(stale []wire.Stale, texts ...string) []byte {
	for _, s := range stale {
		texts = append(texts, client.StaleText(s))
	}
	return textBlocks(texts...)
}

func encodeError(e *wire.Error) []byte {
	encoded, err := json.Marshal(e.Object())
	if err != nil {
		return nil
	}
	return encoded
}

// readBlocks passes the blocks of the daemon on without decoding them: they
// have the form of MCP's.
func readBlocks(result []byte) ([]byte, error) {
	content, rest, ok := cutContent(result)
	if ok && !bytes.Contains(rest, []byte(`,"stale":[`)) {
		return content, nil
	}
	var r struct {
		Content jsontext.Value `json:"content"`
		Stale   []wire.Stale   `json:"stale"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	if len(r.Content) <= len("[]") {
		return withStale(r.Stale, "[This file is empty.]"), nil
	}
	if len(r.Stale) == 0 {
		return r.Content, nil
	}
	content = r.Content[:len(r.Content)-1]
	notices := withStale(r.Stale)
	return append(append(content[:len(content):len(content)], ','), notices[1:]...), nil
}

// cutContent slices the array of blocks out of a result of mapd/read as the
// daemon spells it, and what follows it. Neither mark can lie inside of a
// string, where each of its quotes would have a backslash before it.
func cutContent(result []byte) (content, rest []byte, ok bool) {
	start := bytes.Index(result, []byte(`,"content":[{`))
	end := bytes.Index(result, []byte(`}],"details":{`))
	if start < 0 || end < start {
		return nil, nil, false
	}
	start += len(`,"content":`)
	end += len(`}]`)
	return result[start:end:end], result[end:], true
}

func mapBlocks(result []byte) ([]byte, error) {
	var r struct {
		Text    *string        `json:"text"`
		Symbols jsontext.Value `json:"symbols"`
		Changes *[]wire.Change `json:"changes"`
		Stale   []wire.Stale   `json:"stale"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var texts []string
	if r.Text != nil {
		texts = append(texts, *r.Text)
	} else {
		texts = append(texts, string(r.Symbols))
	}
	if r.Changes != nil {
		texts = append(texts, changesText(*r.Changes))
	}
	return withStale(r.Stale, texts...), nil
}

func changesText(changes []wire.Change) string {
	if len(changes) == 0 {
		return "No symbol has changed."
	}
	var out strings.Builder
	out.WriteString("Changed symbols:")
	for _, c := range changes {
		fmt.Fprintf(&out, "\n%s %s %s: [%s]", c.Op, c.Kind, c.Name, hashline.Range{Start: c.Start, End: c.End})
		if c.Was != nil {
			fmt.Fprintf(&out, ", was [%s]", c.Was)
		}
	}
	return out.String()
}

func findBlocks(result []byte) ([]byte, error) {
	var r wire.FindResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, hit := range r.Results {
		fmt.Fprintf(&out, "%s %s:%s", hit.Path, hit.Anchor, hit.Text)
		if hit.Cut != nil {
			fmt.Fprintf(&out, " [%d of %d bytes of this line]", hit.Cut.ShownBytes, hit.Cut.TotalBytes)
		}
		if hit.Name != "" {
			out.WriteString(hitText(r.Mode, hit))
		}
		out.WriteByte('\n')
	}
	if len(r.Results) == 0 {
		out.WriteString("Nothing found.\n")
	}
	if r.Truncated {
		out.WriteString("[There is more: narrow the query or raise limit.]\n")
	}
	for _, d := range r.Degraded {
		fmt.Fprintf(&out, "[Incomplete: %s is degraded: %s]\n", d.Root, d.Why)
	}
	return withStale(r.Stale, strings.TrimSuffix(out.String(), "\n")), nil
}

// hitText says what a hit is, or what it lies in.
func hitText(mode string, hit wire.FindHit) string {
	if mode == "text" {
		return fmt.Sprintf(" [in %s %s]", hit.Kind, hit.Name)
	}
	lines := hashline.Range{Start: hit.Start, End: hit.End}
	if hit.Container != "" {
		return fmt.Sprintf(" [%s %s in %s: %s]", hit.Kind, hit.Name, hit.Container, lines)
	}
	return fmt.Sprintf(" [%s %s: %s]", hit.Kind, hit.Name, lines)
}

func checkBlocks(result []byte) ([]byte, error) {
	var r wire.CheckResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	lines := make([]string, 0, len(r.Results))
	for _, c := range r.Results {
		lines = append(lines, strings.TrimSuffix(c.Anchor+" "+c.Status+" "+c.Now, " "))
	}
	texts := []string{strings.Join(lines, "\n")}
	if r.Reread != nil {
		texts = append(texts, r.Reread.Text)
	}
	return withStale(r.Stale, texts...), nil
}

// editBlocks shows the lines as they are now, with the anchors for the next
// edit. The diff repeats them, so it is shown only where nothing was written.
func editBlocks(result []byte) ([]byte, error) {
	var r wire.EditResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var notes []string
	switch {
	case r.DryRun:
		notes = append(notes, "Dry run of "+r.Path+", nothing was written.")
	case !r.Applied:
		notes = append(notes, r.Path+" has these lines already, nothing was written.")
	default:
		notes = append(notes, "Edited "+r.Path+", snapshot "+r.Snapshot+".")
	}
	for _, w := range r.Warnings {
		notes = append(notes, "Warning: "+w)
	}
	for _, m := range r.Rebased {
		notes = append(notes, m.From+" had moved to "+m.To+".")
	}
	for _, n := range r.Renumber {
		if n.Delta != 0 {
			notes = append(notes, fmt.Sprintf("Lines after %d of the old text: %+d.", n.After, n.Delta))
		}
	}
	texts := []string{strings.Join(notes, "\n")}
	if r.DryRun && r.Diff != "" {
		texts = append(texts, r.Diff)
	}
	if r.Applied {
		for _, h := range r.Anchors {
			texts = append(texts, h.Text)
		}
	}
	return withStale(r.Stale, texts...), nil
}

func ledgerBlocks(result []byte) ([]byte, error) {
	var r wire.LedgerResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var lines []string
	for _, f := range r.Files {
		line := f.Path + ": " + rangesText(f.Ranges)
		if len(f.Stale) > 0 {
			line += "; stale: " + rangesText(f.Stale)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = append(lines, "You were shown no lines.")
	}
	return withStale(r.Stale, strings.Join(lines, "\n")), nil
}

func rangesText(ranges []hashline.Range) string {
	parts := make([]string, 0, len(ranges))
	for _, r := range ranges {
		parts = append(parts, r.String())
	}
	return strings.Join(parts, ", ")
}

func recoverBlocks(result []byte) ([]byte, error) {
	var r wire.RecoverResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	if r.Message == nil {
		return textBlocks("No read was interrupted."), nil
	}
	texts := []string{r.Message.Content}
	if len(r.Reads) > 0 { // they need not be asked for again
		texts = []string{r.Expanded}
	}
	for _, read := range r.Reads {
		answer := client.OutcomeToolResult("", "", read)
		for _, c := range answer.Content {
			if c.Type == "text" {
				texts = append(texts, c.Text)
			}
		}
	}
	return textBlocks(texts...), nil
}

func statusBlocks(result []byte) ([]byte, error) {
	var r wire.StatusResult
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "mapd %s build %s, pid %d, up %v, %d sessions", r.Version, r.Build, r.PID, time.Duration(r.UptimeSeconds)*time.Second, len(r.Sessions))
	for _, w := range r.Workspaces {
		fmt.Fprintf(&out, "\n%s: %s", w.Root, w.State)
		if w.Why != "" {
			fmt.Fprintf(&out, " (%s)", w.Why)
		}
		fmt.Fprintf(&out, ", %d of %d files indexed", w.Indexed, w.Files)
	}
	return textBlocks(out.String()), nil
}
