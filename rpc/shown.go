package rpc

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"mapd/hashline"
	"mapd/rpc/view"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// shown is the lines of a view as they go over the wire. It is a pure function
// of its view.Key and is shared by all who ask for the same.
type shown struct {
	plan     view.Plan
	blocks   []byte // content blocks, encoded and joined by commas
	next     *wire.Next
	cutLines []wire.CutLine
	lossy    bool
	partial  []hashline.Range // lines that are cut, or shown with bytes replaced
}

// shown returns the lines of a view, made once for all who ask for it.
func (s *Server) shown(v *workspace.Version, spans []view.Span, req readRequest, ranged bool) (*shown, error) {
	key := view.Key{Bound: bound(v), Spans: view.SpansKey(spans), Budget: req.budget, Style: req.style, Ranged: ranged}
	if found, ok := s.views.Get(key); ok {
		return found, nil
	}
	s.rendering <- struct{}{}
	defer func() { <-s.rendering }()
	made, err := makeShown(v, spans, req, ranged)
	if err != nil {
		return nil, err
	}
	s.views.Put(key, made, int64(cap(made.blocks)))
	return made, nil
}

// bound is what the cursors of a version are bound to.
func bound(v *workspace.Version) hashline.Digest { return view.Bind(v.File(), v.Digest()) }

func makeShown(v *workspace.Version, spans []view.Span, req readRequest, ranged bool) (*shown, error) {
	plan, next, notice := fit(v, spans, req, ranged)
	out := &shown{plan: plan, next: next}
	if v.Lossy() {
		out.partial = lossyLines(v.Text(), plan.Blocks)
		out.lossy = len(out.partial) > 0
	}
	for _, c := range plan.Cuts {
		out.partial = append(out.partial, hashline.Range{Start: c.Line, End: c.Line})
		out.cutLines = append(out.cutLines, wire.CutLine{Line: c.Line, ShownBytes: c.To - c.From, TotalBytes: c.Total})
	}
	texts := plan.Render(v.Text(), req.style)
	for i, text := range texts {
		if i > 0 {
			out.blocks = append(out.blocks, ',')
		}
		if i == len(texts)-1 {
			text += notice
		}
		var err error
		if out.blocks, err = appendTextBlock(out.blocks, text); err != nil {
			return nil, fmt.Errorf("encode lines of %s: %w", v.Name(), err)
		}
	}
	return out, nil
}

// appendTextBlock appends a wire.Content of text.
func appendTextBlock(b []byte, text string) ([]byte, error) {
	b = slices.Grow(b, len(text)+len(text)/8+32)
	b = append(b, `{"type":"text","text":`...)
	b, err := jsontext.AppendQuote(b, text)
	return append(b, '}'), err
}

// encodeContent encodes one block. A block of text has a text, if only an empty
// one.
func encodeContent(c wire.Content) ([]byte, error) {
	if c.Type == "text" {
		return appendTextBlock(nil, c.Text)
	}
	return encode(c)
}

// encode returns the result as JSON in parts. The lines, by far the largest
// part, are those that were encoded once for all who ask for them.
func (a *readAnswer) encode() ([][]byte, error) {
	const empty = `"content":[]`
	rest, err := encode(&a.result)
	if err != nil {
		return nil, err
	}
	at := bytes.Index(rest, []byte(empty)) // a quote in a name is escaped, so this is the member
	if at < 0 {
		return nil, fmt.Errorf("encode a read: %q is missing", empty)
	}
	at += len(empty) - 1
	parts := [][]byte{rest[:at]}
	if a.shown != nil && len(a.shown.blocks) > 0 {
		parts = append(parts, a.shown.blocks)
	}
	for _, c := range a.extra {
		encoded, err := encodeContent(c)
		if err != nil {
			return nil, err
		}
		if len(parts) > 1 {
			parts = append(parts, []byte(","))
		}
		parts = append(parts, encoded)
	}
	return append(parts, rest[at:]), nil
}

// fit plans a view whose text and notice together keep the budget. Where the
// notice would leave no room for a line, lines get the whole budget and the
// notice comes on top.
func fit(v *workspace.Version, spans []view.Span, req readRequest, ranged bool) (view.Plan, *wire.Next, string) {
	budget := req.budget
	first := view.Make(v.Text(), spans, budget, req.style)
	for plan := first; ; plan = view.Make(v.Text(), spans, budget, req.style) {
		if len(plan.Rest) == 0 {
			return plan, nil, ""
		}
		next, notice := resume(v, plan, ranged)
		if plan.Size+len(notice) <= req.budget.Bytes {
			return plan, next, notice
		}
		budget.Bytes = min(budget.Bytes-1, req.budget.Bytes-len(notice))
		if budget.Bytes < 1 || plan.Cause == view.ByBytes && len(plan.Cuts) > 0 && len(first.Cuts) == 0 {
			next, notice = resume(v, first, ranged)
			return first, next, notice
		}
	}
}

// resume says how the rest of a truncated view is asked for.
func resume(v *workspace.Version, plan view.Plan, ranged bool) (*wire.Next, string) {
	cursor := view.Cursor{Bound: bound(v), Ranged: ranged, Rest: plan.Rest}.String()
	next := &wire.Next{Cursor: cursor}
	for _, s := range plan.Rest {
		if s.Skip == 0 {
			next.Offset = s.Start
			break
		}
		if s.End > s.Start {
			next.Offset = s.Start + 1
			break
		}
	}
	how := "cursor=" + cursor
	if !ranged && len(plan.Cuts) == 0 && len(plan.Rest) == 1 && plan.Rest[0].Skip == 0 {
		how = fmt.Sprintf("offset=%d", next.Offset)
	}
	first, last := plan.Blocks[0].Start, plan.Blocks[len(plan.Blocks)-1].End
	return next, fmt.Sprintf("\n\n[Showing lines %d-%d of %d. Use %s to continue.]", first, last, v.Text().Lines(), how)
}

// lossyLines returns those of the lines that hold invalid UTF-8.
func lossyLines(text *hashline.Text, lines []hashline.Range) []hashline.Range {
	var out []int
	for _, r := range lines {
		for n := r.Start; n <= r.End; n++ {
			if !utf8.Valid(text.Line(n)) {
				out = append(out, n)
			}
		}
	}
	return hashline.Compact(out)
}
