package install

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What mapd cannot change safely it refuses, and writes nothing at all.
func TestRefused(t *testing.T) {
	cases := []struct{ client, content, says string }{
		{"claude-code", "{\"a\": }", "no JSON"},
		{"claude-code", "[1]", "no JSON object"},
		{"claude-code", "{\"mcpServers\": []}", "no object"},
		{"claude-code", "{\"mcpServers\": {\"mapd\": {\"command\": \"other\"}}}", ErrForeign.Error()},
		{"claude-code", "{\"mcpServers\": {\"mapd\": 7}}", ErrForeign.Error()},
		{"codex", "a = \n", "line 1"},
		{"codex", "mcp_servers = 3\n", "no table"},
		{"codex", "mcp_servers = { other = { command = \"x\" } }\n", "by hand"},
		{"codex", "[mcp_servers.mapd]\nurl = \"u\"\n", ErrForeign.Error()},
		{"neovim", "-- mine\n", errChanged.Error()},
		{"pi", "// mine\n", errChanged.Error()},
	}
	for _, c := range cases {
		u := newUser(t)
		u.write(u.path(c.client), c.content)
		before := u.tree()
		_, err := Install(c.client, u.options(mapd))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("install %s into %q: %v, want %q", c.client, c.content, err, c.says)
		}
		if _, err := Uninstall(c.client, u.options("")); err == nil && c.says != "by hand" {
			t.Errorf("uninstall %s from %q: no error", c.client, c.content)
		}
		if diff := cmp.Diff(before, u.tree()); diff != "" {
			t.Errorf("%s %q: something was written: %s", c.client, c.content, diff)
		}
	}
	if _, err := Install("emacs", newUser(t).options(mapd)); err == nil || !strings.Contains(err.Error(), "zed") {
		t.Errorf("an unknown client: %v", err)
	}
}

// A file of mapd's own that somebody has changed stays.
func TestChangedWholeFile(t *testing.T) {
	for _, client := range []string{"neovim", "pi"} {
		u := newUser(t)
		u.install(client, mapd)
		path := u.path(client)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		u.write(path, string(b)+"x")
		if _, err := Uninstall(client, u.options("")); !errors.Is(err, errChanged) {
			t.Errorf("%s: uninstall: %v", client, err)
		}
		if _, err := Install(client, u.options(mapd)); !errors.Is(err, errChanged) {
			t.Errorf("%s: install: %v", client, err)
		}
		u.write(path, string(b))
		if out := u.install(client, "/new/mapd"); !out.Changed || u.entry(client) != "/new/mapd" {
			t.Errorf("%s: moved: %+v", client, out)
		}
		if err := os.RemoveAll(filepath.Join(u.home, ".local")); err != nil {
			t.Fatal(err)
		}
		if out := u.uninstall(client); !out.Changed {
			t.Errorf("%s: uninstall without a record: %+v", client, out)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file is there: %v", client, err)
		}
	}
}

// A linked file is changed where it lies and stays linked, also when nothing is
// there yet; its mode stays.
func TestLinks(t *testing.T) {
	u := newUser(t)
	dotfiles := filepath.Join(u.home, "dotfiles")
	u.write(filepath.Join(dotfiles, "zed.json"), "{}\n")
	link := u.path("zed")
	if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink("../../dotfiles/zed.json", link)); err != nil {
		t.Fatal(err)
	}
	dangling := u.path("claude-code")
	if err := os.Symlink(filepath.Join(dotfiles, "later", "claude.json"), dangling); err != nil {
		t.Fatal(err)
	}
	before := u.tree()
	u.install("zed", mapd)
	u.install("claude-code", mapd)
	now := u.tree()
	if now[link] != before[link] || now[dangling] != before[dangling] || !strings.HasPrefix(now[filepath.Join(dotfiles, "zed.json")], "-rw-r----- {") ||
		now[filepath.Join(dotfiles, "later", "claude.json")] == "" {
		t.Errorf("%v", now)
	}
	u.uninstall("claude-code")
	u.uninstall("zed") // last, as its record has the directories of all records
	if diff := cmp.Diff(before, u.tree()); diff != "" {
		t.Error(diff)
	}
	loop := u.path("codex")
	if err := errors.Join(os.MkdirAll(filepath.Dir(loop), 0o755), os.Symlink(loop, loop)); err != nil {
		t.Fatal(err)
	}
	if _, err := Install("codex", u.options(mapd)); err == nil || !strings.Contains(err.Error(), "links") {
		t.Errorf("a loop of links: %v", err)
	}
	if err := errors.Join(os.Remove(loop), os.Mkdir(loop, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := Install("codex", u.options(mapd)); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// A file that another program changes in between is not written over.
func TestForeignWrite(t *testing.T) {
	u := newUser(t)
	path := u.path("zed")
	u.write(path, "{}")
	f, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	u.write(path, "{\"a\": 1}")
	if err := f.write([]byte("{\"b\": 1}")); err == nil {
		t.Error("written")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "{\"a\": 1}" {
		t.Errorf("%q, %v", b, err)
	}
}

// The clients' own variables say where their configuration is.
func TestPaths(t *testing.T) {
	u := newUser(t)
	check := func(client, want string) {
		t.Helper()
		if got := u.path(client); got != want {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
	in := func(parts ...string) string { return filepath.Join(append([]string{u.home}, parts...)...) }
	check("claude-code", in(".claude.json"))
	check("codex", in(".codex", "config.toml"))
	check("neovim", in(".config", "nvim", "plugin", "mapd.lua"))
	check("opencode", in(".config", "opencode", "opencode.json"))
	check("pi", in(".pi", "agent", "extensions", "mapd.ts"))
	check("zed", in(".config", "zed", "settings.json"))
	u.write(in(".config", "opencode", "opencode.jsonc"), "{}")
	check("opencode", in(".config", "opencode", "opencode.jsonc"))
	u.write(in(".config", "opencode", "opencode.json"), `{"mcp": {"mapd": {"command": ["mapd", "mcp"]}}}`)
	check("opencode", in(".config", "opencode", "opencode.json"))
	u.env = map[string]string{
		"XDG_CONFIG_HOME": "/c", "CLAUDE_CONFIG_DIR": "/cl", "CODEX_HOME": "/co", "PI_CODING_AGENT_DIR": "/p", "NVIM_APPNAME": "n", "OPENCODE_CONFIG": "/o.json",
	}
	check("claude-code", "/cl/.claude.json")
	check("codex", "/co/config.toml")
	check("neovim", "/c/n/plugin/mapd.lua")
	check("opencode", "/o.json")
	check("pi", "/p/extensions/mapd.ts")
	check("zed", "/c/zed/settings.json")
}

// Statuses tells those that are configured from those that are not, and from
// those that cannot be read.
func TestStatuses(t *testing.T) {
	u := newUser(t)
	u.install("codex", mapd)
	u.install("pi", mapd)
	u.write(u.path("zed"), "{")
	want := map[string]string{"claude-code": Absent, "codex": Configured, "neovim": Absent, "opencode": Absent, "pi": Configured, "zed": Unreadable}
	for _, s := range Statuses(u.options("").Getenv) {
		if s.State != want[s.Client] || (s.Err != nil) != (s.State == Unreadable) || s.Path == "" || (s.Command == mapd) != (s.State == Configured) {
			t.Errorf("%+v, want %s", s, want[s.Client])
		}
		delete(want, s.Client)
	}
	if len(want) > 0 {
		t.Errorf("without a word: %v", want)
	}
}
