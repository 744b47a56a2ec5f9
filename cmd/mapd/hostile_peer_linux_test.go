package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// peer is a raw connection that speaks JSON lines.
type peer struct {
	t    *testing.T
	conn *net.UnixConn
	in   *bufio.Reader
	id   int
}

// connect opens a connection that is closed with the test.
func (h *house) connect(t *testing.T) *peer {
	t.Helper()
	conn, err := dialSocket(h.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}
	h.peers = append(h.peers, p)
	return p
}

// dialSocket connects, and waits while the backlog of the socket is full.
func dialSocket(path string) (*net.UnixConn, error) {
	for deadline := time.Now().Add(patience); ; wait(time.Millisecond) {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		if errors.Is(err, syscall.EAGAIN) && time.Now().Before(deadline) {
			continue
		}
		return conn, err
	}
}

// session opens a session with the offender's folder.
func (h *house) session(t *testing.T) *peer {
	t.Helper()
	p := h.connect(t)
	p.initialize(h.folder)
	return p
}

func (p *peer) initialize(folder string) {
	p.t.Helper()
	params := "{}"
	if folder != "" {
		params = fmt.Sprintf(`{"rootUri":%q}`, fileURI(folder))
	}
	if m := p.call("initialize", params); m.Error != nil {
		p.t.Fatalf("initialize: %s", m.Error.Message)
	}
}

// write writes raw bytes, for at most as long as a test waits.
func (p *peer) write(s string) error {
	if err := p.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.WriteString(p.conn, s)
	return err
}

func (p *peer) send(lines ...string) {
	p.t.Helper()
	if err := p.write(strings.Join(lines, "\n") + "\n"); err != nil {
		p.t.Fatal(err)
	}
}

// request sends a request without waiting for its reply.
func (p *peer) request(method, params string) {
	p.t.Helper()
	p.id++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params))
}

func (p *peer) call(method, params string) message {
	p.t.Helper()
	p.request(method, params)
	m := p.reply()
	if string(m.ID) != strconv.Itoa(p.id) {
		p.t.Fatalf("%s %d: got %s %+v first", method, p.id, m.ID, m.Error)
	}
	return m
}

// next reads a message in either framing.
func (p *peer) next() (message, error) {
	var m message
	if err := p.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return m, err
	}
	first, err := p.in.Peek(1)
	if err != nil {
		return m, err
	}
	var body []byte
	if first[0] == 'C' {
		body, err = p.nextWithHeader()
	} else {
		body, err = p.in.ReadBytes('\n')
	}
	if err != nil {
		return m, err
	}
	if body[0] == '[' {
		m.Result = body // a batch, for whoever sent one
		return m, nil
	}
	return m, json.Unmarshal(body, &m)
}

func (p *peer) nextWithHeader() ([]byte, error) {
	length := 0
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if length, err = strconv.Atoi(strings.TrimPrefix(line, "Content-Length: ")); err != nil {
			return nil, err
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(p.in, body)
	return body, err
}

// reply is next where the connection is to live.
func (p *peer) reply() message {
	p.t.Helper()
	m, err := p.next()
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// expect reads a message and fails unless it is an error of this code, or a
// success if code is 0. It returns what the table says of it.
func (p *peer) expect(code int) string {
	p.t.Helper()
	m := p.reply()
	got := 0
	if m.Error != nil {
		got = m.Error.Code
	}
	if got != code {
		p.t.Fatalf("got %d (%+v), want %d", got, m.Error, code)
	}
	return m.verdict()
}

// expectClosed fails unless the daemon hangs up, after what is still to read.
func (p *peer) expectClosed() {
	p.t.Helper()
	for {
		_, err := p.next()
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			p.t.Fatal("the daemon does not hang up")
		default:
			return
		}
	}
}

// alive fails unless the session of p answers.
func (p *peer) alive() {
	p.t.Helper()
	if m := p.call(wire.MethodStatus, "{}"); m.Error != nil {
		p.t.Fatalf("the connection should live: %+v", m.Error)
	}
}

func (p *peer) status(t *testing.T) wire.StatusResult {
	t.Helper()
	p.t = t
	m := p.call(wire.MethodStatus, "{}")
	var s wire.StatusResult
	if m.Error != nil || json.Unmarshal(m.Result, &s) != nil {
		t.Fatalf("status: %+v %.200s", m.Error, m.Result)
	}
	return s
}

func (p *peer) close() { p.conn.Close() }

// hostilePeer is the name under which this binary is a client that does not
// behave, as a process of its own.
const hostilePeer = "hostile-peer"

// runHostilePeer is that client. Without an argument it says initialize to the
// socket that the environment names and prints what the daemon answers; "flood"
// sends requests without end and never reads; "limited N" becomes a daemon that
// may have N descriptors.
func runHostilePeer() int {
	if len(os.Args) == 3 && os.Args[1] == "limited" {
		return becomeLimitedDaemon(os.Args[2])
	}
	conn, err := dialSocket(os.Getenv("MAPD_SOCKET"))
	if err != nil {
		fmt.Println("connect:", err)
		return exitFailed
	}
	defer conn.Close()
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n"
	if len(os.Args) == 2 && os.Args[1] == "flood" {
		const enough = 5000 // answers that no buffer of the kernel holds
		for n := 0; ; n++ {
			if _, err := io.WriteString(conn, hello); err != nil {
				return exitOK
			}
			if n == enough {
				fmt.Println("flooding")
			}
		}
	}
	_, _ = io.WriteString(conn, hello)
	line, err := bufio.NewReader(conn).ReadString('\n')
	fmt.Printf("%s%v\n", line, err)
	return exitOK
}

func becomeLimitedDaemon(descriptors string) int {
	n, err := strconv.ParseUint(descriptors, 10, 32)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", []string{"mapd", "serve"}, os.Environ())
	}
	fmt.Println(err)
	return exitFailed
}
