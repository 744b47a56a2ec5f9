package format

import (
	"context"
	"sort"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// doc is one scan: the text, what has been found so far, and how.
type doc struct {
	ctx   context.Context
	text  *hashline.Text
	src   []byte // all bytes; a byte order mark is blanked out by skipping bom bytes
	bom   int
	tree  tree
	lines lineCursor
	pool  stringPool

	imports []symbol.Import
	source  symbol.Source
	why     symbol.Why

	ticks int
	ended bool // ctx is over
}

func newDoc(ctx context.Context, text *hashline.Text) *doc {
	d := &doc{ctx: ctx, text: text, src: text.Bytes(), source: symbol.Parser}
	if text.HasBOM() {
		d.bom = len(hashline.BOM)
	}
	d.lines = lineCursor{text: text, line: 1}
	d.tree = newTree()
	return d
}

// stopped reports whether ctx has ended, or what was searched for is found. It is cheap enough to be asked for
// each token or line, and looks at ctx only now and then.
func (d *doc) stopped() bool {
	const every = 1 << 12
	if d.ticks%every == 0 && d.ctx.Err() != nil {
		d.ended = true
	}
	d.ticks++
	return d.ended || d.tree.found != nil
}

// broken records that the document has errors and how its symbols were found
// in spite of them.
func (d *doc) broken(s symbol.Source) { d.source, d.why = s, symbol.SyntaxErrors }

func (d *doc) list() symbol.List {
	return symbol.List{Symbols: d.tree.symbols(d.text.Lines()), Imports: d.imports, Source: d.source, Why: d.why}
}

// lineCursor finds the line of an offset. Offsets that mostly grow cost
// amortised constant time.
type lineCursor struct {
	text *hashline.Text
	line int // the line of the latest offset
}

// at returns the line that holds the byte at offset.
func (c *lineCursor) at(offset int) int {
	const near = 16
	start, end := c.text.Span(c.line)
	for range near {
		if offset < start || offset < end {
			break
		}
		if c.line == c.text.Lines() {
			return c.line
		}
		c.line++
		start, end = end, 0
		_, end = c.text.Span(c.line)
	}
	if offset < start || offset >= end {
		c.line = c.search(offset)
	}
	return c.line
}

// search looks in lines after the current one with growing steps, and before
// it in all.
func (c *lineCursor) search(offset int) int {
	if start, _ := c.text.Span(c.line); offset < start {
		return max(c.text.LineAt(offset), 1)
	}
	lo, step := c.line, 32
	for lo+step <= c.text.Lines() {
		if _, end := c.text.Span(lo + step); end > offset {
			break
		}
		lo, step = lo+step, step*2
	}
	hi := min(lo+step, c.text.Lines())
	return min(lo+sort.Search(hi-lo, func(i int) bool {
		_, end := c.text.Span(lo + i)
		return end > offset
	}), c.text.Lines())
}
