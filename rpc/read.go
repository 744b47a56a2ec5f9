package rpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"

	"mapd/hashline"
	"mapd/outline"
	"mapd/rpc/view"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// readRequest is a wire.ReadParams after the edge: every choice is made and
// every bound is positive.
type readRequest struct {
	file       string
	selection  selection
	style      view.Style
	budget     view.Budget
	mapMode    string
	delivery   string
	mapBytes   int
	images     bool
	toolCallID string
}

// selection is what a read asks to see. At most one of the fields is set; none
// is the whole file.
type selection struct {
	ranges []hashline.Range // merged
	symbol string
	cursor *view.Cursor
	paged  bool // offset or limit was given
	offset int  // 1-based
	limit  int  // lines
}

func (s selection) whole() bool {
	return s.ranges == nil && s.symbol == "" && s.cursor == nil && !s.paged
}

// parseRead checks p and fills in the defaults of the session.
func (s *Session) parseRead(p wire.ReadParams) (readRequest, error) {
	r := readRequest{
		mapMode:    orDefault(p.Map, wire.MapAuto),
		delivery:   orDefault(p.Delivery, s.delivery),
		images:     p.Images,
		toolCallID: p.ToolCallID,
		style:      view.Style{Anchors: p.Anchors == nil || *p.Anchors, Width: s.width},
	}
	var err error
	if r.file, err = fileName(p.Path, p.URI); err != nil {
		return r, err
	}
	if err := oneOf("map", r.mapMode, wire.MapAuto, wire.MapAlways, wire.MapNever, wire.MapOnly); err != nil {
		return r, err
	}
	if err := oneOf("delivery", r.delivery, wire.DeliverInline, wire.DeliverSeparate); err != nil {
		return r, err
	}
	r.budget.Line = s.server.opt.Limits.LineShown
	for _, bound := range []struct {
		name  string
		value *int
		or    int
		to    *int
	}{
		{"maxLines", p.MaxLines, wire.DefaultMaxLines, &r.budget.Lines},
		{"maxBytes", p.MaxBytes, wire.DefaultMaxBytes, &r.budget.Bytes},
		{"mapMaxBytes", p.MapMaxBytes, wire.DefaultMapMaxBytes, &r.mapBytes},
	} {
		if *bound.to, err = positive(bound.name, bound.value, bound.or); err != nil {
			return r, err
		}
	}
	r.selection, err = parseSelection(p)
	return r, err
}

func parseSelection(p wire.ReadParams) (selection, error) {
	var sel selection
	paged := p.Offset != nil || p.Limit != nil
	chosen := 0
	for _, given := range []bool{len(p.Ranges) > 0, p.Symbol != "", p.Cursor != "", paged && len(p.Ranges) == 0} {
		if given {
			chosen++
		}
	}
	if chosen > 1 {
		return sel, wire.Errorf(wire.InvalidParams, "give at most one of ranges, symbol, cursor and offset/limit")
	}
	for _, r := range p.Ranges {
		if !r.Valid() {
			return sel, wire.Errorf(wire.InvalidParams, "ranges: {start:%d, end:%d} is no range; lines count from 1, and end is at least start", r.Start, r.End)
		}
	}
	var err error
	if sel.offset, err = positive("offset", p.Offset, 1); err != nil {
		return sel, err
	}
	if sel.limit, err = positive("limit", p.Limit, math.MaxInt); err != nil {
		return sel, err
	}
	sel.ranges, sel.symbol, sel.paged = hashline.Merge(p.Ranges), p.Symbol, paged && len(p.Ranges) == 0
	if p.Cursor != "" {
		c, err := view.ParseCursor(p.Cursor)
		if err != nil {
			return sel, wire.Errorf(wire.InvalidCursor, "cursor: %v; read the file again without it", err)
		}
		sel.cursor = &c
	}
	return sel, nil
}

// readAnswer is a read that was computed and not yet sent. The content of its
// result is empty: it stands, encoded, in shown and extra.
type readAnswer struct {
	session *Session
	version *workspace.Version
	result  wire.ReadResult
	shown   *shown         // the lines, nil if none were asked for
	extra   []wire.Content // an image, or the map in inline delivery
	fileMap *wire.FileMap  // the map in separate delivery
	done    func()         // ends the turn of a large answer, nil for others
}

// read answers mapd/read from one Version.
func (s *Session) read(ctx context.Context, p wire.ReadParams) (*readAnswer, error) {
	req, err := s.parseRead(p)
	if err != nil {
		return nil, err
	}
	v, err := s.open(ctx, req.file)
	if err != nil {
		return nil, err
	}
	a := &readAnswer{session: s, version: v, result: wire.ReadResult{
		Path:     wireText(v.Name()),
		Snapshot: v.Snapshot(),
		Details: wire.ReadDetails{
			FilePath:   wireText(v.Path()),
			Language:   string(v.Language()),
			TotalBytes: v.Size(),
			Unstable:   v.Unstable(),
		},
	}}
	if v.Binary() {
		return a, a.showImage(ctx, req)
	}
	a.result.Details.TotalLines = v.Text().Lines()
	if err := a.show(ctx, req); err != nil {
		return nil, err
	}
	return a, a.addMap(ctx, req)
}

// takeTurn waits for the turn of an answer of so many bytes, if that is large.
func (a *readAnswer) takeTurn(ctx context.Context, size int) error {
	if size <= smallReplies {
		return nil
	}
	done, err := a.session.largeReply(ctx)
	a.done = done
	return err
}

// largest returns a bound of the bytes that a view of these spans has.
func largest(v *workspace.Version, spans []view.Span, budget view.Budget) int {
	const anchor = 16
	lines := 0
	for _, s := range spans {
		lines += s.Range.Len()
	}
	lines = min(lines, budget.Lines)
	return min(budget.Bytes, v.Size()+lines*anchor, lines*(budget.Line+anchor))
}

// end ends the turn of a large answer, once it is encoded: later would be when
// its frame is queued, for which others of its batch must have had their turn. a
// may be nil.
func (a *readAnswer) end() {
	if a != nil && a.done != nil {
		a.done()
	}
}

// showImage fills in the answer for a file that is not text.
func (a *readAnswer) showImage(ctx context.Context, req readRequest) error {
	limit := a.session.server.opt.Limits.ImageBytes
	v, details := a.version, &a.result.Details
	refused := wire.Errorf(wire.BinaryFile, "%s is binary (%s); mapd shows text, and png, jpeg, gif and webp images with images:true", quotePath(v.Name()), v.MIME()).
		With("mimeType", v.MIME())
	switch v.MIME() {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return refused
	}
	if !req.images {
		return refused
	}
	if v.Size() > limit {
		return wire.Errorf(wire.FileTooLarge, "%s is an image of %d bytes, more than the %d that one answer carries", quotePath(v.Name()), v.Size(), limit)
	}
	if err := a.takeTurn(ctx, v.Size()); err != nil {
		return err
	}
	a.extra = []wire.Content{{Type: "image", Data: base64.StdEncoding.EncodeToString(v.Bytes()), MimeType: v.MIME()}}
	details.Truncation = wire.Truncation{ShownBytes: v.Size(), TotalBytes: v.Size()}
	return nil
}

// show fills in the content blocks.
func (a *readAnswer) show(ctx context.Context, req readRequest) error {
	v, details := a.version, &a.result.Details
	text := v.Text()
	details.Truncation = wire.Truncation{TotalLines: text.Lines(), TotalBytes: text.Size()}
	spans, err := a.spans(ctx, req.selection)
	if err != nil || req.mapMode == wire.MapOnly {
		return err
	}
	if err := a.takeTurn(ctx, largest(v, spans, req.budget)); err != nil {
		return err
	}
	req.style.Lossy = v.Lossy()
	ranged := req.selection.ranges != nil || req.selection.cursor != nil && req.selection.cursor.Ranged
	shown, err := a.session.server.shown(v, spans, req, ranged)
	if err != nil {
		return err
	}
	a.shown = shown
	details.Ranges = shown.plan.Blocks
	details.Next = shown.next
	details.CutLines = shown.cutLines
	details.Lossy = shown.lossy
	details.Truncation.Truncated = shown.next != nil
	details.Truncation.By = string(shown.plan.Cause)
	details.Truncation.ShownLines = shown.plan.Lines
	details.Truncation.ShownBytes = shown.plan.Bytes
	return nil
}

// spans returns the lines that a selection asks for, clipped to the text.
func (a *readAnswer) spans(ctx context.Context, sel selection) ([]view.Span, error) {
	v := a.version
	text := v.Text()
	whole := hashline.Range{Start: 1, End: text.Lines()}
	switch {
	case sel.cursor != nil:
		if !sel.cursor.Fits(text, bound(v)) {
			return nil, wire.Errorf(wire.InvalidCursor, "the cursor does not belong to this version of %s: the file has changed, or it is of another file; read it again without it", quotePath(v.Name()))
		}
		return sel.cursor.Rest, nil
	case sel.symbol != "":
		r, err := a.symbol(ctx, sel.symbol)
		return []view.Span{{Range: r}}, err
	case sel.ranges != nil:
		spans := make([]view.Span, 0, len(sel.ranges))
		for _, r := range sel.ranges {
			clipped, ok := r.Clip(text.Lines())
			if !ok {
				return nil, pastEnd(v, "the range "+r.String())
			}
			spans = append(spans, view.Span{Range: clipped})
		}
		return spans, nil
	case text.Lines() == 0 && sel.offset <= 1:
		return nil, nil
	case sel.paged:
		if sel.offset > text.Lines() {
			return nil, pastEnd(v, fmt.Sprintf("offset %d", sel.offset))
		}
		whole.Start = sel.offset
		if sel.limit < whole.Len() {
			whole.End = sel.offset + sel.limit - 1
		}
	}
	return []view.Span{{Range: whole}}, nil
}

func pastEnd(v *workspace.Version, what string) error {
	n := v.Text().Lines()
	return wire.Errorf(wire.InvalidRange, "%s lies past the end of %s, which has %d lines", what, quotePath(v.Name()), n).
		With("totalLines", n)
}

// symbol finds the lines of a symbol with its decorators and documentation.
func (a *readAnswer) symbol(ctx context.Context, name string) (hashline.Range, error) {
	o, err := a.outline(ctx)
	if err != nil {
		return hashline.Range{}, err
	}
	match, err := o.Lookup(name)
	var missing *outline.NotFoundError
	if errors.As(err, &missing) {
		found, ok, ferr := outline.Find(ctx, a.version.Language(), a.version.Text(), name)
		if ferr != nil {
			return hashline.Range{}, ferr
		}
		if ok {
			match, err = found, nil
		}
	}
	if err != nil {
		return hashline.Range{}, symbolError(err, a.version, o)
	}
	a.result.Details.Symbol = &wire.SymbolInfo{
		Name: match.Path, Kind: string(match.Symbol.Kind), Start: match.Symbol.Start, End: match.Symbol.End,
	}
	return hashline.Range{Start: match.Symbol.FirstLine(), End: match.Symbol.End}, nil
}

// symbolError maps an error of Lookup. A name that is missing from an outline
// which is less than complete is not said to be missing from the file.
func symbolError(err error, v *workspace.Version, o *outline.Outline) error {
	wired := toWire(err)
	if errors.Is(wired, wire.Errorf(wire.SymbolNotFound, "")) && o.Why != "" {
		wired.Message += fmt.Sprintf(" (the outline of %s is by %s because of %s, so it may lack the symbol; read by lines instead)",
			quotePath(v.Name()), o.Source, o.Why)
	}
	return wired
}

// outline returns the outline of the version, and notes in the details how it
// was made.
func (a *readAnswer) outline(ctx context.Context) (*outline.Outline, error) {
	o, err := a.session.outline(ctx, a.version)
	if err != nil {
		return nil, err
	}
	count := o.Count
	a.result.Details.SymbolCount = &count
	a.result.Details.Outline = &wire.OutlineInfo{Source: string(o.Source), Why: string(o.Why)}
	return o, nil
}

// addMap adds the map that the request asks for, inline or beside the answer.
func (a *readAnswer) addMap(ctx context.Context, req readRequest) error {
	details := &a.result.Details
	switch req.mapMode {
	case wire.MapNever:
		return nil
	case wire.MapAuto:
		if !req.selection.whole() || !details.Truncation.Truncated {
			return nil
		}
	}
	o, err := a.outline(ctx)
	if err != nil {
		return err
	}
	m := o.Render(outline.RenderOptions{Name: a.version.Name(), MaxBytes: req.mapBytes})
	details.Map = mapInfo(m)
	if req.delivery == wire.DeliverInline {
		a.extra = append(a.extra, wire.Content{Type: "text", Text: m.Text})
		return nil
	}
	a.fileMap = &wire.FileMap{
		CustomType: "file-map",
		Content:    m.Text,
		Display:    true,
		Details: wire.FileMapDetails{
			FilePath: details.FilePath, TotalLines: details.TotalLines, TotalBytes: details.TotalBytes,
			SymbolCount: o.Count, Language: details.Language,
		},
		Summary:    fmt.Sprintf("[File Map: %d symbols, %d lines - Ctrl+O]", o.Count, details.TotalLines),
		ToolCallID: req.toolCallID,
	}
	return nil
}

func mapInfo(m outline.Map) *wire.MapInfo {
	return &wire.MapInfo{Detail: string(m.Detail), Bytes: len(m.Text), ShownSymbols: m.ShownSymbols, TotalSymbols: m.TotalSymbols}
}
