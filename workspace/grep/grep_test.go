package grep

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"mapd/hashline"
)

func mustCompile(t testing.TB, text string, expression bool) *Pattern {
	t.Helper()
	p, err := Compile(text, expression)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lines(p *Pattern, text string) []int {
	var out []int
	p.Find(context.Background(), []byte(text), func(l Line) bool {
		out = append(out, l.Number)
		return true
	})
	return out
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		pattern string
		regexp  bool
		text    string
		want    []int
	}{
		{"b", false, "abc\nB\nx\nb", []int{1, 2, 4}},
		{"B", false, "abc\nB\nx\nb", []int{2}},
		{"a.c", false, "abc\na.c\n", []int{2}},
		{"über", false, "Über\nuber\nÜBER", []int{1, 3}},
		{"Über", false, "Über\nüber", []int{1}},
		{"x", false, "", nil},
		{"x", false, "\n\n", nil},
		{"x", false, "\xef\xbb\xbfx\n", []int{1}},
		{"^x", true, "\xef\xbb\xbfx\n", []int{1}},
		{"x\r", false, "x\r\nx\ry\r\n", []int{2}},
		{"x$", true, "x\r\nx\n x\r", []int{1, 2}},
		{`[xy]$`, true, "x\r\ny\n x\r", []int{1, 2}},
		{`\d$`, true, "1\r\n1\n1\r", []int{1, 2}},
		{"^$", true, "\n\r\na\n", []int{1, 2}},
		{"a.*b", true, "a\nb\nab\n", []int{3}},
		{`(?s)a.*b`, true, "a\nb\nab\n", []int{3}},
		{`a\s*b`, true, "a\nb\na b\n", []int{3}},
		{`a[^x]b`, true, "a\nb\na b\n", []int{3}},
		{`\Aa|b\z`, true, "xa\nab\nxb\n", []int{2, 3}},
		{`\Wfoo`, true, "xFOO\n FOO\n", []int{2}},
		{`\wFoo`, true, "xfoo\nxFoo\n", []int{2}},
		{`(?P<Name>foo)`, true, "FOO\n", []int{1}},
		{`\p{Lu}oo`, true, "Foo\nfoo\n", []int{1, 2}},
		{`ask|kiss`, true, "A\u212a\nA\u017f\u212a\nKISS\n", []int{2, 3}},
		{`x*`, true, "a\n\nb", []int{1, 2, 3}},
		{`\x{e9}`, true, "caf\xe9\ncafé", []int{2}},
	} {
		if got := lines(mustCompile(t, c.pattern, c.regexp), c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q (regexp %v) in %q: lines %v, want %v", c.pattern, c.regexp, c.text, got, c.want)
		}
	}
}

func TestWhereInTheLine(t *testing.T) {
	for _, c := range []struct {
		pattern string
		regexp  bool
		want    string
	}{{"need", false, "NEED"}, {"need|x", true, "NEED"}, {`\d+`, true, "12"}} {
		text := "\xef\xbb\xbfone\r\n äNEED 12 need\r\n"
		p := mustCompile(t, c.pattern, c.regexp)
		p.Find(context.Background(), []byte(text), func(l Line) bool {
			if got := string(hashline.NewText([]byte(text)).Line(l.Number)[l.From:l.To]); l.Number != 2 || got != c.want {
				t.Errorf("%q is at line %d as %q, want 2 and %q", c.pattern, l.Number, got, c.want)
			}
			return true
		})
	}
	n := 0
	mustCompile(t, "x", false).Find(t.Context(), []byte("x\nx\nx\n"), func(Line) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("visited %d lines after visit said no at the second", n)
	}
}

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		pattern string
		regexp  bool
	}{
		{"", false}, {"", true}, {"A\xff", false}, {"a\nb", false}, {"a\nb", true}, {`a\nb`, true}, {"(", true}, {"a**", true},
		{`(?=a)`, true}, {"x{1001}", true}, {strings.Repeat("a", MaxPattern+1), false},
		{strings.Repeat("(", 2000) + strings.Repeat(")", 2000), true}, {"((a{100}){100}){100}", true},
	} {
		if _, err := Compile(c.pattern, c.regexp); !errors.Is(err, ErrPattern) {
			t.Errorf("%.20q (regexp %v): %v", c.pattern, c.regexp, err)
		}
	}
}

// naive looks at one line after the other with the expression as it is.
func naive(text []byte, pattern string, expression bool) []int {
	fold := !hasUpper(pattern)
	if !expression {
		fold = !strings.ContainsFunc(pattern, unicode.IsUpper)
		pattern = regexp.QuoteMeta(pattern)
	}
	if fold {
		pattern = "(?i)" + pattern
	}
	re := regexp.MustCompile(pattern)
	var out []int
	for n, t := 1, hashline.NewText(text); n <= t.Lines(); n++ {
		if re.Match(t.Line(n)) {
			out = append(out, n)
		}
	}
	return out
}

func TestFindAsLineByLine(t *testing.T) {
	pieces := []string{"foo", "Foo", "bar", "ab", "a", "k", "S", " ", "\t", "\n", "\n", "\r\n", "\r", "x1", "é", "É", "\xff", "foobar", "…"}
	texts := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40)
	patterns := rapid.SampledFrom([]string{
		"foo", "Foo", "é", "É", `fo+`, `^foo`, `bar$`, `(foo|bar)a`, `foo|bar|x1`, `\bab`, `[a-f]+\s`, `a|$`, `k[^s]`, `(ask|sk)`,
		`^$`, `^\s*$`, `.\d`, `(?:foo){2}`, `fo{2,3}`, `a.*k`, `(?i:Foo)`, `[éx]`, `\Sé`, `(^|a)b`, `foo\r`, `\x{2026}`, `^.`, `.?$`,
	})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(texts.Draw(t, "text"), ""))
		pattern := patterns.Draw(t, "pattern")
		expression := rapid.Bool().Draw(t, "regexp")
		p, err := Compile(pattern, expression)
		if err != nil {
			t.Fatal(err)
		}
		want := naive(text, pattern, expression)
		if got := lines(p, string(text)); !slices.Equal(got, want) {
			t.Fatalf("%q (regexp %v) in %q: lines %v, want %v", pattern, expression, text, got, want)
		}
	})
}

// Texts and lines longer than what is searched at a time.
func TestLongTexts(t *testing.T) {
	filler := strings.Repeat("x\xff é\n", chunk/5)
	long := strings.Repeat("x\xff é ", chunk/2)
	for _, text := range []string{
		filler + "b1\n" + filler + filler + "b2",
		filler[:chunk-1] + "\nb1\n\n",
		long + "b1" + long + "\nb\n" + long + "b2\n",
	} {
		for _, pattern := range []string{`[0-9]$`, `^$`, `^[b-]`} {
			want := naive([]byte(text), pattern, true)
			if got := lines(mustCompile(t, pattern, true), text); !slices.Equal(got, want) {
				t.Errorf("%q in %d bytes: lines %v, want %v", pattern, len(text), got, want)
			}
		}
	}
}

// countdown is a context that ends when it was looked at so many times.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A search ends with its request, in the middle of a text and of a line.
func TestCancelled(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
	}{
		{`[0-9][yz]`, strings.Repeat("1\n", 10*chunk) + "1z\n"},
		{`[0-9][yz]`, strings.Repeat("1", 10*chunk) + "1z\n"},
		{`1z`, strings.Repeat("1z\n", 20)},
		{`1.*y`, strings.Repeat("1z\n", 20)},
	} {
		p := mustCompile(t, c.pattern, true)
		left := 8
		seen := 0
		p.Find(countdown{t.Context(), &left}, []byte(c.text), func(Line) bool { seen++; return true })
		if left != -1 && left != -2 || seen > 8 {
			t.Errorf("%s: looked %d times after the end, found %d lines", c.pattern, -left, seen)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("fo+|bar$", true, []byte("a foo\r\nbar\r\n"))
	f.Add("k", false, []byte("K\n\xff"))
	f.Fuzz(func(t *testing.T, pattern string, expression bool, text []byte) {
		p, err := Compile(pattern, expression)
		if err != nil || len(pattern) > 50 || len(text) > 1000 {
			return
		}
		if expression || !bytes.ContainsAny(text, "\u212a\u017f") { // see newLiteral
			want := naive(text, pattern, expression)
			if got := lines(p, string(text)); !slices.Equal(got, want) {
				t.Fatalf("%q (regexp %v) in %q: lines %v, want %v", pattern, expression, text, got, want)
			}
		}
		seen := 0
		p.Find(t.Context(), text, func(l Line) bool {
			lines := hashline.NewText(text)
			if l.Number <= seen || l.Number > lines.Lines() || l.From < 0 || l.To < l.From || l.To > len(lines.Line(l.Number)) {
				t.Fatalf("%q in %q: %+v after line %d of %d", pattern, text, l, seen, lines.Lines())
			}
			seen = l.Number
			return true
		})
	})
}

// Whether a pattern has a finder decides whether it is fast.
func TestRequired(t *testing.T) {
	for pattern, want := range map[string]string{
		`foo`: "foo", `fo+bar`: "bar", `(abc|abd)x`: "ab", `a(foo|quux)b`: "foo quux", `\d+`: "", `x*`: "", `(foo)?`: "",
		`(foo){2}`: "foo", `ask`: "a", `Ask`: "Ask", `foo|\d`: "", `\bfunc\s+(\w+)\(`: "func",
	} {
		var got []string
		if f, ok := mustCompile(t, pattern, true).finder.(anyOf); ok {
			for _, l := range f {
				got = append(got, string(l.text))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q needs %q, want %q", pattern, got, want)
		}
	}
}

// BenchmarkFind compares a search with the least that it can do: to go through
// the bytes once.
func BenchmarkFind(b *testing.B) {
	line := "\tif err := s.handle(ctx, request); err != nil { return fmt.Errorf(\"handle %s: %w\", name, err) }\n"
	text := []byte(strings.Repeat(line, 40_000) + "needle Haystack\n")
	for _, c := range []struct {
		name, pattern string
		regexp        bool
	}{
		{"literal", "Haystack", false}, {"fold", "haystack", false}, {"expression", `need(le|y)\s+\w+`, true}, {"unprefixed", `[0-9]{3}`, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := mustCompile(b, c.pattern, c.regexp)
			floor := time.Duration(1 << 62)
			for range 5 {
				start := time.Now()
				bytes.Count(text, []byte{'\n'})
				floor = min(floor, time.Since(start))
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Find(b.Context(), text, func(Line) bool { return false })
			}
			b.ReportMetric(float64(b.Elapsed()/time.Duration(b.N))/float64(floor), "x-pass")
		})
	}
}
