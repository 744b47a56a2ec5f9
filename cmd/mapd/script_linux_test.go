package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"mapd/outline/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.RunIfWorker()
	testscript.Main(m, map[string]func(){
		"mapd":      func() { os.Exit(mainCode()) },
		hostilePeer: func() { os.Exit(runHostilePeer()) },
	})
}

// TestScripts drives the real binary, each script with a daemon, a home and
// a runtime directory of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup:               setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"kill9": kill9,
			"lines": lines,
		},
	})
}

// setupScript gives a script directories of its own. The runtime directory is
// short, as the path of a socket has 107 bytes at most.
func setupScript(env *testscript.Env) error {
	runtime, err := os.MkdirTemp("", "mapd")
	if err != nil {
		return err
	}
	env.Vars = append(env.Vars,
		"XDG_RUNTIME_DIR="+runtime,
		"XDG_STATE_HOME="+filepath.Join(env.WorkDir, "state"),
		"XDG_CACHE_HOME="+filepath.Join(env.WorkDir, "cache"),
		"HOME="+filepath.Join(env.WorkDir, "home"),
		"MAPD_LIMIT_IDLE_MS=60000",
	)
	env.Defer(func() {
		endDaemons(runtime)
		os.RemoveAll(runtime)
	})
	return nil
}

// endDaemons kills the daemons that listen below dir.
func endDaemons(dir string) {
	sockets, _ := filepath.Glob(filepath.Join(dir, "mapd", "*.sock"))
	for _, path := range sockets {
		if pid, err := listenerPID(path); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// listenerPID returns the process that listens on a socket.
func listenerPID(path string) (int, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil || err != nil {
		return 0, errors.Join(e, err)
	}
	return int(cred.Pid), nil
}

// kill9 FILE kills the process whose pid FILE holds, and waits for its end.
func kill9(ts *testscript.TestScript, neg bool, args []string) {
	pid := scriptPID(ts, neg, args)
	ended, err := watchProcess(context.Background(), pid)
	ts.Check(err)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	ts.Check(ended())
}

func scriptPID(ts *testscript.TestScript, neg bool, args []string) int {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill9 FILE")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	return pid
}

// lines FILE N fails unless FILE has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); (got == want) == neg {
		ts.Fatalf("%s has %d lines", args[0], got)
	}
}
