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

// Roots that find no watches say so, answer right, and are watched as soon as
// others have left theirs.
func TestScarceWatches(t *testing.T) {
	limits := rpc.DefaultLimits()
	limits.Workspace.WatchStreams = 1
	limits.Workspace.Sweep = 50 * time.Millisecond
	d := newDaemonOf(t, limits)
	first := d.session()
	first.workspaceAt(d.dir, ready)

	other, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d.dir = other
	d.write("a.txt", "one\n")
	a := d.session(`{"stale":"push"}`)
	w := a.workspaceAt(other, func(w wire.WorkspaceStatus) bool { return w.State != "indexing" && w.Generation > 0 })
	if w.State != "degraded" || !strings.Contains(w.Why, "max_user_instances") || w.Files != 1 || w.Watches != 0 || w.SweepMs != 50 {
		t.Errorf("without watches: %+v", w)
	}
	a.read(`{"path":"a.txt"}`)
	d.replace("a.txt", "two\n")
	var s wire.Stale
	a.pushed("mapd/stale", &s)
	if len(s.Ranges) != 1 || s.Ranges[0].Status != "changed" {
		t.Errorf("without watches: %+v", s)
	}
	if got := text(a.read(`{"path":"a.txt"}`)); !strings.Contains(got, "two") {
		t.Errorf("without watches a read has %q", got)
	}
	d.write("b.txt", "b\n")
	a.workspaceAt(other, func(w wire.WorkspaceStatus) bool { return w.Files == 2 })

	first.conn.Close()
	w = a.workspaceAt(other, ready)
	if w.Watches != 1 || w.Why != "" {
		t.Errorf("with watches again: %+v", w)
	}
	d.write("c.txt", "c\n")
	a.workspaceAt(other, func(w wire.WorkspaceStatus) bool { return ready(w) && w.Files == 3 })
}

// A thousand small roots work: some are watched, the others say that they are
// not, and every file is answered.
func TestManyRoots(t *testing.T) {
	n := 200
	if strings.Contains(os.Getenv("MAPD_SUITE"), "roots") {
		n = 1000
	}
	d := newDaemon(t)
	var folders []string
	for i := range n {
		name := fmt.Sprintf("root%d/a.go", i)
		path := d.write(name, fmt.Sprintf("package a // %d\n", i))
		folders = append(folders, fmt.Sprintf(`{"uri":"file://%s","name":""}`, filepath.Dir(path)))
	}
	a := d.connect()
	if m := a.call("initialize", fmt.Sprintf(`{"workspaceFolders":[%s]}`, strings.Join(folders, ","))); m.Error != nil {
		t.Fatal(m.Error.Message)
	}
	var watched int
	for deadline := time.Now().Add(50 * time.Second); ; {
		settled := 0
		watched = 0
		s := a.status()
		for _, w := range s.Workspaces {
			if w.Files == 1 && w.Indexed == 1 && w.State != "indexing" {
				settled++
			}
			if w.State == "ready" {
				watched++
			} else if w.State == "degraded" && w.Why == "" {
				t.Fatalf("degraded without a reason: %+v", w)
			}
		}
		if settled == n {
			if most := s.Limits["watch_streams"]; int64(watched) > most || s.Levels["watch_streams"] > most {
				t.Errorf("%d roots are watched with %d streams, the limit is %d", watched, s.Levels["watch_streams"], most)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d roots are indexed", settled, n)
		}
	}
	if watched == 0 {
		t.Error("no root is watched")
	}
	for i := 0; i < n; i += 37 {
		if got := text(a.read(fmt.Sprintf(`{"path":%q}`, filepath.Join(d.dir, fmt.Sprintf("root%d/a.go", i))))); !strings.Contains(got, fmt.Sprintf("// %d", i)) {
			t.Errorf("root %d: %q", i, got)
		}
	}
}

// Past the limit of indexed folders the others are not, and say so; they are
// once there is room.
func TestRootsHaveALimit(t *testing.T) {
	limits := rpc.DefaultLimits()
	limits.Roots = 2
	d := newDaemonOf(t, limits)
	var clients []*agent
	for i := range 3 {
		d.dir = t.TempDir()
		a := d.session()
		w := a.workspaceAt(d.dir, func(w wire.WorkspaceStatus) bool { return w.State != "indexing" })
		if (w.State == "ready") != (i < 2) || i == 2 && !strings.Contains(w.Why, "limit") {
			t.Errorf("folder %d: %+v", i, w)
		}
		clients = append(clients, a)
	}
	clients[0].conn.Close()
	again := d.session()
	for deadline := time.Now().Add(30 * time.Second); ; {
		w := again.workspaceAt(d.dir, anyState)
		if w.State == "ready" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", w)
		}
		again.conn.Close() // the first client may not have been gone yet
		again = d.session()
	}
}
