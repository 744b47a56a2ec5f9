package conn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mapd/rpc/wire"
)

// recorder serves replies of a size the caller asks for and records their hooks.
type recorder struct {
	mu        sync.Mutex
	queued    map[int]bool
	withdrawn map[int]int
	order     []string
}

func newRecorder() *recorder {
	return &recorder{queued: map[int]bool{}, withdrawn: map[int]int{}}
}

// method takes [number, size] and answers with size bytes, followed by a
// notification with the number.
func (r *recorder) method() Method {
	return Method{Serve: func(_ context.Context, params []byte) (Reply, error) {
		number, size, _ := strings.Cut(strings.Trim(string(params), "[]"), ",")
		i, _ := strconv.Atoi(number)
		n, _ := strconv.Atoi(size)
		return Reply{
			Result: []byte(`"` + strings.Repeat("x", n) + `"`),
			Queued: func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.queued[i] = true
				r.order = append(r.order, "queued "+number)
			},
			Withdraw: func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.withdrawn[i]++
				r.order = append(r.order, "withdrawn "+number)
			},
			After: []Notification{{Method: "after", Params: []byte("[" + number + "]")}},
		}, nil
	}}
}

// TestWithdrawExactlyWhatDidNotLeave asks for many replies, lets the connection
// be closed with some of them on the way, and reads what has left.
func TestWithdrawExactlyWhatDidNotLeave(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 30 {
		r := newRecorder()
		p := start(t, methods{"get": r.method()}, func(o *Options) { o.Limits.InFlight = 1000 })
		const n = 40
		for i := range n {
			p.call(i, "get", fmt.Sprintf("[%d,%d]", i, random.IntN(60_000)))
		}
		read := random.IntN(800_000)
		head, err := io.ReadAll(io.LimitReader(p.raw, int64(read)))
		if err != nil {
			t.Fatal(err)
		}
		p.conn.Close()
		tail, _ := io.ReadAll(p.raw)
		arrived := map[int]bool{}
		lines := bytes.SplitAfter(append(head, tail...), []byte("\n"))
		for i, line := range lines {
			if !bytes.HasSuffix(line, []byte("\n")) || bytes.Contains(line, []byte(`"after"`)) {
				continue
			}
			var id int
			fmt.Sscanf(string(line), `{"jsonrpc":"2.0","id":%d,"result":`, &id)
			if bytes.Contains(line, []byte(`"error"`)) {
				continue
			}
			arrived[id] = true
			if i+1 < len(lines)-1 && !bytes.HasPrefix(lines[i+1], fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"after","params":[%d]}`, id)) {
				t.Fatalf("seed %d round %d: reply %d is followed by %.80q", seed, round, id, lines[i+1])
			}
		}
		r.mu.Lock()
		for i := range n {
			if r.withdrawn[i] > 1 || arrived[i] && (r.withdrawn[i] > 0 || !r.queued[i]) {
				t.Errorf("seed %d round %d: reply %d arrived: %v, queued: %v, withdrawn %d times", seed, round, i, arrived[i], r.queued[i], r.withdrawn[i])
			}
			if r.queued[i] && !arrived[i] && r.withdrawn[i] == 0 {
				t.Errorf("seed %d round %d: reply %d did not arrive and was not withdrawn", seed, round, i)
			}
		}
		if len(arrived) == 0 && read > 100_000 {
			t.Errorf("seed %d round %d: nothing arrived", seed, round)
		}
		r.mu.Unlock()
	}
}

func TestQueuedComesBeforeTheReply(t *testing.T) {
	r := newRecorder()
	p := start(t, methods{"get": r.method()})
	for i := range 100 {
		p.call(i, "get", fmt.Sprintf("[%d,10]", i))
		p.expect(strconv.Itoa(i), 0)
		r.mu.Lock()
		if !r.queued[i] {
			t.Errorf("reply %d is not on record", i)
		}
		r.mu.Unlock()
		if m := p.read(); m.Method != "after" || string(m.Params) != fmt.Sprintf("[%d]", i) {
			t.Errorf("after %d: %+v", i, m)
		}
	}
	p.conn.Close()
	if len(r.withdrawn) != 0 {
		t.Errorf("withdrawn: %v", r.withdrawn)
	}
}

// TestWithdrawWithoutPeer answers calls whose peer is gone.
func TestWithdrawWithoutPeer(t *testing.T) {
	r, g := newRecorder(), newGate()
	m := Method{Serve: func(ctx context.Context, params []byte) (Reply, error) {
		g.entered <- ""
		<-ctx.Done() // but it answers nevertheless
		return r.method().Serve(ctx, params)
	}}
	p := start(t, methods{"get": m})
	p.call(1, "get", "[1,10]")
	p.send(`[{"jsonrpc":"2.0","id":2,"method":"get","params":[2,10]},{"jsonrpc":"2.0","id":3,"method":"get","params":[3,10]}]`)
	for range 3 {
		receive(t, g.entered)
	}
	p.raw.Close()
	p.done()
	if want := map[int]int{1: 1, 2: 1, 3: 1}; !maps.Equal(r.withdrawn, want) {
		t.Errorf("withdrawn %v", r.withdrawn)
	}
}

func TestReplyOverFrameLimit(t *testing.T) {
	r := newRecorder()
	p := start(t, methods{"get": r.method()}, func(o *Options) { o.Limits.Frame = 1000 })
	p.call(1, "get", "[1,998]") // and two quotes
	p.expect("1", 0)
	p.read()
	p.call(2, "get", "[2,999]")
	if m := p.expect("2", -32803); m.Error.Data.Code != "file_too_large" {
		t.Errorf("%+v", m.Error)
	}
	p.call(3, "get", "[3,1]")
	p.expect("3", 0)
	p.conn.Close()
	if r.withdrawn[2] != 1 || r.queued[2] || len(r.withdrawn) != 1 {
		t.Errorf("queued %v, withdrawn %v", r.queued, r.withdrawn)
	}
}

// TestPeerThatNeverReads floods a connection with calls and notifications and
// reads nothing. The connection ends, cheaply, and another is not touched.
func TestPeerThatNeverReads(t *testing.T) {
	r := newRecorder()
	m := methods{"get": serial(r.method()), "echo": echo}
	const limit = 4 << 20
	p := start(t, m, func(o *Options) { o.Limits.Outgoing = limit })
	other := start(t, m)
	before := runtime.NumGoroutine()
	var most int64
	flooded := make(chan int)
	go func() {
		i := 0
		for ; ; i++ {
			if _, err := fmt.Fprintf(p.raw, `{"jsonrpc":"2.0","id":%d,"method":"get","params":[%d,1000]}`+"\n", i, i); err != nil {
				break
			}
		}
		flooded <- i
	}()
	for ended := false; !ended; {
		select {
		case <-p.conn.Done():
			ended = true
		default:
			most = max(most, p.conn.Stats().QueuedBytes)
			if n := runtime.NumGoroutine(); n > before+10 {
				t.Fatalf("%d goroutines, %d before", n, before)
			}
			other.call(1, "echo", "[1]")
			other.expect("1", 0)
		}
	}
	n := receive(t, flooded)
	if err := p.conn.Err(); err != errOverflow {
		t.Errorf("ended by %v", err)
	}
	if most > limit || n*1000 < limit/2 {
		t.Errorf("%d bytes queued for %d calls, the limit is %d", most, n, limit)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.withdrawn) == 0 || len(r.withdrawn) >= len(r.queued) {
		t.Errorf("%d queued, %d withdrawn", len(r.queued), len(r.withdrawn))
	}
}

func TestNotifyToPeerThatNeverReads(t *testing.T) {
	p := start(t, methods{}, func(o *Options) { o.Limits.Outgoing = 1 << 20 })
	for p.conn.Notify(Notification{Method: "n", Params: []byte(`["x"]`)}) == nil {
	}
	p.done()
	if err := p.conn.Err(); err != errOverflow {
		t.Errorf("ended by %v", err)
	}
	withdrawn := 0
	if err := p.conn.Notify(Notification{Method: "n", Withdraw: func() { withdrawn++ }}); err == nil || withdrawn != 1 {
		t.Errorf("a notification after the end: %v, withdrawn %d times", err, withdrawn)
	}
}

// A notification that did not leave is withdrawn, one that did is not.
func TestNotificationsAreWithdrawn(t *testing.T) {
	p := start(t, methods{})
	var mu sync.Mutex
	withdrawn := map[int]int{}
	const all = 50 // more than the socket takes
	for i := range all {
		note := Notification{Method: "n", Params: fmt.Appendf(nil, `["%d %s"]`, i, strings.Repeat("x", 100_000)), Withdraw: func() {
			mu.Lock()
			defer mu.Unlock()
			withdrawn[i]++
		}}
		if err := p.conn.Notify(note); err != nil {
			t.Fatal(err)
		}
	}
	p.read() // the first has left
	p.conn.Close()
	mu.Lock()
	defer mu.Unlock()
	if withdrawn[0] != 0 || withdrawn[all-1] != 1 {
		t.Errorf("the first was withdrawn %d times, the last %d times", withdrawn[0], withdrawn[all-1])
	}
}

// What is queued in Placed comes behind the reply.
func TestPlacedComesAfterTheReply(t *testing.T) {
	var p *peer
	p = start(t, methods{"get": {Serve: func(context.Context, []byte) (Reply, error) {
		return Reply{Placed: func() {
			if err := p.conn.Notify(Notification{Method: "behind"}); err != nil {
				t.Error(err)
			}
		}}, nil
	}}})
	for i := range 100 {
		p.call(i, "get", "[]")
		p.expect(strconv.Itoa(i), 0)
		if m := p.read(); m.Method != "behind" {
			t.Errorf("behind reply %d: %+v", i, m)
		}
	}
}

// TestStall runs in fake time: a peer that takes something now and then lives,
// one that takes nothing for the length of Stall does not.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := New(t.Context(), ours, Options{Lookup: methods{}.lookup})
		if err := c.Notify(Notification{Method: "n", Params: []byte(`["` + strings.Repeat("x", 200_000) + `"]`)}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			time.Sleep(29 * time.Second)
			if _, err := io.ReadFull(theirs, make([]byte, growthStep)); err != nil {
				t.Fatal(err)
			}
		}
		expectStall(t, c)
	})
}

// TestStallFromTheStart has a peer that takes nothing at all.
func TestStallFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		c := New(t.Context(), ours, Options{Lookup: methods{}.lookup})
		if err := c.Notify(Notification{Method: "n"}); err != nil {
			t.Fatal(err)
		}
		expectStall(t, c)
	})
}

// expectStall waits for the end of c.
func expectStall(t *testing.T, c *Conn) {
	t.Helper()
	begin := time.Now()
	<-c.Done()
	if took := time.Since(begin); took != 30*time.Second {
		t.Errorf("closed after %v without progress", took)
	}
	if err := c.Err(); err != errStalled {
		t.Errorf("ended by %v", err)
	}
}

// TestCloseWithEverythingBusy closes a connection whose peer does not read,
// whose handlers run and wait, and whose queue is not empty.
func TestCloseWithEverythingBusy(t *testing.T) {
	g := newGate()
	r := newRecorder()
	p := start(t, methods{"gate": g.method(), "get": r.method()})
	for i := range 10 {
		p.call(i, "gate", "[]")
		receive(t, g.entered)
	}
	p.send(batch(100, "gate"))
	for range 54 {
		receive(t, g.entered)
	}
	for p.conn.Stats().QueuedBytes < 1<<20 {
		if err := p.conn.Notify(Notification{Method: "n", Params: []byte(`["` + strings.Repeat("x", 10_000) + `"]`)}); err != nil {
			t.Fatal(err)
		}
	}
	p.conn.Close()
	p.conn.Close()
	for range 64 {
		if cause := receive(t, g.ended); cause != ErrClosed {
			t.Errorf("cause %v", cause)
		}
	}
	if s := p.conn.Stats(); s.InFlight != 0 || s.QueuedBytes != 0 {
		t.Errorf("left behind: %+v", s)
	}
	if err := p.conn.Err(); err != nil {
		t.Errorf("Err after Close: %v", err)
	}
}

func TestParentContextEndsConnection(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a, b := socketPair(t)
	g := newGate()
	c := New(ctx, a, Options{Lookup: methods{"gate": g.method()}.lookup})
	io.WriteString(b, `{"jsonrpc":"2.0","id":1,"method":"gate"}`+"\n")
	receive(t, g.entered)
	cancel()
	receive(t, g.ended)
	receive(t, c.Done())
}

func TestFinish(t *testing.T) {
	taken := wire.Errorf(wire.SessionTaken, "another connection has the session now")
	for name, test := range map[string]struct {
		reason *wire.Error
		code   int
	}{
		"stopping": {nil, -32600},
		"taken":    {taken, -32803},
	} {
		g := newGate()
		p := start(t, methods{"gate": g.method()})
		p.call(1, "gate", "[]")
		receive(t, g.entered)
		p.conn.Finish(test.reason)
		p.conn.Finish(nil) // the first counts
		p.call(2, "gate", "[]")
		p.expect("2", test.code)
		close(g.let)
		p.expect("1", 0)
		if test.reason != nil {
			if m := p.expect("null", test.code); m.Error.Data.Code != "session_taken" {
				t.Errorf("%s: %+v", name, m.Error)
			}
		}
		p.expectClosed()
	}
}

// TestFinishFromHandler is what exit does.
func TestFinishFromHandler(t *testing.T) {
	var p *peer
	ready := make(chan struct{})
	p = start(t, methods{
		"exit": notification(func([]byte) error { <-ready; p.conn.Finish(nil); return nil }),
		"echo": echo,
	})
	close(ready)
	p.call(1, "echo", "[]")
	p.send(`{"jsonrpc":"2.0","method":"exit"}`)
	p.expect("1", 0)
	p.expectClosed()
}

// TestPlainReadWriteCloser serves something that is no socket, as stdio is.
func TestPlainReadWriteCloser(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := New(t.Context(), pipes{inR, outW}, Options{Lookup: methods{"echo": echo}.lookup})
	go func() {
		io.WriteString(inW, header(`{"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}`))
		inW.Close()
	}()
	got, err := io.ReadAll(outR)
	if want := header(`{"jsonrpc":"2.0","id":1,"result":[1]}`); string(got) != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	receive(t, c.Done())
}

// TestNoEmptyWrites sends parts of frames to something that, as a pipe does, waits
// for a reader even for nothing.
func TestNoEmptyWrites(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := New(t.Context(), pipes{inR, outW}, Options{Lookup: methods{"echo": echo}.lookup})
	defer c.Close()
	in := bufio.NewReader(outR)
	for range 3 {
		go io.WriteString(inW, largeCall(1, 2*smallFrame, "echo"))
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Fatalf("%.100s, %v", line, err)
		}
	}
}

// TestBrokenInput has an input that fails, rather than ends.
func TestBrokenInput(t *testing.T) {
	inR, inW := io.Pipe()
	_, outW := io.Pipe()
	g := newGate()
	c := New(t.Context(), pipes{inR, outW}, Options{Lookup: methods{"gate": g.method()}.lookup})
	go func() {
		io.WriteString(inW, header(`{"jsonrpc":"2.0","id":1,"method":"gate"}`))
		receive(t, g.entered)
		inW.CloseWithError(errors.New("broken"))
	}()
	if cause := receive(t, g.ended); cause != ErrDisconnected {
		t.Errorf("cause %v", cause)
	}
	receive(t, c.Done())
}

type pipes struct {
	*io.PipeReader
	w *io.PipeWriter
}

func (p pipes) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, errors.New("a write of nothing")
	}
	return p.w.Write(b)
}

func (p pipes) Close() error { return errors.Join(p.PipeReader.Close(), p.w.Close()) }

func TestLineFeedsOfResultsAreNotFrames(t *testing.T) {
	pretty := Method{Serve: func(context.Context, []byte) (Reply, error) {
		return Reply{Result: []byte("{\n  \"a\": \"b\\n\"\n}")}, nil
	}}
	p := start(t, methods{"pretty": pretty})
	p.call(1, "pretty", "[]")
	if m := p.expect("1", 0); string(m.Result) != `{   "a": "b\n" }` {
		t.Errorf("%s", m.Result)
	}
}

func TestAdvance(t *testing.T) {
	entries := func() []entry {
		return []entry{newEntry(nil, []byte("abc"), nil, []byte("de")), newEntry(nil, []byte("f")), newEntry(nil, []byte("ghi"))}
	}
	const text = "abcdefghi"
	for n := range len(text) + 1 {
		all := entries()
		rest, done := advance(all, n)
		var left []byte
		for _, e := range rest {
			left = append(left, bytes.Join(e.bufs, nil)...)
		}
		if string(left) != text[n:] || done != 3-len(rest) {
			t.Errorf("%d bytes: %q left, %d done, %d rest", n, left, done, len(rest))
		}
		if whole := slices.Concat(entries()[0].bufs...); string(whole) != "abcde" {
			t.Error("buffers of others were changed")
		}
	}
}
