package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mapd/outline"
)

// settingsCache reads a project's file as patterns, one a line; lines "x=LANG"
// map an extension and "max=…" sets the number of files.
func settingsCache(t *testing.T, user Settings) (c *Cache, parsed *atomic.Int64) {
	t.Helper()
	parsed = new(atomic.Int64)
	c = NewCache(Options{Settings: user, Project: func(_ string, text []byte) Settings {
		parsed.Add(1)
		s := Settings{Languages: map[string]outline.Language{}, FileBytes: 1 << 40}
		for line := range strings.Lines(string(text)) {
			name, value, found := strings.Cut(strings.TrimSpace(line), "=")
			switch {
			case found && name == "small":
				s.FileBytes = 40
			case found:
				s.Languages[name] = outline.Language(value)
			default:
				s.Ignore = append(s.Ignore, name)
			}
		}
		return s
	}})
	t.Cleanup(func() { c.Close() })
	return c, parsed
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsOfAProject(t *testing.T) {
	c, parsed := settingsCache(t, Settings{Languages: map[string]outline.Language{"tpl": outline.YAML, "x": outline.TOML}})
	outer := t.TempDir()
	inner := filepath.Join(outer, "in")
	if err := os.Mkdir(inner, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := c.Folders(outer, inner)
	if err != nil {
		t.Fatal(err)
	}
	language := func(name string) outline.Language {
		t.Helper()
		v, err := c.Read(t.Context(), f, name)
		if err != nil {
			t.Fatal(err)
		}
		return v.Language()
	}
	for _, name := range []string{"a.tpl", "a.x", "in/a.tpl", "makefile.d.TPL"} {
		putFile(t, filepath.Join(outer, name), "a: 1\n")
	}
	if got := language("a.tpl"); got != outline.YAML {
		t.Errorf("user's: %s", got)
	}
	old := f.roots[0] + "/" + SettingsFile
	putFile(t, old, "tpl=html\n")
	putFile(t, filepath.Join(inner, SettingsFile), "d.tpl=c\n")
	for name, want := range map[string]outline.Language{"a.tpl": outline.HTML, "a.x": outline.TOML, "in/a.tpl": outline.YAML, "makefile.d.TPL": outline.HTML} {
		if got := language(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if err := os.Chtimes(old, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	before := parsed.Load()
	first := c.settingsOf(f.roots[0])
	for range 3 {
		if got := c.settingsOf(f.roots[0]); got != first {
			t.Error("the same file gives other settings")
		}
	}
	if parsed.Load() != before {
		t.Errorf("parsed again without a change")
	}
	putFile(t, old, "tpl=go\n")
	if got := language("a.tpl"); got != outline.Go {
		t.Errorf("after a change: %s", got)
	}
	putFile(t, old, "small=1\n")
	putFile(t, filepath.Join(outer, "large"), strings.Repeat("x", 41))
	if _, err := c.Read(t.Context(), f, "large"); err == nil {
		t.Error("read past the project's limit")
	}
	os.Remove(old)
	if got := language("a.tpl"); got != outline.YAML {
		t.Errorf("after its end: %s", got)
	}
	if c.settingsOf(f.roots[0]).fileBytes != c.limits.FileBytes {
		t.Error("a project without a file has limits")
	}
}

// What is no small regular file of the project itself does not count, and does
// not make anybody wait.
func TestHostileSettings(t *testing.T) {
	c, parsed := settingsCache(t, Settings{})
	target := filepath.Join(t.TempDir(), "elsewhere")
	putFile(t, target, "tpl=html\n")
	for name, hostile := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(target, path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"directory": func(path string) error { return os.Mkdir(path, 0o777) },
		"huge":      func(path string) error { return os.Truncate(path, MaxSettings+1) },
	} {
		t.Run(name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, SettingsFile)
			if name == "huge" {
				putFile(t, path, "tpl=html\n")
			}
			if err := hostile(path); err != nil {
				t.Fatal(err)
			}
			if got := c.settingsOf(root); got != c.settings.plain || parsed.Load() != 0 {
				t.Errorf("%+v, parsed %d times", got, parsed.Load())
			}
		})
	}
}

// An index follows the file: what it ignores goes and comes back, and languages
// change although no other file did.
func TestIndexFollowsSettings(t *testing.T) {
	c, _ := settingsCache(t, Settings{Ignore: []string{"*.skip"}})
	root := t.TempDir()
	for _, name := range []string{"a.tpl", "b.log", "c.skip"} {
		putFile(t, filepath.Join(root, name), "a: 1\n")
	}
	w := openWorkspace(t, c, root, WorkspaceOptions{})
	check := func(want string) {
		t.Helper()
		var got []string
		for _, f := range settle(t, w).Files() {
			got = append(got, f.Path+":"+string(f.Language))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s\nwant %s", s, want)
		}
	}
	check("a.tpl:unknown b.log:text")
	putFile(t, filepath.Join(root, SettingsFile), "*.log\ntpl=yaml\n")
	check(".mapd.toml:toml a.tpl:yaml")
	putFile(t, filepath.Join(root, SettingsFile), "tpl=html\n")
	check(".mapd.toml:toml a.tpl:html b.log:text")
	putFile(t, filepath.Join(root, "new.tpl"), "x\n")
	check(".mapd.toml:toml a.tpl:html b.log:text new.tpl:html")
	os.Remove(filepath.Join(root, SettingsFile))
	check("a.tpl:unknown b.log:text new.tpl:unknown")
}
