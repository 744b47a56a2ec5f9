package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
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
	a.hangUp()
	again := d.session(`{"session":"agent"}`)
	if lost := again.recover(`{}`).Skipped; len(lost) != 1 {
		t.Errorf("recovered %+v", lost)
	}
}

// hangUp ends the connection at once. A close alone would wait for processes that
// are being started and hold a copy of the socket until they run.
func (a *agent) hangUp() {
	a.t.Helper()
	socket := a.conn.(*net.UnixConn)
	if err := errors.Join(socket.CloseWrite(), socket.CloseRead()); err != nil {
		a.t.Fatal(err)
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
// cancelled, cut off or taken over meanwhile, and each map arrives once, right
// behind its reply.
func TestReadsEndOnce(t *testing.T) {
	for _, delivery := range []string{"inline", "separate"} {
		for _, cut := range []string{"disconnect", "takeover"} {
			t.Run(delivery+" "+cut, func(t *testing.T) {
				d := newDaemon(t)
				for i := range 8 {
					d.write(fmt.Sprintf("f%d.go", i), numbered(2500+i))
				}
				sum := map[string]int{}
				for round := range uint64(5) {
					r := &ending{d: d, t: t, rng: rand.New(rand.NewPCG(round, 2)), delivery: delivery}
					r.options = fmt.Sprintf(`{"session":"s%d","delivery":%q}`, round, delivery)
					r.play(cut == "takeover")
					for i := range endingReads {
						sum[r.judge(i)]++
					}
				}
				t.Log(sum)
				if sum["delivered"] == 0 || sum["error"] == 0 || sum["recoverable"] == 0 {
					t.Errorf("these rounds show nothing: %v", sum)
				}
			})
		}
	}
}

const endingReads = 32

// ending is one round: reads at once on a named session, some cancelled, then
// the end of their connection, then another one that asks for what was lost.
type ending struct {
	d                 *daemon
	t                 *testing.T
	rng               *rand.Rand
	options, delivery string

	answers   map[int][]string // by read: "delivered", "error", "lost"
	maps      map[int]int
	recovered map[int]int
	whole     bool // the connection was not cut in the middle of its output
}

func (r *ending) play(takeover bool) {
	r.answers, r.maps, r.recovered = map[int][]string{}, map[int]int{}, map[int]int{}
	a := r.d.session(r.options)
	for i := range endingReads {
		file := fmt.Sprintf("f%d.go", i%8)
		if i%9 == 8 {
			file = "missing.go"
		}
		a.id = i // so that the id of the reply is i+1
		a.send("mapd/read", fmt.Sprintf(`{"path":%q,"toolCallId":"%d"}`, file, i))
		if r.rng.IntN(4) == 0 {
			a.notify("$/cancelRequest", fmt.Sprintf(`{"id":%d}`, i+1))
		}
	}
	for range r.rng.IntN(endingReads) {
		if line, err := a.in.ReadBytes('\n'); err == nil {
			r.note(line)
		}
	}
	var again *agent
	if takeover {
		again = r.d.session(r.options)
	} else {
		a.hangUp() // what the kernel took is still read
	}
	for {
		line, err := a.in.ReadBytes('\n')
		if err != nil {
			r.whole = takeover && err == io.EOF && len(line) == 0
			break
		}
		r.note(line)
	}
	if again == nil {
		again = r.d.session(r.options)
	}
	for range 2 { // the second time there is nothing left
		for _, s := range again.recover(`{}`).Skipped {
			i, _ := strconv.Atoi(s.ToolCallID)
			r.recovered[i]++
		}
	}
	again.conn.Close()
}

// note takes a line of the daemon.
func (r *ending) note(line []byte) {
	r.t.Helper()
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		r.t.Fatal(err)
	}
	switch {
	case m.Method == "mapd/fileMap":
		var f wire.FileMap
		if err := json.Unmarshal(m.Params, &f); err != nil {
			r.t.Fatal(err)
		}
		i, _ := strconv.Atoi(f.ToolCallID)
		if r.maps[i]++; len(r.answers[i]) == 0 {
			r.t.Errorf("the map of read %d came before its reply", i)
		}
	case m.ID == nil && m.code() == "session_taken":
	default:
		how := "error"
		switch m.code() {
		case "":
			how = "delivered"
		case "cancelled", "server_busy", "session_taken":
			how = "lost"
		}
		r.answers[*m.ID-1] = append(r.answers[*m.ID-1], how)
	}
}

// judge returns how a read ended, and reports one that ended otherwise than
// once.
func (r *ending) judge(i int) string {
	answers, times, maps := r.answers[i], r.recovered[i], r.maps[i]
	how := "recoverable"
	if len(answers) == 1 && answers[0] != "lost" {
		how = answers[0]
	}
	switch {
	case len(answers) > 1, how == "recoverable" && times != 1, how != "recoverable" && times != 0:
		r.t.Errorf("read %d was answered %v and recovered %d times", i, answers, times)
	case maps > 1, maps == 1 && (how != "delivered" || r.delivery != "separate"),
		maps == 0 && how == "delivered" && r.delivery == "separate" && r.whole:
		r.t.Errorf("read %d ended as %s and has %d maps", i, how, maps)
	}
	return how
}
