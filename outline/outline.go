package outline

import (
	"context"

	"mapd/hashline"
	"mapd/outline/sandbox"
	"mapd/outline/symbol"
)

// Outline is the structure of one file: a pure function of its bytes, its
// language and the options of the Extractor. It is immutable.
type Outline struct {
	Language Language
	Lines    int // of the file
	Bytes    int // of the file
	Count    int // of all symbols, nested ones included
	symbol.List
}

// Options configure an Extractor.
type Options struct {
	// MaxBytes is the size of the largest file that is parsed; a larger one gets
	// line patterns and the reason too_large.
	MaxBytes int
	// Pool runs the grammars.
	Pool *sandbox.Pool
}

// Extractor makes outlines. It is safe for concurrent use.
type Extractor struct {
	opt Options
}

// New returns an Extractor.
func New(opt Options) *Extractor { return &Extractor{opt: opt} }

// Extract returns the outline of text. It fails only when ctx ends: every
// other trouble gives an outline by line patterns that says why.
func (x *Extractor) Extract(ctx context.Context, lang Language, text *hashline.Text) (*Outline, error) {
	panic("outline: not written yet")
}
