package grep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"mapd/hashline"
)

// MaxPattern is the longest pattern, in bytes.
const MaxPattern = 4 << 10

// ErrPattern is what every error of Compile wraps.
var ErrPattern = errors.New("not a pattern that can be searched for")

// Pattern is what is looked for. It is immutable and safe for concurrent use.
type Pattern struct {
	finder finder         // finds candidates; nil if the expression does
	line   *regexp.Regexp // decides about a line; nil if a candidate is a match
	buffer *regexp.Regexp // finds candidates where there is no finder
}

// A finder finds where something stands that every match has.
type finder interface {
	newCursor(text []byte) cursor
}

// A cursor is a finder in one text. It only goes forward: next returns the first
// offset at or after from, -1 if there is none.
type cursor interface {
	next(from int) int
}

// Compile returns the pattern of a text, which is a literal unless expression is
// set. The error wraps ErrPattern and says what to change.
func Compile(text string, expression bool) (*Pattern, error) {
	switch {
	case text == "":
		return nil, fmt.Errorf("%w: it is empty", ErrPattern)
	case len(text) > MaxPattern:
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrPattern, len(text), MaxPattern)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrPattern)
	case strings.ContainsRune(text, '\n') && !expression:
		return nil, fmt.Errorf("%w: it has a line break; lines are searched one by one, so give one line of it", ErrPattern)
	}
	if expression {
		return compileExpression(text, !hasUpper(text))
	}
	fold := !strings.ContainsFunc(text, unicode.IsUpper)
	if fold && !isASCII(text) {
		return compileExpression(regexp.QuoteMeta(text), fold)
	}
	return &Pattern{finder: newLiteral(text, fold)}, nil
}

// Expression returns an expression with the meaning that it has in a Pattern, for
// texts of one line. The error is that of Compile.
func Expression(text string) (*regexp.Regexp, error) {
	p, err := Compile(text, true)
	if err != nil {
		return nil, err
	}
	return p.line, nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

func compileExpression(text string, fold bool) (*Pattern, error) {
	flags := syntax.Perl &^ syntax.OneLine
	if fold {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		var cause *syntax.Error
		if errors.As(err, &cause) {
			return nil, fmt.Errorf("%w: %s: `%s`", ErrPattern, cause.Code, cause.Expr)
		}
		return nil, fmt.Errorf("%w: %v", ErrPattern, err)
	}
	if err := oneLine(tree); err != nil {
		return nil, err
	}
	p := &Pattern{}
	if p.line, err = regexp.Compile(tree.String()); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPattern, err)
	}
	if need := required(tree.Simplify()); need != nil {
		p.finder = need
		return p, nil
	}
	loosen(tree)
	if p.buffer, err = regexp.Compile(tree.String()); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPattern, err)
	}
	return p, nil
}

// Line is a line that matches.
type Line struct {
	Number   int // 1-based
	From, To int // the first match, as bytes of the line's content
}

// Find calls visit for each line of text that matches, in order, until visit
// returns false or ctx ends.
func (p *Pattern) Find(ctx context.Context, text []byte, visit func(Line) bool) {
	text = bytes.TrimPrefix(text, []byte(hashline.BOM))
	candidates := p.candidates(ctx, text)
	number, counted := 1, 0 // the line that starts at counted
	for at := 0; at < len(text) && ctx.Err() == nil; {
		hit := candidates.next(at)
		if hit < 0 {
			return
		}
		start, end, next := lineAround(text, at, hit)
		if start == len(text) { // after the last line break, where no line is
			return
		}
		at = next
		from, to, ok := p.decide(ctx, text[start:end], hit-start)
		if !ok {
			continue
		}
		number += bytes.Count(text[counted:start], []byte{'\n'})
		counted = start
		if !visit(Line{Number: number, From: from, To: to}) {
			return
		}
	}
}

func (p *Pattern) candidates(ctx context.Context, text []byte) cursor {
	if p.finder != nil {
		return p.finder.newCursor(text)
	}
	return expressionCursor{ctx, p.buffer, text}
}

// expressionCursor finds candidates with an expression.
type expressionCursor struct {
	ctx  context.Context // ends the search
	re   *regexp.Regexp
	text []byte
}

// chunk is how many bytes an expression looks at before it looks whether
// somebody still waits: a slow one takes a tenth of a second for so many.
const chunk = 32 << 10

// next takes whole lines at a time. from is where a line starts.
func (c expressionCursor) next(from int) int {
	for from < len(c.text) && c.ctx.Err() == nil {
		end := len(c.text)
		if end-from > chunk {
			if i := bytes.IndexByte(c.text[from+chunk:], '\n'); i >= 0 {
				end = from + chunk + i + 1
			}
		}
		if found := find(c.ctx, c.re, c.text[from:end]); found != nil {
			if found[0] < end-from || end == len(c.text) {
				return from + found[0]
			} // else it is the empty line that the next chunk may start with
		}
		from = end
	}
	return -1
}

// find returns the first match of re in text, nil if there is none before ctx
// ends.
func find(ctx context.Context, re *regexp.Regexp, text []byte) []int {
	if len(text) <= 4*chunk {
		return re.FindIndex(text)
	}
	return re.FindReaderIndex(&reader{ctx: ctx, text: text}) // slower, but it can be ended
}

// reader reads a text until ctx ends.
type reader struct {
	ctx  context.Context
	text []byte
	at   int
	look int // offset at which ctx is looked at next
}

// ReadRune returns the next character, U+FFFD of size 1 for a byte that is not
// UTF-8.
func (r *reader) ReadRune() (c rune, size int, err error) {
	if r.at >= r.look {
		if r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
		r.look = r.at + chunk
	}
	if r.at == len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = utf8.DecodeRune(r.text[r.at:])
	r.at += size
	return c, size, nil
}

// lineAround returns the content of the line that holds offset hit, which is no
// line before the one that starts at from, and where the next line starts.
func lineAround(text []byte, from, hit int) (start, end, next int) {
	start = from + bytes.LastIndexByte(text[from:hit], '\n') + 1
	end, next = len(text), len(text)
	if i := bytes.IndexByte(text[hit:], '\n'); i >= 0 {
		end, next = hit+i, hit+i+1
		if end > start && text[end-1] == '\r' {
			end--
		}
	}
	return start, end, next
}

// decide returns the first match in the content of a line that has a candidate
// at offset hit.
func (p *Pattern) decide(ctx context.Context, line []byte, hit int) (from, to int, ok bool) {
	if p.line != nil {
		found := find(ctx, p.line, line)
		if found == nil {
			return 0, 0, false
		}
		return found[0], found[1], true
	}
	to = hit + p.finder.(*literal).size()
	return hit, to, to <= len(line)
}
