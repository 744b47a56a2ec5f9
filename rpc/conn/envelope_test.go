package conn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func newParser() *parser { return &parser{limits: DefaultLimits()} }

// malformedMessages are JSON, but no requests. The value is the id of the reply.
var malformedMessages = map[string]string{
	`{}`:                       "null",
	`{"jsonrpc":"2.0"}`:        "null",
	`{"jsonrpc":"2.0","id":1}`: "1",
	`{"jsonrpc":"1.0","id":1,"method":"echo"}`:                              "1",
	`{"jsonrpc":2.0,"id":"v","method":"echo"}`:                              `"v"`,
	`{"id":1,"method":"echo"}`:                                              "1",
	`{"jsonrpc":"2.0","id":null,"method":"echo"}`:                           "null",
	`{"jsonrpc":"2.0","id":1.5,"method":"echo"}`:                            "null",
	`{"jsonrpc":"2.0","id":1.0,"method":"echo"}`:                            "null",
	`{"jsonrpc":"2.0","id":1e3,"method":"echo"}`:                            "null",
	`{"jsonrpc":"2.0","id":1e20,"method":"echo"}`:                           "null",
	`{"jsonrpc":"2.0","id":100000000000000000000,"method":"echo"}`:          "null",
	`{"jsonrpc":"2.0","id":9223372036854775808,"method":"echo"}`:            "null",
	`{"jsonrpc":"2.0","id":true,"method":"echo"}`:                           "null",
	`{"jsonrpc":"2.0","id":[1],"method":"echo"}`:                            "null",
	`{"jsonrpc":"2.0","id":{},"method":"echo"}`:                             "null",
	`{"jsonrpc":"2.0","id":1,"method":null}`:                                "1",
	`{"jsonrpc":"2.0","id":1,"method":7}`:                                   "1",
	`{"jsonrpc":"2.0","id":1,"method":["echo"]}`:                            "1",
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":1}`:                   "1",
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":"x"}`:                 "1",
	`{"jsonrpc":"2.0","id":1,"method":"echo","result":1}`:                   "1",
	`{"jsonrpc":"2.0","id":1,"method":"echo","id":2}`:                       "null",
	`{"jsonrpc":"2.0","id":1,"method":"echo","\u0069d":2}`:                  "null",
	`{"jsonrpc":"2.0","id":1,"method":"echo","method":"other"}`:             "null",
	`{"jsonrpc":"2.0","method":"echo","params":[],"params":{}}`:             "null",
	`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1025) + `"}`:            "null",
	`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1025) + `"}`: "1",
	`1`: "null", `"x"`: "null", `null`: "null", `true`: "null",
}

// malformedJSON is what no reply can be made of but a parse error.
var malformedJSON = []string{
	`{`, `}`, `{]}`, `[}`, `{"jsonrpc":"2.0","id":1,"method":"echo","params":{]}}`, `[1,2`, `nonsense`, `{"a":1}}`, `{} {}`,
	`{"jsonrpc":"2.0","id":1,"method":"echo"`, `{"jsonrpc":"2.0","id":01,"method":"echo"}`, "{\"x\":\"\xff\"}", "{\"\xc3\x28\":1}",
	`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"` + "\x01" + `"}}`, `{'a':1}`,
	`{"jsonrpc":"2.0","id":1,"method":"ec` + "\xe4" + `ho"}`,
	"[" + strings.Repeat("[", 1_000_000), strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000),
	strings.Repeat(`{"a":`, 513) + "1" + strings.Repeat("}", 513),
}

func TestParseMalformed(t *testing.T) {
	p := newParser()
	for text, id := range malformedMessages {
		f, err := p.parse([]byte(text))
		got := string(f.single.rawID)
		if got == "" {
			got = "null"
		}
		if err != nil || f.batch || f.single.kind != kindInvalid || f.single.problem == "" || got != id {
			t.Errorf("%.100s: %+v, %v; want an invalid message with id %s", text, f.single, err, id)
		}
	}
	for _, text := range malformedJSON {
		if _, err := p.parse([]byte(text)); err == nil {
			t.Errorf("%.100q: no error", text)
		}
	}
	deep := strings.Repeat("[", 513) + strings.Repeat("]", 513)
	if _, err := p.parse([]byte(deep)); !errors.Is(err, errDepth) {
		t.Errorf("depth 513: %v", err)
	}
}

func TestParseGood(t *testing.T) {
	p := newParser()
	for _, test := range []struct {
		text string
		want envelope
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"m"}`, envelope{kind: kindCall, id: idKey{kind: 'n', number: 1}, method: "m"}},
		{` {"method":"m" ,"params": {"x":[]} ,"id":"1","jsonrpc":"2.0"} `, envelope{kind: kindCall, id: idKey{kind: 's', text: "1"}, method: "m", params: []byte(`{"x":[]}`)}},
		{`{"jsonrpc":"2.0","id":-9223372036854775808,"method":"m","params":null}`, envelope{kind: kindCall, id: idKey{kind: 'n', number: -1 << 63}, method: "m"}},
		{`{"jsonrpc":"2.0","id":"a\u0062","method":"\u006d","extra":1}`, envelope{kind: kindCall, id: idKey{kind: 's', text: "ab"}, method: "m"}},
		{`{"jsonrpc":"2.0","method":"m","params":[1]}`, envelope{kind: kindNotification, method: "m", params: []byte(`[1]`)}},
		{`{"jsonrpc":"2.0","id":"","method":""}`, envelope{kind: kindCall, id: idKey{kind: 's'}}},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, envelope{kind: kindResponse, id: idKey{kind: 'n', number: 1}}},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1}}`, envelope{kind: kindResponse}},
	} {
		f, err := p.parse([]byte(test.text))
		got := f.single
		if err != nil || got.kind != test.want.kind || got.id != test.want.id || got.method != test.want.method || string(got.params) != string(test.want.params) {
			t.Errorf("%s: %+v, %v", test.text, got, err)
		}
	}
}

func TestParseBatchCounts(t *testing.T) {
	p := newParser()
	for _, n := range []int{0, 1, 999, 1000, 1001, 100_000} {
		text := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"m"},`, n), ",") + "]"
		f, err := p.parse([]byte(text))
		if err != nil || !f.batch || f.count != n || len(f.elements) != min(n, 1000) {
			t.Errorf("%d elements: batch %v, count %d, kept %d, %v", n, f.batch, f.count, len(f.elements), err)
		}
	}
}

// FuzzEnvelope checks that whatever is not refused means the same to
// encoding/json, and that every refusal of a JSON object can be explained.
func FuzzEnvelope(f *testing.F) {
	for text := range malformedMessages {
		f.Add([]byte(text))
	}
	for _, text := range malformedJSON {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}},{"jsonrpc":"2.0","method":"n"},1]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		frame, err := newParser().parse(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted %q", data)
		}
		envelopes := frame.elements
		if !frame.batch {
			envelopes = []envelope{frame.single}
		}
		for _, e := range envelopes {
			checkEnvelope(t, data, e)
		}
	})
}

// checkEnvelope decodes e from what it kept of the frame and compares.
func checkEnvelope(t *testing.T, data []byte, e envelope) {
	if e.kind == kindInvalid && e.problem == "" {
		t.Fatalf("%q: refused without a reason", data)
	}
	if e.params != nil && !json.Valid(e.params) {
		t.Fatalf("%q: params %q", data, e.params)
	}
	if e.rawID == nil {
		return
	}
	var id any
	decoder := json.NewDecoder(strings.NewReader(string(e.rawID)))
	decoder.UseNumber()
	if err := decoder.Decode(&id); err != nil {
		t.Fatalf("%q: id %q: %v", data, e.rawID, err)
	}
	want := fmt.Sprint(id)
	got := e.id.text
	if e.id.kind == 'n' {
		got = fmt.Sprint(e.id.number)
		if want == "-0" {
			want = "0"
		}
	}
	if got != want {
		t.Fatalf("%q: id %q, want %q", data, got, want)
	}
}
