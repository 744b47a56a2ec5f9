// Package corpus finds real files for tests: those of the Go distribution and
// of the module cache, which every machine that builds mapd has.
package corpus

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var goEnv = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	values := strings.Split(strings.TrimSpace(string(out)), "\n")
	return map[string]string{"GOROOT": values[0], "GOMODCACHE": values[len(values)-1]}, nil
})

// GoRoot returns a path below the root of the Go distribution.
func GoRoot(t testing.TB, elements ...string) string { return below(t, "GOROOT", elements) }

// Modules returns a path below the module cache.
func Modules(t testing.TB, elements ...string) string { return below(t, "GOMODCACHE", elements) }

func below(t testing.TB, variable string, elements []string) string {
	t.Helper()
	env, err := goEnv()
	if err != nil {
		t.Fatalf("go env %s: %v", variable, err)
	}
	return filepath.Join(append([]string{env[variable]}, elements...)...)
}
