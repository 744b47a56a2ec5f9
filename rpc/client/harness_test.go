package client

import (
	"encoding/json"
	"testing"

	"mapd/rpc/wire"
)

// The outcome of one read of many becomes the same tool result as a read.
func TestOutcomeToolResult(t *testing.T) {
	ok := &wire.ReadResult{Path: "a.go", Content: []wire.Content{{Type: "text", Text: "1#ZZZZ:x"}}}
	got := OutcomeToolResult("7", "read", wire.ReadOutcome{OK: ok})
	if got.IsError || got.ToolCallID != "7" || got.ToolName != "read" || len(got.Content) != 1 || got.Content[0].Text != "1#ZZZZ:x" {
		t.Errorf("a read: %+v", got)
	}
	missing := wire.Errorf(wire.NotFound, "no such file")
	got = OutcomeToolResult("8", "read", wire.ReadOutcome{Error: missing.Object()})
	details, err := json.Marshal(got.Details)
	if err != nil || !got.IsError || got.Content[0].Text != "no such file" || string(details) != `{"code":"not_found","retryable":false}` {
		t.Errorf("an error: %+v, details %s", got, details)
	}
}
