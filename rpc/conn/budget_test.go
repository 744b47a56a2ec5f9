package conn

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// largeCall is a call with so many bytes of params on a line of its own.
func largeCall(id, bytes int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":["%s"]}`+"\n", id, method, strings.Repeat("x", bytes))
}

// TestBudgetIsShared has one peer hold the budget with a message that does not
// end, and others beside it.
func TestBudgetIsShared(t *testing.T) {
	const limit = 10 << 20
	budget := NewBudget(limit)
	m := methods{"echo": echo}
	share := func(o *Options) { o.Budget = budget }
	holder, small, large := start(t, m, share), start(t, m, share), start(t, m, share)
	io.WriteString(holder.raw, strings.TrimRight(largeCall(1, 2<<20, "echo"), "]}\n"))
	for budget.Used() < 4<<20 { // as the bytes arrive
	}
	if used := budget.Used(); used > limit {
		t.Errorf("%d of %d used", used, limit)
	}
	small.send(largeCall(1, keptBuffer/2, "echo"))
	small.expect("1", 0)
	go io.WriteString(large.raw, largeCall(1, 5<<20, "echo"))
	if m := large.expect("null", -32803); m.Error.Data.Code != "server_busy" || !m.Error.Data.Retryable {
		t.Errorf("%+v", m.Error)
	}
	large.expectClosed()
	holder.raw.Close()
	holder.done()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d used at the end", used)
	}
	again := start(t, m, share)
	go io.WriteString(again.raw, largeCall(1, 5<<20, "echo"))
	again.expect("1", 0)
}

// TestBudgetCountsParams looks at the budget while large messages are served,
// alone and in a batch.
func TestBudgetCountsParams(t *testing.T) {
	budget := NewBudget(100 << 20)
	g := newGate()
	p := start(t, methods{"gate": g.method()}, func(o *Options) { o.Budget = budget })
	for _, text := range []string{
		largeCall(1, 1<<20, "gate"),
		largeCall(1, 1<<20, "gate") + "\n", // so that the buffer is not handed over
		"[" + strings.TrimSpace(largeCall(1, 1<<20, "gate")) + "," + strings.TrimSpace(largeCall(2, 10, "gate")) + "]\n",
	} {
		io.WriteString(p.raw, text)
		receive(t, g.entered)
		if used := budget.Used(); used < 1<<20 {
			t.Errorf("%d used while %d bytes are served", used, len(text))
		}
		g.let <- struct{}{}
		if text[0] == '[' {
			receive(t, g.entered)
			g.let <- struct{}{}
		}
		if line := string(p.line()); strings.Contains(line, "error") || len(line) < 1<<20 {
			t.Errorf("reply of %d bytes: %.80s", len(line), line)
		}
	}
	p.raw.Close()
	p.done()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d used at the end", used)
	}
}

// TestLargeMessageHasToArrive runs in fake time: a peer that dribbles a large
// message has as long as one that stalls.
func TestLargeMessageHasToArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := New(t.Context(), ours, Options{Lookup: methods{"echo": echo}.lookup})
		begin := time.Now()
		dribbled := make(chan struct{})
		go func() {
			defer close(dribbled)
			io.WriteString(theirs, largeCall(1, 1<<20, "echo")) // this one arrives in time
			io.WriteString(theirs, strings.TrimRight(largeCall(2, keptBuffer, "echo"), "]}\n"))
			for {
				if _, err := theirs.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		in := bufio.NewReader(theirs)
		if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Errorf("%.80s, %v", line, err)
		}
		line, err := in.ReadString('\n')
		if err != nil || !strings.Contains(line, "-32700") || !strings.Contains(line, "30s") {
			t.Errorf("%.80s, %v", line, err)
		}
		theirs.Close()
		<-dribbled
		<-c.Done()
		if took := time.Since(begin); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

// TestSmallMessageMayDribble checks that nobody hurries a small one.
func TestSmallMessageMayDribble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := New(t.Context(), ours, Options{Lookup: methods{"echo": echo}.lookup})
		go func() {
			for _, b := range []byte(largeCall(1, 100, "echo")) {
				time.Sleep(time.Second)
				theirs.Write([]byte{b})
			}
		}()
		if line, err := bufio.NewReader(theirs).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Errorf("%.80s, %v", line, err)
		}
		theirs.Close()
		<-c.Done()
	})
}
