package find

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob      string
		yes, nots string // paths
	}{
		{"", "a a/b.go", ""},
		{"*.go", "a.go x/y/a.go .go", "a.gox a.go.txt"},
		{"/*.go", "a.go", "x/a.go"},
		{"./*.go", "a.go", "a.gox"},
		{"src", "src src/a x/src/a", "src2 asrc/b"},
		{"src/", "src/a x/src/a", "src2/a"},
		{"/src", "src src/a", "x/src"},
		{"src/*.go", "src/a.go", "src/x/a.go x/src/a.go a.go"},
		{"src/**", "src/a src/x/y", "x/src/a"},
		{"src/**/a.go", "src/a.go src/x/a.go src/x/y/a.go", "src/xa.go a.go"},
		{"**/a.go", "a.go x/a.go x/y/a.go", "ba.go"},
		{"**", "a x/y", ""},
		{"a**b/c", "ab/c axxb/c", "a/b/c"},
		{"**.go", "a.go x/a.go", "a.c"},
		{"?.c", "a.c x/é.c", "ab.c .c"},
		{"{a,b}.go", "a.go x/b.go", "c.go {a,b}.go"},
		{"src/{x,y/**}/*.{go,c}", "src/x/a.go src/y/q/r/b.c", "src/x/q/a.go src/z/a.go"},
		{"{src/,}a.go", "a.go src/a.go", "x/a.go"},
		{"[ab].go", "a.go b.go", "c.go [ab].go"},
		{"[!ab].go", "c.go -.go", "a.go /.go"},
		{"[^a-c].go", "d.go", "b.go"},
		{"[a-].go", "-.go a.go", "b.go"},
		{"[]].go", "].go", "a.go"},
		{`\*.go`, "*.go", "a.go"},
		{`a+(b).go`, "a+(b).go", "aab.go"},
		{"a.go", "a.go x/a.go a.go/b", "axgo"},
		{"A.go", "A.go", "a.go"},
		{"a,b", "a,b", "a"},
		{".", "a a/b", ""},
		{"./", "a a/b", ""},
		{"/home/me/src", "src/a", "x/src/a home"},
		{"home/me/src", "", "src/a"},
		{"/home/*/*.go", "a.go", "x/a.go"},
	} {
		g, err := NewGlob(c.glob)
		if err != nil {
			t.Errorf("%q: %v", c.glob, err)
			continue
		}
		for _, path := range strings.Fields(c.yes) {
			if !g.Match("/home/me", path) {
				t.Errorf("%q does not match %q", c.glob, path)
			}
		}
		for _, path := range strings.Fields(c.nots) {
			if g.Match("/home/me", path) {
				t.Errorf("%q matches %q", c.glob, path)
			}
		}
	}
}

func TestGlobErrors(t *testing.T) {
	for _, glob := range []string{
		"{a", "a}", "[a", "[a/b]", `a\`, `[a\`, "[z-a]", "\xff", strings.Repeat("a", MaxGlob+1), strings.Repeat("{", MaxGlob),
	} {
		if _, err := NewGlob(glob); !errors.Is(err, ErrGlob) {
			t.Errorf("%.20q: %v", glob, err)
		}
	}
}

// A glob that has very many alternatives takes no more time than others.
func TestGlobIsLinear(t *testing.T) {
	g, err := NewGlob(strings.Repeat("{a,a,*}", 100) + "b")
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if g.Match("/home/me", strings.Repeat("a", 500)) {
		t.Error("it has no b")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("one path took %v", took)
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("src/**/*.{go,c}", "src/x/a.go")
	f.Add("[!a-c]?", "de")
	f.Fuzz(func(t *testing.T, glob, path string) {
		g, err := NewGlob(glob)
		if err != nil {
			return
		}
		g.Match("/home/me", path)
		// A name without special characters matches itself.
		if glob != "" && !strings.ContainsAny(glob, `*?[]{}\/`) && !g.Match("/", glob) {
			t.Errorf("%q does not match itself", glob)
		}
	})
}
