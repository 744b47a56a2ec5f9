package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// house is a daemon, a process of its own, with the innocent session it serves.
type house struct {
	pid      int
	socket   string
	runtime  string   // its XDG_RUNTIME_DIR
	env      []string // its environment
	log      string   // path of what it logs
	innocent *innocent
	observer *peer

	// Of the running attack: the folder and the connections of the offender.
	folder string
	peers  []*peer
}

// levels is what must come back to where it was.
type levels struct{ goroutines, descriptors, workers, inFlight int }

// environment returns the environment of a daemon with directories of its own.
func environment(t testing.TB, extra ...string) (env []string, runtime string) {
	t.Helper()
	runtime, err := os.MkdirTemp("", "mapd") // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	home := t.TempDir()
	env = []string{
		"XDG_RUNTIME_DIR=" + runtime, "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
		"MAPD_LIMIT_STALL_MS=1500", "MAPD_LIMIT_IDLE_MS=600000",
		"MAPD_LIMIT_ROOT_IDLE_MS=200", // indexes of folders that nobody has go before levels are compared
	}
	return append(env, extra...), runtime
}

// startHouse starts a daemon, by a command that becomes it, and an innocent
// session, both ended with the test. Variables of its environment may come
// before the command.
func startHouse(t *testing.T, command ...string) *house {
	t.Helper()
	h := &house{}
	program := slices.IndexFunc(command, func(s string) bool { return !strings.Contains(s, "=") })
	h.env, h.runtime = environment(t, command[:program]...)
	h.serve(t, command[program:]...)
	h.innocent = h.startInnocent(t)
	t.Cleanup(h.innocent.stop)
	h.observer = h.connect(t)
	h.observer.initialize("")
	h.peers = nil
	return h
}

// serve starts the daemon of h.
func (h *house) serve(t *testing.T, args ...string) {
	t.Helper()
	h.serveFrom(t, "/proc/self/exe", args...)
}

// serveFrom is serve with the executable at a path.
func (h *house) serveFrom(t *testing.T, executable string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	h.log = log.Name()
	cmd := h.command(args...)
	cmd.Path = executable
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	path, found := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !found {
		text, _ := os.ReadFile(h.log)
		t.Fatalf("the daemon said %q, %v\n%s", line, err, text)
	}
	h.pid, h.socket = cmd.Process.Pid, path
}

// command returns a command in the environment of h: mapd or a hostile peer,
// which both are this test binary.
func (h *house) command(args ...string) *exec.Cmd {
	return &exec.Cmd{Path: "/proc/self/exe", Args: args, Env: h.env}
}

// run runs a command in the environment of h, to which extra is added, and
// returns all it says and its exit code.
func (h *house) run(t *testing.T, extra []string, args ...string) (string, int) {
	t.Helper()
	cmd := h.command(args...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], extra...)
	return output(t, cmd)
}

func output(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return out.String(), cmd.ProcessState.ExitCode()
}

// mkdir gives the offender an empty folder.
func (h *house) mkdir(t *testing.T) {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h.folder = folder
}

// hangUp closes the connections of the offender.
func (h *house) hangUp() {
	for _, p := range h.peers {
		p.close()
	}
	h.peers = nil
}

// file writes a file of the offender's folder and returns its path.
func (h *house) file(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(h.folder, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// memory returns a field of /proc/PID/status in bytes.
func (h *house) memory(t *testing.T, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if err != nil {
		t.Fatalf("%s of process %d: %v", field, h.pid, err)
	}
	return n << 10
}

func (h *house) rss(t *testing.T) int64  { return h.memory(t, "VmRSS") }
func (h *house) peak(t *testing.T) int64 { return h.memory(t, "VmHWM") }

// resetPeak makes the kernel forget the highest RSS so far.
func (h *house) resetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", h.pid), []byte("5"), 0); err != nil {
		t.Log("the peak is that of all rows so far:", err)
	}
}

// indexed waits until all that the daemon indexes is ready: what that takes is no
// part of an attack.
func (h *house) indexed(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; wait(10 * time.Millisecond) {
		left := slices.ContainsFunc(h.observer.status(t).Workspaces, func(w wire.WorkspaceStatus) bool { return w.State == "indexing" })
		if !left {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a folder is not indexed")
		}
	}
}

// levels asks the daemon, over a connection of its own.
func (h *house) levels(t *testing.T) levels {
	t.Helper()
	s := h.observer.status(t)
	return levels{
		goroutines:  int(s.Levels["goroutines"]),
		descriptors: int(s.Levels["descriptors"]),
		inFlight:    int(s.Levels["in_flight"]),
		workers:     len(h.workers(t)),
	}
}

// cached returns the bytes that the daemon keeps for later, which limits of
// their own bound.
func (h *house) cached(t *testing.T) int64 {
	t.Helper()
	memory := h.observer.status(t).Memory
	return memory["history"] + memory["outlines"] + memory["views"]
}

// checkLog fails if the daemon has reported a defect of its own.
func (h *house) checkLog(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(h.log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		for _, defect := range []string{"msg=panic", "DATA RACE", "outcome=internal", "outline: repaired", "fatal error"} {
			if strings.Contains(line, defect) {
				t.Errorf("the log says: %.600s", line)
			}
		}
	}
}

// workers returns the pids of the daemon's children.
func (h *house) workers(t *testing.T) []int {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", h.pid))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// pidOnSocket returns the process that a new connection reaches.
func (h *house) pidOnSocket(t *testing.T) int {
	t.Helper()
	pid, err := listenerPID(h.socket)
	if err != nil {
		t.Error(err)
	}
	return pid
}

// gone waits for the end of the daemon.
func (h *house) gone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", h.pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return
		}
		wait(5 * time.Millisecond)
	}
	t.Fatalf("process %d does not end", h.pid)
}

// innocent is a session that reads one file over and over.
type innocent struct {
	conn net.Conn
	want []byte // the result of each read
	quit chan struct{}
	done chan struct{}
	once sync.Once // guards the close of quit

	mu    sync.Mutex
	times []time.Duration
	err   error // why it is no longer served
}

// pause is between two reads of the innocent session.
const pause = 3 * time.Millisecond

// startInnocent starts a session whose folder is its own.
func (h *house) startInnocent(t *testing.T) *innocent {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	text.WriteString("package p\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "func f%d() int { return %d }\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.go"), text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p := h.connect(t)
	p.initialize(dir)
	reply := p.call(wire.MethodRead, `{"path":"a.go"}`)
	if reply.Error != nil || !bytes.Contains(reply.Result, []byte("return 999")) {
		t.Fatalf("the first read of the innocent session: %+v %.100s", reply.Error, reply.Result)
	}
	i := &innocent{conn: p.conn, want: reply.Result, quit: make(chan struct{}), done: make(chan struct{})}
	go i.loop(p)
	return i
}

func (i *innocent) loop(p *peer) {
	defer close(i.done)
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-i.quit:
			return
		case <-ticker.C:
		}
		start := time.Now()
		err := i.read(p)
		took := time.Since(start)
		i.mu.Lock()
		i.times = append(i.times, took)
		i.err = err
		i.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// read reads once and compares.
func (i *innocent) read(p *peer) error {
	p.id++
	if err := p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"mapd/read","params":{"path":"a.go"}}`+"\n", p.id)); err != nil {
		return err
	}
	m, err := p.next()
	switch {
	case err != nil:
		return err
	case m.Error != nil:
		return fmt.Errorf("%d %s", m.Error.Code, m.Error.Message)
	case !bytes.Equal(m.Result, i.want):
		return fmt.Errorf("other bytes: %.200s", m.Result)
	}
	return nil
}

func (i *innocent) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.times = nil
}

// figures waits for a few reads since reset and returns how many there were and
// how long they took. It fails t if one failed.
func (i *innocent) figures(t *testing.T) (n int, p50, p99 time.Duration) {
	t.Helper()
	const few = 10
	for deadline := time.Now().Add(patience); ; wait(pause) {
		i.mu.Lock()
		err := i.err
		times := append([]time.Duration(nil), i.times...)
		i.mu.Unlock()
		switch {
		case err != nil:
			t.Errorf("the innocent session was not served: %v", err)
			return len(times), 0, 0
		case len(times) >= few:
			return len(times), percentile(times, 50), percentile(times, 99)
		case time.Now().After(deadline):
			t.Errorf("the innocent session had only %d reads", len(times))
			return len(times), 0, 0
		}
	}
}

// stop ends the session and is idempotent.
func (i *innocent) stop() {
	i.once.Do(func() { close(i.quit) })
	<-i.done
	i.conn.Close()
}

// sendSignal sends a signal to a process that this test started or that is a worker
// of its daemon.
func sendSignal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if pid <= 1 {
		t.Fatalf("no process: %d", pid)
	}
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatalf("signal %v to %d: %v", s, pid, err)
	}
}

// message is anything that the daemon sends.
type message struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Result json.RawMessage   `json:"result"`
	Error  *wire.ErrorObject `json:"error"`
}

// code is data.code of an error, "" for none.
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

// verdict is a reply in the words of the table.
func (m message) verdict() string {
	if m.Error == nil {
		return "ok"
	}
	return fmt.Sprintf("%d %s", m.Error.Code, m.code())
}
