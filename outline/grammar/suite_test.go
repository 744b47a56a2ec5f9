package grammar

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mapd/outline/symbol"
)

// suite skips a test unless MAPD_SUITE lists its suite.
func suite(t *testing.T, name string) {
	t.Helper()
	if !slices.Contains(strings.Split(os.Getenv("MAPD_SUITE"), ","), name) {
		t.Skipf("set MAPD_SUITE=%s to compare with the language's own parser", name)
	}
}

// An oracle's definition: what kind, its name, its first and last line.
type truth struct {
	kind, name string
	start, end int
}

func (d *truth) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&d.kind, &d.name, &d.start, &d.end})
}

type truths struct {
	Path        string
	Definitions *[]truth
}

// ask runs an oracle on files and returns what it knows about those that its
// language can parse.
func ask(t *testing.T, files []string, command ...string) []truths {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(files, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command[0], err, stderr.Bytes())
	}
	var all []truths
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var one truths
		if err := json.Unmarshal(scan.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if one.Definitions != nil {
			all = append(all, one)
		}
	}
	return all
}

// A score counts what an outline has in common with an oracle.
type score struct {
	files, want, found, ends int // definitions of the oracle; with name and start; and with the end
	nested, nestedFound      int
	given, right             int // symbols of the outline; those that the oracle knows
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// compare scores the outline of one file. A definition is found if a symbol of
// its name starts on its line.
func (s *score) compare(t *testing.T, path string, want []truth, list symbol.List, counts func(*symbol.Symbol) bool) {
	type key struct {
		name  string
		start int
	}
	s.files++
	have := make(map[key][]int)
	symbol.Walk(list.Symbols, func(sym *symbol.Symbol, _ int) bool {
		k := key{sym.Name, sym.Start}
		have[k] = append(have[k], sym.End)
		return true
	})
	known := make(map[key]bool)
	for _, d := range want {
		k := key{d.name, d.start}
		known[k] = true
		ends, ok := have[k]
		s.want++
		if d.kind == "nested" {
			s.nested++
		}
		if !ok {
			t.Logf("missed %s:%d %s %s", path, d.start, d.kind, d.name)
			continue
		}
		s.found++
		if d.kind == "nested" {
			s.nestedFound++
		}
		if slices.Contains(ends, d.end) {
			s.ends++
		} else {
			t.Logf("end %s:%d %s %s ends on %d, not %v", path, d.start, d.kind, d.name, d.end, ends)
		}
	}
	symbol.Walk(list.Symbols, func(sym *symbol.Symbol, _ int) bool {
		if !counts(sym) {
			return true
		}
		s.given++
		if known[key{sym.Name, sym.Start}] {
			s.right++
		} else {
			t.Logf("extra %s:%d %s %s", path, sym.Start, sym.Kind, sym.Name)
		}
		return true
	})
}

// check prints the score and compares it with what is promised.
func (s *score) check(t *testing.T, what string, files int) {
	t.Helper()
	precision, recall := ratio(s.right, s.given), ratio(s.found, s.want)
	nested, ends := ratio(s.nestedFound, s.nested), ratio(s.ends, s.found)
	fmt.Printf("%-12s %4d files %6d definitions  precision %.4f  recall %.4f  nested %.4f  ends %.4f\n", what, s.files, s.want, precision, recall, nested, ends)
	if s.files < files {
		t.Errorf("%d files, want at least %d", s.files, files)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{{"precision", precision, .99}, {"recall", recall, .995}, {"recall of nested functions", nested, .97}, {"end lines", ends, .995}} {
		if c.got < c.want {
			t.Errorf("%s: %s is %.4f, want %.4f", what, c.name, c.got, c.want)
		}
	}
}

// scoreAll scores the outlines of all files that the oracle can parse.
func scoreAll(t *testing.T, language string, all []truths) *score {
	s := &score{}
	for _, one := range all {
		src, err := os.ReadFile(one.Path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Outline(language, src)
		if err != nil {
			t.Fatal(err)
		}
		checkShape(t, src, list)
		s.compare(t, one.Path, *one.Definitions, list, func(*symbol.Symbol) bool { return true })
	}
	return s
}

// filesIn returns up to limit files below dir that want accepts, spread evenly.
func filesIn(t *testing.T, dir string, limit int, want func(path string, size int64) bool) []string {
	t.Helper()
	var files []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil && want(path, info.Size()) {
			files = append(files, path)
		}
		return nil
	})
	if len(files) <= limit {
		return files
	}
	picked := make([]string, limit)
	for i := range picked {
		picked[i] = files[i*len(files)/limit]
	}
	return picked
}

// pythonFiles returns files of Python's standard library and of what is
// installed beside it.
func pythonFiles(t *testing.T, limit int) []string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		t.Fatalf("python3: %v", err)
	}
	return filesIn(t, strings.TrimSpace(string(out)), limit, func(path string, size int64) bool {
		return strings.HasSuffix(path, ".py") && size > 2<<10 && !strings.Contains(path, "lib2to3/tests/data")
	})
}

// bindingDir returns the folder of the grammars' binding.
func bindingDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/smacker/go-tree-sitter").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// npmDir returns the folder of some npm packages.
func npmDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MAPD_NPM_DIR")
	if dir == "" {
		dir = t.TempDir()
		cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir,
			"typescript@5.4.5", "jquery@3", "lodash@4", "react-dom@18", "rxjs@7", "three@0.160", "@types/node@20", "express@4", "@angular/core@17", "effect@3", "zod@3")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
	}
	return filepath.Join(dir, "node_modules")
}

func TestPythonOracle(t *testing.T) {
	suite(t, "python")
	files := pythonFiles(t, 300)
	all := ask(t, files, "python3", "testdata/oracle/python_oracle.py")
	scoreAll(t, "python", all).check(t, "python", 40)
}

// TestTypeScriptOracle compares with the TypeScript compiler, on its own
// package and on those of some libraries.
func TestTypeScriptOracle(t *testing.T) {
	suite(t, "npm")
	modules := npmDir(t)
	compiler := filepath.Join(modules, "typescript")
	for _, c := range []struct {
		what, language string
		want           func(path string) bool
	}{
		{"typescript", "typescript", func(p string) bool { return strings.HasSuffix(p, ".ts") && !strings.HasSuffix(p, ".d.ts") }},
		{".d.ts", "typescript", func(p string) bool { return strings.HasSuffix(p, ".d.ts") }},
		{"javascript", "javascript", func(p string) bool {
			return strings.HasSuffix(p, ".js") && !strings.HasSuffix(p, ".min.js") && !strings.Contains(p, "examples/jsm/libs")
		}},
	} {
		files := filesIn(t, modules, 200, func(path string, size int64) bool { return c.want(path) && size > 1<<10 && size < 12<<20 })
		all := ask(t, files, "node", "testdata/oracle/typescript_oracle.js", compiler)
		scoreAll(t, c.language, all).check(t, c.what, 40)
	}
}
