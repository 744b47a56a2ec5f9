package format

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// eventKind is what one line of a session records.
type eventKind int

const (
	eventNone eventKind = iota
	eventStart
	eventUser
	eventAssistant
	eventResult
	eventModel
	eventCompaction
)

// event is one line of a session, in the words of pi, Claude Code or Codex.
type event struct {
	kind   eventKind
	strong bool // no other JSON looks like this
	broken bool // the line is no JSON object
	text   string
	model  string
	calls  []toolCall
	result []string // ids of the calls that results answer
}

type toolCall struct{ id, name, arguments string }

// eventReader reads lines.
type eventReader struct {
	dec  jsontext.Decoder
	buf  bytes.Buffer // of dec
	keys stringPool
	eventFields
}

// eventFields hold what the latest line says.
type eventFields struct {
	typ, subtype, inner, role string // type, subtype; type and role of message or payload
	model, text, id, name     string
	arguments, cwd            string
	meta, summary, wrapped    bool
	typed                     bool // blocks say whether they are input or output
	calls                     []toolCall
	results                   []string
}

func (r *eventReader) read(line []byte) event {
	r.eventFields = eventFields{}
	r.buf = *bytes.NewBuffer(line)
	r.dec.Reset(&r.buf, jsonOptions...)
	if r.dec.PeekKind() != '{' || !r.object(func(key string) bool { return r.field(key, false) }) {
		return event{broken: len(bytes.TrimSpace(line)) > 0}
	}
	return r.event()
}

// object reads an object, calling field for each key; field must read the
// value. It reports whether all went well.
func (r *eventReader) object(field func(key string) bool) bool {
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil || !field(r.keys.jsonName(raw)) {
			return false
		}
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

// field reads one field of the line or, if inside, of its message or payload.
func (r *eventReader) field(key string, inside bool) bool {
	switch key {
	case "type":
		if inside {
			return r.string(&r.inner)
		}
		return r.string(&r.typ)
	case "message", "payload":
		if r.dec.PeekKind() == '{' && !inside {
			r.wrapped = true
			return r.object(func(key string) bool { return r.field(key, true) })
		}
		return r.preview(&r.text)
	case "subtype":
		return r.string(&r.subtype)
	case "role":
		return r.string(&r.role)
	case "model", "modelId":
		return r.string(&r.model)
	case "cwd":
		return r.string(&r.cwd)
	case "name":
		return r.string(&r.name)
	case "id":
		if inside && r.id != "" {
			return r.skip()
		}
		return r.string(&r.id)
	case "call_id", "toolCallId":
		return r.string(&r.id)
	case "arguments", "input", "action":
		return r.raw(&r.arguments)
	case "isMeta":
		return r.bool(&r.meta)
	case "isCompactSummary":
		return r.bool(&r.summary)
	case "summary":
		return r.preview(&r.text)
	case "content":
		return r.content()
	}
	return r.skip()
}

// content reads a message's text or its blocks.
func (r *eventReader) content() bool {
	if r.dec.PeekKind() != '[' {
		return r.preview(&r.text)
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return false
	}
	for r.dec.PeekKind() != ']' {
		if r.dec.PeekKind() != '{' {
			if !r.skip() {
				return false
			}
			continue
		}
		if !r.block() {
			return false
		}
	}
	_, err := r.dec.ReadToken()
	return err == nil
}

func (r *eventReader) block() bool {
	var typ, text, answers string
	var call toolCall
	ok := r.object(func(key string) bool {
		switch key {
		case "type":
			return r.string(&typ)
		case "text":
			return r.preview(&text)
		case "name":
			return r.string(&call.name)
		case "id":
			return r.string(&call.id)
		case "tool_use_id":
			return r.string(&answers)
		case "input", "arguments":
			return r.raw(&call.arguments)
		}
		return r.skip()
	})
	switch typ {
	case "text", "input_text", "output_text":
		r.typed = r.typed || typ != "text"
		if r.text == "" {
			r.text = text
		}
	case "tool_use", "toolCall":
		if len(r.calls) < MaxElements {
			r.calls = append(r.calls, call)
		}
	case "tool_result":
		r.results = append(r.results, answers)
	}
	return ok
}

// event classifies the line.
func (r *eventReader) event() event {
	e := event{text: r.text, model: r.model, calls: r.calls, result: r.results}
	inner := r.inner
	if inner == "" {
		inner = r.typ // early files of Codex have no payload around it
	}
	switch {
	case r.typ == "session" && r.cwd != "", r.typ == "session_meta":
		e.kind, e.strong, e.text = eventStart, true, r.cwd
	case r.typ == "compaction", r.typ == "compacted", r.subtype == "compact_boundary", r.summary:
		e.kind = eventCompaction
	case r.typ == "model_change", r.typ == "turn_context":
		e.kind = eventModel
	case r.typ == "event_msg", r.meta, r.typ == "system":
	case inner == "function_call", inner == "custom_tool_call", inner == "local_shell_call":
		e.kind, e.strong = eventAssistant, r.id != ""
		if r.name == "" {
			r.name = inner
		}
		e.calls = []toolCall{{r.id, r.name, r.arguments}}
	case inner == "function_call_output", inner == "custom_tool_call_output":
		e.kind, e.result = eventResult, []string{r.id}
	case r.role == "toolResult":
		e.kind, e.result = eventResult, []string{r.id}
	case r.role == "user" || r.role == "" && r.typ == "user":
		e.kind, e.strong = eventUser, r.wrapped || r.typed
		if len(e.result) > 0 && e.text == "" {
			e.kind = eventResult
		}
	case r.role == "assistant":
		e.kind, e.strong = eventAssistant, r.wrapped || r.typed
	}
	return e
}

func (r *eventReader) skip() bool {
	_, err := r.dec.ReadValue()
	return err == nil
}

func (r *eventReader) bool(dst *bool) bool {
	raw, err := r.dec.ReadValue()
	*dst = string(raw) == "true"
	return err == nil
}

// string decodes a short string; other values leave dst empty.
func (r *eventReader) string(dst *string) bool {
	raw, err := r.dec.ReadValue()
	if err == nil && raw[0] == '"' {
		*dst = r.keys.jsonName(raw)
	}
	return err == nil
}

// preview decodes the first characters of a string.
func (r *eventReader) preview(dst *string) bool {
	raw, err := r.dec.ReadValue()
	if err == nil && raw[0] == '"' {
		const enough = 12*MaxPreview + 2
		if len(raw) > enough {
			raw = append(bytes.Clone(wholeEscapes(raw[:enough])), "…\""...)
		}
		text, _ := jsontext.AppendUnquote(nil, raw)
		*dst = preview(text, MaxPreview)
	}
	return err == nil
}

// raw previews any value as it is written, and a string's text.
func (r *eventReader) raw(dst *string) bool {
	if r.dec.PeekKind() == '"' {
		return r.preview(dst)
	}
	raw, err := r.dec.ReadValue()
	if err == nil {
		*dst = preview(raw[:min(len(raw), 4*MaxPreview)], MaxPreview)
	}
	return err == nil
}
