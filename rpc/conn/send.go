package conn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"go.lsp.dev/jsonrpc2"

	"mapd/rpc/wire"
)

// outcome is what a call or a batch comes to.
type outcome struct {
	rawID []byte
	reply Reply
	err   *wire.Error // instead of reply
	batch []outcome   // instead of both: the outcomes of its calls, not nil
}

const (
	replyHead = `{"jsonrpc":"2.0","id":`
	replyMid  = `,"result":`
	replyTail = `}`
)

// smallFrame is copied into one piece; the parts of a larger one are not copied.
const smallFrame = 4 << 10

// frame frames body, which may come in parts.
func (c *Conn) frame(withdraw func(), body ...[]byte) entry {
	size := 0
	for _, b := range body {
		size += len(b)
	}
	var head, tail []byte
	if framing(c.framing.Load()) == framingHeader {
		head = append(make([]byte, 0, 40), "Content-Length: "...)
		head = append(strconv.AppendInt(head, int64(size), 10), "\r\n\r\n"...)
	} else {
		for i := range body {
			body[i] = oneLine(body[i])
		}
		tail = []byte{'\n'}
	}
	if size > smallFrame {
		return newEntry(withdraw, slices.Concat([][]byte{head}, body, [][]byte{tail})...)
	}
	whole := append(make([]byte, 0, len(head)+size+len(tail)), head...)
	for _, b := range body {
		whole = append(whole, b...)
	}
	return newEntry(withdraw, append(whole, tail...))
}

// oneLine takes the line breaks out of JSON that was not encoded compactly.
// Outside of strings they are white space, and inside they are escaped.
func oneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte{'\n'}, []byte{' '})
}

// send queues the reply of a call, or of a batch, with what follows it.
func (c *Conn) send(o outcome) {
	replies := o.batch
	if o.batch == nil {
		replies = []outcome{o}
	}
	for i := range replies {
		c.checkSize(&replies[i])
	}
	withdraw := func() {
		for i := range replies {
			c.hook(replies[i].reply.Withdraw)
		}
	}
	var body [][]byte
	switch {
	case o.batch == nil:
		body = replies[0].encode()
	case len(replies) == 0:
		return // a batch of notifications has no reply
	default:
		body = [][]byte{encodeBatch(replies)}
	}
	for i := range replies {
		c.hook(replies[i].reply.Queued)
	}
	entries := []entry{c.frame(withdraw, body...)}
	for i := range replies {
		for _, n := range replies[i].reply.After {
			entries = append(entries, c.notification(n))
		}
	}
	if c.out.put(entries...) != nil {
		withdraw()
		for i := range replies {
			for _, n := range replies[i].reply.After {
				c.hook(n.Withdraw)
			}
		}
		return
	}
	for i := range replies {
		c.hook(replies[i].reply.Placed)
	}
}

// checkSize turns a reply that no peer would accept into an error.
func (c *Conn) checkSize(o *outcome) {
	if size := o.reply.size(); size > c.limits.Frame {
		c.refuse(o, wire.Errorf(wire.FileTooLarge, "the reply has %d bytes, the limit is %d: ask for less", size, c.limits.Frame))
	}
}

// refuse drops a reply in favour of an error.
func (c *Conn) refuse(o *outcome, err *wire.Error) {
	c.hook(o.reply.Withdraw)
	o.reply, o.err = Reply{}, err
}

// hook calls a function of a reply. Its panic must not cost the connection its
// writer.
func (c *Conn) hook(f func()) {
	if f != nil {
		defer c.recovered(func(*wire.Error) {})
		f()
	}
}

// encode returns the reply in parts, the result uncopied.
func (o *outcome) encode() [][]byte {
	id := o.rawID
	if id == nil {
		id = []byte("null")
	}
	head := make([]byte, 0, len(replyHead)+len(id)+len(replyMid)+len("null")+len(replyTail))
	head = append(append(head, replyHead...), id...)
	if o.err != nil {
		return [][]byte{encodeError(append(head, `,"error":`...), o.err)}
	}
	head = append(head, replyMid...)
	if o.reply.size() == 0 {
		return [][]byte{append(append(head, "null"...), replyTail...)}
	}
	parts := append([][]byte{head, o.reply.Result}, o.reply.Rest...)
	return append(parts, []byte(replyTail))
}

func encodeBatch(replies []outcome) []byte {
	size := 2
	parts := make([][][]byte, len(replies))
	for i := range replies {
		parts[i] = replies[i].encode()
		for _, b := range parts[i] {
			size += len(b)
		}
		size++
	}
	out := append(make([]byte, 0, size), '[')
	for i, part := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		for _, b := range part {
			out = append(out, b...)
		}
	}
	return append(out, ']')
}

// encodeError appends the error object and the end of the reply.
func encodeError(dst []byte, e *wire.Error) []byte {
	object := struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{Code: e.Code.Number(), Message: strings.ToValidUTF8(e.Message, "\uFFFD")}
	data, err := e.Data()
	if err == nil && object.Code != 0 {
		object.Data = data
	} else {
		object.Code = wire.Internal.Number()
		object.Data, _ = wire.Errorf(wire.Internal, "").Data()
	}
	encoded, err := jsonv2.Marshal(object) // leaves <, > and & as they are
	if err != nil {                        // a number, a string and JSON that was just encoded
		panic(err)
	}
	return append(append(dst, encoded...), replyTail...)
}

// reject answers a frame that is no request; rawID is nil if it has no id.
func (c *Conn) reject(rawID []byte, code wire.Code, problem string) {
	c.counters.malformed.Add(1)
	c.log.Debug("rejected a message", "code", code, "why", problem)
	c.sendError(rawID, wire.Errorf(code, "%s", problem))
}

func (c *Conn) sendError(rawID []byte, err *wire.Error) {
	o := outcome{rawID: rawID, err: err}
	// A queue that no longer accepts has ended the connection.
	_ = c.out.put(c.frame(nil, o.encode()...))
}

func (c *Conn) notification(n Notification) entry {
	var params jsonrpc2.RawMessage
	if n.Params != nil {
		params = n.Params
	}
	var withdraw func()
	if n.Withdraw != nil {
		withdraw = func() { c.hook(n.Withdraw) }
	}
	return c.frame(withdraw, jsonrpc2.AppendNotification(nil, n.Method, params))
}
