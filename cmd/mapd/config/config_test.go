package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mapd/outline"
)

var testLimits = map[string]int64{"file_bytes": 1000, "index_files": 50, "index_bytes": 9, "idle_ms": 7}

func lines(warnings []Warning) string {
	var out strings.Builder
	for _, w := range warnings {
		out.WriteString(w.String() + "\n")
	}
	return out.String()
}

func TestUser(t *testing.T) {
	text := `# mine
roots = ["~/src", "/srv/code/../x"]
log = "debug"
color = "never"
session = "me"
fsync = false
ignore = ["*.gen.go", "/dist/"]
limits.idle_ms = 60_000

[limits]
file_bytes = 0x10
index_files = 1_000_000

[languages]
tpl = "html"
".In" = "c"
"Jenkinsfile" = "groovy"
d.ts = "text"
`
	got, warnings := User("f", []byte(text), testLimits, "/home/ann")
	want := Settings{
		Ignore: []string{"*.gen.go", "/dist/"}, Roots: []string{"/home/ann/src", "/srv/x"}, Log: "debug", Color: "never", Session: "me", Fsync: "0",
		Languages: map[string]outline.Language{"tpl": outline.HTML, "in": outline.C, "jenkinsfile": outline.Groovy, "d.ts": outline.Text},
		Limits:    map[string]int64{"idle_ms": 60_000, "file_bytes": 16, "index_files": 1_000_000},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
		t.Errorf("(-want +got) %s%s", diff, lines(warnings))
	}
}

func TestInvalidFieldsAreNamedAndIgnored(t *testing.T) {
	text := `log = "loud"
fsync = 1
colour = "never"
ignore = ["ok", 5,
  "!no",
  "also"]
ignore = ["second"]
[limits]
file_bytes = "many"
index_files = -1
no_such = 4
index_bytes = 99999999999999999999
[languages]
x = "klingon"
"a/b" = "go"
[other]
a = 1
[[limits]]
file_bytes = 5
`
	got, warnings := User("/c.toml", []byte(text), testLimits, "")
	if diff := cmp.Diff(Settings{Ignore: []string{"ok", "also"}, Languages: map[string]outline.Language{}, Limits: map[string]int64{}}, got); diff != "" {
		t.Error(diff)
	}
	want := `/c.toml:1: log: want one of ["info" "debug"]; ignored
/c.toml:2: fsync: want true or false; ignored
/c.toml:3: colour: there is no such field; ignored
/c.toml:4: ignore: want a text in quotes; ignored
/c.toml:5: ignore: "!no" takes nothing away: write it into .ignore; ignored
/c.toml:7: ignore: it stands in the file twice, the first counts; ignored
/c.toml:9: limits.file_bytes: want a positive whole number; ignored
/c.toml:10: limits.index_files: want a positive whole number; ignored
/c.toml:11: limits.no_such: there is no such limit; mapd status --json lists them; ignored
/c.toml:12: limits.index_bytes: want a positive whole number; ignored
/c.toml:14: languages.x: no language is called "klingon"; ignored
/c.toml:15: languages.a/b: want the extension or the name of a file before the =; ignored
/c.toml:17: other.a: there is no such field; ignored
/c.toml:19: [[limits]].file_bytes: there is no such field; ignored
`
	if diff := cmp.Diff(want, lines(warnings)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestProjectOnlyRestricts(t *testing.T) {
	text := `ignore = ["*.log"]
roots = ["/"]
log = "debug"
session = "x"
limits = { file_bytes = 10, index_files = 51, idle_ms = 1, index_bytes = 9 }
languages.inc = "php"
`
	got, warnings := Project("/p/.mapd.toml", []byte(text), testLimits, func(name string) bool { return name == "index_bytes" })
	want := Settings{Ignore: []string{"*.log"}, Languages: map[string]outline.Language{"inc": outline.PHP}, Limits: map[string]int64{"file_bytes": 10}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantWarnings := `/p/.mapd.toml:2: roots: only the user's file may set it; ignored
/p/.mapd.toml:3: log: only the user's file may set it; ignored
/p/.mapd.toml:4: session: only the user's file may set it; ignored
/p/.mapd.toml:5: limits.index_files: a project may only lower it, and it is 50; ignored
/p/.mapd.toml:5: limits.idle_ms: a project may only lower file_bytes, index_bytes, index_files; ignored
`
	if diff := cmp.Diff(wantWarnings, lines(warnings)); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

// A fence that cannot be read keeps everybody out, not nobody.
func TestBrokenRootsAllowNothing(t *testing.T) {
	for _, text := range []string{`roots = 5`, `roots = []`, `roots = ["src"]`, `roots = "~/src"`, "log = 'x\nroots = [\"/a\"]", `roots = ["/a"`} {
		got, warnings := User("f", []byte(text), testLimits, "/home/ann")
		if len(got.Roots) != 1 || got.Roots[0] != nowhere || len(warnings) == 0 {
			t.Errorf("%s: roots %q, %v", text, got.Roots, warnings)
		}
	}
	if got, _ := User("f", []byte("log = 'x"), testLimits, ""); got.Roots != nil {
		t.Errorf("roots %q without being set", got.Roots)
	}
}

func TestSyntaxErrorNamesItsLine(t *testing.T) {
	got, warnings := Project("f", []byte("ignore = [\"a\"]\n\n[limits\nfile_bytes = 1\n"), testLimits, func(string) bool { return false })
	if len(warnings) != 1 || warnings[0].Line != 3 || !cmp.Equal(got.Ignore, []string{"a"}) || len(got.Limits) > 0 {
		t.Errorf("%+v, %v", got, warnings)
	}
}

func TestUserPath(t *testing.T) {
	for _, test := range []struct{ home, xdg, want string }{
		{"/h", "", "/h/.config/mapd/config.toml"}, {"/h", "/x", "/x/mapd/config.toml"}, {"/h", "rel", "/h/.config/mapd/config.toml"}, {"", "", ""},
	} {
		got := UserPath(func(name string) string {
			return map[string]string{"HOME": test.home, "XDG_CONFIG_HOME": test.xdg}[name]
		})
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// Whatever a project writes, it gets nothing that it may not have.
func FuzzProject(f *testing.F) {
	f.Add([]byte("ignore = [\"a\", \"!b\"]\nlimits.file_bytes = 5\n[languages]\nx.y = \"go\"\n"))
	f.Add([]byte("[limits]\nfile_bytes = 1_0\nindex_files = 0xff\n[[a]]\nb = {c = [1, {d = 2}]}\n"))
	f.Add([]byte("roots = [\"/\"]\r\n\"\\u0000\" = '''x\ny'''"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, warnings := Project("f", text, testLimits, func(name string) bool { return name == "index_bytes" })
		for name, n := range s.Limits {
			if n < 1 || n > testLimits[name] || name == "index_bytes" || name == "idle_ms" {
				t.Errorf("limit %s = %d", name, n)
			}
		}
		for _, pattern := range s.Ignore {
			if strings.HasPrefix(pattern, "!") || strings.ContainsAny(pattern, "\n\r") {
				t.Errorf("pattern %q", pattern)
			}
		}
		if s.Roots != nil || s.Log+s.Session+s.Color+s.Fsync != "" {
			t.Errorf("%+v", s)
		}
		for _, w := range warnings {
			if w.Line < 1 || w.Line > 1+strings.Count(string(text), "\n") {
				t.Errorf("%v", w)
			}
		}
		User("f", text, testLimits, "/h")
	})
}
