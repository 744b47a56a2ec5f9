package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// suiteTime bounds what a suite runs outside of this process.
const suiteTime = 5 * time.Minute

// mapdPath is this test binary under the name by which it is the command.
func mapdPath(t testing.TB) string {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mapd")
	if err := os.Symlink(executable, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// runTool runs a program of a suite and returns what it prints. A program that
// is missing or fails is a failure.
func runTool(t testing.TB, dir string, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// npmInstall makes a folder with packages of npm in it, and with a script of
// testdata/clients beside them.
func npmInstall(t testing.TB, script string, packages ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	runTool(t, dir, os.Environ(), "npm", append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"}, packages...)...)
	text, err := os.ReadFile(filepath.Join("testdata", "clients", script))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, script), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGoClient drives the bridge, as a process, with the official Go client: it
// is there before its daemon, and ends with its client.
func TestGoClient(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mapdPath(t), "mcp")
	cmd.Dir, cmd.Env, cmd.Stderr = folder, clientEnvironment(t), os.Stderr
	c := sdk.NewClient(&sdk.Implementation{Name: "suite"}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	session, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: patience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 8 {
		t.Errorf("%v, %v", list, err)
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: map[string]any{"path": "a.txt", "anchors": false}})
	if err != nil || result.IsError || len(result.Content) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	if text, ok := result.Content[0].(*sdk.TextContent); !ok || text.Text != "one\ntwo" {
		t.Errorf("%+v", result.Content[0])
	}
	if err := session.Close(); err != nil {
		t.Errorf("the bridge ended with %v", err)
	}
}

// TestTypeScriptClient drives the bridge with the official TypeScript client.
func TestTypeScriptClient(t *testing.T) {
	needSuite(t, "mcp")
	dir := npmInstall(t, "mcp.mjs", "@modelcontextprotocol/sdk@1.32.2")
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "other"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "other", "a.txt"), []byte("in the other folder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := runTool(t, dir, clientEnvironment(t), "node", "mcp.mjs", mapdPath(t), folder)
	if !strings.HasSuffix(out, "ok\n") {
		t.Errorf("%s", out)
	}
}

// TestNeovimPlugin starts Neovim with the plugin that mapd installs, and nothing
// else: it attaches by itself.
func TestNeovimPlugin(t *testing.T) {
	needSuite(t, "nvim")
	folder := t.TempDir()
	for name, text := range map[string]string{"a.go": "package p\n\nfunc A() {}\n", "b.go": "package p\n\nfunc B() {}\n", ".git/HEAD": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs(filepath.Join("testdata", "clients", "plugin.lua"))
	if err != nil {
		t.Fatal(err)
	}
	env := append(clientEnvironment(t), "TERM=dumb")
	installClient(t, env, "neovim")
	out := runTool(t, folder, env, "nvim", "--headless", "-n", "-i", "NONE", "-c", "luafile "+script)
	if !strings.HasSuffix(strings.TrimSpace(out), "ok") {
		t.Errorf("%s", out)
	}
}

// installClient runs mapd install for a client.
func installClient(t *testing.T, env []string, client string) {
	t.Helper()
	mapd := &exec.Cmd{Path: "/proc/self/exe", Args: []string{"mapd", "install", client, "--command", mapdPath(t)}, Env: env}
	if out, err := mapd.CombinedOutput(); err != nil {
		t.Fatalf("install %s: %v\n%s", client, err, out)
	}
}

// The oldest node that pi runs on.
const piNodeMajor, piNodeMinor = 22, 19

// TestPi runs pi with the installed extension, under both names that it has had;
// the extension is type-checked with the newer. The model is a script on
// loopback.
func TestPi(t *testing.T) {
	needSuite(t, "pi")
	node := nodeFor(t)
	for _, pi := range []struct{ name, version string }{{"@earendil-works/pi-coding-agent", "0.87.1"}, {"@mariozechner/pi-coding-agent", "0.73.1"}} {
		t.Run(pi.name, func(t *testing.T) {
			dir := npmInstall(t, "pi.mjs", pi.name+"@"+pi.version, "typescript@5.9.3", "@types/node@22")
			env := append(clientEnvironment(t), "PI_CODING_AGENT_DIR="+filepath.Join(dir, "agent"))
			installClient(t, env, "pi")
			if strings.HasPrefix(pi.name, "@earendil") {
				runTool(t, dir, env, "npx", "tsc", "--noEmit", "--skipLibCheck", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "agent/extensions/mapd.ts")
			}
			out := runTool(t, dir, env, node, "pi.mjs", filepath.Join("node_modules", pi.name, "dist", "cli.js"), t.TempDir())
			if !strings.HasSuffix(out, "ok\n") {
				t.Errorf("%s", out)
			}
		})
	}
}

// nodeFor returns a node that is new enough for pi: the one there is, or one
// from npm.
func nodeFor(t *testing.T) string {
	t.Helper()
	var major, minor int
	if _, err := fmt.Sscanf(runTool(t, ".", os.Environ(), "node", "--version"), "v%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	if major > piNodeMajor || major == piNodeMajor && minor >= piNodeMinor {
		return "node"
	}
	dir := t.TempDir()
	runTool(t, dir, os.Environ(), "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "node@22.23.3")
	return filepath.Join(dir, "node_modules", "node", "bin", "node")
}
