package rpc

import (
	"context"
	"errors"

	"mapd/hashline"
	"mapd/outline"
	"mapd/rpc/view"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// sentinels is the table from the errors of the rooms below to the codes of
// the wire. The first that errors.Is decides.
var sentinels = []struct {
	err  error
	code wire.Code
}{
	{context.Canceled, wire.Cancelled},
	{context.DeadlineExceeded, wire.Cancelled},
	{workspace.ErrNotFound, wire.NotFound},
	{workspace.ErrNotFile, wire.NotAFile},
	{workspace.ErrTooLarge, wire.FileTooLarge},
	{workspace.ErrPermission, wire.PermissionDenied},
	{workspace.ErrOutside, wire.OutsideWorkspace},
	{workspace.ErrName, wire.InvalidParams},
	{workspace.ErrReadOnly, wire.ReadOnly},
	{workspace.ErrBinary, wire.BinaryFile},
	{workspace.ErrClosed, wire.ShuttingDown},
	{workspace.ErrExists, wire.AlreadyExists},
	{workspace.ErrBusy, wire.IO},
	{workspace.ErrIO, wire.IO},
	{hashline.ErrTooLong, wire.FileTooLarge},
	{view.ErrCursor, wire.InvalidCursor},
}

// toWire is the one place where an error becomes what a client sees. An error
// that no room declares is a bug of mapd and goes out as internal.
func toWire(err error) *wire.Error {
	var (
		wired     *wire.Error
		directory *workspace.DirectoryError
		missing   *outline.NotFoundError
		ambiguous *outline.AmbiguousError
		overlap   *hashline.OverlapError
		payload   *hashline.PayloadError
		past      *hashline.RangeError
	)
	switch {
	case errors.As(err, &wired):
		return wired
	case errors.As(err, &directory):
		entries := make([]string, len(directory.Entries))
		for i, e := range directory.Entries {
			entries[i] = wireText(e)
		}
		return wire.Errorf(wire.IsDirectory, "%s", wireText(directory.Error())).With("entries", entries)
	case errors.As(err, &missing):
		return wire.Errorf(wire.SymbolNotFound, "%s", wireText(err.Error())).With("nearest", missing.Nearest)
	case errors.As(err, &ambiguous):
		return wire.Errorf(wire.AmbiguousSymbol, "%s", wireText(err.Error())).With("candidates", ambiguous.Candidates)
	}
	switch {
	case errors.As(err, &overlap):
		return wire.Errorf(wire.OverlappingEdits, "%v; make them one edit", overlap)
	case errors.As(err, &payload):
		return wire.Errorf(wire.InvalidParams, "%v", payload)
	case errors.As(err, &past):
		return wire.Errorf(wire.InvalidRange, "%v", past).With("totalLines", past.Lines)
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return wire.Errorf(s.code, "%s", wireText(err.Error()))
		}
	}
	return wire.Errorf(wire.Internal, "%s", wireText(err.Error()))
}
