package grammar

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mapd/outline/symbol"
	"mapd/testdata/corpus"
)

// A ctagsLanguage is what to compare with universal-ctags: the kinds of tags
// that it finds reliably and that are symbols here.
type ctagsLanguage struct {
	language, name string
	suffixes       []string
	kinds          []string
}

var ctagsLanguages = []ctagsLanguage{
	{"c", "C", []string{".c"}, []string{"function", "struct", "enum", "enumerator", "macro", "typedef", "union", "member"}},
	{"cpp", "C++", []string{".cc", ".cpp", ".hpp", ".h"}, []string{"class", "struct", "enum", "enumerator", "namespace"}},
	{"python", "Python", []string{".py"}, []string{"function", "class", "member"}},
	{"javascript", "JavaScript", []string{".js"}, []string{"function", "generator"}},
	{"typescript", "TypeScript", []string{".ts"}, []string{"class", "interface", "enum", "enumerator", "function"}},
	{"bash", "Sh", []string{".sh"}, []string{"function", "alias"}},
	{"php", "PHP", []string{".php"}, []string{"class", "interface", "trait", "function"}},
	{"protobuf", "Protobuf", []string{".proto"}, []string{"message", "enum", "enumerator", "service", "rpc", "field"}},
	{"java", "Java", []string{".java"}, []string{"class", "interface", "enum", "method", "field", "annotation"}},
	{"kotlin", "Kotlin", []string{".kt"}, []string{"class", "interface", "object"}},
	{"csharp", "C#", []string{".cs"}, []string{"class", "interface", "struct", "enum", "method", "property"}},
	{"rust", "Rust", []string{".rs"}, []string{"function", "struct", "enum", "enumerator", "interface", "macro", "method", "module", "field"}},
	{"ruby", "Ruby", []string{".rb"}, []string{"class", "module", "method", "singletonMethod"}},
	{"lua", "Lua", []string{".lua"}, []string{"function"}},
	{"go", "Go", []string{".go"}, []string{"func", "struct", "interface", "type"}},
	{"ocaml", "OCaml", []string{".ml"}, []string{"type", "module", "Constructor", "class"}},
	{"elixir", "Elixir", []string{".ex"}, []string{"module", "function", "macro"}},
}

type tag struct {
	Type string `json:"_type"`
	Name string
	Line int
	Kind string
}

// TestCtags compares names and first lines with universal-ctags: on files of
// this machine where there are any, and always on the golden file.
func TestCtags(t *testing.T) {
	suite(t, "ctags")
	if out, err := exec.Command("ctags", "--version").Output(); err != nil || !bytes.HasPrefix(out, []byte("Universal Ctags")) {
		t.Fatalf("universal-ctags is needed: %v %.80s", err, out)
	}
	roots := []string{"/usr/include", "/usr/lib", "/usr/share", corpus.GoRoot(t), filepath.Dir(filepath.Dir(filepath.Dir(bindingDir(t))))}
	for _, name := range []string{"MAPD_NPM_DIR", "MAPD_SOURCES"} { // MAPD_SOURCES: more folders with code
		roots = append(roots, filepath.SplitList(os.Getenv(name))...)
	}
	roots = append(roots, javaSources(t)...)
	for _, l := range ctagsLanguages {
		var files []string
		for _, root := range roots {
			files = append(files, filesIn(t, root, 40, func(path string, size int64) bool {
				return slices.Contains(l.suffixes, filepath.Ext(path)) && size > 1<<10 && size < 200<<10 && !strings.Contains(path, ".min.") &&
					!strings.Contains(path, "/testdata/") && !strings.Contains(path, "testprotos") && !strings.Contains(path, "Xtrans")
			})...)
		}
		if len(files) < 10 {
			files, _ = filepath.Glob("testdata/" + l.language + "*" + l.suffixes[0])
		}
		files = slices.DeleteFunc(files, func(f string) bool {
			return strings.HasSuffix(f, ".outline") || l.language == "csharp" && strings.Contains(f, "/share/") // other things are named .cs
		})
		var total, found int
		for _, file := range files {
			n, ok := agree(t, l, file)
			total, found = total+n, found+ok
		}
		fmt.Printf("%-12s %4d files %6d tags  agreement %.4f\n", l.language, len(files), total, ratio(found, total))
		want := .98
		if len(files) < 10 {
			want = .92 // of few tags, each mistake of ctags weighs
		}
		if ratio(found, total) < want {
			t.Errorf("%s: agreement with ctags is %.4f, want %.2f", l.language, ratio(found, total), want)
		}
	}
}

// javaSources returns a folder with some of the sources that come with a JDK, if
// there is one beside the java of this machine.
func javaSources(t *testing.T) []string {
	out, _ := exec.Command("java", "-XshowSettings:properties", "-version").CombinedOutput()
	m := regexp.MustCompile(`java\.home = (.+)`).FindSubmatch(out)
	if m == nil {
		return nil
	}
	zips, _ := filepath.Glob(filepath.Join(filepath.Dir(string(m[1])), "*", "lib", "src.zip"))
	for _, name := range zips {
		if archive, err := zip.OpenReader(name); err == nil {
			defer archive.Close()
			dir := t.TempDir()
			for i, f := range archive.File {
				if i%97 == 0 && strings.HasPrefix(f.Name, "java.") {
					unpack(t, f, filepath.Join(dir, fmt.Sprint(i)+filepath.Ext(f.Name)))
				}
			}
			return []string{dir}
		}
	}
	return nil
}

func unpack(t *testing.T, f *zip.File, to string) {
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// luaFunction matches the lines on which a function gets its name; ctags takes
// the first word of any line that holds "function" for one.
var luaNamed = regexp.MustCompile(`\bfunction\s+[\w.:]+\s*\(|=\s*function\s*\(`)

// agree counts the tags of a file, and those with a symbol of the same name on
// the same line.
func agree(t *testing.T, l ctagsLanguage, file string) (total, found int) {
	out, err := exec.Command("ctags", "--output-format=json", "--fields=+neK", "--language-force="+l.name, "-o", "-", file).Output()
	if err != nil {
		return 0, 0
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(src)/(bytes.Count(src, []byte("\n"))+1) > 120 {
		return 0, 0 // minified
	}
	list, err := Outline(l.language, src)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		name string
		line int
	}
	have := make(map[key]bool)
	symbol.Walk(list.Symbols, func(s *symbol.Symbol, _ int) bool {
		name := bare(s.Name)
		for _, line := range []int{s.Start, s.NameLine} {
			have[key{s.Name, line}], have[key{name, line}] = true, true
			for part := range strings.SplitSeq(s.Name, "::") { // ctags makes tags of the parts
				have[key{part, line}] = true
			}
		}
		return true
	})
	lines := slices.Collect(bytes.Lines(src))
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var g tag
		if json.Unmarshal(scan.Bytes(), &g) != nil || g.Type != "tag" || !slices.Contains(l.kinds, g.Kind) ||
			strings.HasPrefix(g.Name, "__anon") || strings.HasPrefix(g.Name, "AnonymousFunction") || strings.ContainsAny(g.Name, "=<") {
			continue
		}
		if l.language == "lua" && !luaNamed.Match(lines[min(g.Line, len(lines))-1]) {
			continue
		}
		total++
		name := bare(g.Name)
		if have[key{g.Name, g.Line}] || have[key{name, g.Line}] {
			found++
		} else {
			t.Logf("ctags %s:%d %s %s", file, g.Line, g.Kind, g.Name)
		}
	}
	return total, found
}

// bare returns a name without what it belongs to, its arguments and brackets.
func bare(name string) string {
	name, _, _ = strings.Cut(name, "<")
	return strings.Trim(name[strings.LastIndexAny(name, ":.")+1:], `[]"'`)
}
