package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// largeSource makes a folder with one of Go's largest files in it.
func largeSource(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	root := strings.TrimSpace(runTool(t, ".", os.Environ(), "go", "env", "GOROOT"))
	text, err := os.ReadFile(filepath.Join(root, "src", "cmd", "compile", "internal", "ssa", "opGen.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"big.go": string(text), "a.py": "class A:\n    def f(self):\n        return '😀'\n", "dos.go": "package p\r\n\r\nfunc f() {\r\n}\r\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestLanguageClient drives the bridge with the client library of VS Code's
// language servers.
func TestLanguageClient(t *testing.T) {
	needSuite(t, "npm")
	dir := npmInstall(t, "lsp.mjs", "vscode-languageserver-protocol@3.17.5", "vscode-languageserver-textdocument@1.0.12")
	out := runTool(t, dir, clientEnvironment(t), "node", "lsp.mjs", mapdPath(t), largeSource(t))
	if !strings.HasSuffix(out, "ok\n") {
		t.Errorf("%s", out)
	}
}

// TestNeovim drives the bridge with Neovim's own client, without a screen.
func TestNeovim(t *testing.T) {
	needSuite(t, "nvim")
	folder := largeSource(t)
	script, err := filepath.Abs(filepath.Join("testdata", "clients", "nvim.lua"))
	if err != nil {
		t.Fatal(err)
	}
	env := append(clientEnvironment(t), "MAPD="+mapdPath(t))
	out := runTool(t, folder, env, "nvim", "--headless", "-n", "-u", "NONE", "-i", "NONE", "-c", "luafile "+script)
	if !strings.HasSuffix(strings.TrimSpace(out), "ok") {
		t.Errorf("%s", out)
	}
	if testing.Verbose() {
		fmt.Printf("%s on %s\n%s\n", runtime.GOOS, runtime.GOARCH, out)
	}
}
