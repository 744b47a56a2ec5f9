package golang

import (
	"bytes"
	"context"
	"errors"
	"go/parser"
	"go/token"
	"runtime"
	"sync"
	"sync/atomic"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// A file of some size is parsed in chunks that end between declarations: in
// parallel, and because a syntax tree takes many times the memory of its source.
const (
	chunkedFile = 128 << 10 // from this size on, in bytes
	largeFile   = 4 << 20   // from this size on not even for broken files as a whole
	minChunk    = 64 << 10  // of a chunk at least
	goodChunk   = 1 << 20   // of a chunk of a very large file
	maxChunk    = 8 << 20   // a declaration that needs a larger one is not parsed
)

// MaxSymbols is how many top-level symbols of a large file are found. For the
// rest stands a symbol named Elided.
const MaxSymbols = 200_000

// Elided is the name of a symbol that stands for others left out.
const Elided = "…"

// ErrTooLarge says that a file has a declaration too large to be parsed.
var ErrTooLarge = errors.New("golang: declaration too large")

// chunks adds the symbols of a file chunk by chunk. It returns the offset up to
// which they are complete: the size of the file, less if it has errors.
func chunks(ctx context.Context, text *hashline.Text, list *symbol.List) (done int, err error) {
	src := text.Bytes()
	size := min(max(len(src)/8, minChunk), goodChunk)
	for done < len(src) {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		// A wave of chunks at a time: only so many trees live at once.
		var wave []*chunk
		for at := done; at < len(src) && len(wave) < max(8, 2*runtime.GOMAXPROCS(0)); {
			end := nextCut(src, at+size)
			if end-at > maxChunk {
				return done, ErrTooLarge
			}
			wave = append(wave, &chunk{text: text, start: at, end: end})
			at = end
		}
		parseAll(wave)
		for _, c := range wave {
			if !c.ok {
				return done, nil
			}
			list.Symbols = append(list.Symbols, c.list.Symbols...)
			list.Imports = append(list.Imports, c.list.Imports...)
			done = c.end
		}
		if len(list.Symbols) > MaxSymbols {
			elide(text, list)
			return text.Size(), nil
		}
	}
	return done, nil
}

// parseAll parses chunks on all processors. A panic of one of them is the
// caller's.
func parseAll(wave []*chunk) {
	var next atomic.Int32
	var broken atomic.Pointer[any]
	work := func() {
		defer func() {
			if v := recover(); v != nil {
				broken.Store(&v)
			}
		}()
		for i := int(next.Add(1)) - 1; i < len(wave); i = int(next.Add(1)) - 1 {
			wave[i].parse()
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(wave)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	if v := broken.Load(); v != nil {
		panic(*v)
	}
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

// chunk is a part of a file that is parsed by itself.
type chunk struct {
	text       *hashline.Text
	start, end int // offsets
	list       symbol.List
	ok         bool // it has no errors
}

func (c *chunk) parse() {
	head := ""
	if c.start > 0 {
		head = header
	}
	src := c.text.Bytes()
	buf := make([]byte, 0, len(head)+c.end-c.start)
	buf = append(append(buf, head...), src[c.start:c.end]...)
	file, err := parser.ParseFile(token.NewFileSet(), "", buf, mode)
	if c.ok = err == nil; c.ok {
		u := &unit{text: c.text, src: src, file: file, base: 1 + len(head) - c.start, end: c.end}
		u.decls(file.Decls, &c.list)
	}
}

// nextCut returns the offset, from the given one on, of the next line that seems
// to start a declaration, or of the comment before it; the end of src if there
// is none. A cut that is in truth inside of a declaration, a literal or a
// comment leaves that open: the chunk before it does not parse.
func nextCut(src []byte, from int) int {
	for offset := from; offset < len(src); {
		i := bytes.IndexByte(src[offset-1:], '\n')
		if i < 0 {
			break
		}
		if offset += i; declWord(src[offset:min(offset+16, len(src))]) == "" {
			offset++
			continue
		}
		if at, ok := beforeComment(src, offset); ok && at >= from {
			return at
		}
		offset++
	}
	return len(src)
}

// beforeComment returns where the comment in column 0 starts that ends just
// before the line at offset, which is offset itself if there is none. It fails
// if the line before may end a comment of the other form.
func beforeComment(src []byte, offset int) (int, bool) {
	for offset > 0 {
		start := bytes.LastIndexByte(src[:offset-1], '\n') + 1
		line := src[start:offset]
		if bytes.Contains(line, []byte("*/")) {
			return 0, false
		}
		if !bytes.HasPrefix(line, []byte("//")) {
			break
		}
		offset = start
	}
	return offset, true
}
