package rpc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// editRequest is a wire.EditParams after the edge.
type editRequest struct {
	file     string
	edits    []editOp
	snapshot string
	strict   bool // a line that has moved rejects the edit
	dryRun   bool
	create   bool
}

// editOp is one operation; pos is nil for the start or the end of the file.
type editOp struct {
	op       hashline.Op
	pos, end *hashline.Anchor
	lines    []string
}

var editOps = map[string]hashline.Op{
	wire.OpReplace: hashline.Replace, wire.OpAppend: hashline.Append,
	wire.OpPrepend: hashline.Prepend, wire.OpDelete: hashline.Delete,
}

// parseEdit checks what can be checked without the file.
func parseEdit(p wire.EditParams) (editRequest, error) {
	r := editRequest{snapshot: p.Snapshot, dryRun: p.DryRun, create: p.Create}
	var err error
	if r.file, err = fileName(p.Path, p.URI); err != nil {
		return r, err
	}
	onStale := orDefault(p.OnStale, wire.OnStaleRemap)
	if err := oneOf("onStale", onStale, wire.OnStaleRemap, wire.OnStaleReject); err != nil {
		return r, err
	}
	r.strict = onStale == wire.OnStaleReject
	if len(p.Edits) == 0 || len(p.Edits) > wire.MaxEdits {
		return r, wire.Errorf(wire.InvalidParams, "edits has %d entries; it must have 1 to %d", len(p.Edits), wire.MaxEdits)
	}
	for i, e := range p.Edits {
		op, err := parseOp(e)
		if err != nil {
			wired := toWire(err)
			return r, wire.Errorf(wired.Code, "edit %d: %s", i+1, wired.Message)
		}
		r.edits = append(r.edits, op)
	}
	if first := r.edits[0]; p.Create && (len(r.edits) > 1 || first.op != hashline.Append || first.pos != nil) {
		return r, wire.Errorf(wire.InvalidParams, "create takes one append without pos, whose lines are the new file")
	}
	return r, nil
}

func parseOp(e wire.Edit) (editOp, error) {
	op, ok := editOps[e.Op]
	if !ok {
		return editOp{}, wire.Errorf(wire.InvalidParams, "op is %q; it must be one of replace, append, prepend, delete", e.Op)
	}
	out := editOp{op: op}
	var err error
	if out.pos, err = parseOptional(e.Pos); err != nil {
		return out, err
	}
	if out.end, err = parseOptional(e.End); err != nil {
		return out, err
	}
	ranged := op == hashline.Replace || op == hashline.Delete
	switch {
	case ranged && out.pos == nil:
		return out, wire.Errorf(wire.InvalidParams, "%s needs pos, the anchor of its first line", e.Op)
	case !ranged && out.end != nil:
		return out, wire.Errorf(wire.InvalidParams, "%s takes no end; it inserts at pos", e.Op)
	case op == hashline.Delete && e.Lines != nil && len(*e.Lines) > 0:
		return out, wire.Errorf(wire.InvalidParams, "delete takes no lines; use replace")
	case op != hashline.Delete && e.Lines == nil:
		return out, wire.Errorf(wire.InvalidParams, "%s needs lines, one element for each line", e.Op)
	case out.end != nil && out.end.Line < out.pos.Line:
		return out, wire.Errorf(wire.InvalidParams, "end %s stands before pos %s", out.end, out.pos)
	}
	if ranged && out.end == nil {
		out.end = out.pos
	}
	if e.Lines != nil {
		out.lines = *e.Lines
	}
	return out, nil
}

func parseOptional(text string) (*hashline.Anchor, error) {
	if text == "" {
		return nil, nil
	}
	a, err := hashline.ParseAnchor(text)
	if err != nil {
		return nil, anchorError(err)
	}
	return &a, nil
}

// editing is an edit on its way: what its last run against live bytes came to.
type editing struct {
	session *Session
	req     editRequest
	claim   *claim

	live     *workspace.Version // nil for a file to be made
	path     string             // real, once it is known
	applied  *hashline.Applied
	does     described
	others   int                    // bytes of the same reply that are not about this edit
	written  *workspace.WriteResult // nil unless the file was changed
	rebased  []wire.Rebased
	warnings []string
	// shown is what a rejection shows, and the version it rests on.
	shown []delivery
}

// run makes the new bytes from the live version. It may run several times, on
// different versions; only the last one counts.
func (e *editing) run(live *workspace.Version) ([]byte, error) {
	e.live, e.rebased, e.warnings, e.shown = live, nil, nil, nil
	if err := e.session.notDirty(e.req.file, live); err != nil {
		return nil, err
	}
	text := hashline.NewText(nil)
	var edits []hashline.Edit
	var err error
	if live == nil {
		edits = []hashline.Edit{{Op: hashline.Append, Lines: e.req.edits[0].lines}}
	} else {
		e.claim.add(live.File())
		if err := mustBeText(live); err != nil {
			return nil, err
		}
		text = live.Text()
		if edits, err = e.resolve(live); err != nil {
			return nil, err
		}
	}
	if e.applied, err = hashline.Apply(text, edits); err != nil {
		return nil, err
	}
	name := e.req.file
	if live != nil {
		name = live.Name()
	}
	e.describe(wireText(name))
	if err := e.answerable(); err != nil {
		return nil, err
	}
	return e.applied.New.Bytes(), nil
}

// resolve finds the live lines of every anchor, all in one version, or says
// why the edit is rejected.
func (e *editing) resolve(live *workspace.Version) ([]hashline.Edit, error) {
	scene := e.session.scene(live)
	scene.Careful = true
	var verdicts []recovery.Verdict
	var partial, unseen []hashline.Range
	edits := make([]hashline.Edit, len(e.req.edits))
	for i, op := range e.req.edits {
		if err := e.session.notDisplayed(i, op.lines); err != nil {
			return nil, err
		}
		edits[i] = hashline.Edit{Op: op.op, Lines: op.lines}
		switch {
		case op.pos == nil:
		case op.end == nil:
			v := scene.Resolve(*op.pos, e.req.snapshot)
			verdicts = append(verdicts, v)
			edits[i].Start = v.Line
		default:
			span := provenSpan(scene, scene.ResolveSpan(*op.pos, *op.end, e.req.snapshot))
			verdicts = append(verdicts, span.Verdicts()...)
			edits[i].Start, edits[i].End = span.Lines.Start, span.Lines.End
			partial, unseen = append(partial, span.Partial...), append(unseen, span.Unseen...)
		}
	}
	if rejection, rejected := scene.Reject(quotePath(live.Name()), verdicts, e.req.strict, wire.DefaultMaxBytes); rejected {
		e.shown = []delivery{
			renamed(scene, live, verdicts),
			{version: live, lines: rejection.Reread.Ranges, partial: rejection.Reread.Partial},
		}
		return nil, rejectionError(rejection, live)
	}
	if len(partial) > 0 {
		return nil, wire.Errorf(wire.PartiallyShown, "lines %s of %s were only shown cut, or with bytes replaced; read them whole before you replace them, for example with a larger view through the cursor", joinRanges(partial), quotePath(live.Name())).
			With("ranges", hashline.Merge(partial))
	}
	e.note(verdicts, hashline.Merge(unseen))
	return edits, nil
}

// provenSpan refuses a span of which neither end was delivered when it holds
// lines that the hashes of the two ends do not cover: nothing says what the
// agent believes to stand there. A hash covers its line and both neighbours.
func provenSpan(scene *recovery.Scene, span recovery.Span) recovery.Span {
	if !span.OK() || span.Start.Status != recovery.NeverServed || span.End.Status != recovery.NeverServed || span.Lines.Len() <= 4 {
		return span
	}
	inner := span.Lines.Start + 2
	span.Broken = []recovery.Verdict{{
		Anchor: scene.Live.Anchor(inner, scene.Width), Status: recovery.NeverServed,
		Place: hashline.Range{Start: inner, End: span.Lines.End - 2},
	}}
	return span
}

// neverServed is the warning of an edit that uses an anchor which was not shown
// to the session.
const neverServed = "never_served"

// note keeps what the client should know about an edit that is not rejected.
func (e *editing) note(verdicts []recovery.Verdict, unseen []hashline.Range) {
	var never []string
	for _, v := range verdicts {
		switch v.Status {
		case recovery.Moved:
			e.rebased = append(e.rebased, wire.Rebased{From: v.Anchor.String(), To: v.Now.String()})
		case recovery.NeverServed:
			never = append(never, v.Anchor.String())
			unseen = hashline.Subtract(unseen, []hashline.Range{v.Place}) // said by this warning
		}
	}
	if len(never) > 0 {
		e.warnings = append(e.warnings, neverServed)
	}
	if len(never) > 0 && len(verdicts) > 1 {
		e.warnings = append(e.warnings, fmt.Sprintf("%s were not shown to this session; they were taken because the live lines have their hashes", strings.Join(never, ", ")))
	}
	if len(unseen) > 0 {
		e.warnings = append(e.warnings, fmt.Sprintf("lines %s were replaced without having been shown to this session", joinRanges(unseen)))
	}
}

// notDisplayed refuses payload in mapd's own display form: LINE#HASH:content
// with a hash that it served, of whatever file. That is a copy of a shown line
// with its anchor, not a line.
func (s *Session) notDisplayed(edit int, lines []string) error {
	for k, line := range lines {
		if !strings.Contains(line, ":") {
			continue
		}
		anchor, err := hashline.ParseAnchor(line)
		if err == nil && s.served(anchor) {
			return wire.Errorf(wire.InvalidParams, "edit %d: lines[%d] starts with %s:, the anchor of a line that was shown; give the content alone", edit+1, k, anchor)
		}
	}
	return nil
}

// served reports whether the session was shown a line with that number and
// hash.
func (s *Session) served(a hashline.Anchor) bool {
	for _, f := range s.ledger.Files() {
		for _, h := range f.Held {
			if !hashline.ContainsLine(h.Lines, a.Line) {
				continue
			}
			v, ok := s.server.cache.Snapshot(h.Snapshot)
			if ok && a.Line <= v.Text().Lines() && a.Matches(v.Text().Hash(a.Line)) {
				return true
			}
		}
	}
	return false
}

// rejectionError is a rejection with all that the next try needs.
func rejectionError(r recovery.Rejection, live *workspace.Version) error {
	return wire.Errorf(wire.StaleAnchors, "%s", wireText(r.Message)).
		With("applied", false).
		With("mismatches", r.Mismatches).
		With("remaps", r.Remaps).
		With("affectedRanges", append([]hashline.Range{}, r.Affected...)).
		With("snapshot", live.Snapshot()).
		With("reread", reread(r.Reread))
}

func joinRanges(rs []hashline.Range) string {
	var out []string
	for _, r := range hashline.Merge(rs) {
		out = append(out, r.String())
	}
	return strings.Join(out, ", ")
}

// perform runs the edit and returns its result, and what that delivers.
func (e *editing) perform(ctx context.Context) (*wire.EditResult, []delivery, error) {
	s := e.session
	folders := *s.folders.Load()
	if len(folders.Roots()) == 0 {
		return nil, nil, errNoFolder
	}
	written, err := s.server.cache.Write(ctx, folders, e.req.file, workspace.WriteOptions{
		Create: e.req.create, Rehearse: e.req.dryRun, Mode: s.fileMode(), NoSync: !s.server.opt.Sync,
		Edit: func() *hashline.Applied { return e.applied },
	}, e.run)
	if err != nil {
		return nil, e.shown, notWritten(err)
	}
	e.path = written.Path
	result := e.answer(written)
	if e.req.dryRun {
		result.DryRun, result.NoChange = true, written.Before != nil && !e.applied.Changed()
		return result, nil, nil
	}
	result.Applied, result.NoChange = written.Changed, !written.Changed
	result.InPlace = written.InPlace != ""
	result.Warnings = append(result.Warnings, written.Warnings...)
	if written.Plain {
		result.Warnings = append(result.Warnings, "this file system cannot exchange files: a change of another program in the last moment would not have been noticed")
	}
	if !written.Changed {
		return result, nil, nil
	}
	s.wrote(written, e.applied)
	e.written = &written
	return result, []delivery{e.fresh(written.After, result)}, nil
}

// fresh is what the anchors of a result deliver.
func (e *editing) fresh(v *workspace.Version, r *wire.EditResult) delivery {
	d := delivery{version: v}
	for _, hunk := range r.Anchors {
		lines := hashline.Range{Start: hunk.Start, End: hunk.End}
		_, shown := v.Text().Show(nil, lines, hashline.Style{MaxLine: e.session.server.opt.Limits.LineShown})
		d.lines = append(d.lines, lines)
		for _, c := range shown.Cut {
			d.partial = append(d.partial, hashline.Range{Start: c.Line, End: c.Line})
		}
		d.partial = append(d.partial, hashline.Compact(shown.Lossy)...)
	}
	return d
}

// wrote notes an edit that was written: lines are followed through it exactly,
// and others learn who made it.
func (s *Session) wrote(w workspace.WriteResult, a *hashline.Applied) {
	if w.Before != nil {
		s.server.lineage.Add(w.After.File(), w.Before.Snapshot(), w.After.Snapshot(), a.Map)
	}
	s.edits.changed(w.After.File())
	s.server.authors.Put(w.After.Snapshot(), s.label(), int64(len(s.label())))
}

// label names the session to others.
func (s *Session) label() string {
	return orDefault(s.name, orDefault(s.client, "session")+" "+s.id)
}

// fileMode is the permission of a file that the session creates.
func (s *Session) fileMode() fs.FileMode { return 0o666 &^ s.umask }

// nothingWritten is what every failed edit says.
const nothingWritten = "nothing was written"

// notWritten makes sure that a failed edit cannot be read as a success.
func notWritten(err error) error {
	var stray *workspace.StrayError
	if errors.As(err, &stray) {
		return err
	}
	wired := toWire(err)
	if strings.Contains(wired.Message, nothingWritten) {
		return wired
	}
	return &wire.Error{Code: wired.Code, Message: wired.Message + "; " + nothingWritten, Fields: wired.Fields}
}

// serveEdit answers mapd/edit.
func (s *Session) serveEdit(ctx context.Context, p wire.EditParams) (conn.Reply, error) {
	return s.edits.once(p.RequestID, p, func() (conn.Reply, error) {
		return s.claimed(func(c *claim) (conn.Reply, error) { return s.edit(ctx, p, c) })
	})
}

func (s *Session) edit(ctx context.Context, p wire.EditParams, c *claim) (conn.Reply, error) {
	req, err := parseEdit(p)
	if err != nil {
		return conn.Reply{}, notWritten(err)
	}
	e := &editing{session: s, req: req, claim: c}
	result, shown, err := e.perform(ctx)
	if err != nil {
		return s.recorded(conn.Reply{}, shown...), err
	}
	if result.NoChange && !result.DryRun {
		if err := s.edits.noChange(e.live.File(), p); err != nil {
			return conn.Reply{}, err
		}
	}
	news := s.newsAfter(ctx, e.written)
	result.Stale = news.stale
	encoded, err := encode(result)
	return news.told(s.recorded(conn.Reply{Result: encoded}, shown...)), err
}
