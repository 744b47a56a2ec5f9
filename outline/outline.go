package outline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"testing"

	"mapd/hashline"
	"mapd/outline/format"
	"mapd/outline/golang"
	"mapd/outline/pattern"
	"mapd/outline/sandbox"
	"mapd/outline/symbol"
)

// Outline is the structure of one file: a pure function of its bytes, its
// language and the options of the Extractor. It is immutable.
//
// Every symbol of it has 1 <= Start <= End <= Lines and a name that is not
// empty, valid UTF-8 and at most MaxName bytes long; symbols stand in line
// order, children within the lines of their parent.
type Outline struct {
	Language Language
	Lines    int // of the file
	Bytes    int // of the file
	Count    int // of all symbols, nested ones included
	symbol.List
}

// Options configure an Extractor.
type Options struct {
	Limits Limits
	// Pool runs the grammars. Without one, code that needs them gets line
	// patterns and the reason unsupported.
	Pool Parser
	// Log gets the defects of extractors: panics and broken symbols. The
	// default is slog.Default.
	Log *slog.Logger
}

// A Parser returns the symbols of src in the named grammar. A *sandbox.Pool is
// one. An error is ctx's, or wraps one of package sandbox.
type Parser interface {
	Parse(ctx context.Context, grammar string, src []byte) (symbol.List, error)
}

// Extractor makes outlines. It is safe for concurrent use.
type Extractor struct {
	limits Limits
	parser Parser
	log    *slog.Logger
	// heavy holds the place of the one large Go file that is parsed at a time:
	// its tree is many times its size, and lives in this process.
	heavy chan struct{}
}

// New returns an Extractor.
func New(opt Options) *Extractor {
	x := &Extractor{limits: opt.Limits.orDefault(), parser: opt.Pool, log: opt.Log, heavy: make(chan struct{}, 1)}
	if x.log == nil {
		x.log = slog.Default()
	}
	return x
}

// revision counts the changes of what the extractors of this process find. It
// grows when the outline of the same bytes changes.
const revision = 1

// Version names the extractors and all that an outline depends on beside the
// bytes and the language: two Extractors of one version make equal outlines.
// It is part of the key under which an outline may be kept.
func (x *Extractor) Version() string {
	l := x.limits
	return fmt.Sprintf("%d/%s/%d,%d", revision, sandbox.Version(), l.Bytes, l.FormatBytes)
}

// Extract returns the outline of text. It fails only when ctx ends: every
// other trouble gives an outline by line patterns that says why.
func (x *Extractor) Extract(ctx context.Context, lang Language, text *hashline.Text) (*Outline, error) {
	list, err := x.list(ctx, lang, text)
	if err != nil {
		return nil, err
	}
	o := &Outline{Language: lang, Lines: text.Lines(), Bytes: text.Size(), List: list}
	o.Count = symbol.Count(o.Symbols)
	return o, nil
}

// list tries the extractor of the language, and line patterns if it fails.
func (x *Extractor) list(ctx context.Context, lang Language, text *hashline.Text) (symbol.List, error) {
	extract, limit := x.family(lang)
	var list symbol.List
	var err error
	switch {
	case extract == nil:
		err = errUnsupported
	case text.Size() > limit:
		err = errTooLarge
	default:
		list, err = x.guarded(ctx, lang, text, extract)
	}
	if err == nil {
		return list, nil
	}
	if ctx.Err() != nil {
		return list, ctx.Err()
	}
	why := reason(err)
	if why == symbol.Crashed && !errors.Is(err, sandbox.ErrClosed) {
		x.log.Error("outline: extractor failed", "language", lang, "bytes", text.Size(), "err", err)
	}
	scan := func(ctx context.Context, text *hashline.Text) (symbol.List, error) {
		return pattern.Scan(ctx, string(lang), text)
	}
	list, err = x.guarded(ctx, lang, text, scan)
	switch {
	case ctx.Err() != nil:
		return list, ctx.Err()
	case err != nil:
		x.log.Error("outline: line patterns failed", "language", lang, "bytes", text.Size(), "err", err)
		return symbol.List{Source: symbol.None, Why: reason(err)}, nil
	}
	if list.Source != symbol.None || why != symbol.Unsupported {
		list.Why = why
	}
	return list, nil
}

type extractor func(ctx context.Context, text *hashline.Text) (symbol.List, error)

// family returns the extractor of a language, nil if there is none, and the
// size of the largest file it takes.
func (x *Extractor) family(lang Language) (extractor, int) {
	name := string(lang)
	switch {
	case lang == Go:
		return x.golang, x.limits.Bytes
	case format.Supports(name):
		return x.format(name), x.limits.FormatBytes
	case x.parser != nil && sandbox.Supports(name):
		return x.grammar(name), x.limits.Bytes
	}
	return nil, 0
}

func (x *Extractor) golang(ctx context.Context, text *hashline.Text) (symbol.List, error) {
	const heavy = 1 << 20
	if text.Size() > heavy {
		select {
		case x.heavy <- struct{}{}:
			defer func() { <-x.heavy }()
		case <-ctx.Done():
			return symbol.List{}, ctx.Err()
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, x.limits.Time, sandbox.ErrTimeout)
	defer cancel()
	list, err := golang.Extract(ctx, text)
	return list, causeOf(ctx, err)
}

func (x *Extractor) format(lang string) extractor {
	return func(ctx context.Context, text *hashline.Text) (symbol.List, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, x.limits.FormatTime, sandbox.ErrTimeout)
		defer cancel()
		list, err := format.Scan(ctx, lang, text)
		return list, causeOf(ctx, err)
	}
}

func (x *Extractor) grammar(lang string) extractor {
	return func(ctx context.Context, text *hashline.Text) (symbol.List, error) {
		return x.parser.Parse(ctx, lang, text.Bytes())
	}
}

// causeOf returns why ctx ended in place of err, where that is what err says.
func causeOf(ctx context.Context, err error) error {
	if err != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}

var (
	errUnsupported = errors.New("no extractor for this language")
	errTooLarge    = errors.New("file too large for its extractor")
	errPanic       = errors.New("extractor panicked")
)

func reason(err error) symbol.Why {
	switch {
	case errors.Is(err, errUnsupported), errors.Is(err, sandbox.ErrUnsupported):
		return symbol.Unsupported
	case errors.Is(err, errTooLarge), errors.Is(err, golang.ErrTooLarge):
		return symbol.TooLarge
	case errors.Is(err, sandbox.ErrTimeout):
		return symbol.Timeout
	case errors.Is(err, sandbox.ErrMemory):
		return symbol.Memory
	}
	return symbol.Crashed
}

// guarded runs an extractor, turns a panic into an error, and holds what it
// found to the promises of Outline.
func (x *Extractor) guarded(ctx context.Context, lang Language, text *hashline.Text, extract extractor) (list symbol.List, err error) {
	defer func() {
		if v := recover(); v != nil && !errors.Is(asError(v), errBroken) {
			list, err = symbol.List{}, fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		} else if v != nil {
			panic(v)
		}
	}()
	if list, err = extract(ctx, text); err != nil {
		return symbol.List{}, err
	}
	if broken := enforce(&list, text.Lines()); broken != nil {
		if testing.Testing() {
			panic(fmt.Errorf("%s: %w", lang, broken))
		}
		x.log.Error("outline: repaired", "language", lang, "bytes", text.Size(), "err", broken)
	}
	return list, nil
}

func asError(v any) error {
	err, _ := v.(error)
	return err
}
