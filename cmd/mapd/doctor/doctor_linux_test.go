package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mapd/cmd/mapd/config"
	"mapd/cmd/mapd/install"
	"mapd/outline"
	"mapd/outline/sandbox"
	"mapd/workspace/store"
)

func TestMain(m *testing.M) {
	sandbox.RunIfWorker()
	os.Exit(m.Run())
}

// healthy returns options under which nothing is wrong, and the environment to
// break.
func healthy(t *testing.T) (*Options, map[string]string) {
	t.Helper()
	home := t.TempDir()
	runtime, err := os.MkdirTemp("", "mapd") // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	env := map[string]string{"HOME": home, "XDG_RUNTIME_DIR": runtime, "PATH": os.Getenv("PATH")}
	proc := filepath.Join(t.TempDir(), "proc")
	put(t, filepath.Join(proc, "sys/fs/inotify/max_user_instances"), "128\n")
	put(t, filepath.Join(proc, "sys/fs/inotify/max_user_watches"), "8192\n")
	return &Options{
		Getenv:  func(name string) string { return env[name] },
		Version: "test", Build: func() (string, error) { return "0123456789ab", nil },
		StateDir: filepath.Join(home, ".local/state/mapd"), Outline: outline.DefaultLimits(), Proc: proc,
		Store: filepath.Join(home, ".cache/mapd/o.db"), Blobs: store.Blobs{Dir: filepath.Join(home, ".cache/mapd/names")},
	}, env
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWell(t *testing.T) {
	opt, _ := healthy(t)
	findings := Run(t.Context(), *opt)
	checks := map[string]bool{}
	for _, f := range findings {
		checks[f.Check] = true
		if f.Finding == "" || f.Remedy != "" {
			t.Errorf("%+v", f)
		}
	}
	if !Well(findings) || len(checks) != 9 {
		t.Errorf("%+v", findings)
	}
}

// Each defect is found by its check alone, with a remedy.
func TestDefects(t *testing.T) {
	tests := []struct {
		name, check, want string
		root              bool // the defect is none for root
		break_            func(t *testing.T, opt *Options, env map[string]string)
	}{
		{"build", "build", "no build id", false, func(t *testing.T, opt *Options, _ map[string]string) {
			opt.Build = func() (string, error) { return "", errors.New("stripped") }
		}},
		{"long", "socket", "unix sockets allow 107", false, func(t *testing.T, _ *Options, env map[string]string) {
			env["MAPD_SOCKET"] = "/" + strings.Repeat("x", 120)
		}},
		{"open directory", "socket", "is open to others (mode 0755)", false, func(t *testing.T, _ *Options, env map[string]string) {
			dir := filepath.Join(env["XDG_RUNTIME_DIR"], "mapd")
			os.Mkdir(dir, 0o755)
			os.Chmod(dir, 0o755)
		}},
		{"link", "socket", "is a symbolic link", false, func(t *testing.T, _ *Options, env map[string]string) {
			os.Symlink(t.TempDir(), filepath.Join(env["XDG_RUNTIME_DIR"], "mapd"))
		}},
		{"no socket", "socket", "it is no socket", false, func(t *testing.T, _ *Options, env map[string]string) {
			env["MAPD_SOCKET"] = filepath.Join(env["HOME"], "own", "s")
			put(t, env["MAPD_SOCKET"], "x")
		}},
		{"mute", "socket", "does not answer", false, func(t *testing.T, _ *Options, env map[string]string) {
			env["MAPD_SOCKET"] = filepath.Join(env["XDG_RUNTIME_DIR"], "s")
			l, err := net.Listen("unix", env["MAPD_SOCKET"])
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					c.Close()
				}
			}()
			t.Cleanup(func() { l.Close(); <-served })
		}},
		{"state", "permissions", "no directory", false, func(t *testing.T, opt *Options, env map[string]string) {
			put(t, filepath.Join(env["HOME"], "file"), "")
			opt.StateDir = filepath.Join(env["HOME"], "file", "mapd")
		}},
		{"locked state", "permissions", "cannot be written", true, func(t *testing.T, opt *Options, env map[string]string) {
			os.MkdirAll(opt.StateDir, 0o500)
		}},
		{"no home", "permissions", "neither", false, func(t *testing.T, opt *Options, _ map[string]string) { opt.StateDir = "" }},
		{"log", "permissions", "others may read", false, func(t *testing.T, opt *Options, _ map[string]string) {
			put(t, filepath.Join(opt.StateDir, "mapd.log"), "")
			os.Chmod(filepath.Join(opt.StateDir, "mapd.log"), 0o644)
		}},
		{"configuration", "configuration", "f:3: limits.x: why; ignored", false, func(t *testing.T, opt *Options, _ map[string]string) {
			opt.Warnings = []config.Warning{{File: "f", Line: 3, Field: "limits.x", Reason: "why"}}
		}},
		{"watches", "watches", "7400 of 8192 inotify watches", false, func(t *testing.T, opt *Options, _ map[string]string) {
			watching(t, opt.Proc, 1, 7400)
		}},
		{"instances", "watches", "116 of 128 inotify instances", false, func(t *testing.T, opt *Options, _ map[string]string) {
			watching(t, opt.Proc, 116, 1)
		}},
		{"no proc", "watches", "not known", false, func(t *testing.T, opt *Options, _ map[string]string) { opt.Proc = "/nowhere" }},
		{"worker", "workers", "timeout", false, func(t *testing.T, opt *Options, _ map[string]string) { opt.Outline.Memory = 1 << 20 }},
		{"gone program", "clients", "claude-code: ", false, func(t *testing.T, opt *Options, env map[string]string) {
			installed(t, env, "claude-code", "/gone/mapd")
		}},
		{"not in PATH", "clients", "PATH does not lead to it", false, func(t *testing.T, _ *Options, env map[string]string) {
			env["PATH"] = ""
			installed(t, env, "codex", "mapd")
		}},
		{"no cache", "store", "neither", false, func(_ *testing.T, opt *Options, _ map[string]string) { opt.Store = "" }},
		{"cache is a file", "store", "no directory", false, func(t *testing.T, opt *Options, env map[string]string) {
			put(t, filepath.Join(env["HOME"], ".cache"), "")
		}},
		{"broken store", "store", "is damaged", false, func(t *testing.T, opt *Options, _ map[string]string) {
			put(t, opt.Store, strings.Repeat("x", 64<<10))
		}},
		{"store is a directory", "store", "cannot be used", false, func(t *testing.T, opt *Options, _ map[string]string) {
			os.MkdirAll(opt.Store, 0o700)
		}},
		{"broken client", "clients", "cannot be read", false, func(t *testing.T, _ *Options, env map[string]string) {
			put(t, filepath.Join(env["HOME"], ".claude.json"), "{")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.root && os.Getuid() == 0 {
				t.Skip("root may write everywhere")
			}
			opt, env := healthy(t)
			test.break_(t, opt, env)
			findings := Run(context.Background(), *opt)
			found := false
			for _, f := range findings {
				if f.Status == OK {
					continue
				}
				if f.Check != test.check || f.Remedy == "" {
					t.Errorf("%+v", f)
				}
				found = found || strings.Contains(f.Finding, test.want) || test.name == "worker"
			}
			if !found || Well(findings) {
				t.Errorf("no problem says %q: %+v", test.want, findings)
			}
		})
	}
}

// watching makes a process in proc that has inotify instances and watches.
func watching(t *testing.T, proc string, instances, watches int) {
	t.Helper()
	for i := range instances {
		fd := fmt.Sprint(3 + i)
		info := "pos:\t0\nflags:\t02000000\n"
		if i == 0 {
			info += strings.Repeat("inotify wd:1 ino:2 sdev:3 mask:fff ignored_mask:0\n", watches)
		}
		put(t, filepath.Join(proc, "17/fdinfo", fd), info)
		if err := os.MkdirAll(filepath.Join(proc, "17/fd"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("anon_inode:inotify", filepath.Join(proc, "17/fd", fd)); err != nil {
			t.Fatal(err)
		}
	}
}

// installed sets up a client to run a program.
func installed(t *testing.T, env map[string]string, client, program string) {
	t.Helper()
	getenv := func(name string) string { return env[name] }
	if _, err := install.Install(client, install.Options{Getenv: getenv, Command: program}); err != nil {
		t.Fatal(err)
	}
}

// A client that is set up well is named with the program that it runs.
func TestClients(t *testing.T) {
	opt, env := healthy(t)
	program := filepath.Join(env["HOME"], "bin", "mapd")
	put(t, program, "#!/bin/sh\n")
	os.Chmod(program, 0o700)
	env["PATH"] = filepath.Dir(program)
	installed(t, env, "codex", "mapd")
	installed(t, env, "zed", program)
	put(t, filepath.Join(env["HOME"], ".config/opencode/opencode.json"), `{"theme": "mapdark"}`)
	var lines []string
	for _, f := range checkClients(t.Context(), opt) {
		lines = append(lines, string(f.Status)+" "+strings.ReplaceAll(f.Finding, env["HOME"], "~"))
	}
	want := "ok codex: ~/.codex/config.toml runs ~/bin/mapd\nok zed: ~/.config/zed/settings.json runs ~/bin/mapd"
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestDeadSocketIsNoProblem(t *testing.T) {
	opt, env := healthy(t)
	env["MAPD_SOCKET"] = filepath.Join(env["XDG_RUNTIME_DIR"], "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: env["MAPD_SOCKET"], Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if f := checkSocket(t.Context(), opt); len(f) != 1 || f[0].Status != OK || !strings.Contains(f[0].Finding, "gone") {
		t.Errorf("%+v", f)
	}
}

// A root on a file system of another machine is worth a note, and no failure.
func TestNotesAreNoProblems(t *testing.T) {
	if !Well([]Finding{{Status: Note}, {Status: OK}}) || Well([]Finding{{Status: OK}, {Status: Problem}}) {
		t.Error("notes count, or problems do not")
	}
	opt, _ := healthy(t)
	opt.Root = t.TempDir()
	for _, f := range checkWatches(t.Context(), opt) {
		if f.Status == Problem || f.Status == Note && f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
}
