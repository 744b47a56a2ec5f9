// Package view chooses which lines of a text an answer shows, under budgets of
// lines and bytes, and renders them.
//
// It is pure. A view is planned by measuring, without building text, and then
// rendered once; what a plan leaves out is a list of spans that a cursor can
// carry. Nothing of the requested lines is unreachable: following the cursors
// shows each byte of them once, in pieces that always advance.
package view

import (
	"unicode/utf8"

	"mapd/hashline"
)

// Span is a run of lines of which the first is shown from byte Skip of its
// content on. A span with Skip > 0 resumes a line that an earlier view cut.
type Span struct {
	hashline.Range
	Skip int
}

// Budget bounds a view.
type Budget struct {
	Lines int // lines shown
	Bytes int // bytes of the rendered text, separators and anchors included
	Line  int // file bytes of a line that one view shows
}

// Style is how a line is shown.
type Style struct {
	Anchors bool // LINE#HASH:content instead of content
	Width   hashline.Width
	Lossy   bool // the text has invalid UTF-8: show each such byte as U+FFFD
}

// Cause is the budget that ended or cut a view.
type Cause string

// The causes; None means that all requested lines are shown whole.
const (
	None    Cause = ""
	ByLines Cause = "lines"
	ByBytes Cause = "bytes"
	ByLine  Cause = "line"
)

// Cut is a line that is shown in part: the content bytes [From, To) of Total.
type Cut struct {
	Line, From, To, Total int
}

// Plan is which parts of a text a view shows.
type Plan struct {
	Blocks []hashline.Range // the lines shown, touching ones merged
	Cuts   []Cut            // line order within the order of the spans
	Rest   []Span           // what is left, in the order in which a cursor serves it
	Cause  Cause
	Lines  int // lines shown
	Bytes  int // file bytes shown, terminators and byte order mark included
	Size   int // bytes of the rendered blocks
}

// planner is the state of one pass over the spans.
type planner struct {
	text   *hashline.Text
	budget Budget
	style  Style
	plan   Plan
	tails  []Span
}

// Make plans a view of spans, which must lie within text. It shows at least
// one character if there is one, whatever the budget.
func Make(text *hashline.Text, spans []Span, budget Budget, style Style) Plan {
	p := &planner{text: text, budget: budget, style: style}
	for i, span := range spans {
		rest, done := p.span(span)
		if !done {
			p.plan.Rest = append(append(p.tails, rest), spans[i+1:]...)
			return p.plan
		}
	}
	if len(p.tails) > 0 {
		p.plan.Cause = ByLine
	}
	p.plan.Rest = p.tails
	return p.plan
}

// span adds lines of s until a budget ends; then it returns what is left of s.
func (p *planner) span(s Span) (rest Span, done bool) {
	for n := s.Start; n <= s.End; n++ {
		left := Span{Range: hashline.Range{Start: n, End: s.End}, Skip: s.Skip}
		if p.plan.Lines > 0 && p.plan.Lines >= p.budget.Lines {
			p.plan.Cause = ByLines
			return left, false
		}
		to, whole, fits := p.measure(n, s.Skip)
		if !fits && p.plan.Lines > 0 {
			p.plan.Cause = ByBytes
			return left, false
		}
		p.add(n, s.Skip, to, whole)
		if !fits && !whole {
			p.plan.Cause = ByBytes
			left.Skip = to
			return left, false
		}
		if !whole {
			p.tails = append(p.tails, Span{Range: hashline.Range{Start: n, End: n}, Skip: to})
		}
		s.Skip = 0
	}
	return Span{}, true
}

// measure returns up to where line n is shown from byte skip on, whether that
// is its end, and whether that much fits the bytes that are left. If it does
// not fit, to is where the room ends, at least one character on.
func (p *planner) measure(n, skip int) (to int, whole, fits bool) {
	line := p.text.Line(n)
	room := p.budget.Bytes - p.plan.Size - p.overhead(n)
	want := len(line)
	if want-skip > p.budget.Line {
		want = skip + hashline.CutAt(line[skip:], p.budget.Line)
	}
	if size := p.rendered(line[skip:want]); size <= room {
		return want, want == len(line), true
	}
	if !p.style.Lossy {
		to = skip + hashline.CutAt(line[skip:want], room)
		return to, to == len(line), false
	}
	to = skip
	for size := 0; to < want; {
		r, n := utf8.DecodeRune(line[to:])
		if size += utf8.RuneLen(r); size > room && to > skip {
			break
		}
		to += n
	}
	return to, to == len(line), false
}

// overhead is what line n costs beside its content: the separator from the
// line before it, and its anchor.
func (p *planner) overhead(n int) int {
	size := 0
	if blocks := p.plan.Blocks; len(blocks) > 0 && blocks[len(blocks)-1].End == n-1 {
		size = len("\n")
	}
	if p.style.Anchors {
		size += digits(n) + len("#") + int(p.style.Width) + len(":")
	}
	return size
}

func (p *planner) rendered(content []byte) int {
	if !p.style.Lossy {
		return len(content)
	}
	size := 0
	for len(content) > 0 {
		r, n := utf8.DecodeRune(content)
		size += utf8.RuneLen(r)
		content = content[n:]
	}
	return size
}

// add records that the bytes [from, to) of line n are shown.
func (p *planner) add(n, from, to int, whole bool) {
	line := p.text.Line(n)
	p.plan.Size += p.overhead(n) + p.rendered(line[from:to])
	p.plan.Lines++
	if from > 0 || !whole {
		p.plan.Cuts = append(p.plan.Cuts, Cut{Line: n, From: from, To: to, Total: len(line)})
	}
	p.plan.Bytes += to - from
	if n == 1 && from == 0 && p.text.HasBOM() {
		p.plan.Bytes += len(hashline.BOM)
	}
	if whole {
		p.plan.Bytes += len(p.text.Terminator(n))
	}
	blocks := p.plan.Blocks
	if k := len(blocks); k > 0 && blocks[k-1].End == n-1 {
		blocks[k-1].End = n
		return
	}
	p.plan.Blocks = append(blocks, hashline.Range{Start: n, End: n})
}

func digits(n int) int {
	d := 1
	for ; n >= 10; n /= 10 {
		d++
	}
	return d
}
