package wire

import "encoding/json"

// MethodRecover is the method that brings interrupted reads back.
const MethodRecover = "mapd/recover"

// RecoverParams are the parameters of mapd/recover. Turn is passed through in
// whatever shape the agent keeps it.
type RecoverParams struct {
	Turn    json.RawMessage `json:"turn,omitzero"`
	Reissue bool            `json:"reissue,omitzero"`
}

// RecoverResult is the result of mapd/recover. Without a skipped read it holds
// an empty Skipped and nothing else.
type RecoverResult struct {
	Skipped  []SkippedRead   `json:"skipped"`
	Message  *RecoverMessage `json:"message,omitzero"`
	Summary  string          `json:"summary,omitzero"`
	Expanded string          `json:"expanded,omitzero"`
	Reads    []ReadOutcome   `json:"reads,omitempty"` // of a reissue, in the order of Skipped
}

// SkippedRead is a read that never arrived, with the parameters of its call.
type SkippedRead struct {
	ToolCallID string          `json:"toolCallId,omitzero"`
	Path       string          `json:"path"`
	Params     json.RawMessage `json:"params"`
}

// RecoverMessage is the message that asks an agent to read again.
type RecoverMessage struct {
	CustomType string         `json:"customType"` // "read-recovery"
	Content    string         `json:"content"`
	Display    bool           `json:"display"`
	Details    RecoverDetails `json:"details"`
	DeliverAs  string         `json:"deliverAs"` // "followUp"
}

// RecoverDetails names the files of a RecoverMessage, each once.
type RecoverDetails struct {
	Paths []string `json:"paths"`
}
