package rpc

import (
	"context"

	"mapd/outline"
)

// outlinesAtOnce is how many outlines are made for one session at a time. The
// workers serve who waits in order: a session that could queue as many files as
// it has requests in flight would make everybody else wait for all of them.
const outlinesAtOnce = 2

// outlined is a text whose outline can be asked for: a version of a file, or a
// draft.
type outlined interface {
	// Peek returns the outline if it is there already.
	Peek() (*outline.Outline, bool)
	Outline(ctx context.Context) (*outline.Outline, error)
}

// outline returns the outline of a text: at once if it is known, else in the
// session's turn. The error is that of workspace.Version.Outline.
func (s *Session) outline(ctx context.Context, v outlined) (*outline.Outline, error) {
	if o, known := v.Peek(); known {
		return o, nil
	}
	select {
	case s.outlining <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.outlining }()
	return v.Outline(ctx)
}
