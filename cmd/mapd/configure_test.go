package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mapd/cmd/mapd/config"
	"mapd/rpc"
)

// What the README shows of configuration files is valid, and sets something.
func TestConfigurationOfTheReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	limits := rpc.DefaultLimits().Values()
	seen := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```toml (user|project)\n(.*?)```").FindAllSubmatch(readme, -1) {
		kind := string(block[1])
		var set config.Settings
		var warnings []config.Warning
		if kind == "user" {
			set, warnings = config.User(kind, block[2], limits, "/home/ann")
		} else {
			set, warnings = config.Project(kind, block[2], limits, func(string) bool { return false })
		}
		if len(warnings) > 0 || len(set.Ignore) == 0 || len(set.Languages) == 0 || len(set.Limits) == 0 || kind == "user" && len(set.Roots) == 0 {
			t.Errorf("%s: %+v, %v", kind, set, warnings)
		}
		seen[kind] = true
	}
	if len(seen) != 2 {
		t.Errorf("the README shows %v", seen)
	}
}

// A file of the user that cannot be read might hold a fence.
func TestUnreadableConfigurationAllowsNothing(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", config.UserFile)
	if err := os.MkdirAll(path, 0o777); err != nil { // a directory in its place
		t.Fatal(err)
	}
	c := configure(func(name string) string { return map[string]string{"HOME": home}[name] })
	roots, err := c.roots()
	if err != nil || len(roots) != 1 || len(c.warnings) != 1 {
		t.Errorf("roots %q, %v; %v", roots, err, c.warnings)
	}
	if entries, err := os.ReadDir(roots[0]); err == nil {
		t.Errorf("%q is a directory with %d entries", roots[0], len(entries))
	}
}

// Warnings about a project's file are lines, whatever its fields are called.
func TestWarningsAreHarmless(t *testing.T) {
	root := t.TempDir()
	text := "\"a\\u001b[2J\\nmapd: all is well\" = 1\nlog = \"\\u001b[31m\"\nignore = [\"!\\u0007\"]\n"
	if err := os.WriteFile(filepath.Join(root, config.ProjectFile), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	configure(func(string) string { return "" }).warnProject(&out, root)
	if lines := strings.Count(out.String(), "\n"); lines != 3 || strings.ContainsAny(out.String(), "\x1b\x07") {
		t.Errorf("%d lines: %q", lines, out.String())
	}
}

func TestLayersOfConfiguration(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "mapd")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	text := "session = \"file\"\nfsync = false\nroots = [\"" + home + "\"]\n[limits]\nidle_ms = 5\nbatch = 6\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "MAPD_LIMIT_BATCH": "7"}
	c := configure(func(name string) string { return env[name] })
	for name, want := range map[string]string{"MAPD_SESSION": "file", "MAPD_FSYNC": "0", "MAPD_LIMIT_IDLE_MS": "5", "MAPD_LIMIT_BATCH": "7", "MAPD_LOG": ""} {
		if got := c.getenv(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if roots, err := c.roots(); err != nil || len(roots) != 1 {
		t.Errorf("roots %q, %v", roots, err)
	}
	env["MAPD_ROOTS"] = os.TempDir() + ":/"
	if roots, err := c.roots(); err != nil || len(roots) != 2 {
		t.Errorf("roots of the environment %q, %v", roots, err)
	}
}
