package recovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// SkipMarker is what a harness answers in place of the result of a tool call
// that it dropped because the user had something to say.
const SkipMarker = "Skipped due to queued user message."

// ErrTurn is what every error of ParseTurn wraps.
var ErrTurn = errors.New("invalid turn")

// Turn is what an agent called in one turn and what it got.
type Turn struct {
	Calls   []Call
	Results []Result
}

// Call is a tool call.
type Call struct {
	ID, Name  string
	Arguments map[string]json.RawMessage
}

// Result is the result of a tool call; Text joins its text blocks.
type Result struct {
	CallID, ToolName string
	Text             string
}

// ParseTurn reads {toolCalls, toolResults} as agents write them. Calls and
// results may have the shape of pi (id, name, arguments; toolCallId, content),
// of Claude (tool_use with input; tool_result with tool_use_id) or of OpenAI
// (function with its arguments in a string, or function_call with call_id; tool
// messages with tool_call_id, function_call_output), single or inside the
// message that carried them. What else they hold is ignored, and so is an entry
// that is no call or result at all. Every error wraps ErrTurn.
func ParseTurn(data []byte) (Turn, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(data, &in); err != nil {
		return Turn{}, fmt.Errorf("%w: it must be an object with toolCalls and toolResults", ErrTurn)
	}
	var turn Turn
	calls, err := entries(in, "toolCalls", "tool_calls")
	if err != nil {
		return Turn{}, err
	}
	for _, c := range calls {
		turn.addCall(c, true)
	}
	results, err := entries(in, "toolResults", "tool_results")
	if err != nil {
		return Turn{}, err
	}
	for _, r := range results {
		turn.addResult(r, true)
	}
	return turn, nil
}

// object is a JSON object of which only some members are known.
type object map[string]json.RawMessage

// entries returns the objects of a list; a list that is absent or null is empty.
func entries(in object, names ...string) ([]object, error) {
	raw := in.first(names...)
	if raw == nil {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%w: %s must be a list", ErrTurn, names[0])
	}
	return objects(list), nil
}

func objects(list []json.RawMessage) []object {
	var out []object
	for _, raw := range list {
		if o := toObject(raw); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// toObject returns nil for what is not an object.
func toObject(raw json.RawMessage) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// first returns the first member of those names that is there and not null.
func (o object) first(names ...string) json.RawMessage {
	for _, name := range names {
		if raw := o[name]; raw != nil && !bytes.Equal(raw, []byte("null")) {
			return raw
		}
	}
	return nil
}

// text returns the first member of those names that is a string.
func (o object) text(names ...string) string {
	for _, name := range names {
		var s string
		if raw := o[name]; raw != nil && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// inner returns the objects of a member that is a list.
func (o object) inner(name string) []object {
	var list []json.RawMessage
	if raw := o[name]; raw == nil || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return objects(list)
}

// addCall adds a call, or with open the calls of a message.
func (t *Turn) addCall(o object, open bool) {
	c := Call{ID: o.text("call_id", "toolCallId", "tool_call_id", "tool_use_id", "id")}
	c.Name = o.text("name", "toolName", "tool_name")
	args := o.first("arguments", "input", "args", "params")
	if f := toObject(o.first("function")); f != nil {
		c.Name, args = f.text("name"), f.first("arguments")
	}
	if c.Name == "" {
		if open {
			for _, call := range append(o.inner("tool_calls"), o.inner("content")...) {
				t.addCall(call, false)
			}
		}
		return
	}
	var quoted string
	if args != nil && json.Unmarshal(args, &quoted) == nil {
		args = json.RawMessage(quoted)
	}
	c.Arguments = toObject(args)
	t.Calls = append(t.Calls, c)
}

// addResult adds a result, or with open the results of a message.
func (t *Turn) addResult(o object, open bool) {
	r := Result{CallID: o.text("toolCallId", "tool_call_id", "tool_use_id", "call_id", "id"), ToolName: o.text("toolName", "tool_name", "name")}
	blocks := o.inner("content")
	if open && o.text("toolCallId", "tool_call_id", "tool_use_id", "call_id") == "" && len(blocks) > 0 {
		inMessage := false
		for _, b := range blocks {
			if b.text("tool_use_id", "tool_call_id", "toolCallId") != "" {
				t.addResult(b, false)
				inMessage = true
			}
		}
		if inMessage {
			return
		}
	}
	if r.CallID == "" {
		return
	}
	var texts []string
	collectText(o.first("content", "output", "result", "text"), maxNesting, &texts)
	r.Text = strings.Join(texts, "\n")
	t.Results = append(t.Results, r)
}

// maxNesting bounds how deep texts are looked for in a result.
const maxNesting = 8

// collectText appends the texts of a string, a block or a list of these.
func collectText(raw json.RawMessage, depth int, texts *[]string) {
	if raw == nil || depth == 0 {
		return
	}
	var s string
	var list []json.RawMessage
	switch {
	case json.Unmarshal(raw, &s) == nil:
		*texts = append(*texts, s)
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list {
			collectText(item, depth-1, texts)
		}
	default:
		collectText(toObject(raw).first("text", "content", "output"), depth-1, texts)
	}
}
