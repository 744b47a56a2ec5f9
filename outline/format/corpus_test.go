package format

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type realFile struct {
	name string
	data []byte
}

// realFiles returns up to most files with the extension, none larger than size,
// from Go's own tree and the module cache, or in their place from the folders
// that the variable MAPD_CORPUS lists. Where those have none, a test still has
// its generated documents.
func realFiles(t testing.TB, extension string, size int64, most int) []realFile {
	t.Helper()
	var out []realFile
	roots := []string{runtime.GOROOT(), moduleCache()}
	if extra := filepath.SplitList(os.Getenv("MAPD_CORPUS")); len(extra) > 0 {
		roots = extra
	}
	for _, root := range roots {
		filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || len(out) >= most {
				return nil
			}
			if e.IsDir() && e.Name() == "cache" && filepath.Dir(path) == root {
				return filepath.SkipDir
			}
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(path, extension) || info.Size() > size || info.Size() == 0 {
				return nil
			}
			if data, err := os.ReadFile(path); err == nil {
				out = append(out, realFile{path, data})
			}
			return nil
		})
	}
	return out
}

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
