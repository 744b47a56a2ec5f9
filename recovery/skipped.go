package recovery

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Skipped returns the reads of the turn that the harness dropped, in the order
// of the calls. A read is a call of a tool named read, Read, mapd_read or with a
// name that ends in __read, with a path; it was dropped if a result of it is the
// harness's own text with SkipMarker, and none is anything else. The marker in
// the content of a file that was read, or in its map, is not the harness's.
func (t Turn) Skipped() []Read {
	type outcome struct{ dropped, answered bool }
	outcomes := map[string]outcome{}
	for _, r := range t.Results {
		o := outcomes[r.CallID]
		if isSkip(r.Text) {
			o.dropped = true
		} else {
			o.answered = true
		}
		outcomes[r.CallID] = o
	}
	var out []Read
	for _, c := range t.Calls {
		o := outcomes[c.ID]
		if !o.dropped || o.answered || !isRead(c.Name) {
			continue
		}
		// A call that is listed twice was made once.
		delete(outcomes, c.ID)
		if read, ok := c.read(); ok {
			out = append(out, read)
		}
	}
	return out
}

func isRead(name string) bool {
	return name == "read" || name == "Read" || name == "mapd_read" || strings.HasSuffix(name, "__read")
}

// pathNames are the arguments by which agents name the file of a read.
var pathNames = []string{"path", "file_path", "filePath", "filepath", "file", "filename", "uri"}

// paramNames are the parameters of mapd/read besides the file.
var paramNames = map[string]bool{
	"offset": true, "limit": true, "ranges": true, "symbol": true, "cursor": true, "anchors": true, "map": true,
	"delivery": true, "maxLines": true, "maxBytes": true, "mapMaxBytes": true, "images": true, "toolCallId": true,
}

// read returns the call as a read: with all arguments that mapd/read knows, as
// they were, and the file under the name that mapd/read uses.
func (c Call) read() (Read, bool) {
	params := map[string]json.RawMessage{}
	var path string
	for _, name := range pathNames {
		raw, ok := c.Arguments[name]
		if !ok || json.Unmarshal(raw, &path) != nil || path == "" {
			continue
		}
		if name == "uri" {
			params["uri"] = raw
		} else {
			params["path"] = raw
		}
		break
	}
	if path == "" {
		return Read{}, false
	}
	for name, raw := range c.Arguments {
		if paramNames[name] {
			params[name] = raw
		}
	}
	encoded, err := json.Marshal(params)
	if err != nil {
		return Read{}, false
	}
	return Read{ToolCallID: c.ID, Path: path, Params: encoded}, true
}

// isSkip reports whether the text of a result is a harness's word that the call
// was dropped. Text that has rows of a shown file is that file's.
func isSkip(text string) bool {
	if !strings.Contains(text, SkipMarker) {
		return false
	}
	for line := range strings.Lines(text) {
		if isRow(strings.TrimSuffix(line, "\n")) {
			return false
		}
	}
	return true
}

// numberedRow matches a line of a file behind its number and a tab or an arrow,
// as other read tools show it; mapRow a line of a map, which ends in a range.
// anchoredRow matches a line behind an anchor, if only one that looks so.
var (
	anchoredRow = regexp.MustCompile(`^[ >+*-]*[0-9]+#[A-Z]{2,4}:`)
	numberedRow = regexp.MustCompile(`^ *[0-9]+(\t|→)`)
	mapRow      = regexp.MustCompile(`: \[[0-9]+(-[0-9]+)?\]$`)
)

func isRow(line string) bool {
	return anchoredRow.MatchString(line) || numberedRow.MatchString(line) || mapRow.MatchString(line)
}
