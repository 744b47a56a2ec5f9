package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mapd/rpc/client"
	"mapd/rpc/wire"
)

// A client finds the daemon of its build, or starts it, opens a session with the
// folders it works in, and reads.
func Example() {
	defer exampleEnvironment()()
	ctx := context.Background()
	c, err := client.Dial(ctx, client.Options{Start: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	folder := wire.WorkspaceFolder{URI: "file:///home/me/project", Name: "project"}
	_, err = c.Initialize(ctx, wire.InitializeParams{WorkspaceFolders: []wire.WorkspaceFolder{folder}})
	if err != nil {
		fmt.Println(err)
		return
	}
	offset := 100
	_, err = c.Read(ctx, wire.ReadParams{Path: "main.go", Offset: &offset})
	var failure *wire.Error
	if errors.As(err, &failure) {
		fmt.Printf("%s: %s (%s lines)\n", failure.Code, failure, failure.Fields["totalLines"])
	}
	// Output: invalid_range: no such line (7 lines)
}

// exampleEnvironment gives the example a socket of its own. The daemon there is
// the one of these tests, where every file has seven lines.
func exampleEnvironment() (restore func()) {
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "s")
	os.Setenv("MAPD_SOCKET", path)
	return func() {
		end(path)
		os.Unsetenv("MAPD_SOCKET")
		os.RemoveAll(dir)
	}
}
