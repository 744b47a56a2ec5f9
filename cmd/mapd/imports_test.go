package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rooms is the house from top to bottom: a room imports only the rooms named
// in its row. A package belongs to the longest room that is a prefix of it.
var rooms = []struct {
	room string
	may  []string
	why  string
}{
	{"cmd/mapd/config", []string{"outline"}, "configuration is bytes and names of languages"},
	{"cmd/mapd/doctor", []string{"cmd/mapd/config", "cmd/mapd/install", "rpc/client", "rpc/socket", "rpc/wire", "workspace/store", "outline", "outline/sandbox", "outline/symbol", "hashline"},
		"it tries what a client and a daemon need, each by itself"},
	{"cmd/mapd", []string{"cmd/mapd/config", "cmd/mapd/doctor", "cmd/mapd/install", "cmd/mapd/mcp", "rpc", "rpc/client", "rpc/socket", "rpc/wire", "workspace", "outline", "outline/sandbox", "outline/symbol", "hashline"},
		"the command makes the rooms and joins them; its clients see the wire"},
	{"cmd/mapd/install", []string{"hashline"}, "configurations of other programs have nothing to do with the daemon; hashline shows what changes"},
	{"cmd/mapd/mcp", []string{"rpc/client", "rpc/wire", "hashline"}, "the bridge is a client: it sees the wire and no files"},
	{"rpc", []string{"rpc/buffers", "rpc/conn", "rpc/lru", "rpc/socket", "rpc/view", "rpc/wire", "workspace", "workspace/find", "workspace/grep", "workspace/names", "recovery", "outline", "outline/symbol", "hashline"},
		"handlers project what the rooms below know"},
	{"rpc/buffers", nil, "the documents of an editor are text and versions, whatever files and the wire are"},
	{"rpc/client", []string{"rpc/socket", "rpc/wire", "hashline", "outline/symbol"}, "a client holds no part of the daemon"},
	{"rpc/conn", []string{"rpc/wire"}, "a connection knows frames and errors, not files"},
	{"rpc/lru", nil, "a cache of pure values knows nothing of them"},
	{"rpc/socket", []string{"rpc/wire"}, "finding and guarding the socket needs no more than the errors that go through it"},
	{"rpc/view", []string{"hashline"}, "choosing lines is pure"},
	{"rpc/wire", []string{"hashline", "outline/symbol"}, "the types of the protocol, without behaviour"},
	{"workspace", []string{"workspace", "outline", "outline/packed", "outline/symbol", "hashline"}, "files know outlines, and neither sessions nor the wire"},
	{"workspace/store", []string{"hashline"}, "what is kept on disk are bytes by their key"},
	{"recovery", []string{"hashline"}, "what was delivered is judged by lines alone, without files"},
	{"outline/symbol", nil, "the data model is the floor of the outline room"},
	{"outline/sandbox", []string{"outline/grammar", "outline/symbol", "hashline"}, "workers run grammars and nothing else"},
	{"outline/grammar", []string{"outline/symbol", "hashline"}, "bytes in, symbols out"},
	{"outline/format", []string{"outline/format", "outline/pattern", "outline/symbol", "hashline"}, "bytes in, symbols out"},
	{"outline/golang", []string{"outline/symbol", "hashline"}, "bytes in, symbols out"},
	{"outline/pattern", []string{"outline/symbol", "hashline"}, "bytes in, symbols out"},
	{"outline/packed", []string{"outline", "outline/symbol"}, "outlines as bytes, which nobody else needs to know"},
	{"outline", []string{"outline/symbol", "outline/sandbox", "outline/format", "outline/golang", "outline/pattern", "hashline"},
		"one interface over the families of extractors"},
	{"hashline", nil, "the floor of the house"},
}

// owners names the only rooms that may import a third-party module.
var owners = []struct {
	module string
	rooms  []string
	why    string
}{
	{"github.com/fsnotify/fsnotify", []string{"workspace/watch"}, "events are hints, and one package turns them into hints"},
	{"github.com/smacker/go-tree-sitter", []string{"outline/grammar"}, "a grammar can abort its process, so only workers may reach one"},
	{"go.lsp.dev/jsonrpc2", []string{"rpc", "cmd/mapd"}, "the rooms below know nothing of the wire"},
	{"go.lsp.dev/protocol", []string{"rpc", "cmd/mapd"}, "the rooms below know nothing of the wire"},
	{"github.com/modelcontextprotocol/go-sdk", []string{"cmd/mapd/mcp"}, "one room speaks MCP"},
	{"go.etcd.io/bbolt", []string{"workspace/store"}, "one package knows how a file of it may fail"},
	{"github.com/spf13/cobra", []string{"cmd/mapd"}, "flags are the command's"},
}

// TestImports holds the arrows of the house: they only point down.
func TestImports(t *testing.T) {
	used := map[string]bool{}
	forEachImport(t, func(file, pkg, imported string) {
		if inner, ok := strings.CutPrefix(imported, "mapd/"); ok {
			checkArrow(t, used, file, pkg, inner)
			return
		}
		for _, o := range owners {
			if within(imported, o.module) && !withinAny(pkg, o.rooms) {
				t.Errorf("%s imports %s, which only %v may: %s", file, imported, o.rooms, o.why)
			}
		}
	})
	for _, r := range rooms {
		if !used[r.room] {
			t.Errorf("the table has a row for %s, where no package is", r.room)
		}
	}
}

func checkArrow(t *testing.T, used map[string]bool, file, pkg, imported string) {
	row := -1
	for i, r := range rooms {
		if within(pkg, r.room) && (row < 0 || len(r.room) > len(rooms[row].room)) {
			row = i
		}
	}
	if row < 0 {
		t.Errorf("%s: package %s belongs to no room of the table", file, pkg)
		return
	}
	used[rooms[row].room] = true
	used[imported] = true
	if imported == pkg || withinAny(imported, sameRoom(rooms[row].may)) {
		return
	}
	for _, m := range rooms[row].may {
		if imported == m {
			return
		}
	}
	t.Errorf("%s: %s imports %s: %s", file, rooms[row].room, imported, rooms[row].why)
}

// sameRoom returns the rooms whose subpackages may be imported with them: those
// that list themselves, such as workspace.
func sameRoom(may []string) []string {
	var out []string
	for _, m := range may {
		if m == "workspace" || m == "outline/format" {
			out = append(out, m)
		}
	}
	return out
}

func within(pkg, room string) bool {
	return pkg == room || strings.HasPrefix(pkg, room+"/")
}

func withinAny(pkg string, rooms []string) bool {
	for _, r := range rooms {
		if within(pkg, r) {
			return true
		}
	}
	return false
}

// forEachImport visits the imports of every Go file of the module that is not
// a test.
func forEachImport(t *testing.T, visit func(file, pkg, imported string)) {
	t.Helper()
	const module = "../.."
	seen := 0
	err := filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(module, path)
		if err != nil {
			return err
		}
		seen++
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			visit(rel, filepath.ToSlash(filepath.Dir(rel)), imported)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Fatalf("only %d files found", seen)
	}
}
