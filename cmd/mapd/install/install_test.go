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
