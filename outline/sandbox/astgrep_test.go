package sandbox

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFasterThanAstGrep outlines large files of npm packages beside the process
// "ast-grep outline": the processor time that both take, the best of some runs.
func TestFasterThanAstGrep(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), "npm") {
		t.Skip("set MAPD_SUITE=npm to compare with ast-grep")
	}
	dir := t.TempDir()
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "@ast-grep/cli@0.51.1", "typescript@5.4.5", "react-dom@18", "lodash@4", "effect@3")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm install: %v\n%s", err, out)
	}
	p := newPool(t, Options{Workers: 1})
	mustParse(t, p)
	compared := 0
	for _, file := range largeFiles(t, filepath.Join(dir, "node_modules")) {
		language := map[string]string{".ts": "typescript", ".js": "javascript"}[filepath.Ext(file)]
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ours, peer := time.Hour, time.Hour
		for range 5 {
			cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", "ast-grep"), "outline", file)
			var out []byte
			if out, err = cmd.CombinedOutput(); err != nil {
				t.Logf("ast-grep: %v: %.100s", err, out)
				break
			}
			peer = min(peer, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			before := workerTime(p)
			if _, err := p.Parse(t.Context(), language, src); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			ours = min(ours, workerTime(p)-before)
		}
		if err != nil {
			continue // it refuses very large files
		}
		compared++
		t.Logf("%5d KB: %4d ms, ast-grep %4d ms: %s", len(src)>>10, ours.Milliseconds(), peer.Milliseconds(), filepath.Base(file))
		if ours > peer {
			t.Errorf("%s: slower than ast-grep", file)
		}
	}
	if compared < 5 {
		t.Errorf("only %d files compared", compared)
	}
}

// workerTime returns the processor time of the only worker of p so far.
func workerTime(p *Pool) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum time.Duration
	for w := range p.live {
		if d, ok := processorTime(w.cmd.Process.Pid); ok {
			sum += d
		}
	}
	return sum
}

// largeFiles returns some files of TypeScript and JavaScript from 100 KB on.
func largeFiles(t *testing.T, root string) []string {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, ".min.") || !slices.Contains([]string{".ts", ".js"}, filepath.Ext(path)) {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() >= 100<<10 {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var picked []string
	for i := 0; i < len(files); i += max(1, len(files)/25) {
		picked = append(picked, files[i])
	}
	return picked
}
