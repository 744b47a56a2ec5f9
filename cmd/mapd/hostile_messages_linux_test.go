package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// attacksOnMessages send JSON that is no request, or requests out of place.
func attacksOnMessages() []attack {
	return []attack{
		{name: "ids 1.5, 10^20, null, true, {}, wrong versions, no method", run: wrongRequests},
		{name: "an id in flight, used again", run: duplicateID},
		{name: "requests before initialize", run: beforeInitialize},
		{name: "unknown methods with 1 MB of params", allow: 64 << 20, run: unknownMethods},
		{name: "a method name and an id of 1 MB", allow: 64 << 20, run: func(t *testing.T, h *house) string {
			p := h.session(t)
			long := strings.Repeat("x", 1<<20)
			p.send(`{"jsonrpc":"2.0","id":7,"method":"`+long+`"}`, `{"jsonrpc":"2.0","id":"`+long+`","method":"mapd/status"}`)
			got := p.expect(invalidRequest)
			p.expect(invalidRequest)
			p.alive()
			return got + ", lives"
		}},
		{name: "notifications whose handlers fail", run: failingNotifications},
		{name: "$/cancelRequest for anything", run: cancelAnything},
		{name: "50,000 pipelined notifications", run: pipelined},
		{name: "a batch of 0", run: batch(0)},
		{name: "a batch of 1,000 reads", allow: 128 << 20, run: batch(1000)},
		{name: "a batch of 1,001", run: batch(1001)},
		{name: "a batch of 100,000", allow: 64 << 20, run: batch(100_000)},
		{name: "half close after a call", run: halfClose},
		{name: "disconnect during calls", run: disconnect},
		{name: "params of the wrong shape", run: wrongParams},
	}
}

func wrongRequests(t *testing.T, h *house) string {
	p := h.session(t)
	got := ""
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1.5,"method":"mapd/status"}`, `{"jsonrpc":"2.0","id":1e20,"method":"mapd/status"}`,
		`{"jsonrpc":"2.0","id":100000000000000000000,"method":"mapd/status"}`, `{"jsonrpc":"2.0","id":null,"method":"mapd/status"}`,
		`{"jsonrpc":"2.0","id":true,"method":"mapd/status"}`, `{"jsonrpc":"2.0","id":{},"method":"mapd/status"}`,
		`{"jsonrpc":"1.0","id":7,"method":"mapd/status"}`, `{"jsonrpc":2.0,"id":7,"method":"mapd/status"}`, `{"id":7,"method":"mapd/status"}`,
		`{"jsonrpc":"2.0","id":7}`, `{"jsonrpc":"2.0","id":7,"method":7}`, `{"jsonrpc":"2.0","id":7,"method":"mapd/status","params":"x"}`,
		`{"jsonrpc":"2.0","id":7,"id":8,"method":"mapd/status"}`, `{}`,
	} {
		p.send(body)
		m := p.reply()
		if m.Error == nil || m.Error.Code != invalidRequest {
			t.Fatalf("%s: %+v, want %d", body, m.Error, invalidRequest)
		}
		got = m.verdict()
	}
	p.alive()
	return got + ", lives"
}

// slow returns a file whose outline takes a worker to its time limit. Each is
// another one, so that none is remembered, and none is indexed, so that a worker
// that works does so for a request.
func (h *house) slow(t *testing.T, n int) string {
	name := fmt.Sprintf("slow%d.tsx", n)
	if _, err := os.Stat(filepath.Join(h.folder, ".ignore")); err != nil {
		h.file(t, ".ignore", []byte("slow*\n"))
	}
	h.file(t, name, []byte(fmt.Sprintf("// %d %s\n", n, h.folder)+strings.Repeat("a<", 500_000)))
	return name
}

func mapOf(name string) string { return fmt.Sprintf(`{"path":%q,"format":"text"}`, name) }

func duplicateID(t *testing.T, h *house) string {
	p := h.session(t)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"mapd/map","params":%s}`, mapOf(h.slow(t, 0))),
		`{"jsonrpc":"2.0","id":5,"method":"mapd/status"}`)
	got := p.expect(invalidRequest)
	p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`)
	return got + ", the first one " + p.expect(cancelled)
}

func beforeInitialize(t *testing.T, h *house) string {
	p := h.connect(t)
	got := ""
	for _, method := range []string{"mapd/read", "mapd/stop", "mapd/status", "no/such", "shutdown", "textDocument/documentSymbol"} {
		m := p.call(method, `{"path":"a"}`)
		if m.Error == nil || m.Error.Code != notInitialized {
			t.Fatalf("%s: %+v", method, m.Error)
		}
		got = m.verdict()
	}
	p.send(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{}}`)
	p.initialize(h.folder)
	p.alive()
	return got + ", lives"
}

func unknownMethods(t *testing.T, h *house) string {
	p := h.session(t)
	params := `{"a":[` + strings.Repeat(`{"b":"c"},`, 100_000) + `1]}`
	got := ""
	for range 32 {
		m := p.call("textDocument/codeAction", params)
		if m.Error == nil || m.Error.Code != unknownMethod {
			t.Fatalf("%+v", m.Error)
		}
		got = m.verdict()
	}
	return "32 times " + got
}

func failingNotifications(t *testing.T, h *house) string {
	p := h.session(t)
	p.send(
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":7}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{"added":[{"uri":"http://x/y"}]}}}`,
		`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":[1,2]}`,
		`{"jsonrpc":"2.0","method":"mapd/read","params":{"path":"a"}}`,
		`{"jsonrpc":"2.0","method":"no/such","params":{"path":"a"}}`,
		`{"jsonrpc":"2.0","id":1,"result":7}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`)
	p.alive()
	return "no answer, lives"
}

func cancelAnything(t *testing.T, h *house) string {
	p := h.session(t)
	for _, params := range []string{
		`{"id":1}`, `{"id":"x"}`, `{"id":1.5}`, `{"id":null}`, `{"id":[1]}`, `{"id":{"id":1}}`, `{"id":-1}`, `{"id":1e999}`, `{}`, `[]`, `[1]`,
		`{"id":"` + strings.Repeat("x", 100_000) + `"}`, `null`,
	} {
		p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":` + params + `}`)
	}
	for range 20_000 {
		p.send(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":123456}}`)
	}
	p.send(`{"jsonrpc":"2.0","id":"x","method":"$/cancelRequest","params":{"id":1}}`)
	got := p.expect(unknownMethod)
	p.alive()
	return "no answer; with an id " + got + ", lives"
}

// pipelined changes the folders of a session very often and then looks which
// they are: the last change must have been the last.
func pipelined(t *testing.T, h *house) string {
	const changes = 50_000
	h.file(t, "a.txt", []byte("alpha\n"))
	p := h.session(t)
	uri := fileURI(h.folder)
	change := func(kind string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"workspace/didChangeWorkspaceFolders","params":{"event":{%q:[{"uri":%q,"name":""}]}}}`, kind, uri)
	}
	pair := change("removed") + "\n" + change("added") + "\n"
	input := strings.Repeat(pair, 100)
	for range changes / 200 {
		if err := p.write(input); err != nil {
			t.Fatal(err)
		}
	}
	if m := p.call(wire.MethodRead, `{"path":"a.txt"}`); m.Error != nil {
		t.Fatalf("after the last change: %+v", m.Error)
	}
	if err := p.write(input + change("removed") + "\n"); err != nil {
		t.Fatal(err)
	}
	if m := p.call(wire.MethodRead, `{"path":"a.txt"}`); m.code() != string(wire.OutsideWorkspace) {
		t.Fatalf("without a folder: %+v", m)
	}
	return "all, in order"
}

// batch sends a batch of n reads.
func batch(n int) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		h.file(t, "a.txt", []byte("alpha\n"))
		p := h.session(t)
		elements := make([]string, n)
		for i := range elements {
			elements[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"a.txt"}}`, i+100)
		}
		p.send("[" + strings.Join(elements, ",") + "]")
		m := p.reply()
		if n == 0 || n > 1000 {
			if m.Error == nil || m.Error.Code != invalidRequest {
				t.Fatalf("%+v %.100s", m.Error, m.Result)
			}
			p.alive()
			return "one " + m.verdict() + ", lives"
		}
		var replies []message
		if err := json.Unmarshal(m.Result, &replies); err != nil || len(replies) != n {
			t.Fatalf("%d replies, %v", len(replies), err)
		}
		for i, r := range replies {
			if string(r.ID) != fmt.Sprint(i+100) || !bytes.Contains(r.Result, []byte("alpha")) {
				t.Fatalf("reply %d has id %s, %+v", i, r.ID, r.Error)
			}
		}
		p.alive()
		return fmt.Sprintf("%d replies", n)
	}
}

func halfClose(t *testing.T, h *house) string {
	h.file(t, "a.txt", []byte("alpha\n"))
	p := h.session(t)
	const calls = 20
	for range calls {
		p.request(wire.MethodRead, `{"path":"a.txt"}`)
	}
	if err := p.conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	for range calls {
		p.expect(0)
	}
	p.expectClosed()
	return fmt.Sprintf("%d answers, closed", calls)
}

// disconnect hangs up while calls run that would last for seconds. Their
// contexts must end, which shows in the number of calls in flight.
func disconnect(t *testing.T, h *house) string {
	before := h.levels(t).inFlight
	p := h.session(t)
	const calls = 8
	for i := range calls {
		p.request(wire.MethodMap, mapOf(h.slow(t, i)))
	}
	h.await(t, func(l levels) bool { return l.inFlight >= before+calls })
	p.close()
	start := time.Now()
	h.await(t, func(l levels) bool { return l.inFlight <= before+1 })
	took := time.Since(start)
	if took > 2*time.Second { // the calls would take longer than this
		t.Errorf("the calls of a peer that is gone ended after %v", took)
	}
	return fmt.Sprintf("%d contexts ended within %v", calls, took.Round(time.Millisecond))
}

// await waits for a state of the daemon.
func (h *house) await(t *testing.T, reached func(levels) bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; wait(time.Millisecond) {
		now := h.levels(t)
		if reached(now) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the daemon stays at %+v", now)
		}
	}
}

func wrongParams(t *testing.T, h *house) string {
	h.file(t, "a.txt", []byte("alpha\n"))
	p := h.session(t)
	got := ""
	for _, params := range []string{
		`[]`, `[1]`, `{"path":1}`, `{"path":"a.txt","path":"a.txt"}`, `{"path":"a.txt","extra":1}`, `{"path":"a.txt","offset":0}`,
		`{"path":"a.txt","offset":-1}`, `{"path":"a.txt","offset":1.5}`, `{"path":"a.txt","limit":99999999999999999999}`, `{"path":"a.txt","maxBytes":0}`,
		`{"path":"a.txt","ranges":[{"start":2,"end":1}]}`, `{"path":"a.txt","ranges":[{"start":-9223372036854775808,"end":1}]}`, `{}`, `{"path":""}`,
		`{"path":"a.txt","map":"loud"}`, `{"path":"a\u0000b"}`, `{"path":"a.txt","uri":"file:///a"}`, `{"uri":"file:///%zz"}`, `{"uri":"http://host/a"}`,
		`{"path":"` + strings.Repeat("p/", 4096) + `"}`,
	} {
		m := p.call(wire.MethodRead, params)
		if m.Error == nil || m.Error.Code != invalidParams {
			t.Errorf("%.100s: %+v", params, m.Error)
			continue
		}
		got = m.verdict()
	}
	many := `{"reads":[` + strings.Repeat(`{"path":"a.txt"},`, 256) + `{"path":"a.txt"}]}`
	if m := p.call(wire.MethodReadMany, many); m.Error == nil || m.Error.Code != invalidParams {
		t.Errorf("257 reads: %+v", m.Error)
	}
	ranges := make([]string, 200_000)
	for i := range ranges {
		ranges[i] = fmt.Sprintf(`{"start":%d,"end":%d}`, 2*len(ranges)-2*i+1, 2*len(ranges)-2*i+1)
	}
	if m := p.call(wire.MethodRead, `{"path":"a.txt","ranges":[`+strings.Join(ranges, ",")+`]}`); m.code() != string(wire.InvalidRange) {
		t.Errorf("200,000 ranges past the end: %+v", m.Error)
	}
	if m := p.call(wire.MethodRead, fmt.Sprintf(`{"path":%q}`, filepath.Join(h.folder, "a.txt"))); m.Error != nil {
		t.Errorf("the right params: %+v", m.Error)
	}
	return got + ", lives"
}
