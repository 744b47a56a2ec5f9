package main

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// attacksByProcesses are other processes: workers that fail, and whoever meddles
// with the socket.
func attacksByProcesses() []attack {
	alone := func(t *testing.T) *house { return startHouse(t, "mapd", "serve") }
	return []attack{
		{name: "workers killed while they parse", allow: chokeAllowed, run: workersKilled},
		{name: "a worker that is stopped", own: startQuick, allow: chokeAllowed, run: workerStopped},
		{name: "a worker that answers garbage", run: workerGarbage},
		{name: "the socket is deleted", own: alone, ends: true, run: socketDeleted},
		{name: "the socket is replaced by a file", own: alone, ends: true, run: socketReplaced},
		{name: "the lock file is deleted", own: alone, run: lockDeleted},
		{name: "a daemon of another build", own: startOtherBuild, ends: true, run: otherBuild},
		{name: "a socket directory open to the group", own: alone, run: openDirectory},
		{name: "a socket path of 200 bytes", run: longSocket},
		{name: "a peer of another user", own: alone, run: foreignUser},
		{name: "a peer in another mount namespace", run: foreignMounts},
		{name: "clients at the moment of idle expiry", own: startHasty, ends: true, run: idleExpiry},
		{name: "kill -9 of the daemon", own: alone, ends: true, run: daemonKilled},
	}
}

// expectParsed fails unless a small file gets an outline by a parser.
func (h *house) expectParsed(t *testing.T, p *peer, name string) {
	t.Helper()
	h.file(t, name, fmt.Appendf(nil, "def f():\n    return %q\n", name))
	if m := p.call(wire.MethodMap, mapOf(name)); m.Error != nil || !bytes.Contains(m.Result, []byte(`"source":"parser"`)) {
		t.Errorf("the next parse: %+v %.300s", m.Error, m.Result)
	}
}

// why returns the reason of the outline in a map.
func why(t *testing.T, m message) string {
	t.Helper()
	var r wire.MapResult
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Details.Outline.Source == "" {
		t.Fatalf("%+v %.200s", m.Error, m.Result)
	}
	return string(r.Details.Outline.Why)
}

// busyWorker waits until a worker has used processor time.
func (h *house) busyWorker(t *testing.T) int {
	t.Helper()
	ticks := func(pid int) string {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if _, rest, found := strings.Cut(string(text), ") "); found {
			if fields := strings.Fields(rest); len(fields) > 12 {
				return fields[11]
			}
		}
		return ""
	}
	before := map[int]string{}
	for _, pid := range h.workers(t) {
		before[pid] = ticks(pid)
	}
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); wait(time.Millisecond) {
		for _, pid := range h.workers(t) {
			if now := ticks(pid); now != before[pid] && now != "" && now != "0" {
				return pid
			}
		}
	}
	t.Fatal("no worker works")
	return 0
}

func workersKilled(t *testing.T, h *house) string {
	p := h.session(t)
	got := ""
	const kills = 3
	failed := p.status(t).Counters["workers_failed"]
	for i := range kills {
		p.request(wire.MethodMap, mapOf(h.slow(t, i)))
		sendSignal(t, h.busyWorker(t), syscall.SIGKILL)
		if got = why(t, p.reply()); got != "crashed" {
			t.Errorf("the outline of a worker that was killed says %q", got)
		}
	}
	h.expectParsed(t, p, "next.py")
	if n := p.status(t).Counters["workers_failed"] - failed; n != kills {
		t.Errorf("%d failures of workers were counted, %d were killed", n, kills)
	}
	return "a map by patterns, " + got
}

func workerStopped(t *testing.T, h *house) string {
	p := h.session(t)
	start := time.Now()
	p.request(wire.MethodMap, mapOf(h.slow(t, 0)))
	pid := h.busyWorker(t)
	sendSignal(t, pid, syscall.SIGSTOP)
	got := why(t, p.reply())
	if got != "timeout" {
		t.Errorf("the outline of a worker that was stopped says %q", got)
	}
	h.expectParsed(t, p, "next.py")
	for _, worker := range h.workers(t) {
		if worker == pid {
			t.Error("the stopped worker is still there")
		}
	}
	return fmt.Sprintf("a map by patterns, %s, %v", got, time.Since(start).Round(100*time.Millisecond))
}

// workerGarbage writes into the pipe on which the daemon waits for the answers
// of a worker.
func workerGarbage(t *testing.T, h *house) string {
	p := h.session(t)
	h.expectParsed(t, p, "first.py") // so that there is a worker
	reasons := map[string]int{}
	for i, garbage := range []string{strings.Repeat("\xff", 64), strings.Repeat("\x00", 4<<10), "\x00\x10\x00\x00\x00" + strings.Repeat("\x7f", 16), strings.Repeat("x", 60<<10)} {
		for _, pid := range h.workers(t) {
			f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", pid), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if err != nil {
				t.Skip(err)
			}
			_, _ = f.WriteString(garbage) // the worker may be gone, and another one here
			f.Close()
		}
		name := fmt.Sprintf("g%d.py", i)
		h.file(t, name, fmt.Appendf(nil, "def g%d():\n    pass\n", i))
		m := p.call(wire.MethodMap, mapOf(name))
		if !bytes.Contains(m.Result, fmt.Appendf(nil, "g%d", i)) {
			t.Errorf("%+v %.300s", m.Error, m.Result)
		}
		reasons[why(t, m)]++
	}
	for i := range 4 { // whatever is left of it
		name := fmt.Sprintf("h%d.py", i)
		h.file(t, name, fmt.Appendf(nil, "def h%d():\n    pass\n", i))
		p.call(wire.MethodMap, mapOf(name))
	}
	h.expectParsed(t, p, "next.py")
	return fmt.Sprintf("maps by patterns, reasons %v", reasons)
}

// nextDaemon runs a client, which must find or start another daemon.
func (h *house) nextDaemon(t *testing.T) {
	t.Helper()
	path := h.file(t, "next.txt", []byte("alpha\n"))
	out, code := h.run(t, nil, "mapd", "read", "--no-anchors", path)
	if code != exitOK || out != "alpha\n" {
		t.Errorf("the next client: exit %d, %s", code, out)
	}
	t.Cleanup(func() { endDaemons(h.runtime) })
	if pid, err := listenerPID(h.socket); err != nil || pid == h.pid {
		t.Errorf("process %d answers, %v; it was %d", pid, err, h.pid)
	}
}

func socketDeleted(t *testing.T, h *house) string {
	if err := os.Remove(h.socket); err != nil {
		t.Fatal(err)
	}
	h.nextDaemon(t)
	h.gone(t)
	if pid, err := listenerPID(h.socket); err != nil || pid == h.pid {
		t.Errorf("the end of the old daemon took the new one's socket: %d, %v", pid, err)
	}
	return "it ends; the next client starts another"
}

func socketReplaced(t *testing.T, h *house) string {
	if err := os.Remove(h.socket); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.socket, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.gone(t)
	out, code := h.run(t, nil, "mapd", "read", h.file(t, "a.txt", []byte("alpha\n")))
	if text, err := os.ReadFile(h.socket); code != exitFailed || err != nil || string(text) != "mine" {
		t.Errorf("exit %d, %s; the file holds %q, %v", code, out, text, err)
	}
	if err := os.Remove(h.socket); err != nil {
		t.Fatal(err)
	}
	h.nextDaemon(t)
	return "it ends; " + out
}

func lockDeleted(t *testing.T, h *house) string {
	if err := os.Remove(h.socket + ".lock"); err != nil {
		t.Fatal(err)
	}
	if out, code := h.run(t, nil, "mapd", "serve"); code != exitFailed || !strings.Contains(out, "another daemon") {
		t.Errorf("a second daemon: exit %d, %s", code, out)
	}
	out, code := h.run(t, nil, "mapd", "read", "--no-anchors", h.file(t, "a.txt", []byte("alpha\n")))
	if code != exitOK || out != "alpha\n" {
		t.Errorf("the next client: exit %d, %s", code, out)
	}
	return "a second daemon is refused, clients are served"
}

// startOtherBuild starts a daemon whose Go build id differs in one letter.
func startOtherBuild(t *testing.T) *house {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "mapd")
	copyOtherBuild(t, binary)
	h := &house{}
	h.env, h.runtime = environment(t)
	dir := filepath.Join(h.runtime, "mapd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "MAPD_SOCKET="+filepath.Join(dir, "s"))
	h.serveFrom(t, binary, "mapd", "serve")
	h.innocent = h.startInnocent(t)
	t.Cleanup(h.innocent.stop)
	h.observer = h.connect(t)
	h.observer.initialize("")
	return h
}

// copyOtherBuild copies this binary and changes its build id.
func copyOtherBuild(t *testing.T, to string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	section := file.Section(".note.go.buildid")
	if section == nil {
		t.Skip("this binary has no build id")
	}
	nameSize := uint64(binary.LittleEndian.Uint32(text[section.Offset:]))
	text[section.Offset+12+(nameSize+3)&^3] ^= 1
	if err := os.WriteFile(to, text, 0o700); err != nil {
		t.Fatal(err)
	}
}

func otherBuild(t *testing.T, h *house) string {
	path := h.file(t, "a.txt", []byte("alpha\n"))
	out, code := h.run(t, nil, "mapd", "read", path)
	if code != exitFailed || !strings.Contains(out, "mapd stop") {
		t.Errorf("a client of this build: exit %d, %s", code, out)
	}
	if _, _, _ = h.innocent.figures(t); h.pidOnSocket(t) != h.pid {
		t.Error("the daemon was killed for it")
	}
	// What the message says to do must help.
	if out, code := h.run(t, nil, "mapd", "stop"); code != exitOK {
		t.Errorf("the remedy: exit %d, %s", code, out)
	}
	h.gone(t)
	if out, code := h.run(t, nil, "mapd", "read", "--no-anchors", path); code != exitOK || out != "alpha\n" {
		t.Errorf("after the remedy: exit %d, %s", code, out)
	}
	if pid, err := listenerPID(h.socket); err == nil {
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	}
	return out
}

func openDirectory(t *testing.T, h *house) string {
	dir := filepath.Dir(h.socket)
	got := ""
	for _, mode := range []os.FileMode{0o770, 0o707, 0o755} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		out, code := h.run(t, nil, "mapd", "read", h.file(t, "a.txt", []byte("alpha\n")))
		if code != exitFailed || !strings.Contains(out, dir) {
			t.Errorf("%o: exit %d, %s", mode, code, out)
		}
		got = out
		if out, code := h.run(t, nil, "mapd", "serve"); code != exitFailed {
			t.Errorf("a daemon in it: exit %d, %s", code, out)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return got
}

func longSocket(t *testing.T, h *house) string {
	long := "MAPD_SOCKET=" + filepath.Join(h.runtime, strings.Repeat("x", 200))
	path := h.file(t, "a.txt", []byte("alpha\n"))
	got := ""
	for _, command := range [][]string{{"mapd", "read", path}, {"mapd", "serve"}, {"mapd", "status"}, {"mapd", "stop"}} {
		out, code := h.run(t, []string{long}, command...)
		if code != exitFailed || !strings.Contains(out, "107") {
			t.Errorf("%v: exit %d, %s", command, code, out)
		}
		got = out
	}
	return got
}

// foreignUser opens the directory to everybody, as a careless user might, and
// connects as somebody else.
func foreignUser(t *testing.T, h *house) string {
	asRoot(t)
	for path, mode := range map[string]os.FileMode{h.runtime: 0o755, filepath.Dir(h.socket): 0o755, h.socket: 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(h.runtime, hostilePeer)
	copyOtherBuild(t, binary)
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	cmd := h.command(hostilePeer)
	cmd.Path, cmd.Dir = binary, "/"
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "MAPD_SOCKET="+h.socket)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, code := output(t, cmd)
	if code != exitOK || !strings.Contains(out, string(wire.PermissionDenied)) || strings.Contains(out, "serverInfo") {
		t.Errorf("exit %d, %s", code, out)
	}
	if n := h.observer.status(t).Counters["connections_refused"]; n != 1 {
		t.Errorf("%d connections refused", n)
	}
	return out
}

// foreignMounts connects from another mount namespace, raw and with the real
// client.
func foreignMounts(t *testing.T, h *house) string {
	asRoot(t)
	elsewhere := &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	cmd := h.command(hostilePeer)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "MAPD_SOCKET="+h.socket)
	cmd.SysProcAttr = elsewhere
	if err := cmd.Start(); err != nil {
		t.Skip("no mount namespaces here:", err)
	}
	_ = cmd.Wait()
	got := ""
	for _, args := range [][]string{{hostilePeer}, {"mapd", "status"}, {"mapd", "read", h.file(t, "a.txt", []byte("alpha\n"))}} {
		cmd := h.command(args...)
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "MAPD_SOCKET="+h.socket)
		cmd.SysProcAttr = elsewhere
		out, code := output(t, cmd)
		if !strings.Contains(out, "mount namespace") || !strings.Contains(out, "serve --stdio") || args[0] == "mapd" && code != exitFailed {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
		got = out
	}
	return got
}

const hastyIdle = 120 * time.Millisecond

func startHasty(t *testing.T) *house {
	t.Helper()
	return startHouse(t, fmt.Sprintf("MAPD_LIMIT_IDLE_MS=%d", hastyIdle.Milliseconds()), "mapd", "serve")
}

// idleExpiry has clients come when the daemon is about to end because nobody
// came.
func idleExpiry(t *testing.T, h *house) string {
	h.innocent.stop()
	h.observer.close()
	for _, variable := range h.env {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	t.Cleanup(func() { endDaemons(h.runtime) })
	h.file(t, "a.txt", []byte("alpha\n"))
	pids := map[int]bool{}
	const clients = 16
	for i := range clients {
		pid, err := h.readOnce(h.folder)
		if err != nil {
			t.Errorf("client %d: %v", i, err)
		}
		pids[pid] = true
		// From a little before the daemon ends to a little after.
		wait(hastyIdle + time.Duration(i-clients/2)*time.Millisecond)
	}
	if len(pids) < 2 {
		t.Errorf("no daemon ended: %v", pids)
	}
	return fmt.Sprintf("%d clients served by %d daemons", clients, len(pids))
}

// readOnce is a client that starts a daemon if there is none.
func (h *house) readOnce(folder string) (pid int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, client.Options{Socket: h.socket, Start: true})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var p wire.InitializeParams
	p.WorkspaceFolders = []wire.WorkspaceFolder{{URI: fileURI(folder)}}
	if _, err := c.Initialize(ctx, p); err != nil {
		return 0, err
	}
	if _, err := c.Read(ctx, wire.ReadParams{Path: "a.txt"}); err != nil {
		return 0, err
	}
	s, err := c.Status(ctx)
	if err != nil {
		return 0, err
	}
	return s.PID, nil
}

func daemonKilled(t *testing.T, h *house) string {
	p := h.session(t)
	p.request(wire.MethodMap, mapOf(h.slow(t, 0)))
	h.busyWorker(t)
	workers := h.workers(t)
	sendSignal(t, h.pid, syscall.SIGKILL)
	h.gone(t)
	h.nextDaemon(t)
	for _, pid := range workers {
		for deadline := time.Now().Add(patience); syscall.Kill(pid, 0) == nil && time.Now().Before(deadline); wait(time.Millisecond) {
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(text), ") Z ") {
				break
			}
		}
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && len(text) > 0 {
			t.Errorf("worker %d lives on: %q", pid, text)
		}
	}
	return "its workers end; the next client starts another"
}
