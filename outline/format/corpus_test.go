package format

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

type realFile struct {
	name string
	data []byte
}

// realFiles returns up to most files with the extension, none larger than size,
// from Go's own tree and the module cache, or in their place from the folders
// that the variable MAPD_CORPUS lists, and then all of them. Where those have none, a test still has
// its generated documents.
func realFiles(t testing.TB, extension string, size int64, most int) []realFile {
	t.Helper()
	var out []realFile
	for _, f := range corpus()[extension] {
		if len(out) == most && os.Getenv("MAPD_CORPUS") == "" {
			break
		}
		if f.size > size || f.size == 0 {
			continue
		}
		if data, err := os.ReadFile(f.path); err == nil {
			out = append(out, realFile{f.path, data})
		}
	}
	return out
}

type corpusFile struct {
	path string
	size int64
}

// corpus walks the folders once and lists their files by extension.
var corpus = sync.OnceValue(func() map[string][]corpusFile {
	files := map[string][]corpusFile{}
	wanted := map[string]bool{".json": true, ".md": true, ".yaml": true, ".yml": true, ".toml": true, ".csv": true, ".sql": true, ".xml": true, ".svg": true, ".plist": true}
	goroot, _ := exec.Command("go", "env", "GOROOT").Output()
	roots := []string{strings.TrimSpace(string(goroot)), moduleCache()}
	if extra := filepath.SplitList(os.Getenv("MAPD_CORPUS")); len(extra) > 0 {
		roots = extra
	}
	for _, root := range roots {
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			if e.IsDir() && e.Name() == "cache" && filepath.Dir(path) == root {
				return filepath.SkipDir
			}
			if ext := filepath.Ext(path); wanted[ext] && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					files[ext] = append(files[ext], corpusFile{path, info.Size()})
				}
			}
			return nil
		})
	}
	return files
})

func moduleCache() string {
	if dir := os.Getenv("GOMODCACHE"); dir != "" {
		return dir
	}
	gopath := os.Getenv("GOPATH")
	if gopath == "" {
		home, _ := os.UserHomeDir()
		gopath = filepath.Join(home, "go")
	}
	return filepath.Join(gopath, "pkg", "mod")
}

// huge repeats s: n times in the suite "hostile", fewer times by default.
func huge(s string, n int) string {
	const fraction = 16
	if !strings.Contains(os.Getenv("MAPD_SUITE"), "hostile") {
		n /= fraction
	}
	return strings.Repeat(s, n)
}
