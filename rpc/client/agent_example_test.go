package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"mapd/outline"
	"mapd/rpc"
	"mapd/rpc/client"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// An agent reads, another program changes the file, and the agent's edit is
// either followed to where its line moved, in the same call, or rejected with
// all that the next one needs.
func Example_edit() {
	c, dir, done := exampleSession(client.Options{})
	defer done()
	ctx := context.Background()
	path := filepath.Join(dir, "poem.txt")
	write := func(lines ...string) {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			panic(err)
		}
	}
	write("roses", "are", "red", "violets", "are", "blue")
	read, err := c.Read(ctx, wire.ReadParams{Path: "poem.txt"})
	if err != nil {
		fmt.Println(err)
		return
	}
	red := anchorOf(read.Content[0].Text, "red")

	// The line moves: the edit follows it.
	write("title", "roses", "are", "red", "violets", "are", "blue")
	result, err := c.Edit(ctx, replaceLine(red, "crimson"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("followed from %.1s to %.1s\n", result.Rebased[0].From, result.Rebased[0].To)

	// The line changes: the edit is rejected, and what the rejection shows is
	// enough for the next one. Nobody has to read again.
	blue := anchorOf(read.Content[0].Text, "blue")
	write("title", "roses", "are", "crimson", "violets", "are", "purple")
	_, err = c.Edit(ctx, replaceLine(blue, "azure"))
	var failure *wire.Error
	if !errors.As(err, &failure) || failure.Code != wire.StaleAnchors {
		fmt.Println(err)
		return
	}
	first, _, _ := strings.Cut(failure.Message, ":")
	fmt.Println(first)
	var data struct {
		Snapshot string
		Reread   wire.Reread
	}
	if encoded, err := failure.Data(); err != nil || json.Unmarshal(encoded, &data) != nil {
		fmt.Println(err)
		return
	}
	again := replaceLine(anchorOf(data.Reread.Text, "purple"), "azure")
	again.Snapshot = data.Snapshot
	if _, err = c.Edit(ctx, again); err != nil {
		fmt.Println(err)
		return
	}
	content, err := os.ReadFile(path)
	fmt.Println(strings.Fields(string(content)), err)
	// Output:
	// followed from 3 to 4
	// edit of poem.txt rejected, nothing was written
	// [title roses are crimson violets are azure] <nil>
}

// anchorOf finds a line in what was shown and returns its anchor.
func anchorOf(shown, content string) string {
	for line := range strings.Lines(shown) {
		if anchor, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":"); text == content {
			return anchor
		}
	}
	return ""
}

func replaceLine(anchor, line string) wire.EditParams {
	return wire.EditParams{Path: "poem.txt", Edits: []wire.Edit{{Op: wire.OpReplace, Pos: anchor, Lines: &[]string{line}}}}
}

// A harness turns what the daemon says into the messages of its conversation: a
// result for each call of the read tool, the map as a message of its own beside
// it, and a follow-up for the reads that it had to drop.
func Example_harness() {
	maps := make(chan client.CustomMessage, 1)
	c, dir, done := exampleSession(client.Options{Notify: func(method string, params []byte) {
		if m, _, ok := client.FileMapMessage(method, params); ok {
			maps <- m
		}
	}})
	defer done()
	ctx := context.Background()
	source := "package p\n\n" + strings.Repeat("// a line\n", 2500) + "func F() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		panic(err)
	}
	result, err := c.Read(ctx, wire.ReadParams{Path: "p.go", Delivery: wire.DeliverSeparate, ToolCallID: "call-1"})
	answer := client.ReadToolResult("call-1", "read", result, err)
	fmt.Println(answer.ToolCallID, answer.IsError, len(answer.Content))
	m := <-maps
	fmt.Println(m.CustomType, m.Collapsed, strings.Contains(m.Expanded, "F"))

	_, err = c.Read(ctx, wire.ReadParams{Path: "none.go"})
	answer = client.ReadToolResult("call-2", "read", nil, err)
	fmt.Println(answer.ToolCallID, answer.IsError)

	// The user had something to say, and the harness dropped a read.
	turn := `{"toolCalls":[{"id":"call-3","name":"read","arguments":{"path":"q.go"}}],
		"toolResults":[{"toolCallId":"call-3","toolName":"read","isError":true,"content":[{"type":"text","text":"Skipped due to queued user message."}]}]}`
	lost, err := c.Recover(ctx, wire.RecoverParams{Turn: json.RawMessage(turn)})
	if err != nil {
		fmt.Println(err)
		return
	}
	if m, ok := client.RecoveryMessage(lost); ok {
		fmt.Println(m.CustomType, m.DeliverAs, m.Details)
		fmt.Println(m.Expanded)
	}
	// Output:
	// call-1 false 1
	// file-map [File Map: 1 symbols, 2503 lines - Ctrl+O] true
	// call-2 true
	// read-recovery followUp {[q.go]}
	// Recovery: 1 interrupted read(s) being re-issued
	// q.go
}

// exampleSession opens a session with a daemon inside of this process, for a
// folder of its own. A program would leave Options.Socket empty, and set Start.
func exampleSession(opt client.Options) (c *client.Client, dir string, done func()) {
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		panic(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	limits := rpc.DefaultLimits()
	cache := workspace.NewCache(workspace.Options{Limits: limits.Workspace, Outlines: outline.New(outline.Options{Limits: limits.Outline})})
	server := rpc.NewServer(rpc.Options{Limits: limits, Cache: cache})
	opt.Socket, opt.AnyBuild = filepath.Join(dir, "s"), true
	l, err := net.Listen("unix", opt.Socket)
	if err != nil {
		panic(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		panic(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(context.Background(), func() (io.ReadWriteCloser, rpc.Peer, error) {
			c, err := l.Accept()
			return c, rpc.Peer{PID: os.Getpid()}, err
		}, func() { l.Close() })
	}()
	c, err = client.Dial(context.Background(), opt)
	if err != nil {
		panic(err)
	}
	_, err = c.Initialize(context.Background(), wire.InitializeParams{WorkspaceFolders: []wire.WorkspaceFolder{{URI: "file://" + dir, Name: "example"}}})
	if err != nil {
		panic(err)
	}
	return c, dir, func() {
		c.Close()
		server.Stop()
		if err := errors.Join(<-served, cache.Close(), os.RemoveAll(dir)); err != nil {
			fmt.Println(err)
		}
	}
}
