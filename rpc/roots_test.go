package rpc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mapd/rpc"
	"mapd/rpc/wire"
)

// workspaceAt returns the status of one root once it is as wanted.
func (a *agent) workspaceAt(root string, want func(wire.WorkspaceStatus) bool) wire.WorkspaceStatus {
	a.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		var got *wire.WorkspaceStatus
		for _, w := range a.status().Workspaces {
			if w.Root == root {
				got = &w
			}
		}
		switch {
		case got != nil && want(*got):
			return *got
		case time.Now().After(deadline):
			a.t.Fatalf("the workspace %s: %+v", root, got)
		}
	}
}

func ready(w wire.WorkspaceStatus) bool  { return w.State == "ready" }
func anyState(wire.WorkspaceStatus) bool { return true }

// A folder of initialize is indexed; sessions share it; a bare one is not.
func TestRoots(t *testing.T) {
	d := newDaemon(t)
	d.write("a.go", "package a\n")
	d.write("skip/b.go", "package b\n")
	d.write(".gitignore", "skip\n")
	if err := os.Mkdir(filepath.Join(d.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, b := d.session(), d.session()
	w := a.workspaceAt(d.dir, ready)
	if w.Files != 2 || w.Indexed != 2 || w.Skipped != 0 || w.Sessions != 2 || w.Generation == 0 || w.Watches != 1 || w.AuditMs == 0 {
		t.Errorf("%+v", w)
	}
	d.write("new.go", "package a\n")
	b.workspaceAt(d.dir, func(w wire.WorkspaceStatus) bool { return ready(w) && w.Files == 3 })

	bare := t.TempDir()
	c := d.connect()
	params := fmt.Sprintf(`{"workspaceFolders":[{"uri":"file://%s","name":"x","bare":true}]}`, bare)
	if m := c.call("initialize", params); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	w = c.workspaceAt(bare, func(wire.WorkspaceStatus) bool { return true })
	if w.State != "degraded" || !strings.Contains(w.Why, "bare") || w.Files != 0 {
		t.Errorf("bare: %+v", w)
	}
	// It counts as whole once a client names it so.
	c.notify("workspace/didChangeWorkspaceFolders", fmt.Sprintf(`{"event":{"added":[{"uri":"file://%s","name":"x"}],"removed":[]}}`, bare))
	c.workspaceAt(bare, ready)
	c.notify("workspace/didChangeWorkspaceFolders", fmt.Sprintf(`{"event":{"added":[],"removed":[{"uri":"file://%s","name":"x"}]}}`, bare))
	c.workspaceAt(bare, func(w wire.WorkspaceStatus) bool { return w.Sessions == 0 })
}

// / and the home directory are refused with the reason, until that is asked for.
func TestLargeRoots(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	d := newDaemon(t)
	for _, root := range []string{"/", home} {
		a := d.connect()
		if m := a.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s"}`, root)); m.Error != nil {
			t.Fatal(m.Error.Message)
		}
		w := a.workspaceAt(root, func(w wire.WorkspaceStatus) bool { return w.State != "indexing" })
		if w.State != "degraded" || !strings.Contains(w.Why, "home directory and /") {
			t.Errorf("%s: %+v", root, w)
		}
	}
	a := d.connect()
	if m := a.call("initialize", fmt.Sprintf(`{"workspaceFolders":[{"uri":"file://%s","name":"x","large":true}]}`, home)); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	a.workspaceAt(home, ready)
}

// Roots that nobody has are unloaded after a while, and earlier when others
// need their watches; those that somebody has are not.
func TestIdleRoots(t *testing.T) {
	limits := rpc.DefaultLimits()
	limits.Workspace.WatchStreams = 2
	d := newDaemonOf(t, limits)
	a := d.session()
	a.workspaceAt(d.dir, ready)
	var last string
	for range 4 {
		last = t.TempDir()
		b := d.connect()
		if m := b.call("initialize", fmt.Sprintf(`{"rootUri":"file://%s"}`, last)); m.Error != nil {
			t.Fatal(m.Error.Message)
		}
		b.workspaceAt(last, ready)
		b.conn.Close()
		a.workspaceAt(last, func(w wire.WorkspaceStatus) bool { return w.Sessions == 0 })
	}
	got := a.status()
	if len(got.Workspaces) != 2 || got.Levels["watch_streams"] != 2 {
		t.Errorf("%+v", got.Workspaces)
	}
	a.workspaceAt(d.dir, ready)

	limits.RootIdle = time.Millisecond
	d = newDaemonOf(t, limits)
	d.session().conn.Close()
	for deadline := time.Now().Add(30 * time.Second); ; {
		b := d.connect()
		b.call("initialize", `{}`)
		if len(b.status().Workspaces) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a root that nobody has stays")
		}
	}
}
