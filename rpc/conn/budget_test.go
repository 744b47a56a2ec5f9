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

// piped serves methods over a pipe, where one write arrives as one if there is
// room for it.
func piped(t *testing.T, m methods, budget *Budget) (c *Conn, write func(string), read func() string) {
	ours, theirs := net.Pipe()
	c = New(t.Context(), ours, Options{Lookup: m.lookup, Budget: budget})
	t.Cleanup(func() { c.Close() })
	in := bufio.NewReader(theirs)
	write = func(text string) { go io.WriteString(theirs, text) }
	read = func() string {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line[:min(len(line), 200)]
	}
	return c, write, read
}

// TestLargeMessageWithMoreBehind has the next message in the buffer of a large
// one, which can then not be handed over.
func TestLargeMessageWithMoreBehind(t *testing.T) {
	budget := NewBudget(4 << 20)
	_, write, read := piped(t, methods{"echo": echo, "serial": serial(echo)}, budget)
	for _, method := range []string{"echo", "serial"} {
		write(largeCall(1, keptBuffer, method) + largeCall(2, 10, "echo"))
		got := read() + read()
		if !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"id":2,"result"`) {
			t.Errorf("%s: %s", method, got)
		}
	}
	// And a large one at the end, whose buffer is given up only when the reader
	// goes on.
	write(largeCall(3, keptBuffer, "serial"))
	read()
	for deadline := time.Now().Add(patience); budget.Used() != 0; {
		if time.Now().After(deadline) {
			t.Fatalf("%d used by an idle connection", budget.Used())
		}
	}
}

// TestBudgetForACopy refuses a large call that arrived but can be copied no more.
func TestBudgetForACopy(t *testing.T) {
	budget := NewBudget(1<<20 + keptBuffer/2)
	c, write, read := piped(t, methods{"echo": echo}, budget)
	for range 2 * c.limits.InFlight { // it keeps no slot
		write(largeCall(1, keptBuffer, "echo") + largeCall(2, 10, "echo"))
		got := read() + read()
		if !strings.Contains(got, `"id":1,"error":{"code":-32803`) || !strings.Contains(got, `"server_busy"`) || !strings.Contains(got, `"id":2,"result"`) {
			t.Fatalf("%s", got)
		}
	}
}

// TestLargeMessageHasToArrive runs in fake time: a peer that dribbles a large
// message has as long as one that stalls.
func TestLargeMessageHasToArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		c := New(t.Context(), ours, Options{Lookup: methods{"echo": echo}.lookup})
		dribbled := make(chan struct{})
		go func() {
			defer close(dribbled)
			io.WriteString(theirs, largeCall(1, 1<<20, "echo")) // this one arrives in time
			time.Sleep(time.Hour)
			io.WriteString(theirs, largeCall(1, 10, "echo"))
			io.WriteString(theirs, strings.TrimRight(largeCall(2, keptBuffer, "echo"), "]}\n"))
			for {
				if _, err := theirs.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		in := bufio.NewReader(theirs)
		for range 2 {
			if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
				t.Errorf("%.80s, %v", line, err)
			}
		}
		begin := time.Now()
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
