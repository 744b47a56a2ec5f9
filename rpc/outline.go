package rpc

import (
	"context"

	"mapd/outline"
	"mapd/workspace"
)

// outlinesAtOnce is how many outlines are made for one session at a time. The
// workers serve who waits in order: a session that could queue as many files as
// it has requests in flight would make everybody else wait for all of them.
const outlinesAtOnce = 2

// outline returns the outline of a version: at once if it is known, else in the
// session's turn. The error is that of workspace.Version.Outline.
func (s *Session) outline(ctx context.Context, v *workspace.Version) (*outline.Outline, error) {
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
