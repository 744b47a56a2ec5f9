package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"mapd/rpc/wire"
)

const (
	parseError     = -32700
	invalidRequest = -32600
	unknownMethod  = -32601
	invalidParams  = -32602
	notInitialized = -32002
	requestFailed  = -32803
	cancelled      = -32800
)

// attacksOnFrames lose the boundary of a frame, or send what is no JSON.
func attacksOnFrames() []attack {
	lost := func(name, input string) attack {
		return attack{name: name, run: func(t *testing.T, h *house) string {
			p := h.connect(t)
			if err := p.write(input); err != nil {
				t.Fatal(err)
			}
			got := p.expect(parseError)
			p.expectClosed()
			return got + ", closed"
		}}
	}
	return []attack{
		lost("Content-Length: 1 GiB", "Content-Length: 1073741824\r\n\r\n{"),
		lost("Content-Length: one past the limit", fmt.Sprintf("Content-Length: %d\r\n\r\n{", 64<<20+1)),
		lost("Content-Length: -1", "Content-Length: -1\r\n\r\n{}"),
		lost("Content-Length: 0", "Content-Length: 0\r\n\r\n"),
		lost("Content-Length: 10^30", "Content-Length: 1"+strings.Repeat("0", 30)+"\r\n\r\n{}"),
		lost("two Content-Lengths that differ", "Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}"),
		lost("no Content-Length", "Content-Type: x\r\n\r\n{}"),
		lost("a header of 9 KiB", "Content-Length: 2\r\nX: "+strings.Repeat("x", 9<<10)+"\r\n\r\n{}"),
		lost("a first byte that opens nothing", "GET / HTTP/1.1\r\n\r\n"),
		{name: "an endless header", run: endless("Content-Length: 2\r\nX: ", 8<<10, 4<<20)},
		{name: "header fields without end", run: endless("Content-Length: 2\r\n", 8<<10, 4<<20)},
		{name: "an endless line", allow: 192 << 20, run: endless(`{"jsonrpc":"2.0","id":1,"method":"`, 64<<20, 192<<20)},
		{name: "a string of 100 MB", allow: 192 << 20, run: endless(`{"jsonrpc":"2.0","id":1,"method":"mapd/read","params":{"path":"`, 64<<20, 100_000_000)},
		{name: "malformed JSON, as lines", run: func(t *testing.T, h *house) string {
			return malformed(h.session(t), func(s string) string { return s + "\n" })
		}},
		{name: "malformed JSON, with headers", run: func(t *testing.T, h *house) string {
			p := h.connect(t)
			withHeader := func(s string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(s), s) }
			if err := p.write(withHeader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)); err != nil {
				t.Fatal(err)
			}
			p.expect(0)
			return malformed(p, withHeader)
		}},
		{name: "a million open brackets", allow: 64 << 20, run: func(t *testing.T, h *house) string {
			p := h.session(t)
			p.send(strings.Repeat("[", 1_000_000), `{"jsonrpc":"2.0","id":7,"method":"mapd/read","params":`+strings.Repeat(`{"a":`, 1_000_000)+"1"+strings.Repeat("}", 1_000_001))
			got := p.expect(parseError)
			p.expect(parseError)
			p.alive()
			return got + ", lives"
		}},
		{name: "one byte at a time", run: dribble},
		{name: "the end of input inside a frame", run: func(t *testing.T, h *house) string {
			p := h.connect(t)
			if err := p.write("Content-Length: 100\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
			if err := p.conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			got := p.expect(parseError)
			p.expectClosed()
			return got + ", closed"
		}},
	}
}

// endless sends a start and then one kind of byte until the daemon hangs up,
// which must be after limit bytes and before most.
func endless(start string, limit, most int) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		p := h.connect(t)
		if err := p.write(start); err != nil {
			t.Fatal(err)
		}
		chunk := strings.Repeat("x", 64<<10)
		if start[len(start)-1] == '\n' {
			chunk = strings.Repeat("A: b\r\n", 10<<10)
		}
		sent := len(start)
		for sent < most {
			if p.write(chunk) != nil {
				break
			}
			sent += len(chunk)
		}
		if sent < limit && limit > len(chunk) {
			t.Fatalf("the daemon hung up after %d bytes, the limit is %d", sent, limit)
		}
		got := p.expect(parseError)
		p.expectClosed()
		return got + ", closed"
	}
}

// malformed sends what is no JSON in frames that are right: each is answered,
// and the connection lives.
func malformed(p *peer, frame func(string) string) string {
	p.t.Helper()
	got := ""
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":}`, `{"a":[}]}`, `{{{}}}`, `{]`, `[}`, `{"a" "b"}`, `{"a":01}`, `{"a":+1}`, `{"a":.5}`, `{"a":tru}`,
		`{'a':1}`, `{"a":1}}`, `{"a":1} {"b":2}`, "{\"a\":\"\x01\"}", `{"a":"\x"}`, `{"a":"\u12"}`, `{"a":NaN}`, "{\"a\x00\":1}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mapd/read\",\"params\":{\"path\":\"\xc0\xaf\"}}",
	} {
		if err := p.write(frame(body)); err != nil {
			p.t.Fatal(err)
		}
		m := p.reply()
		if m.Error == nil || m.Error.Code != parseError || string(m.ID) != "null" {
			p.t.Fatalf("%q: id %s, %+v; want %d with id null", body, m.ID, m.Error, parseError)
		}
		got = m.verdict()
	}
	if err := p.write(frame(`{"jsonrpc":"2.0","id":99,"method":"mapd/status"}`)); err != nil {
		p.t.Fatal(err)
	}
	p.expect(0)
	return got + ", lives"
}

// dribble sends a session byte by byte, in frames with headers.
func dribble(t *testing.T, h *house) string {
	h.file(t, "a.txt", []byte("alpha\n"))
	p := h.connect(t)
	var input bytes.Buffer
	for _, body := range []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":%q}}`, fileURI(h.folder)),
		`{"jsonrpc":"2.0","id":2,"method":"` + wire.MethodRead + `","params":{"path":"a.txt","anchors":false}}`,
	} {
		fmt.Fprintf(&input, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	for _, b := range input.Bytes() {
		if err := p.write(string(b)); err != nil {
			t.Fatal(err)
		}
	}
	p.expect(0)
	if m := p.reply(); !bytes.Contains(m.Result, []byte(`"text":"alpha"`)) {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
	return "both answers"
}
