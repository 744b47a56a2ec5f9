package socket

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// env is an environment.
type env map[string]string

func (e env) get(name string) string { return e[name] }

// shortDir returns a directory whose path leaves room for a socket's name.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mapd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestPath(t *testing.T) {
	build, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	uid := strconv.Itoa(os.Getuid())
	for name, test := range map[string]struct {
		env  env
		want string
	}{
		"own":      {env{"MAPD_SOCKET": "/x/y.sock", "XDG_RUNTIME_DIR": "/run/user/7"}, "/x/y.sock"},
		"cleaned":  {env{"MAPD_SOCKET": "/x/./z/../y.sock"}, "/x/y.sock"},
		"runtime":  {env{"XDG_RUNTIME_DIR": "/run/user/7", "TMPDIR": "/t"}, "/run/user/7/mapd/" + build + ".sock"},
		"relative": {env{"XDG_RUNTIME_DIR": "run"}, "/tmp/mapd-" + uid + "/" + build + ".sock"},
		"temp":     {env{"TMPDIR": "/t"}, "/t/mapd-" + uid + "/" + build + ".sock"},
		"nothing":  {env{}, "/tmp/mapd-" + uid + "/" + build + ".sock"},
	} {
		if got, err := Path(test.env.get); got != test.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := Path(env{"MAPD_SOCKET": "y"}.get); got != filepath.Join(here, "y") {
		t.Errorf("relative MAPD_SOCKET: %q", got)
	}
	if got, _ := Path(env{"TMPDIR": "t"}.get); got != filepath.Join(here, "t", "mapd-"+uid, build+".sock") {
		t.Errorf("relative TMPDIR: %q", got)
	}
}

// TestPathLength meets the limit of the kernel exactly, and steps past it.
func TestPathLength(t *testing.T) {
	dir := shortDir(t)
	longest := filepath.Join(dir, strings.Repeat("s", maxPath-len(dir)-1))
	l, err := Listen(longest)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(longest), err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for _, err := range []error{
		second(Path(env{"MAPD_SOCKET": longest + "s"}.get)),
		second(Path(env{"XDG_RUNTIME_DIR": "/" + strings.Repeat("r", 100)}.get)),
		second(Listen(longest + "s")),
	} {
		if err == nil || !strings.Contains(err.Error(), "107") || !strings.Contains(err.Error(), "MAPD_SOCKET") {
			t.Errorf("too long: %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestDirIsChecked(t *testing.T) {
	dir := shortDir(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, mode := range []os.FileMode{0o755, 0o770, 0o701, 0o720, 0o777} {
		name := path(mode.String())
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		var refused *DirError
		if _, err := Listen(filepath.Join(name, "s")); !errors.As(err, &refused) || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %v: %v", mode, err)
		}
		if entries, err := os.ReadDir(name); len(entries) != 0 || err != nil {
			t.Errorf("mode %v: something was made: %v, %v", mode, entries, err)
		}
	}
	if err := os.Mkdir(path("good"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("good", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "file"} {
		var refused *DirError
		if err := CheckDir(path(name)); !errors.As(err, &refused) || refused.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckDir(path("good")); err != nil {
		t.Error(err)
	}
	if err := CheckDir(path("missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestDirOfAnotherUser(t *testing.T) {
	dir := filepath.Join(shortDir(t), "theirs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	} else {
		dir = "/" // root's
	}
	var refused *DirError
	if err := CheckDir(dir); !errors.As(err, &refused) || !strings.Contains(refused.Problem, "belongs to user") {
		t.Error(err)
	}
}

func TestListenMakesDir(t *testing.T) {
	path := filepath.Join(shortDir(t), "a", "mapd", "s")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, want := range map[string]os.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + ".lock": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
