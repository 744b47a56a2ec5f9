package rpc

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"mapd/outline"
	"mapd/rpc/buffers"
	"mapd/rpc/wire"
)

// foldingRange answers textDocument/foldingRange: symbols, what leads them, and
// runs of imports. Of more folds than the client wants it gets the longest.
func (s *Session) foldingRange(ctx context.Context, docs *buffers.Set, p documentParams) ([]protocol.FoldingRange, error) {
	d, o, err := s.outlinedDocument(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	folds := o.Folds()
	if len(folds) > s.folds {
		slices.SortStableFunc(folds, func(a, b outline.Fold) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
		folds = folds[:s.folds]
		slices.SortStableFunc(folds, func(a, b outline.Fold) int { return cmp.Compare(a.Start, b.Start) })
	}
	out := make([]protocol.FoldingRange, 0, len(folds))
	for _, f := range folds {
		r := d.locator.lines(f.Start, f.End)
		out = append(out, protocol.FoldingRange{StartLine: r.Start.Line, EndLine: r.End.Line, Kind: foldKinds[f.Kind]})
	}
	return out, nil
}

// foldKinds are LSP's kinds of folds. A symbol has none: its "region" is what a
// comment in the code marks as one.
var foldKinds = map[outline.FoldKind]protocol.FoldingRangeKind{
	outline.Imports: protocol.FoldingRangeKindImports,
	outline.Comment: protocol.FoldingRangeKindComment,
}

// selectionParams are LSP's SelectionRangeParams.
type selectionParams struct {
	documentParams
	Positions []positionParams `json:"positions"`
}

// maxPositions is how many positions one selectionRange may have.
const maxPositions = 1000

// selectionRange answers textDocument/selectionRange: for each position the
// ranges around it from the inside out, each within the next.
func (s *Session) selectionRange(ctx context.Context, docs *buffers.Set, p selectionParams) ([]*protocol.SelectionRange, error) {
	if len(p.Positions) > maxPositions {
		return nil, wire.Errorf(wire.InvalidParams, "positions has %d entries; it must have at most %d", len(p.Positions), maxPositions)
	}
	d, o, err := s.outlinedDocument(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := make([]*protocol.SelectionRange, 0, len(p.Positions))
	for i := range p.Positions {
		position, err := p.Positions[i].position()
		if err != nil {
			return nil, err
		}
		out = append(out, d.selection(o, d.locator.offset(position)))
	}
	return out, nil
}

// span is the bytes from start up to end.
type span struct{ start, end int }

// selection returns the ranges around an offset: the word, the content of the
// line, the line, the symbols that hold it, without and with what leads them, and
// the whole text. What is no larger than the one before is left out.
func (d *document) selection(o *outline.Outline, at int) *protocol.SelectionRange {
	spans := []span{{at, at}}
	add := func(s span) {
		if last := spans[len(spans)-1]; s.start <= last.start && s.end >= last.end && s != last {
			spans = append(spans, s)
		}
	}
	for _, s := range d.around(at) {
		add(s)
	}
	if n := d.text.LineAt(at); n > 0 {
		for _, s := range slices.Backward(o.Enclosing(n)) {
			end, _ := d.text.Span(s.End)
			end += len(d.text.Line(s.End))
			add(span{d.locator.startOf(s.Start), end})
			add(span{d.locator.startOf(s.FirstLine()), end})
		}
	}
	add(span{d.locator.first, d.text.Size()})
	if len(spans) > 1 { // an empty range is of no use around something
		spans = spans[1:]
	}
	var outer *protocol.SelectionRange
	for _, s := range slices.Backward(spans) {
		outer = &protocol.SelectionRange{Range: protocol.Range{Start: d.locator.at(s.start), End: d.locator.at(s.end)}, Parent: outer}
	}
	return outer
}

// around returns the word at an offset, the content of its line without the space
// around it, and the line, as far as they hold the offset. Lines are those of LSP.
func (d *document) around(at int) []span {
	_, start := d.locator.lineAt(at)
	b := d.text.Bytes()
	end := len(b)
	if i := bytes.IndexAny(b[start:], "\r\n"); i >= 0 {
		end = start + i
	}
	word := span{at, at}
	for word.start > start {
		r, size := utf8.DecodeLastRune(b[start:word.start])
		if !isWord(r) {
			break
		}
		word.start -= size
	}
	for word.end < end {
		r, size := utf8.DecodeRune(b[word.end:end])
		if !isWord(r) {
			break
		}
		word.end += size
	}
	line := b[start:end]
	content := span{end - len(bytes.TrimLeft(line, " \t")), start + len(bytes.TrimRight(line, " \t"))}
	return []span{word, content, {start, end}}
}
