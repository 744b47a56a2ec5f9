package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// attacksOnBudgets take as much as they can get.
func attacksOnBudgets() []attack {
	return []attack{
		{name: "100 slow calls at once", own: startQuick, run: manySlowCalls},
		{name: "a cold map beside 64 slow calls", own: startQuick, run: coldMapBesideSlowCalls},
		{name: "Go files of 3.9 MB, 8 at once", allow: 1 << 30, run: manyGoFiles},
		{name: "16 images of 16 MB at once", allow: 512 << 20, run: manyImages},
		{name: "8 reads of 200 MB at once", allow: 1 << 30, run: largeReads(8)},
		{name: "64 reads of 200 MB at once", allow: 1 << 30, soak: true, run: largeReads(64)},
		{name: "a peer that never reads", allow: 192 << 20, run: neverReads},
		// reply_bytes of live bytes, as much garbage beside it, and as much of parts
		// of which replies are made.
		{name: "24 peers that never read", allow: 768 << 20, run: manyNeverRead},
		{name: "a hoarder of replies, at a limit of 8 MiB for all", run: hoarder, own: func(t *testing.T) *house {
			return startHouse(t, "MAPD_LIMIT_REPLY_BYTES=8388608", "mapd", "serve")
		}},
		{name: "24 frames of 60 MB at once, without an end", allow: 384 << 20, run: manyLargeFrames},
		{name: "a stopped client", run: stoppedClient},
		{name: "10,000 connects that stay", allow: 128 << 20, run: manyConnects},
		{name: "10,000 connects that go", run: connectsThatGo},
		{name: "descriptors exhausted (RLIMIT_NOFILE 128)", own: func(t *testing.T) *house { return startHouse(t, hostilePeer, "limited", "128") }, run: descriptorsExhausted},
	}
}

// startQuick starts a daemon that gives a parse less time, so that an attack
// which takes that time again and again is over soon.
func startQuick(t *testing.T) *house {
	t.Helper()
	return startHouse(t, "MAPD_LIMIT_OUTLINE_MS=500", "mapd", "serve")
}

func manySlowCalls(t *testing.T, h *house) string {
	p := h.session(t)
	name := h.slow(t, 0)
	const calls = 100
	for range calls {
		p.request(wire.MethodMap, mapOf(name))
	}
	busy := 0
	for range calls {
		switch m := p.reply(); {
		case m.code() == string(wire.ServerBusy):
			busy++
		case m.Error != nil:
			t.Fatalf("%+v", m.Error)
		}
	}
	if busy != calls-64 {
		t.Errorf("%d of %d were refused, 64 may be in flight", busy, calls)
	}
	return fmt.Sprintf("%d answers, %d times server_busy", calls-busy, busy)
}

// coldMapBesideSlowCalls fills every slot of one session with files that take
// the workers to their limit, and asks for a small map in another session.
func coldMapBesideSlowCalls(t *testing.T, h *house) string {
	p := h.session(t)
	const calls = 64
	for i := range calls {
		p.request(wire.MethodMap, mapOf(h.slow(t, i)))
	}
	h.await(t, func(l levels) bool { return l.inFlight >= calls })
	h.file(t, "small.py", []byte("def f():\n    return 1\n"))
	other := h.session(t)
	start := time.Now()
	m := other.call(wire.MethodMap, mapOf("small.py"))
	took := time.Since(start)
	if m.Error != nil || !bytes.Contains(m.Result, []byte(`"source":"parser"`)) {
		t.Errorf("the map beside: %+v %.200s", m.Error, m.Result)
	}
	const calls64 = 16 * time.Second // what all of them take
	if took > calls64/2 {
		t.Errorf("a small map of another session waited %v", took)
	}
	return fmt.Sprintf("its slots; the other session's map took %v", took.Round(time.Millisecond))
}

// manyGoFiles asks for the maps of files that are parsed inside the daemon and
// just small enough to be parsed beside each other.
func manyGoFiles(t *testing.T, h *house) string {
	p := h.session(t)
	const files, size = 8, 3_900_000
	for i := range files {
		text := fmt.Appendf(nil, "package p\n\nvar x%d = []int{", i)
		text = append(text, strings.Repeat("1,", (size-len(text))/2)...)
		name := fmt.Sprintf("f%d.go", i)
		h.file(t, name, append(text, "}\n"...))
		p.request(wire.MethodMap, mapOf(name))
	}
	for range files {
		p.expect(0)
	}
	return fmt.Sprintf("%d maps", files)
}

// manyImages asks for images that are as large as one answer carries.
func manyImages(t *testing.T, h *house) string {
	image := append([]byte("\x89PNG\r\n\x1a\n\x00"), make([]byte, 16<<20)...)
	h.file(t, "a.png", image)
	p := h.session(t)
	const images = 16
	for range images {
		p.request(wire.MethodRead, `{"path":"a.png","images":true}`)
	}
	verdicts := map[string]int{}
	for range images {
		m, err := p.next()
		if err != nil {
			verdicts["closed"]++
			break
		}
		verdicts[m.verdict()]++
	}
	return fmt.Sprint(verdicts)
}

// largeReads reads n files of 200 MB at once.
func largeReads(n int) func(*testing.T, *house) string {
	return func(t *testing.T, h *house) string {
		const size = 200_000_000
		line := []byte(strings.Repeat("x", 99) + "\n")
		path := h.file(t, "large0.txt", nil)
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(f, 1<<20)
		for range size / len(line) {
			_, _ = w.Write(line)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		f.Close()
		p := h.session(t)
		for range n {
			p.request(wire.MethodRead, `{"path":"large0.txt","map":"never","limit":3}`)
		}
		for range n {
			p.expect(0)
		}
		return fmt.Sprintf("%d answers", n)
	}
}

// neverReads asks until the daemon hangs up.
func neverReads(t *testing.T, h *house) string {
	var text bytes.Buffer
	for i := range 2000 {
		fmt.Fprintf(&text, "line %d of a file that many ask for and nobody reads\n", i)
	}
	h.file(t, "a.txt", text.Bytes())
	p := h.session(t)
	line := `{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"a.txt"}}` + "\n"
	start := time.Now()
	n := 0
	for ; time.Since(start) < patience; n++ {
		if p.write(fmt.Sprintf(line, n+10)) != nil {
			return fmt.Sprintf("closed after %d calls and %v", n, time.Since(start).Round(time.Millisecond))
		}
	}
	t.Errorf("after %d calls whose answers nobody reads the connection is open", n)
	return "open"
}

// manyNeverRead has many peers ask without reading, each for less than closes it.
func manyNeverRead(t *testing.T, h *house) string {
	h.file(t, "a.txt", []byte(strings.Repeat("a line of a file that many ask for and nobody reads\n", 2000)))
	const peers, calls = 24, 4 // of some 14 MB each
	for range peers {
		h.session(t)
	}
	var writers sync.WaitGroup
	var closed atomic.Int64
	for i, p := range h.peers {
		writers.Go(func() {
			var reads []string
			for n := range 256 {
				reads = append(reads, fmt.Sprintf(`{"path":"a.txt","offset":%d}`, i*30+n+1)) // no two alike, so that no bytes are shared
			}
			for n := range calls {
				if p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/readMany","params":{"reads":[%s]}}`+"\n", n+10, strings.Join(reads, ","))) != nil {
					closed.Add(1)
					return
				}
			}
		})
	}
	writers.Wait()
	h.await(t, func(l levels) bool { return l.inFlight <= 2 })
	return fmt.Sprintf("%d of %d closed early", closed.Load(), peers)
}

// hoarder has one peer not read more than all together may leave unread, and
// another not read a little: the first must go, the second stays.
func hoarder(t *testing.T, h *house) string {
	h.file(t, "a.txt", []byte(strings.Repeat("a line of a file that many ask for and nobody reads\n", 2000)))
	modest, greedy := h.session(t), h.session(t)
	ask := func(p *peer) bool {
		p.id++
		return p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"a.txt"}}`+"\n", p.id)) == nil
	}
	for range 10 {
		ask(modest)
	}
	calls := 0
	for deadline := time.Now().Add(patience); ask(greedy); calls++ {
		if calls%32 == 31 { // no more than may be in flight
			h.await(t, func(l levels) bool { return l.inFlight <= 2 })
		}
		if time.Now().After(deadline) {
			t.Fatal("it is still connected")
		}
	}
	if most := 3 * 8 << 20 / 53_000; calls > most {
		t.Errorf("closed after %d calls, it should be fewer than %d", calls, most)
	}
	for range 10 {
		modest.expect(0)
	}
	modest.alive()
	return fmt.Sprintf("closed after %d calls; who hoards little is served", calls)
}

// manyLargeFrames has many peers send frames that just keep the limit and stay
// unfinished.
func manyLargeFrames(t *testing.T, h *house) string {
	const peers, size = 24, 60_000_000
	chunk := strings.Repeat("x", 1<<20)
	for range peers {
		h.connect(t)
	}
	var writers sync.WaitGroup
	for _, p := range h.peers {
		writers.Go(func() {
			_ = p.write(`{"jsonrpc":"2.0","id":1,"method":"`)
			for sent := 0; sent < size; sent += len(chunk) {
				if p.write(chunk) != nil {
					return
				}
			}
		})
	}
	writers.Wait()
	verdicts := map[string]int{}
	for _, p := range h.peers {
		// Whoever is refused is told at once; the others are still listened to.
		if err := p.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		verdict := "waited for"
		if line, err := p.in.ReadBytes('\n'); err == nil {
			var m message
			if json.Unmarshal(line, &m) == nil {
				verdict = m.verdict()
			}
		}
		verdicts[verdict]++
	}
	if verdicts["waited for"] == peers {
		t.Error("none was refused")
	}
	return fmt.Sprint(verdicts)
}

// stoppedClient is a client of another process that sends and does not read,
// and is then stopped.
func stoppedClient(t *testing.T, h *house) string {
	cmd := h.command(hostilePeer, "flood")
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "MAPD_SOCKET="+h.socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	sendSignal(t, cmd.Process.Pid, syscall.SIGSTOP)
	before := h.observer.status(t)
	start := time.Now()
	for connected(before, cmd.Process.Pid) && time.Since(start) < patience {
		wait(10 * time.Millisecond)
		before = h.observer.status(t)
	}
	if connected(before, cmd.Process.Pid) {
		t.Error("the stopped client is still connected")
	}
	return fmt.Sprintf("closed within %v of no progress", time.Since(start).Round(100*time.Millisecond))
}

func connected(s wire.StatusResult, pid int) bool {
	for _, session := range s.Sessions {
		if session.PID == pid {
			return true
		}
	}
	return false
}

// manyConnects opens connections that say nothing, and then a session must
// still find its place.
func manyConnects(t *testing.T, h *house) string {
	n := canOpen(t, 10_000)
	if raceEnabled {
		n /= 2
	}
	for range n {
		h.connect(t)
	}
	h.file(t, "a.txt", []byte("alpha\n"))
	p := h.session(t)
	if m := p.call(wire.MethodRead, `{"path":"a.txt"}`); m.Error != nil {
		t.Errorf("a new session: %+v", m.Error)
	}
	s := h.observer.status(t)
	if got, limit := s.Levels["connections"], s.Limits["connections"]; got > limit+64 {
		t.Errorf("%d connections are open, the limit is %d", got, limit)
	}
	first := "open"
	if m, err := h.peers[0].next(); err == nil {
		first = m.verdict() + ", closed"
	}
	return fmt.Sprintf("%d connects, %d open; the first: %s", n, s.Levels["connections"], first)
}

func connectsThatGo(t *testing.T, h *house) string {
	const n = 10_000
	for range n {
		conn, err := dialSocket(h.socket)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	return "nothing"
}

// descriptorsExhausted gives a daemon few descriptors, has connections take
// them, and reads and parses new files in a session.
func descriptorsExhausted(t *testing.T, h *house) string {
	var refused, open int
	for range 400 {
		h.connect(t)
	}
	for i := range 50 {
		name := fmt.Sprintf("f%d.py", i)
		h.file(t, name, fmt.Appendf(nil, "def f%d():\n    pass\n", i))
	}
	sessions := make([]*peer, 100)
	for i := range sessions {
		p := h.connect(t)
		// One that is refused may be gone before it is written to.
		_ = p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rootUri":%q}}`+"\n", fileURI(h.folder)))
		m, err := p.next()
		if err != nil || m.Error != nil {
			refused++
			continue
		}
		open++
		sessions[i] = p
		for n := range 32 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"f%d.py"}}`, n+2, n))
		}
	}
	failed := map[string]int{}
	for _, p := range sessions {
		for range 32 {
			if p == nil {
				continue
			}
			if m := p.reply(); m.Error != nil {
				failed[m.code()]++
			}
		}
	}
	if len(failed) > 0 {
		t.Errorf("reads of sessions that were let in failed: %v", failed)
	}
	for i := range sessions {
		if p := sessions[i]; p != nil {
			if m := p.call(wire.MethodMap, mapOf("f40.py")); m.Error != nil || !bytes.Contains(m.Result, []byte(`"source":"parser"`)) {
				t.Errorf("a map with few descriptors left: %+v %.300s", m.Error, m.Result)
			}
			break
		}
	}
	if refused == 0 {
		t.Error("all were let in")
	}
	return fmt.Sprintf("%d sessions, %d refused", open, refused)
}
