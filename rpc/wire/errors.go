package wire

import (
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// Code is the stable name of an error, data.code on the wire.
type Code string

// The codes of the protocol.
const (
	InvalidParams    Code = "invalid_params"
	InvalidRange     Code = "invalid_range"
	InvalidAnchor    Code = "invalid_anchor"
	UnknownMethod    Code = "unknown_method"
	NotInitialized   Code = "not_initialized"
	ShuttingDown     Code = "shutting_down"
	StaleAnchors     Code = "stale_anchors"
	UnknownSnapshot  Code = "unknown_snapshot"
	InvalidCursor    Code = "invalid_cursor"
	BufferDirty      Code = "buffer_dirty"
	Cancelled        Code = "cancelled"
	NotFound         Code = "not_found"
	IsDirectory      Code = "is_directory"
	NotAFile         Code = "not_a_file"
	BinaryFile       Code = "binary_file"
	FileTooLarge     Code = "file_too_large"
	PermissionDenied Code = "permission_denied"
	ReadOnly         Code = "read_only"
	OutsideWorkspace Code = "outside_workspace"
	SymbolNotFound   Code = "symbol_not_found"
	AmbiguousSymbol  Code = "ambiguous_symbol"
	OverlappingEdits Code = "overlapping_edits"
	PartiallyShown   Code = "partially_shown"
	AlreadyExists    Code = "already_exists"
	NoChangeLoop     Code = "no_change_loop"
	BuildMismatch    Code = "build_mismatch"
	SessionTaken     Code = "session_taken"
	ServerBusy       Code = "server_busy"
	IO               Code = "io"
	Internal         Code = "internal"
	// ParseError and InvalidRequest have no row in the table of data.code that
	// clients branch on; they name the two framing errors of JSON-RPC.
	ParseError     Code = "parse_error"
	InvalidRequest Code = "invalid_request"
)

// row is what the protocol fixes for a Code.
type row struct {
	number    int
	retryable bool
}

// table is the one place where a Code gets its JSON-RPC number and whether the
// same request may succeed when it is sent again.
var table = map[Code]row{
	InvalidParams:    {-32602, false},
	InvalidRange:     {-32602, false},
	InvalidAnchor:    {-32602, false},
	UnknownMethod:    {-32601, false},
	NotInitialized:   {-32002, false},
	ShuttingDown:     {-32600, true},
	StaleAnchors:     {-32801, true},
	UnknownSnapshot:  {-32801, true},
	InvalidCursor:    {-32801, true},
	BufferDirty:      {-32801, true},
	Cancelled:        {-32800, true},
	NotFound:         {-32803, false},
	IsDirectory:      {-32803, false},
	NotAFile:         {-32803, false},
	BinaryFile:       {-32803, false},
	FileTooLarge:     {-32803, false},
	PermissionDenied: {-32803, false},
	ReadOnly:         {-32803, false},
	OutsideWorkspace: {-32803, false},
	SymbolNotFound:   {-32803, false},
	AmbiguousSymbol:  {-32803, false},
	OverlappingEdits: {-32803, false},
	PartiallyShown:   {-32803, false},
	AlreadyExists:    {-32803, false},
	NoChangeLoop:     {-32803, false},
	BuildMismatch:    {-32803, false},
	SessionTaken:     {-32803, false},
	ServerBusy:       {-32803, true},
	IO:               {-32803, true},
	Internal:         {-32603, true},
	ParseError:       {-32700, false},
	InvalidRequest:   {-32600, false},
}

// Number returns the JSON-RPC error code of c.
func (c Code) Number() int { return table[c].number }

// Retryable reports whether the same request may succeed later.
func (c Code) Retryable() bool { return table[c].retryable }

// Error is an error as a client sees it. The message says what to do about it.
type Error struct {
	Code    Code
	Message string
	// Fields are further members of data, for example totalLines; each value is
	// encoded as JSON. They never hold "code" or "retryable".
	Fields map[string]any
}

// Errorf returns an Error without further fields.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns e with one more member of data.
func (e *Error) With(name string, value any) *Error {
	fields := map[string]any{name: value}
	for k, v := range e.Fields {
		fields[k] = v
	}
	return &Error{Code: e.Code, Message: e.Message, Fields: fields}
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Is reports whether target is an *Error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Data encodes the data member: code, retryable and the further fields.
func (e *Error) Data() (json.RawMessage, error) {
	data := map[string]any{"code": e.Code, "retryable": e.Code.Retryable()}
	for k, v := range e.Fields {
		data[k] = v
	}
	return jsonv2.Marshal(data, jsonv2.Deterministic(true))
}
