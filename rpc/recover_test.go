package rpc_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/rpc"
	"mapd/rpc/wire"
)

func (a *agent) recover(params string) wire.RecoverResult {
	a.t.Helper()
	m := a.call("mapd/recover", params)
	if m.Error != nil {
		a.t.Fatalf("recover: %s", m.Error.Message)
	}
	var r wire.RecoverResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatal(err)
	}
	return r
}

func TestRecoverTurn(t *testing.T) {
	d := newDaemon(t)
	d.write("b.go", numbered(20))
	a := d.session()
	turn := strings.Join(strings.Fields(`{"toolCalls":[
		{"id":"1","name":"read","arguments":{"path":"a.go"}},
		{"id":"2","name":"read","arguments":{"path":"b.go","ranges":[{"start":2,"end":3}],"anchors":false}},
		{"id":"3","name":"Read","arguments":{"path":"c.go"}}],
	"toolResults":[
		{"toolCallId":"1","toolName":"read","content":[{"type":"text","text":"1#ZZZZ:package a"}]},
		{"toolCallId":"2","toolName":"read","isError":true,"content":"Skipped due to queued user message."},
		{"toolCallId":"3","toolName":"Read","content":[{"type":"text","text":"Skipped due to queued user message."}]}]}`), " ")
	r := a.recover(`{"reissue":true,"turn":` + turn + `}`)
	if len(r.Skipped) != 2 || r.Skipped[0].ToolCallID != "2" || r.Skipped[1].Path != "c.go" {
		t.Fatalf("skipped %+v", r.Skipped)
	}
	if r.Summary != "Recovery: 2 interrupted read(s) being re-issued" || r.Expanded != r.Summary+"\nb.go\nc.go" {
		t.Errorf("summary %q, expanded %q", r.Summary, r.Expanded)
	}
	want := &wire.RecoverMessage{CustomType: "read-recovery", Content: r.Message.Content, Display: true, Details: wire.RecoverDetails{Paths: []string{"b.go", "c.go"}}, DeliverAs: "followUp"}
	if diff := cmp.Diff(want, r.Message); diff != "" || !strings.Contains(r.Message.Content, "b.go") || !strings.Contains(r.Message.Content, "c.go") {
		t.Error(diff)
	}
	if len(r.Reads) != 2 || r.Reads[0].OK == nil || text(*r.Reads[0].OK) != "var v2 = 2\nvar v3 = 3" || r.Reads[1].Error == nil {
		t.Errorf("reads %+v", r.Reads)
	}

	m := a.call("mapd/recover", `{"turn":{"toolCalls":[],"toolResults":[]}}`)
	if string(m.Result) != `{"skipped":[]}` {
		t.Errorf("nothing skipped: %s", m.Result)
	}
	if code := a.call("mapd/recover", `{"turn":5}`).code(); code != "invalid_params" {
		t.Errorf("a turn that is none: %q", code)
	}
	bare := d.connect()
	bare.call("initialize", `{}`)
	if r := bare.recover(`{"turn":` + turn + `}`); len(r.Skipped) != 2 {
		t.Errorf("without a folder: %+v", r)
	}
	if code := bare.call("mapd/recover", `{}`).code(); code != "outside_workspace" {
		t.Errorf("without a folder and a turn: %q", code)
	}
}

// Reads that were cancelled, refused as busy or lost with their connection come
// back once, with their parameters, also after the session was taken over.
func TestRecoverLostReads(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Limits.Conn.InFlight = 1 })
	d.write("big.c", strings.Repeat("int f(int a) { if (a) { return g(a, 1) + 2; } return 0; }\n", 150_000))
	d.write("a.txt", "x\n")
	a := d.session(`{"session":"agent"}`)
	slow := a.send("mapd/read", `{"path":"big.c","map":"only"}`)
	busy := a.send("mapd/read", `{"path":"a.txt","limit":1,"toolCallId":"t"}`)
	if m := a.next(); *m.ID != busy || m.code() != "server_busy" {
		t.Fatalf("beside a read in flight: %+v", m)
	}
	a.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, slow))
	if m := a.next(); *m.ID != slow || m.code() != "cancelled" {
		t.Fatalf("cancelled: %+v", m)
	}
	r := a.recover(`{}`)
	got, err := json.Marshal(r.Skipped)
	if want := `[{"path":"big.c","params":{"path":"big.c","map":"only"}},{"toolCallId":"t","path":"a.txt","params":{"path":"a.txt","limit":1,"toolCallId":"t"}}]`; err != nil || string(got) != want {
		t.Errorf("recovered %s, want %s", got, want)
	}
	if r := a.recover(`{}`); len(r.Skipped) != 0 {
		t.Errorf("recovered twice: %+v", r.Skipped)
	}

	a.send("mapd/read", `{"path":"big.c","map":"only"}`)
	for watcher := d.session(); inFlight(watcher, "agent") == 0; {
		runtime.Gosched()
	}
	a.conn.Close()
	again := d.session(`{"session":"agent"}`)
	for lost := again.recover(`{}`).Skipped; len(lost) != 1; lost = again.recover(`{}`).Skipped {
		if len(lost) > 1 { // the daemon may need a moment to notice the hang-up
			t.Fatalf("recovered %+v", lost)
		}
	}
}

// inFlight returns how many requests of a named session are running.
func inFlight(a *agent, name string) int {
	a.t.Helper()
	var s wire.StatusResult
	if err := json.Unmarshal(a.call("mapd/status", `{}`).Result, &s); err != nil {
		a.t.Fatal(err)
	}
	for _, session := range s.Sessions {
		if session.Name == name {
			return session.InFlight
		}
	}
	return -1
}

// Every read ends as exactly one of delivered, error, recoverable, whatever is
// cancelled or cut off meanwhile, and each map arrives once.
func TestReadsEndOnce(t *testing.T) {
	for _, delivery := range []string{"inline", "separate"} {
		t.Run(delivery, func(t *testing.T) {
			d := newDaemon(t)
			for i := range 8 {
				d.write(fmt.Sprintf("f%d.go", i), numbered(2500+i))
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for round := range 12 {
				endOnce(t, d, rng, round, delivery)
			}
		})
	}
}

func endOnce(t *testing.T, d *daemon, rng *rand.Rand, round int, delivery string) {
	const reads = 32
	options := fmt.Sprintf(`{"session":"s%d","delivery":%q}`, round, delivery)
	a := d.session(options)
	outcome, maps := map[int]string{}, map[string]int{} // read -> how it ended
	ids := map[int]int{}
	for i := range reads {
		params := fmt.Sprintf(`{"path":"f%d.go","toolCallId":"r%d"}`, i%8, i)
		if i%9 == 8 {
			params = fmt.Sprintf(`{"path":"missing%d.go","toolCallId":"r%d"}`, i, i)
		}
		id := a.send("mapd/read", params)
		ids[id] = i
		if rng.IntN(4) == 0 {
			a.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, id))
		}
	}
	cutAfter := rng.IntN(reads * 2)
	for seen := 0; len(outcome) < reads && seen < cutAfter; seen++ {
		m := a.next()
		if m.Method == "mapd/fileMap" {
			var f wire.FileMap
			if err := json.Unmarshal(m.Params, &f); err != nil {
				t.Fatal(err)
			}
			maps[f.ToolCallID]++
			continue
		}
		how := "delivered"
		switch m.code() {
		case "":
		case "cancelled":
			how = "recoverable"
		default:
			how = "error"
		}
		outcome[ids[*m.ID]] = how
	}
	a.conn.Close()
	again := d.session(options) // waits behind the older connection's end
	recovered := map[string]bool{}
	for i := range reads { // until the daemon has noticed the hang-up
		for _, s := range again.recover(`{}`).Skipped {
			if recovered[s.ToolCallID] {
				t.Errorf("%s was recovered twice", s.ToolCallID)
			}
			recovered[s.ToolCallID] = true
		}
		_ = i
	}
	for i := range reads {
		name := fmt.Sprintf("r%d", i)
		switch how, ok := outcome[i]; {
		case !ok: // in the socket when it was closed: delivered, or lost
		case how == "recoverable" != recovered[name]:
			t.Errorf("read %d ended as %s, recovered: %v", i, how, recovered[name])
		}
		if maps[name] > 1 || maps[name] == 1 && outcome[i] != "delivered" {
			t.Errorf("read %d ended as %q and has %d maps", i, outcome[i], maps[name])
		}
	}
	again.conn.Close()
	if _, err := io.ReadAll(again.in); err != nil && !strings.Contains(err.Error(), "closed") {
		t.Log(err)
	}
}
