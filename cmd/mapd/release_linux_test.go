package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRelease builds a release from two clones of the commit: the bytes are the
// same, and the stripped, static binary serves a read that needs a worker.
func TestRelease(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), "release") {
		t.Skip("set MAPD_SUITE=release to build one")
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	var sums []string
	var binary string
	for range 2 {
		clone := filepath.Join(t.TempDir(), "clone")
		run("/", "git", "clone", "-q", top, clone)
		out := run(clone, ".ci/release")
		b, err := os.ReadFile(filepath.Join(clone, "dist", "SHA256SUMS"))
		if err != nil || !strings.Contains(out, string(b)) {
			t.Fatalf("%v\n%s", err, out)
		}
		sums = append(sums, string(b))
		run(filepath.Join(clone, "dist"), "sha256sum", "-c", "SHA256SUMS")
		binary = filepath.Join(clone, "dist", "mapd-linux-"+runtime.GOARCH)
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of one commit differ:\n%s%s", sums[0], sums[1])
	}
	home, err := os.MkdirTemp("", "mapd") // short: it holds a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	for name, value := range map[string]string{"HOME": home, "XDG_RUNTIME_DIR": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "MAPD_LIMIT_IDLE_MS": "20000"} {
		t.Setenv(name, value)
	}
	file := filepath.Join(home, "a.py")
	if err := os.WriteFile(file, []byte("def found_by_the_grammar():\n    pass\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := run(home, binary, "map", "--json", file)
	if !strings.Contains(out, `"source":"parser"`) || !strings.Contains(out, "found_by_the_grammar") {
		t.Errorf("%s", out)
	}
	run(home, binary, "stop")
}
