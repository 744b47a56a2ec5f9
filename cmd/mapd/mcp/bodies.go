package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bodies are results on their way through the SDK, which sees a short token in
// the place of each: encoding/json would go over every byte of a result four
// times, and take longer than all the rest of a call.
type bodies struct {
	prefix string // of the tokens; random, so that no text can hold one
	next   atomic.Int64

	mu   sync.Mutex // guards held
	held map[string]body
}

type body struct{ blocks, structured []byte }

func newBodies() *bodies {
	return &bodies{prefix: "mapd-body-" + rand.Text() + "-", held: map[string]body{}}
}

// hold returns a result that splice turns into blocks, an array of content, and
// structured, an object or nil. The body is held until the call ends.
func (b *bodies) hold(call context.Context, blocks, structured []byte, failed bool) *sdk.CallToolResult {
	token := b.prefix + strconv.FormatInt(b.next.Add(1), 10)
	b.mu.Lock()
	b.held[token] = body{oneLine(blocks), oneLine(structured)}
	b.mu.Unlock()
	context.AfterFunc(call, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.held, token)
	})
	result := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: token}}, IsError: failed}
	if structured != nil {
		result.StructuredContent = token
	}
	return result
}

// oneLine returns JSON without line ends between its tokens.
func oneLine(value []byte) []byte {
	if bytes.IndexByte(value, '\n') < 0 {
		return value
	}
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return value
	}
	return out.Bytes()
}

// splice puts the body in the place of its token, if the message has one.
func (b *bodies) splice(line []byte) []byte {
	at := bytes.Index(line, []byte(b.prefix))
	if at < 0 {
		return line
	}
	end := at + bytes.IndexByte(line[at:], '"')
	token := string(line[at:end])
	b.mu.Lock()
	held := b.held[token]
	b.mu.Unlock()
	out := make([]byte, 0, len(line)+len(held.blocks)+len(held.structured)+1)
	before, after, _ := bytes.Cut(line, []byte(`[{"type":"text","text":"`+token+`"}]`))
	out = append(append(out, before...), held.blocks...)
	if held.structured == nil {
		return append(out, after...)
	}
	before, after, _ = bytes.Cut(after, []byte(`"`+token+`"`))
	return append(append(append(out, before...), held.structured...), after...)
}
