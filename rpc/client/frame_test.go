package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"mapd/rpc/wire"
)

var replies = []string{
	`{"jsonrpc":"2.0","id":1,"result":null}`,
	`{"jsonrpc":"2.0","id":12,"result":{"a":[1,"}"]}}`,
	`{"jsonrpc":"2.0","id":999999999999999999,"result":1}`,
	`{"jsonrpc":"2.0","id":9999999999999999999,"result":1}`,
	`{"jsonrpc":"2.0","id":-1,"result":1}`,
	`{"jsonrpc":"2.0","id":"1","result":1}`,
	`{"jsonrpc":"2.0","id":,"result":1}`,
	`{"jsonrpc":"2.0","id":1,"result":}`,
	`{"jsonrpc":"2.0","id":1,"result":1`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`,
	`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`,
	`{"jsonrpc":"2.0","method":"mapd/stale","params":{}}`,
	`{"id":1,"jsonrpc":"2.0","result":1}`,
	``, `{}`,
}

func TestSlice(t *testing.T) {
	for _, test := range []struct {
		frame  string
		id     int64
		result string
	}{
		{replies[0], 1, "null"},
		{replies[1], 12, `{"a":[1,"}"]}`},
		{replies[2], 999999999999999999, "1"},
	} {
		if id, result, ok := slice([]byte(test.frame)); !ok || id != test.id || string(result) != test.result {
			t.Errorf("%s: %d, %s, %v", test.frame, id, result, ok)
		}
	}
	for _, frame := range replies[3:] {
		if id, result, ok := slice([]byte(frame)); ok {
			t.Errorf("%s: %d, %s", frame, id, result)
		}
	}
}

// FuzzSlice compares the fast path with a decoder, for every frame that is a
// message with these three members only, which is all the daemon sends.
func FuzzSlice(f *testing.F) {
	for _, r := range replies {
		f.Add([]byte(r))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		id, result, ok := slice(frame)
		var m map[string]json.RawMessage
		if !ok || json.Unmarshal(frame, &m) != nil || len(m) != 3 || bytes.Count(frame, []byte(`"result"`)) != 1 {
			return
		}
		var want int64
		if err := json.Unmarshal(m["id"], &want); err != nil || want != id {
			t.Errorf("%q: id %d, want %s", frame, id, m["id"])
		}
		if got := bytes.TrimSpace(result); !bytes.Equal(got, m["result"]) {
			t.Errorf("%q: result %q, want %q", frame, got, m["result"])
		}
	})
}

func TestReadFrame(t *testing.T) {
	in := bufio.NewReader(strings.NewReader("Content-Length: 3\r\n\r\nabccontent-length:2\r\nX: y\r\n\r\nde"))
	for _, want := range []string{"abc", "de"} {
		if got, err := readFrame(in); string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := readFrame(in); err != io.EOF {
		t.Errorf("end: %v", err)
	}
	for _, bad := range []string{
		"Content-Length: -1\r\n\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: x\r\n\r\n", "Content-Length: 99999999999\r\n\r\n", "X: y\r\n\r\n",
		"Content-Length: 5\r\n\r\nabc", "Content-Length: 5\r\n", strings.Repeat("x", 1<<20),
	} {
		if frame, err := readFrame(bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("%.40q: %q", bad, frame)
		}
	}
}

func TestMessage(t *testing.T) {
	for _, test := range []struct {
		id     int64
		params string
		want   string
	}{
		{7, `[1]`, `{"jsonrpc":"2.0","id":7,"method":"a/b","params":[1]}`},
		{0, `[1]`, `{"jsonrpc":"2.0","method":"a/b","params":[1]}`},
		{7, ``, `{"jsonrpc":"2.0","id":7,"method":"a/b"}`},
		{7, `["` + strings.Repeat("x", smallParams) + `"]`, `{"jsonrpc":"2.0","id":7,"method":"a/b","params":["` + strings.Repeat("x", smallParams) + `"]}`},
	} {
		var params []byte
		if test.params != "" {
			params = []byte(test.params)
		}
		var sent bytes.Buffer
		buffers := message(test.id, "a/b", params)
		if _, err := buffers.WriteTo(&sent); err != nil {
			t.Fatal(err)
		}
		if got, err := readFrame(bufio.NewReader(&sent)); string(got) != test.want || err != nil || sent.Len() != 0 {
			t.Errorf("%.200s, %v, %d bytes more", got, err, sent.Len())
		}
	}
}

func TestParseError(t *testing.T) {
	for _, test := range []struct {
		data string
		code wire.Code
		more int
	}{
		{`{"code":"not_found","retryable":false}`, wire.NotFound, 0},
		{`{"code":"invalid_range","retryable":false,"totalLines":7}`, wire.InvalidRange, 1},
		{`{"code":"of_a_later_version","retryable":true}`, wire.Internal, 0},
		{`{"code":7}`, wire.Internal, 0},
		{`[]`, wire.Internal, 0},
		{``, wire.Internal, 0},
	} {
		e := parseError(&wire.ErrorObject{Code: -32803, Message: "m", Data: json.RawMessage(test.data)})
		if e.Code != test.code || e.Message != "m" || len(e.Fields) != test.more {
			t.Errorf("%s: %#v", test.data, e)
		}
	}
}
