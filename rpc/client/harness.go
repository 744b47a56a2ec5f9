package client

import (
	"encoding/json"
	"errors"
	"fmt"

	"mapd/rpc/wire"
)

// ToolResult is the message with which an agent harness answers a call of its
// read tool.
type ToolResult struct {
	ToolCallID string         `json:"toolCallId"`
	ToolName   string         `json:"toolName"`
	Content    []wire.Content `json:"content"`
	// Details are a *wire.ReadDetails, or of an error the data of its
	// wire.ErrorObject.
	Details any  `json:"details,omitempty"`
	IsError bool `json:"isError"`
}

// CustomMessage is a message of its own that an agent harness puts into the
// conversation: a map, or the request to read again.
type CustomMessage struct {
	CustomType string `json:"customType"` // "file-map" or "read-recovery"
	Content    string `json:"content"`    // what the agent gets
	Display    bool   `json:"display"`
	Details    any    `json:"details"` // wire.FileMapDetails or wire.RecoverDetails
	// DeliverAs is "followUp" for a message that starts a turn once the agent is
	// done; empty for one that starts none.
	DeliverAs string `json:"deliverAs,omitempty"`

	// Collapsed is one line for people, Expanded what they see instead when they
	// open it.
	Collapsed string `json:"-"`
	Expanded  string `json:"-"`
}

// ReadToolResult is the answer to a call of a read tool: the content as it came,
// with the map where it is inline, or the error. Exactly one of result and err
// is given. It holds no second notice of truncation: the content has it.
func ReadToolResult(toolCallID, toolName string, result *wire.ReadResult, err error) ToolResult {
	out := ToolResult{ToolCallID: toolCallID, ToolName: toolName}
	if err != nil {
		return out.failed(err)
	}
	out.Content, out.Details = result.Content, &result.Details
	for _, s := range result.Stale {
		out.Content = append(out.Content[:len(out.Content):len(out.Content)], wire.Content{Type: "text", Text: StaleText(s)})
	}
	return out
}

// OutcomeToolResult is ReadToolResult for one entry of mapd/readMany, or of the
// reads that mapd/recover issued again.
func OutcomeToolResult(toolCallID, toolName string, o wire.ReadOutcome) ToolResult {
	if o.Error == nil {
		return ReadToolResult(toolCallID, toolName, o.OK, nil)
	}
	out := ToolResult{ToolCallID: toolCallID, ToolName: toolName, IsError: true, Content: []wire.Content{{Type: "text", Text: o.Error.Message}}}
	if len(o.Error.Data) > 0 {
		out.Details = o.Error.Data
	}
	return out
}

func (t ToolResult) failed(err error) ToolResult {
	t.IsError = true
	t.Content = []wire.Content{{Type: "text", Text: err.Error()}}
	var failure *wire.Error
	if errors.As(err, &failure) {
		if data, err := failure.Data(); err == nil {
			t.Details = json.RawMessage(data)
		}
	}
	return t
}

// StaleText says in one line for each range what became of lines that the agent
// holds.
func StaleText(s wire.Stale) string {
	text := "Lines of " + s.Path + " that you were shown are no longer as they were:"
	if s.To == nil {
		text = s.Path + ", of which you were shown lines, is gone:"
	}
	for _, r := range s.Ranges {
		text += fmt.Sprintf("\n%d-%d: %s", r.Served.Start, r.Served.End, r.Status)
		if r.Now != nil {
			text += fmt.Sprintf(", see %d-%d", r.Now.Start, r.Now.End)
		}
	}
	return text
}

// FileMapMessage is the map that came as a notification, in separate delivery.
// It starts no turn: a message that does would cancel the reads beside it. The
// notification is one of Options.Notify; ok is false if it is another one.
func FileMapMessage(method string, params []byte) (message CustomMessage, toolCallID string, ok bool) {
	var m wire.FileMap
	if method != wire.NotifyFileMap || json.Unmarshal(params, &m) != nil {
		return CustomMessage{}, "", false
	}
	return CustomMessage{
		CustomType: m.CustomType, Content: m.Content, Display: m.Display, Details: m.Details,
		Collapsed: m.Summary, Expanded: m.Content,
	}, m.ToolCallID, true
}

// RecoveryMessage is the follow-up that has an agent repeat its interrupted
// reads; ok is false if there were none.
func RecoveryMessage(r *wire.RecoverResult) (message CustomMessage, ok bool) {
	if r.Message == nil {
		return CustomMessage{}, false
	}
	m := r.Message
	return CustomMessage{
		CustomType: m.CustomType, Content: m.Content, Display: m.Display, Details: m.Details, DeliverAs: m.DeliverAs,
		Collapsed: r.Summary, Expanded: r.Expanded,
	}, true
}
