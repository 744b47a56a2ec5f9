// Package corpus finds real files for tests: those of the Go distribution, which
// every machine that builds mapd has.
package corpus

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var goRoot = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
})

// GoRoot returns a path below the root of the Go distribution.
func GoRoot(t testing.TB, elements ...string) string {
	t.Helper()
	root, err := goRoot()
	if err != nil {
		t.Fatalf("go env GOROOT: %v", err)
	}
	return filepath.Join(append([]string{root}, elements...)...)
}
