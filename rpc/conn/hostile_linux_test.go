package conn_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// server is the process under test.
type server struct {
	t    *testing.T
	path string
	pid  int
}

func startServer(t *testing.T, env ...string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), append(env, serverEnv+"="+path)...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		timer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
		defer timer.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server does not end by itself: %v", err)
		}
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("server: %q, %v", line, err)
	}
	return &server{t: t, path: path, pid: cmd.Process.Pid}
}

// rss returns the resident memory of the server in MiB, now and at most since
// resetPeak.
func (s *server) rss() (now, peak int) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &now)
		fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	return now >> 10, peak >> 10
}

// resetPeak starts a new peak. Where the system does not allow it the peak is the
// one since the start, which may be no higher either.
func (s *server) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid), []byte("5"), 0)
}

func (s *server) descriptors() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.pid))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(entries)
}

// client is one connection to the server.
type client struct {
	*net.UnixConn
	in *bufio.Reader
}

func (s *server) dial() (*client, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	return &client{c, bufio.NewReaderSize(c, 1<<16)}, c.SetDeadline(time.Now().Add(patience))
}

// say sends text and does not mind that the server hangs up on the way.
func (c *client) say(text string) { io.WriteString(c, text) }

// hear reads n replies and says what they are: result, or error code.
func (c *client) hear(n int) string {
	heard := map[string]int{}
	for range n {
		line, err := c.in.ReadBytes('\n')
		if err != nil {
			heard["closed"]++
			break
		}
		heard[describe(line)]++
	}
	var out []string
	for what, count := range heard {
		if count > 1 {
			what = fmt.Sprintf("%s ×%d", what, count)
		}
		out = append(out, what)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func describe(line []byte) string {
	var reply struct {
		Error *struct{ Code int }
	}
	switch {
	case line[0] == '[':
		var replies []json.RawMessage
		if json.Unmarshal(line, &replies) != nil {
			return "garbage"
		}
		return fmt.Sprintf("batch of %d", len(replies))
	case json.Unmarshal(line, &reply) != nil:
		return "garbage"
	case reply.Error != nil:
		return strconv.Itoa(reply.Error.Code)
	default:
		return "result"
	}
}

func (c *client) counts() (counts, error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return counts{}, err
	}
	c.say(`{"jsonrpc":"2.0","id":"c","method":"counts"}` + "\n")
	for {
		line, err := c.in.ReadBytes('\n')
		if err != nil {
			return counts{}, err
		}
		var reply struct {
			ID     string
			Result counts
		}
		if json.Unmarshal(line, &reply) == nil && reply.ID == "c" {
			return reply.Result, nil
		}
	}
}

// offence is something a client should not do, and what it gets for it.
type offence struct {
	name  string
	do    func(s *server, c *client) string
	want  string
	heavy bool // takes long under the race detector
}

// says is an offence that sends text and reads n replies.
func says(name, text string, n int, want string) offence {
	return offence{name, func(_ *server, c *client) string {
		go c.say(text)
		return c.hear(n)
	}, want, len(text) > 16<<20}
}

// header is an offence after which no frame can be found any more.
func header(name, text string) offence {
	return offence{name, func(_ *server, c *client) string {
		go c.say(text)
		reply, _ := io.ReadAll(c.in)
		if bytes.Count(reply, []byte(`"code":-32700`)) == 1 && bytes.Count(reply, []byte(`"jsonrpc"`)) == 1 {
			return "-32700, closed"
		}
		return fmt.Sprintf("%q", reply)
	}, "-32700, closed", false}
}

// calls returns n calls with ids of their own.
func calls(n int, method, params string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(call(strconv.Itoa(i), method, params))
	}
	return b.String()
}

func call(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, params)
}

func elements(n int) string {
	one := `{"jsonrpc":"2.0","id":%d,"method":"none"},`
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		fmt.Fprintf(&b, one, i)
	}
	return strings.TrimSuffix(b.String(), ",") + "]\n"
}

func offences() []offence {
	megabyte := `["` + strings.Repeat("x", 1<<20) + `"]`
	return []offence{
		header("length 1 GiB", "Content-Length: 1073741824\r\n\r\n"),
		header("length -1", "Content-Length: -1\r\n\r\n{}"),
		header("two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
		header("endless header", "C: "+strings.Repeat("x", 10<<20)),
		header("no framing", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		says("100 MB line", "{"+strings.Repeat(" ", 100<<20), 2, "-32700, closed"),
		says("100 MB string", call("1", "page", `["`+strings.Repeat("x", 100<<20)+`"]`), 2, "-32700, closed"),
		says("60 MB string", call("1", "page", `["`+strings.Repeat("x", 60<<20)+`"]`), 1, "result"),
		says("malformed JSON", strings.Repeat("{\"x\":\n", 1000), 1000, "-32700 ×1000"),
		says("balanced garbage", strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"page","params":[{]}]}`+"\n", 100), 100, "-32700 ×100"),
		says("bad UTF-8", call("1", "page", "[\"\xff\xfe\"]"), 1, "-32700"),
		says("ids", call("1.5", "page", "[]")+call("1e20", "page", "[]")+call("null", "page", "[]")+call("{}", "page", "[]"), 4, "-32600 ×4"),
		says("wrong version", strings.ReplaceAll(call("1", "page", "[]"), "2.0", "1.0"), 1, "-32600"),
		says("duplicate id", call("1", "wait", "[]")+call("1", "page", "[]"), 1, "-32600"),
		says("1e6 nested arrays", strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000)+"\n", 1, "-32700"),
		says("60 MB of arrays", strings.Repeat("[", 60<<20)+"\n", 1, "-32700"),
		says("60 MB of members", `{"jsonrpc":"2.0","id":1,"method":"page"`+strings.Repeat(`,"a":0`, 10<<20)+"}\n", 1, "result"),
		says("batch of 0", "[]\n", 1, "-32600"),
		says("batch of 1,000", elements(1000), 1, "batch of 1000"),
		says("batch of 1,001", elements(1001), 1, "-32600"),
		says("batch of 1e5", elements(100_000), 1, "-32600"),
		says("batches of 1e6 numbers", strings.Repeat("["+strings.Repeat("0,", 1_000_000)+"0]\n", 10), 10, "-32600 ×10"),
		says("failing notifications", strings.Repeat(`{"jsonrpc":"2.0","method":"fail"}`+"\n", 1000)+call("1", "page", "[]"), 1, "result"),
		says("unknown methods, 1 MB", calls(50, "none", megabyte), 50, "-32601 ×50"),
		says("a name of 1 MB", call("1", strings.Repeat("x", 1<<20), "[]"), 1, "-32600"),
		says("panics", calls(50, "panic", "[]"), 50, "-32603 ×50"),
		says("cancels", strings.Repeat(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}`+"\n", 10_000)+call("7", "page", "[]"), 1, "result"),
		{"dribble", dribble, "result", false},
		{"half close after a call", halfClose, "closed, result", false},
		{"disconnect during a call", disconnect, "context ended", false},
		{"65 calls at once", tooMany, "-32803, -32800 ×64", false},
		{"50k notifications", inOrder, "in order", false},
		{"never reads", neverReads, "closed", false},
		{"10,000 connects", connects, "10000 served", false},
	}
}

func dribble(_ *server, c *client) string {
	for _, b := range []byte(call("1", "page", `["`+strings.Repeat("y", 2000)+`"]`)) {
		c.Write([]byte{b})
	}
	return c.hear(1)
}

func halfClose(_ *server, c *client) string {
	c.say(call("1", "page", "[]"))
	c.CloseWrite()
	return c.hear(2)
}

// disconnect leaves while 64 requests run, and looks from another connection
// whether their contexts end in time. A busy machine gets three tries.
func disconnect(s *server, c *client) string {
	got := leave(s, c)
	for try := 1; try < 3 && got == "still running"; try++ {
		again, err := s.dial()
		if err != nil {
			return err.Error()
		}
		got = leave(s, again)
	}
	return got
}

func leave(s *server, c *client) string {
	defer c.Close()
	other, err := s.dial()
	if err != nil {
		return err.Error()
	}
	defer other.Close()
	for i := range 64 {
		c.say(call(strconv.Itoa(i), "wait", "[]"))
	}
	if _, err := c.counts(); err != nil { // all have begun
		return err.Error()
	}
	before, err := other.counts()
	if err != nil {
		return err.Error()
	}
	c.Close()
	for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
		if now, err := other.counts(); err != nil || now.Ended == before.Ended+64 {
			return "context ended"
		}
	}
	return "still running"
}

func tooMany(_ *server, c *client) string {
	for i := range 65 {
		c.say(call(strconv.Itoa(i), "wait", "[]"))
	}
	first := c.hear(1)
	for i := range 64 {
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`+"\n", i))
	}
	return first + ", " + c.hear(64)
}

func inOrder(_ *server, c *client) string {
	var b bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"next","params":[%d]}`+"\n", i)
	}
	c.say(b.String())
	if got, err := c.counts(); err != nil || got.Disorder != 0 || got.Next != 50_000 {
		return fmt.Sprintf("%+v, %v", got, err)
	}
	return "in order"
}

func neverReads(_ *server, c *client) string {
	for i := 0; ; i++ {
		if _, err := io.WriteString(c, call(strconv.Itoa(i), "page", "[]")); err != nil {
			return "closed"
		}
	}
}

func connects(s *server, _ *client) string {
	served := 0
	for i := range 10_000 {
		c, err := s.dial()
		if err != nil {
			return fmt.Sprintf("connect %d: %v", i, err)
		}
		if i%100 == 0 {
			c.say(call("1", "page", "[]"))
			if got := c.hear(1); got != "result" {
				return fmt.Sprintf("connect %d: %s", i, got)
			}
		}
		served++
		c.Close()
	}
	return fmt.Sprintf("%d served", served)
}

// mostRSS is what the server may use in MiB: one frame of 64 MiB while it grows,
// a full outgoing queue, and what the collector has not taken back yet. The race
// detector needs a multiple of it.
const mostRSS = 512

// TestHostile lets one client after the other offend beside an innocent one. Run
// it with -v for the table.
func TestHostile(t *testing.T) {
	s := startServer(t)
	watch, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	start, err := watch.counts()
	if err != nil {
		t.Fatal(err)
	}
	descriptors := s.descriptors()
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "input\tthe offender got\tRSS before\tafter\tpeak\tinnocent p50\tp99")
	for _, o := range offences() {
		if o.heavy && raceEnabled {
			continue
		}
		s.resetPeak()
		before, _ := s.rss()
		i := s.innocent()
		c, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		got := o.do(s, c)
		c.Close()
		p50, p99, err := i.end()
		after, peak := s.rss()
		fmt.Fprintf(w, "%s\t%s\t%d MiB\t%d MiB\t%d MiB\t%v\t%v\n", o.name, got, before, after, peak, p50.Round(time.Microsecond), p99.Round(time.Microsecond))
		if got != o.want || err != nil {
			t.Errorf("%s: the offender got %q, want %q; innocent: %v", o.name, got, o.want, err)
		}
		if peak > mostRSS && !raceEnabled {
			t.Errorf("%s: %d MiB", o.name, peak)
		}
	}
	w.Flush()
	t.Logf("\n%s", table.String())
	s.settled(watch, start, descriptors)
}

// settled waits until the server has as many goroutines and descriptors as at
// the start.
func (s *server) settled(watch *client, start counts, descriptors int) {
	s.t.Helper()
	for begin := time.Now(); ; {
		now, err := watch.counts()
		if err != nil {
			s.t.Fatal(err)
		}
		open := s.descriptors()
		if now.Goroutines <= start.Goroutines && open <= descriptors {
			return
		}
		if time.Since(begin) > patience {
			s.t.Fatalf("%d goroutines and %d descriptors are left, %d and %d at the start", now.Goroutines, open, start.Goroutines, descriptors)
		}
	}
}

// TestDescriptorsExhausted opens more connections than the server can have: those
// it has are served, and the others once there is room.
func TestDescriptorsExhausted(t *testing.T) {
	s := startServer(t, descriptorsEnv+"=40")
	i := s.innocent()
	watch, err := s.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	var open []*client
	for range 60 {
		c, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		c.say(call("1", "page", "[]"))
	}
	for now := (counts{}); now.Refused == 0; {
		if now, err = watch.counts(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range open[:30] {
		c.Close()
	}
	for _, c := range open[30:] {
		if got := c.hear(1); got != "result" {
			t.Errorf("a connection that had to wait got %s", got)
		}
		c.Close()
	}
	if _, _, err := i.end(); err != nil {
		t.Error(err)
	}
}
