package rpc

import (
	"slices"

	"mapd/hashline"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// described is what an edit does to the lines, as it is answered.
type described struct {
	name    string // of the file
	diff    string
	anchors []wire.AnchoredHunk
	size    int // bytes that these have in the reply
}

// describe finds out what the edit does to the lines of a file of that name.
func (e *editing) describe(name string) {
	a := e.applied
	old := "a/" + name
	if e.req.create {
		old = "/dev/null"
	}
	diff := hashline.UnifiedDiff(old, "b/"+name, a.Old, a.New, a.Hunks, hashline.DiffContext)
	e.does = described{name: name, diff: string(hashline.AppendValid(nil, diff)), anchors: []wire.AnchoredHunk{}}
	e.does.size = quotedSize(e.does.diff)
	for _, around := range a.Around(1) {
		text, _ := a.New.Show(nil, around, hashline.Style{Width: e.session.width, MaxLine: e.session.server.opt.Limits.LineShown})
		e.does.anchors = append(e.does.anchors, wire.AnchoredHunk{Start: around.Start, End: around.End, Text: string(text)})
		e.does.size += quotedSize(e.does.anchors[len(e.does.anchors)-1].Text)
	}
}

// quotedSize returns about how many bytes a text has as a JSON string.
func quotedSize(text string) int {
	size := len(text) + 64 // the members around it
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\t' || c == '\r':
			size++
		case c < ' ':
			size += 5
		}
	}
	return size
}

// answerable refuses an edit that would be written and then not be answered,
// because its reply has no room in a frame. An eighth of it is for the rest of
// the reply.
func (e *editing) answerable() error {
	limit := e.session.server.opt.Limits.Conn.Frame / 8 * 7
	if size := e.others + e.does.size; size > limit {
		return wire.Errorf(wire.FileTooLarge, "the diff and the new lines make a reply of %d bytes, the limit is %d; make the change in several edits", size, limit)
	}
	return nil
}

// answer is the result of an edit, or of the rehearsal of one.
func (e *editing) answer(w workspace.WriteResult) *wire.EditResult {
	folders := *e.session.folders.Load()
	r := &wire.EditResult{Path: wireText(folders.Rel(w.Path))}
	if after := w.After; after != nil {
		r.Path, r.Snapshot = wireText(after.Name()), after.Snapshot()
	}
	if e.does.name != r.Path { // of a new file, as it was asked for
		e.describe(r.Path)
	}
	r.Diff, r.Anchors = e.does.diff, e.does.anchors
	r.FirstChangedLine = e.applied.FirstChangedLine()
	r.Renumber = []wire.Renumber{}
	for _, s := range e.applied.Renumber {
		r.Renumber = append(r.Renumber, wire.Renumber{After: s.After, Delta: s.Delta})
	}
	r.Rebased, r.Warnings = e.rebased, slices.Clone(e.warnings)
	return r
}
