package rpc_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"mapd/rpc"
	"mapd/rpc/wire"
)

// record is a log that a test reads.
type record struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func logTo(r *record, level slog.Level) func(*rpc.Options) {
	return func(o *rpc.Options) {
		o.Log = slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: level}))
	}
}

func TestLogNamesEachRequest(t *testing.T) {
	var log record
	d := newDaemon(t, logTo(&log, slog.LevelDebug))
	d.write("a.txt", "alpha\n")
	a := d.session()
	a.read(`{"path":"a.txt"}`)
	a.call("mapd/read", `{"path":"secret-name"}`)
	text := log.String()
	for _, want := range []string{
		"level=DEBUG msg=request session=s1 pid=", "method=mapd/read id=2 duration=", "outcome=ok",
		"level=INFO msg=request session=s1 pid=", "method=mapd/read id=3 duration=", "outcome=not_found",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret-name") {
		t.Errorf("the log holds what the client sent:\n%s", text)
	}
}

// TestLogIsNotFlooded sends what fails in a loop.
func TestLogIsNotFlooded(t *testing.T) {
	var log record
	d := newDaemon(t, logTo(&log, slog.LevelInfo))
	a := d.session()
	const calls = 3000
	for range calls {
		a.call("mapd/read", `{"path":"missing"}`)
	}
	if n := strings.Count(log.String(), "outcome=not_found"); n != 1002 {
		t.Errorf("%d records of %d failures, want 1,000 and then each 1,000th", n, calls)
	}
}

func (a *agent) status() wire.StatusResult {
	a.t.Helper()
	var s wire.StatusResult
	if err := json.Unmarshal(a.call("mapd/status", "{}").Result, &s); err != nil {
		a.t.Fatal(err)
	}
	return s
}

func TestStatusCounts(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "alpha\n")
	a := d.session()
	a.read(`{"path":"a.txt"}`)
	a.read(`{"path":"a.txt"}`)
	a.call("mapd/read", `{"path":"missing"}`)
	a.call("mapd/read", `{"path":1}`)
	a.call("no/such", `{}`)
	a.write("{broken")
	a.next()
	s := a.status()
	for name, want := range map[string]int64{
		"connections": 1, "connections_refused": 0, "requests": 5, "frames_malformed": 1, "frames_received": 8, "panics": 0, "reads": 3, "reads_known": 1,
	} {
		if s.Counters[name] != want {
			t.Errorf("%s is %d, want %d", name, s.Counters[name], want)
		}
	}
	if got, want := fmt.Sprint(s.Errors), "map[invalid_params:1 not_found:1 unknown_method:1]"; got != want {
		t.Errorf("errors are %s, want %s", got, want)
	}
	if len(s.Methods) != 2 || s.Methods[1].Method != "mapd/read" || s.Methods[1].Count != 4 || s.Methods[1].Failed != 2 {
		t.Errorf("methods are %+v", s.Methods)
	}
	if s.Levels["connections"] != 1 || s.Levels["goroutines"] < 2 || s.Levels["in_flight"] != 1 {
		t.Errorf("levels are %v", s.Levels)
	}
	if _, ok := s.Memory["outgoing"]; !ok {
		t.Errorf("memory lacks the queues: %v", s.Memory)
	}
}

// TestStatusCountsLedgers holds that the memory of a ledger is shown beside its
// session, attached or not, and in the sum.
func TestStatusCountsLedgers(t *testing.T) {
	d := newDaemon(t)
	d.write("a.txt", "alpha\n")
	gone := d.session(`{"session":"keeper"}`)
	gone.read(`{"path":"a.txt"}`)
	if err := gone.conn.Close(); err != nil {
		t.Fatal(err)
	}
	a := d.session()
	a.read(`{"path":"a.txt"}`)
	waitFor(t, func() bool {
		s := a.status()
		var sum int64
		for _, session := range s.Sessions {
			if session.Ledger == 0 || session.Folders == nil {
				return false
			}
			sum += session.Ledger
		}
		return len(s.Sessions) == 2 && sum == s.Memory["ledgers"] && !(s.Sessions[0].Attached && s.Sessions[1].Attached)
	})
}

// TestConnectionsMakeRoom holds the limit of connections: who only connects
// makes room for who comes later, who has a session does not.
func TestConnectionsMakeRoom(t *testing.T) {
	d := newDaemon(t, func(o *rpc.Options) { o.Limits.Connections = 3 })
	keep := d.session()
	var idle [2]*agent
	for i := range idle { // each has its place once it is answered
		idle[i] = d.connect()
		idle[i].write("{broken")
		idle[i].next()
	}
	second := d.session()
	if m := idle[0].next(); m.code() != string(wire.ServerBusy) {
		t.Errorf("the oldest idle connection got %+v", m)
	}
	third := d.session()
	if m := idle[1].next(); m.code() != string(wire.ServerBusy) {
		t.Errorf("the second idle connection got %+v", m)
	}
	late := d.connect()
	if m := late.next(); m.code() != string(wire.ServerBusy) {
		t.Errorf("a fourth beside three sessions got %+v", m)
	}
	for _, a := range []*agent{keep, second, third} {
		if s := a.status(); s.Counters["connections_refused"] != 1 {
			t.Errorf("%d refused, want 1", s.Counters["connections_refused"])
		}
	}
}
