package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// top is the top of the tree.
const top = "../.."

func document(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Links between the documents lead somewhere, and the paths that they name are
// there.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(top, "*.md"))
	if err != nil || len(names) < 5 {
		t.Fatalf("%q, %v", names, err)
	}
	links := regexp.MustCompile(`\]\(([^):]+)\)`)
	paths := regexp.MustCompile("`((?:cmd|rpc|workspace|recovery|outline|hashline|testdata|\\.ci)/[A-Za-z0-9_./-]*)`")
	seen := 0
	for _, name := range append(names, filepath.Join(top, "rpc", "PROTOCOL.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		check := func(dir, path string) {
			seen++
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				t.Errorf("%s: %v", filepath.Base(name), err)
			}
		}
		for _, m := range links.FindAllSubmatch(text, -1) {
			path, _, _ := strings.Cut(string(m[1]), "#")
			check(filepath.Dir(name), path)
		}
		for _, m := range paths.FindAllSubmatch(text, -1) {
			if path := string(m[1]); path != "workspace/symbol" && !strings.HasPrefix(path, "workspace/did") { // LSP's
				check(top, path)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d names were looked for", seen)
	}
}

// The suites that CONTRIBUTING lists are those of tests in the packages it names.
func TestSuitesOfContributing(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| (`[a-z`, ]+`) \\| ([a-z/, ]+) \\|").FindAllStringSubmatch(document(t, "CONTRIBUTING.md"), -1)
	if len(rows) < 10 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		for suite := range strings.SplitSeq(row[1], ", ") {
			for dir := range strings.SplitSeq(row[2], ", ") {
				if !testsMention(t, dir, strings.Trim(suite, "`")) {
					t.Errorf("no test of %s is of the suite %s", dir, suite)
				}
			}
		}
	}
}

func testsMention(t *testing.T, dir, suite string) bool {
	t.Helper()
	files, err := fs.Glob(os.DirFS(filepath.Join(top, dir)), "*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(top, dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte(`"`+suite+`"`)) {
			return true
		}
	}
	return false
}
