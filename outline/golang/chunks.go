package golang

import (
	"bytes"
	"context"
	"errors"
	"go/parser"
	"go/token"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// A syntax tree takes many times the memory of its source. So a large file is
// parsed in chunks that end between declarations.
const (
	largeFile = 4 << 20 // from this size on, in bytes
	chunkSize = 1 << 20 // of a chunk at least
	maxChunk  = 8 << 20 // a declaration that needs a larger one is not parsed
)

// MaxSymbols is how many top-level symbols of a large file are found. For the
// rest stands a symbol named Elided.
const MaxSymbols = 200_000

// Elided is the name of a symbol that stands for others left out.
const Elided = "…"

// ErrTooLarge says that a file has a declaration too large to be parsed.
var ErrTooLarge = errors.New("golang: declaration too large")

// chunks adds the symbols of a large file. It returns the offset up to which
// they are complete: the size of the file, less if it has errors.
func chunks(ctx context.Context, text *hashline.Text, list *symbol.List) (done int, err error) {
	b := boundaries{src: text.Bytes()}
	for done < len(b.src) {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		end := b.next(done + chunkSize)
		if end-done > maxChunk {
			if b.depth != 0 { // not one declaration, but a bracket that is lost
				return done, nil
			}
			return done, ErrTooLarge
		}
		if !chunk(text, done, end, list) {
			break
		}
		if done = end; len(list.Symbols) > MaxSymbols {
			elide(text, list)
			return text.Size(), nil
		}
	}
	return done, nil
}

// elide lets one symbol stand for all after the first ones of a list and for
// the rest of the file.
func elide(text *hashline.Text, list *symbol.List) {
	start := list.Symbols[MaxSymbols-1].Start
	list.Symbols = append(list.Symbols[:MaxSymbols-1], symbol.Symbol{
		Name: Elided, Kind: symbol.Record, Start: start, End: text.Lines(), Signature: "more declarations not listed",
	})
	list.Why = symbol.TooLarge
}

// chunk adds the symbols of the bytes from start to end. It reports false, and
// adds none, if they have errors.
func chunk(text *hashline.Text, start, end int, list *symbol.List) bool {
	head := ""
	if start > 0 {
		head = header
	}
	buf := make([]byte, 0, len(head)+end-start)
	buf = append(append(buf, head...), text.Bytes()[start:end]...)
	file, err := parser.ParseFile(token.NewFileSet(), "", buf, mode)
	if err != nil {
		return false
	}
	u := &unit{text: text, src: text.Bytes(), file: file, base: 1 + len(head) - start, end: end}
	u.decls(file.Decls, list)
	return true
}

// boundaries finds places between declarations: line breaks outside of all
// brackets and literals, after something that ends a statement, before a word
// that starts a declaration.
type boundaries struct {
	src   []byte
	at    int
	depth int
	last  byte // of the last token before at
}

// next returns the first boundary from the offset on, and after at; the end of
// the source if there is none.
func (b *boundaries) next(offset int) int {
	for b.at < len(b.src) {
		c := b.src[b.at]
		switch c {
		case ' ', '\t', '\r':
			b.at++
			continue
		case '\n':
			b.at++
			if b.depth == 0 && b.at >= offset && b.ended() && declWord(b.src[b.at:min(b.at+16, len(b.src))]) != "" {
				return b.at
			}
			continue
		case '/':
			if n := comment(b.src[b.at:]); n > 0 {
				b.at += n
				continue
			}
		case '(', '[', '{':
			b.depth++
		case ')', ']', '}':
			b.depth--
		}
		b.last = c
		b.at += quoted(b.src[b.at:])
	}
	return len(b.src)
}

// ended reports whether a line break after the last token ends a statement.
func (b *boundaries) ended() bool {
	return b.last >= 0x80 || b.last >= '0' && b.last <= '9' || b.last|0x20 >= 'a' && b.last|0x20 <= 'z' ||
		bytes.IndexByte([]byte("_)]}\"`';"), b.last) >= 0
}
