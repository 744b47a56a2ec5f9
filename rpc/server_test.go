package rpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mapd/outline"
	"mapd/outline/sandbox"
	"mapd/rpc"
	"mapd/rpc/wire"
	"mapd/workspace"
)

func TestMain(m *testing.M) {
	sandbox.RunIfWorker()
	goleak.VerifyTestMain(m)
}

// daemon is a Server with everything below it, without a socket.
type daemon struct {
	t      testing.TB
	server *rpc.Server
	dir    string // the folder of its sessions, resolved
}

func newDaemon(t testing.TB, change ...func(*rpc.Options)) *daemon {
	t.Helper()
	return newDaemonOf(t, rpc.DefaultLimits(), change...)
}

func newDaemonOf(t testing.TB, limits rpc.Limits, change ...func(*rpc.Options)) *daemon {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	workers := sandbox.NewPool(limits.Outline.Sandbox())
	outlines := outline.New(outline.Options{Limits: limits.Outline, Pool: workers})
	cache := workspace.NewCache(workspace.Options{Limits: limits.Workspace, Outlines: outlines})
	opt := rpc.Options{Limits: limits, Cache: cache, Version: "test", Build: "test"}
	for _, f := range change {
		f(&opt)
	}
	d := &daemon{t: t, server: rpc.NewServer(opt), dir: dir}
	t.Cleanup(func() {
		if err := d.server.Close(); err != nil {
			t.Error(err)
		}
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
		if err := workers.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// write writes a file of the daemon's folder.
func (d *daemon) write(name, content string) string {
	d.t.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// message is anything that the daemon sends.
type message struct {
	ID     *int              `json:"id"`
	Method string            `json:"method"`
	Params json.RawMessage   `json:"params"`
	Result json.RawMessage   `json:"result"`
	Error  *wire.ErrorObject `json:"error"`
}

// code is data.code of an error reply.
func (m message) code() string {
	if m.Error == nil {
		return ""
	}
	var data struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(m.Error.Data, &data)
	return data.Code
}

// agent is a client that speaks JSON lines and sees the messages in the order
// in which they arrive.
type agent struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	id   int
}

// connect opens a connection that is not initialized.
func (d *daemon) connect() *agent {
	d.t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	ends := [2]net.Conn{}
	for i, fd := range fds {
		f := os.NewFile(uintptr(fd), "socket")
		if ends[i], err = net.FileConn(f); err != nil {
			d.t.Fatal(err)
		}
		f.Close()
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = d.server.ServeConn(context.Background(), ends[0], rpc.Peer{PID: os.Getpid()}) })
	a := &agent{t: d.t, conn: ends[1], in: bufio.NewReaderSize(ends[1], 1<<20)}
	if err := a.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { a.conn.Close(); wg.Wait() })
	return a
}

// session opens a connection with the daemon's folder as its root.
func (d *daemon) session(options ...string) *agent {
	d.t.Helper()
	a := d.connect()
	extra := ""
	if len(options) > 0 {
		extra = `,"initializationOptions":` + options[0]
	}
	m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s"%s}`, d.dir, extra))
	if m.Error != nil {
		d.t.Fatalf("initialize: %s", m.Error.Message)
	}
	return a
}

// send sends a request and returns its id.
func (a *agent) send(method, params string) int {
	a.t.Helper()
	a.id++
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.id, method, params))
	return a.id
}

func (a *agent) notify(method, params string) {
	a.t.Helper()
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

func (a *agent) write(line string) {
	a.t.Helper()
	if _, err := io.WriteString(a.conn, line+"\n"); err != nil {
		a.t.Fatal(err)
	}
}

// next returns the next message, of any kind.
func (a *agent) next() message {
	a.t.Helper()
	line, err := a.in.ReadBytes('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		a.t.Fatalf("%v in %.200s", err, line)
	}
	return m
}

// call sends a request and returns its reply; nothing else may come first.
func (a *agent) call(method, params string) message {
	a.t.Helper()
	id := a.send(method, params)
	m := a.next()
	if m.ID == nil || *m.ID != id {
		a.t.Fatalf("%s: got %+v before its reply", method, m)
	}
	return m
}

// read calls mapd/read and fails unless it succeeds.
func (a *agent) read(params string) wire.ReadResult {
	a.t.Helper()
	m := a.call("mapd/read", params)
	if m.Error != nil {
		a.t.Fatalf("read %s: %s %s", params, m.Error.Message, m.Error.Data)
	}
	var r wire.ReadResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		a.t.Fatal(err)
	}
	return r
}

// text joins the text blocks of a result.
func text(r wire.ReadResult) string {
	var out []string
	for _, c := range r.Content {
		out = append(out, c.Text)
	}
	return strings.Join(out, "\n--\n")
}
