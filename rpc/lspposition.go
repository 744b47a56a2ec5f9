package rpc

import (
	"bytes"
	"slices"
	"sort"
	"unicode/utf8"

	"go.lsp.dev/protocol"

	"mapd/hashline"
	"mapd/rpc/buffers"
)

// locator turns places in a text into positions of LSP and back: lines from 0,
// columns in the negotiated encoding. Lines of a text end at \n; those of LSP at a
// bare \r too. Not safe for concurrent use.
type locator struct {
	text     *hashline.Text
	encoding buffers.Encoding
	// first is where the first line of LSP starts: an editor keeps the byte order
	// mark of a file to itself, one in a text that it sends is a character.
	first int
	// bare are the offsets just past each \r that no \n follows, in rising order.
	bare []int

	// What was located last, so that many places in one long line cost one pass.
	last, lastEnd located
}

// located is the column of an offset in the line of LSP that starts at start.
type located struct{ start, offset, column int }

// newLocator returns the locator of a text, which an editor has sent or which is
// that of a file.
func newLocator(text *hashline.Text, e buffers.Encoding, sent bool) *locator {
	l := &locator{text: text, encoding: e}
	if text.HasBOM() && !sent {
		l.first = len(hashline.BOM)
	}
	b := text.Bytes()
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\r')
		if i < 0 {
			return l
		}
		if at += i + 1; at == len(b) || b[at] != '\n' {
			l.bare = append(l.bare, at)
		}
	}
}

// at returns the position of an offset, which is that of a character or the end of
// the text.
func (l *locator) at(offset int) protocol.Position {
	line, start := l.lineAt(offset)
	return protocol.Position{Line: uint32(line), Character: uint32(l.column(&l.last, start, offset))}
}

// lineAt returns the line of LSP that an offset lies in, and where it starts.
func (l *locator) lineAt(offset int) (line, start int) {
	b := l.text.Bytes()
	switch n := l.text.LineAt(offset); {
	case n == 0:
		start = l.first
	case offset >= len(b) && b[len(b)-1] == '\n':
		line, start = n, len(b)
	default:
		line, start = n-1, l.startOf(n)
	}
	before, found := slices.BinarySearch(l.bare, offset)
	if found {
		before++
	}
	if before > 0 {
		start = max(start, l.bare[before-1])
	}
	return line + before, start
}

// startOf returns where line n of the text starts.
func (l *locator) startOf(n int) int {
	if n == 1 {
		return l.first
	}
	start, _ := l.text.Span(n)
	return start
}

// column counts the units between start and offset, going on from memo where it
// can, and keeps the outcome there.
func (l *locator) column(memo *located, start, offset int) int {
	if offset == start {
		return 0
	}
	if memo.start != start || memo.offset > offset || memo.offset < start {
		*memo = located{start: start, offset: start}
	}
	if offset > memo.offset {
		memo.column += l.encoding.Units(l.text.Bytes()[memo.offset:offset])
		memo.offset = offset
	}
	return memo.column
}

// offset returns the offset of a position: clamped as LSP says, and to the start
// of a character inside of which it lies.
func (l *locator) offset(p buffers.Position) int {
	b := l.text.Bytes()
	at, ok := l.lineStart(p.Line)
	if !ok {
		return len(b)
	}
	for left := p.Character; at < len(b) && b[at] != '\n' && b[at] != '\r'; {
		r, size := utf8.DecodeRune(b[at:])
		width := uint64(l.encoding.Width(r))
		if r == utf8.RuneError && size == 1 {
			width = 1
		}
		if width > left {
			break
		}
		left -= width
		at += size
	}
	return at
}

// lineStart returns where a line of LSP starts, false past the last one.
func (l *locator) lineStart(line uint64) (int, bool) {
	atLeast := func(i int) bool { n, _ := l.lineAt(l.first + i); return uint64(n) >= line }
	end := len(l.text.Bytes())
	start := l.first + sort.Search(end-l.first, atLeast)
	n, _ := l.lineAt(start)
	return start, uint64(n) == line
}

// lines returns the whole lines of the text from start to end, without the last
// terminator.
func (l *locator) lines(start, end int) protocol.Range {
	from, _ := l.text.Span(end)
	at := from + len(l.text.Line(end))
	line, from := l.lineAt(at)
	return protocol.Range{
		Start: l.at(l.startOf(start)),
		End:   protocol.Position{Line: uint32(line), Character: uint32(l.column(&l.lastEnd, from, at))},
	}
}
