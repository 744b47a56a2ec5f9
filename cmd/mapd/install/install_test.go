package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// user is a home of its own.
type user struct {
	t    *testing.T
	home string
	env  map[string]string
}

func newUser(t *testing.T) *user {
	return &user{t, t.TempDir(), map[string]string{}}
}

func (u *user) options(command string) Options {
	return Options{Command: command, Getenv: func(name string) string {
		if name == "HOME" {
			return u.home
		}
		return u.env[name]
	}}
}

// path is the configuration of a client.
func (u *user) path(name string) string {
	u.t.Helper()
	c, err := find(name)
	if err != nil {
		u.t.Fatal(err)
	}
	return c.path(u.options("").Getenv)
}

func (u *user) write(path, content string) {
	u.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o640)); err != nil {
		u.t.Fatal(err)
	}
}

// tree is all that is below home: names, modes, content.
func (u *user) tree() map[string]string {
	u.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(u.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(b)
		case info.Mode()&fs.ModeSymlink != 0:
			if content, err = os.Readlink(path); err != nil {
				return err
			}
		}
		out[path] = info.Mode().String() + " " + content
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return out
}

func (u *user) install(client, command string) Outcome {
	u.t.Helper()
	out, err := Install(client, u.options(command))
	if err != nil {
		u.t.Fatal(err)
	}
	return out
}

func (u *user) uninstall(client string) Outcome {
	u.t.Helper()
	out, err := Uninstall(client, u.options(""))
	if err != nil {
		u.t.Fatal(err)
	}
	return out
}

// entry is what a client would read of its configuration.
func (u *user) entry(client string) (command string) {
	u.t.Helper()
	for _, s := range Statuses(u.options("").Getenv) {
		if s.Client == client && s.State == Configured {
			return s.Command
		}
	}
	return ""
}

const mapd = `/opt/my tools/"mapd"`

// configurations are what people have, by client.
var configurations = map[string][]string{
	"claude-code": {
		"", "\n", "{}", "{ }\n", "{\n}\n", `{"numStartups": 3}`,
		"{\n  \"numStartups\": 1234567890123456789,\n  \"mcpServers\": {}\n}",
		"{\n\t\"mcpServers\": {\n\t\t\"other\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t},\n\t\"theme\": \"dark\"\n}\n",
		`{"mcpServers":{"other":{"command":"x","args":[]}},"projects":{"/x":{"mcpServers":{"mapd":{"command":"no"}}}}}`,
		"{\r\n    \"a\": \"ü€\",\r\n    \"mcpServers\": {\r\n    }\r\n}\r\n",
		"\uFEFF{\n  \"a\": 1\n}\n",
	},
	"zed": {
		"// Zed settings\n//\n// more\n{\n  \"theme\": \"One\", // mine\n  /* block */ \"vim_mode\": true, // last, with a comma\n}\n",
		"{\n  // only a comment\n}\n",
		"{\n  \"a\": [1, 2,], // no comma after\n  \"b\": {} // here\n  // at the end\n}\n",
		"{\n  \"context_servers\": {\n    // mine\n    \"one\": { \"command\": \"x\", },\n    // after\n  },\n}\n",
		"{ \"context_servers\": { \"one\": { \"command\": \"x\" } } }",
		"{\"context_servers\": {} /* why */ , \"z\": 1}\n",
		"{\r\n\t// tabs\r\n\t\"a\": 1,\r\n}",
	},
	"opencode": {
		"{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"jira\": { \"type\": \"remote\", \"url\": \"u\", \"enabled\": true },\n  },\n}\n",
		"{\n  \"mcp\": {\n    \"servers\": {\n      \"one\": { \"type\": \"local\", \"command\": [\"x\"] }\n    }\n  }\n}\n",
		"{ \"$schema\": \"s\" }\n",
	},
	"codex": {
		"", "# nothing\n", "model = \"o\" # mine", "model = \"o\"\n\n",
		"model = \"o\"\r\n\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
		"[mcp_servers.other]\ncommand = \"x\"\nargs = [\n  \"a\", # one\n  \"b\",\n]\n\n# profiles\n[profiles.x]\nmodel = 'y'\n\n[[list]]\na = 1\n",
		"\uFEFFmodel = \"o\"\n[mcp_servers]\n",
	},
	"neovim": nil,
	"pi":     nil,
}

// TestThereAndBack puts mapd into every kind of file, twice, and takes it out:
// the second time nothing changes, and in the end all is as before, to the byte.
func TestThereAndBack(t *testing.T) {
	for client, contents := range configurations {
		for i, before := range append(contents, "missing") {
			t.Run(fmt.Sprint(client, " ", i), func(t *testing.T) {
				u := newUser(t)
				if before != "missing" {
					u.write(u.path(client), before)
				}
				tree := u.tree()
				dry := u.options(mapd)
				dry.DryRun = true
				plan, err := Install(client, dry)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tree, u.tree()); diff != "" {
					t.Errorf("the dry run wrote: %s", diff)
				}
				first := u.install(client, mapd)
				if !first.Changed || first.Diff == "" || first.Diff != plan.Diff || (first.Backup != "") != (before != "missing") {
					t.Errorf("the first run: %+v, planned was %q", first, plan.Diff)
				}
				if u.entry(client) != mapd {
					t.Errorf("the client reads %q of\n%s", u.entry(client), u.tree()[u.path(client)])
				}
				onlyAdds(t, first.Diff)
				installed := u.tree()
				if second := u.install(client, mapd); second.Changed || second.Diff != "" {
					t.Errorf("the second run: %+v", second)
				}
				if diff := cmp.Diff(installed, u.tree()); diff != "" {
					t.Errorf("the second run wrote: %s", diff)
				}
				u.uninstall(client)
				if diff := cmp.Diff(tree, u.tree()); diff != "" {
					t.Errorf("not as before: %s", diff)
				}
				if again := u.uninstall(client); again.Changed {
					t.Errorf("taken out twice: %+v", again)
				}
			})
		}
	}
}

// onlyAdds fails if a diff takes away anything but a line that it puts back with
// a comma or with members behind it.
func onlyAdds(t *testing.T, diff string) {
	t.Helper()
	var added strings.Builder
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
			added.WriteString(line[1:])
		}
	}
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, "-") || strings.HasPrefix(line, "---") {
			continue
		}
		rest := added.String()
		for _, word := range strings.FieldsFunc(line[1:], func(r rune) bool { return strings.ContainsRune(" \t\r\n{}", r) }) {
			i := strings.Index(rest, word)
			if i < 0 {
				t.Errorf("%q is lost in\n%s", word, diff)
				return
			}
			rest = rest[i+len(word):]
		}
	}
}

// Without its record, mapd is taken out by what the file says. Only what cannot
// be known is different then: an object that was empty, or a file that was not
// there.
func TestWithoutRecord(t *testing.T) {
	for client, contents := range configurations {
		for i, before := range contents {
			t.Run(fmt.Sprint(client, " ", i), func(t *testing.T) {
				u := newUser(t)
				u.write(u.path(client), before)
				u.install(client, mapd)
				if err := os.RemoveAll(filepath.Join(u.home, ".local")); err != nil {
					t.Fatal(err)
				}
				if out := u.uninstall(client); !out.Changed || out.Backup == "" || u.entry(client) != "" {
					t.Errorf("%+v", out)
				}
				b, err := os.ReadFile(u.path(client))
				if err != nil {
					t.Fatal(err)
				}
				c, err := find(client)
				if err != nil {
					t.Fatal(err)
				}
				if _, toml := c.editor.(tomlEntry); toml {
					if want := withEnd(before); string(b) != want {
						t.Errorf("%q, want %q", b, want)
					}
					return
				}
				if !sameData(t, string(b), before) {
					t.Errorf("%q, before it was %q", b, before)
				}
			})
		}
	}
}

// withEnd is a text whose last line has an end.
func withEnd(s string) string {
	if strings.TrimPrefix(s, "\uFEFF") == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// sameData reports whether two documents say the same, but for objects of
// servers that are empty, and have the same comments.
func sameData(t *testing.T, a, b string) bool {
	t.Helper()
	read := func(s string) (string, []string) {
		m, err := decodeJSON([]byte(s))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, name := range []string{"mcpServers", "context_servers", "mcp"} {
			if inner, ok := m[name].(map[string]any); ok && len(inner) == 0 {
				delete(m, name)
			}
		}
		out, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var comments []string
		if v, err := hujson.Parse(withoutBOM([]byte(s))); err == nil {
			for value := range v.All() {
				comments = append(comments, strings.Fields(string(value.BeforeExtra)+" "+string(value.AfterExtra))...)
				if object, ok := value.Value.(*hujson.Object); ok {
					comments = append(comments, strings.Fields(string(object.AfterExtra))...)
				}
			}
		}
		slices.Sort(comments)
		return string(out), comments
	}
	dataA, commentsA := read(a)
	dataB, commentsB := read(b)
	return dataA == dataB && slices.Equal(commentsA, commentsB)
}

// What the user changes between the two runs stays.
func TestChangedBetween(t *testing.T) {
	for _, c := range []struct{ client, before, old, new, after string }{
		{"zed", "{\n  // c\n  \"a\": 1\n}\n", "\"a\": 1", "\"a\": 2", "{\n  // c\n  \"a\": 2\n}\n"},
		{"zed", "{\n  \"a\": 1\n}\n", "\n}\n", ",\n  \"b\": 2\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"claude-code", "{\n  \"mcpServers\": {}\n}\n", "{\n  \"mcp", "{\n  \"n\": 1,\n  \"mcp", "{\n  \"n\": 1,\n  \"mcpServers\": {}\n}\n"},
		{"codex", "a = 1\n", "args = [\"mcp\"]\n", "args = [\"mcp\"]\n\n[mcp_servers.mapd.env]\nX = \"1\"\n\n# mine\n[z]\nb = 1\n", "a = 1\n\n# mine\n[z]\nb = 1\n"},
		{"codex", "", "[mcp_servers.mapd]", "b = 1\n[mcp_servers.mapd]", "b = 1\n"},
	} {
		u := newUser(t)
		u.write(u.path(c.client), c.before)
		u.install(c.client, mapd)
		b, err := os.ReadFile(u.path(c.client))
		if err != nil || !strings.Contains(string(b), c.old) {
			t.Fatalf("%q is not in %q (%v)", c.old, b, err)
		}
		changed := strings.Replace(string(b), c.old, c.new, 1)
		u.write(u.path(c.client), changed)
		if out := u.install(c.client, mapd); out.Changed {
			t.Errorf("%s %q: installed again: %s", c.client, changed, out.Diff)
		}
		out := u.uninstall(c.client)
		if b, err := os.ReadFile(u.path(c.client)); err != nil || string(b) != c.after {
			t.Errorf("%s %q:\n%q, want\n%q (%v)", c.client, changed, b, c.after, err)
		}
		if b, err := os.ReadFile(out.Backup); err != nil || string(b) != changed {
			t.Errorf("the backup is %q, %v", b, err)
		}
	}
}

// Another place of mapd is put in the old one's, and what the user added to the
// entry stays. Taken out, the file is as it was before the first time.
func TestMoved(t *testing.T) {
	for _, client := range []string{"claude-code", "codex", "opencode", "zed"} {
		u := newUser(t)
		before := map[bool]string{true: "# c\n", false: "{\n  \"x\": 1\n}\n"}[client == "codex"]
		u.write(u.path(client), before)
		u.install(client, "/old/mapd")
		if out := u.install(client, mapd); !out.Changed || u.entry(client) != mapd {
			t.Errorf("%s: %+v", client, out)
		}
		u.uninstall(client)
		if b, err := os.ReadFile(u.path(client)); err != nil || string(b) != before {
			t.Errorf("%s: %q, %v", client, b, err)
		}
	}
	u := newUser(t)
	u.write(u.path("zed"), "{\"context_servers\": {\"mapd\": {\"args\": [\"mcp\", \"--session\", \"z\"], /* mine */ \"command\": \"mapd\", \"env\": {}}}}")
	u.install("zed", "/new/mapd")
	want := "{\"context_servers\": {\"mapd\": {\"args\": [\"mcp\", \"--session\", \"z\"], /* mine */ \"command\": \"/new/mapd\", \"env\": {}}}}"
	if b, err := os.ReadFile(u.path("zed")); err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
}

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

// FuzzJSON: whatever a document holds, the entry comes in and goes out without a
// change to anything else, or is refused.
func FuzzJSON(f *testing.F) {
	for _, contents := range configurations {
		for _, c := range contents {
			f.Add(c)
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		e := jsonEntry{containers: []string{"mcpServers"}, fields: []field{{"command", ""}, {"args", `["mcp"]`}}}
		added, made, err := e.add([]byte(content), mapd)
		if err != nil {
			return
		}
		if command, present, err := e.inspect(added); err != nil || !present || command != mapd {
			t.Fatalf("%q became %q, of which a client reads %q %v %v", content, added, command, present, err)
		}
		again, _, err := e.add(added, mapd)
		if err != nil || string(again) != string(added) {
			t.Fatalf("%q became %q (%v)", added, again, err)
		}
		if _, present, _ := e.inspect([]byte(content)); present {
			return
		}
		if removed, _, err := e.remove(added, made); err == nil && !sameData(t, string(removed), content) {
			t.Fatalf("%q became %q and then %q", content, added, removed)
		}
	})
}

// FuzzTOML is FuzzJSON for TOML, where what goes out leaves the bytes of before.
func FuzzTOML(f *testing.F) {
	for _, c := range configurations["codex"] {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, content string) {
		e := tomlEntry{}
		added, made, err := e.add([]byte(content), mapd)
		if err != nil {
			return
		}
		if command, present, err := e.inspect(added); err != nil || !present || command != mapd {
			t.Fatalf("%q became %q, of which a client reads %q %v %v", content, added, command, present, err)
		}
		if _, present, _ := e.inspect([]byte(content)); present {
			return
		}
		removed, _, err := e.remove(added, made)
		if err != nil || strings.TrimRight(string(removed), "\r\n") != strings.TrimRight(content, "\r\n") {
			t.Fatalf("%q became %q and then %q (%v)", content, added, removed, err)
		}
	})
}
