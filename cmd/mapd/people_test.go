package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"mapd/outline/symbol"
	"mapd/rpc/wire"
)

// Every command has examples, which are right as far as that can be seen without
// running them: the command, its flags and the number of its arguments.
func TestExamples(t *testing.T) {
	a := &app{stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}
	a.conf = configure(a.getenv)
	seen := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" || c.Parent() != nil && c.Parent().Name() == "completion" {
			return // cobra's own
		}
		if c.Example == "" || c.Short == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			seen++
			checkExample(t, a, strings.TrimSpace(line))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(a.commands())
	if seen < 25 {
		t.Errorf("only %d examples", seen)
	}
}

// words splits a command line as a shell does, quotes and redirections aside.
func words(line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '<' {
			_, line, _ = strings.Cut(strings.TrimSpace(line[1:]), " ")
			continue
		}
		end := " "
		if line[0] == '\'' {
			end, line = "'", line[1:]
		}
		var word string
		word, line, _ = strings.Cut(line, end)
		out = append(out, word)
	}
	return out
}

func checkExample(t *testing.T, a *app, line string) {
	t.Helper()
	_, piped, ok := strings.Cut(line, "| ")
	if ok {
		line = piped
	}
	args := words(line)
	if args[0] != "mapd" {
		args = args[max(0, len(args)-2):] // another program's that runs mapd
	}
	root := a.commands()
	cmd, rest, err := root.Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil || cmd == root {
		t.Errorf("%s: %v", line, err)
	}
}

func TestScreen(t *testing.T) {
	type made struct{ color, env, file string }
	for in, want := range map[made]bool{
		{}: false, {color: "always"}: true, {color: "always", env: "1", file: "never"}: true, {env: "1", file: "always"}: false,
		{file: "always"}: true, {color: "auto", file: "always"}: false, {color: "never", file: "always"}: false,
	} {
		a := &app{color: in.color, getenv: func(name string) string { return map[string]string{"NO_COLOR": in.env}[name] }}
		a.conf = configure(func(string) string { return "" })
		a.conf.user.Color = in.file
		if s := a.screenOf(&bytes.Buffer{}); s.color != want || s.terminal {
			t.Errorf("%+v: %+v", in, s)
		}
	}
}

func TestPaint(t *testing.T) {
	s := screen{terminal: true, color: true}
	for _, test := range []struct {
		paint    func(string) string
		in, want string
	}{
		{s.paintAnchor, "12#VRTX:a\x1b[31mb: 1#2:", "\x1b[2m12#VRTX:\x1b[0ma^[[31mb: 1#2:"},
		{s.paintAnchor, "plain: text", "plain: text"},
		{s.paintAnchor, "#x: y", "#x: y"},
		{s.paintRange, "  function f: [1-2]", "  function f\x1b[2m: [1-2]\x1b[0m"},
		{s.paintRange, "function f", "function f"},
		{s.paintHit, "a.go:1#VRTX function f: x#y", "\x1b[1ma.go:1\x1b[0m\x1b[2m#VRTX\x1b[0m function f: x#y"},
		{s.paintAnchor, "a\tb\x00\x7f\xff\u009b\u00e4", "a\tb^@\\u007f\\xff\\u009b\u00e4"},
	} {
		var out bytes.Buffer
		w := s.writer(&out, test.paint)
		for _, part := range []string{test.in[:1], test.in[1:], "\n"} { // in pieces
			if _, err := io.WriteString(w, part); err != nil {
				t.Fatal(err)
			}
		}
		if got := out.String(); got != test.want+"\n" {
			t.Errorf("%q\n%q, want\n%q", test.in, got, test.want)
		}
	}
	var out bytes.Buffer
	if w := (screen{}).writer(&out, s.paintAnchor); w != &out {
		t.Error("a pipe gets other bytes than those of the result")
	}
}

// On a terminal a status is in columns, and what clients call themselves does
// nothing to it.
func TestStatusOnATerminal(t *testing.T) {
	var out bytes.Buffer
	err := statusTables(&out, screen{terminal: true}, &wire.StatusResult{
		Version: "v", Build: "b", PID: 7, UptimeSeconds: 61, Socket: "/s", Memory: map[string]int64{"heap": 3 << 20, "history": 1 << 20, "a": 1, "b": 2, "c": 3, "d": 4},
		Sessions:   []wire.SessionStatus{{ID: "s1", Client: "evil\x1b[2J", PID: 9, Requests: 12, Attached: true, Folders: []string{"/w"}}, {ID: "s2", Name: "me", Folders: []string{}}},
		Workspaces: []wire.WorkspaceStatus{{Root: "/w", State: "degraded", Why: "no watches", Files: 10}},
		Methods:    []wire.MethodLatency{{Method: "mapd/read", Count: 1234, P50Micros: 64, MaxMicros: 2000}},
		Errors:     map[string]int64{"not_found": 2},
	})
	want := `mapd v build b, pid 7, up 1m1s
socket /s
memory heap 3.0 MiB, history 1.0 MiB, d 0.0 MiB, c 0.0 MiB, b 0.0 MiB

WORKSPACE  STATE                 FILES  INDEXED  SKIPPED  WATCHES  SESSIONS
/w         degraded: no watches  10     0        0        0        0

SESSION  CLIENT     PID   REQUESTS  RUNNING  LEDGER   FOLDERS
s1       evil^[[2J  9     12        0        0.0 MiB  /w
s2 "me"             gone  0         0        0.0 MiB  

METHOD     CALLS  FAILED  P50   P99  MAX
mapd/read  1234   0       64µs  0s   2ms

errors not_found 2

mapd status --json has the limits and all counters
`
	if got := out.String(); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestSymbolNames(t *testing.T) {
	tree := []symbol.Symbol{
		{Name: "Server", Children: []symbol.Symbol{{Name: "start"}, {Name: "stop", Children: []symbol.Symbol{{Name: "inner"}}}}},
		{Name: "Session"}, {Name: "two\nlines"},
	}
	for typed, want := range map[string]string{
		"": "Server Server.start Server.stop Server.stop.inner Session", "Ser": "Server Server.start Server.stop", "Server.st": "Server.start Server.stop",
		"Server.stop.": "Server.stop.inner", "Ses": "Session", "x": "",
	} {
		if got := strings.Join(symbolNames(tree, "", typed, nil), " "); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}
