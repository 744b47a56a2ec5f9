package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// TestWatchLimits runs the daemon where the kernel gives it few inotify
// instances or watches: it says so, answers right, and watches when it can.
func TestWatchLimits(t *testing.T) {
	for _, limit := range []struct {
		name string
		few  int
	}{{"max_inotify_instances", 0}, {"max_inotify_watches", 3}} {
		t.Run(limit.name, func(t *testing.T) {
			h := serveLimited(t, limit.name, limit.few)
			root := t.TempDir()
			for i := range 5 {
				writeFile(t, filepath.Join(root, fmt.Sprintf("d%d/a.go", i)), "package a\n")
			}
			w := h.index(root)
			if w.State != "degraded" || !strings.Contains(w.Why, "limit of file watches") || w.Files != 5 || w.Indexed != 5 {
				t.Fatalf("with %d: %+v", limit.few, w)
			}
			writeFile(t, filepath.Join(root, "d1/b.go"), "package b\n")
			h.await(root, func(w wire.WorkspaceStatus) bool { return w.State == "degraded" && w.Files == 6 })
			if out := h.run("mapd read --no-anchors " + filepath.Join(root, "d1/b.go")); out != "package b\n" {
				t.Errorf("read: %q", out)
			}
			h.run(fmt.Sprintf("echo 100 > /proc/sys/user/%s", limit.name))
			h.await(root, func(w wire.WorkspaceStatus) bool { return w.State == "ready" && w.Watches == 6 })
			writeFile(t, filepath.Join(root, "d2/c.go"), "package c\n")
			h.await(root, func(w wire.WorkspaceStatus) bool { return w.State == "ready" && w.Files == 7 })
		})
	}
}

// limited is a shell in a user namespace of its own, in which a daemon runs.
type limited struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
}

// serveLimited starts a daemon in a user namespace in which a limit of the kernel
// is few.
func serveLimited(t *testing.T, limit string, few int) *limited {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "mapd")); err != nil {
		t.Fatal(err)
	}
	const script = `echo $2 > /proc/sys/user/$1 || { echo refused; exit; }
mapd serve &
daemon=$!
while read line; do eval "$line"; echo "done $?"; done
kill $daemon
wait`
	cmd := exec.Command("sh", "-c", script, "sh", limit, fmt.Sprint(few))
	cmd.Env, _ = environment(t, "MAPD_LIMIT_SWEEP_MS=100")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	same := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid())}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no user namespaces here: %v", err)
	}
	t.Cleanup(func() {
		in.Close()
		timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	l := &limited{t: t, in: in, lines: bufio.NewScanner(out)}
	if !l.lines.Scan() || l.lines.Text() == "refused" {
		t.Skipf("the limit cannot be set here: %q", l.lines.Text())
	}
	if !strings.HasPrefix(l.lines.Text(), "ready ") {
		t.Fatalf("the daemon said %q", l.lines.Text())
	}
	return l
}

// run runs a line of shell beside the daemon, which must succeed, and returns
// what it prints.
func (l *limited) run(command string) string {
	l.t.Helper()
	if _, err := fmt.Fprintln(l.in, command+" 2>&1"); err != nil {
		l.t.Fatal(err)
	}
	var out strings.Builder
	for l.lines.Scan() {
		if status, done := strings.CutPrefix(l.lines.Text(), "done "); done {
			if status != "0" {
				l.t.Fatalf("%s: exit status %s, %s", command, status, out.String())
			}
			return out.String()
		}
		out.WriteString(l.lines.Text() + "\n")
	}
	l.t.Fatalf("%s: the shell has ended: %s", command, out.String())
	return ""
}

// index runs mapd index.
func (l *limited) index(root string) wire.WorkspaceStatus {
	l.t.Helper()
	out := l.run("mapd index --json " + root)
	for line := range strings.Lines(out) { // others are prose
		var w wire.WorkspaceStatus
		if json.Unmarshal([]byte(line), &w) == nil {
			return w
		}
	}
	l.t.Fatalf("no status: %s", out)
	return wire.WorkspaceStatus{}
}

// await waits until the workspace of root is as wanted. It indexes it, as a
// session that uses it would.
func (l *limited) await(root string, want func(wire.WorkspaceStatus) bool) {
	l.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		w := l.index(root)
		if want(w) {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("the workspace is %+v", w)
		}
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
