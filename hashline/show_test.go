package hashline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naiveShow renders lines one at a time through the exported, slow calls.
func naiveShow(t *Text, r Range, w Width) string {
	var lines []string
	for n := r.Start; n <= r.End; n++ {
		l := string(t.Line(n))
		if w > 0 {
			l = t.Anchor(n, w).String() + ":" + l
		}
		lines = append(lines, l)
	}
	return strings.Join(lines, "\n")
}

func TestAppendEqualsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := NewText([]byte(fileGen().Draw(t, "file") + "end"))
		r := Range{Start: rapid.IntRange(1, text.Lines()).Draw(t, "start")}
		r.End = rapid.IntRange(r.Start-1, text.Lines()).Draw(t, "end")
		w := Width(rapid.IntRange(2, 4).Draw(t, "width"))
		if got, want := string(text.AppendAnchored([]byte("head "), r, w)), "head "+naiveShow(text, r, w); got != want {
			t.Fatalf("AppendAnchored %v = %q, want %q", r, got, want)
		}
		if got, want := string(text.AppendPlain([]byte("head "), r)), "head "+naiveShow(text, r, 0); got != want {
			t.Fatalf("AppendPlain %v = %q, want %q", r, got, want)
		}
	})
}

func TestShowEqualsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := NewText([]byte(fileGen().Draw(t, "file") + "end"))
		r := Range{Start: rapid.IntRange(1, text.Lines()).Draw(t, "start")}
		r.End = rapid.IntRange(r.Start-1, text.Lines()).Draw(t, "end")
		s := Style{
			Width:    rapid.SampledFrom([]Width{0, 2, 4}).Draw(t, "width"),
			MaxLine:  rapid.SampledFrom([]int{0, 4, 9}).Draw(t, "maxLine"),
			MaxBytes: rapid.SampledFrom([]int{0, 1, 30, 80}).Draw(t, "maxBytes"),
		}
		var want string
		var shown Shown
		for n := r.Start; n <= r.End; n++ {
			whole := text.Line(n)
			part := whole
			if s.MaxLine > 0 {
				part = part[:CutAt(part, s.MaxLine)]
			}
			row := string([]rune(string(part))) // each invalid byte becomes U+FFFD
			if s.Width > 0 {
				row = text.Anchor(n, s.Width).String() + ":" + row
			}
			if n > r.Start {
				row = "\n" + row
			}
			if s.MaxBytes > 0 && len(want)+len(row) > s.MaxBytes {
				break
			}
			want += row
			shown.Lines++
			if len(part) < len(whole) {
				shown.Cut = append(shown.Cut, CutLine{n, len(part), len(whole)})
			}
			if !utf8.Valid(part) {
				shown.Lossy = append(shown.Lossy, n)
			}
		}
		got, how := text.Show(nil, r, s)
		if string(got) != want || fmt.Sprint(how) != fmt.Sprint(shown) {
			t.Fatalf("Show %v %+v = %q %+v, want %q %+v", r, s, got, how, want, shown)
		}
		if !utf8.Valid(got) {
			t.Fatalf("Show %v %+v = %q is not UTF-8", r, s, got)
		}
	})
}

func TestShowCutsAtACharacter(t *testing.T) {
	text := NewText([]byte("short\n" + strings.Repeat("é", 1500) + "\nlast"))
	got, shown := text.Show(nil, Range{1, 3}, Style{MaxLine: 1999})
	want := "short\n" + strings.Repeat("é", 999) + "\nlast"
	if string(got) != want || !slices.Equal(shown.Cut, []CutLine{{2, 1998, 3000}}) || shown.Lines != 3 {
		t.Errorf("Show = %d bytes, %+v", len(got), shown)
	}
}

func TestShowLossy(t *testing.T) {
	text := NewText([]byte("ok\n\xff\xfe caf\xc3\n\xed\xa0\x80\n"))
	got, shown := text.Show(nil, Range{1, 3}, Style{})
	want := "ok\n\ufffd\ufffd caf\ufffd\n\ufffd\ufffd\ufffd"
	if string(got) != want || !slices.Equal(shown.Lossy, []int{2, 3}) {
		t.Errorf("Show = %q, %+v; want %q", got, shown, want)
	}
}

func TestCutAt(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want int
	}{
		{"", 5, 0},
		{"abc", 5, 3},
		{"abc", 3, 3},
		{"abc", 2, 2},
		{"aé", 2, 1},
		{"aé", 1, 1},
		{"éa", 1, 2}, // progress: the first character whole
		{"éa", 0, 2},
		{"abc", 0, 1},
		{"a😀b", 2, 1},
		{"a😀b", 4, 1},
		{"a😀b", 5, 5},
		{"\x80\x80\x80\x80\x80\x80", 4, 4}, // no character to keep whole
		{"a\xf0\x9f\x98", 3, 3},            // an unfinished one at the end
	} {
		if got := CutAt([]byte(c.in), c.most); got != c.want {
			t.Errorf("CutAt(%q, %d) = %d, want %d", c.in, c.most, got, c.want)
		}
	}
}

func FuzzCutAt(f *testing.F) {
	f.Add([]byte("a😀b"), 3)
	f.Fuzz(func(t *testing.T, b []byte, most int) {
		n := CutAt(b, most)
		if n < 0 || n > len(b) || len(b) > 0 && n == 0 {
			t.Fatalf("CutAt(%q, %d) = %d", b, most, n)
		}
		if n > most && n > utf8.UTFMax {
			t.Fatalf("CutAt(%q, %d) = %d is past the limit", b, most, n)
		}
		if utf8.Valid(b) && (!utf8.Valid(b[:n]) || !utf8.Valid(b[n:])) {
			t.Fatalf("CutAt(%q, %d) = %d splits a character", b, most, n)
		}
	})
}

// TestHotPathsDoNotAllocate holds what a read costs besides its reply buffer.
func TestHotPathsDoNotAllocate(t *testing.T) {
	long := strings.Repeat("a long line ", 300) + "\n"
	text := NewText([]byte(strings.Repeat("\tif err != nil {\n\t\treturn err\n\t}\n", 700) + long + long))
	all := Range{1, text.Lines()}
	dst := make([]byte, 0, 2*text.Size()+20*text.Lines())
	hashes := make([]Hash, 0, text.Lines())
	for what, f := range map[string]func(){
		"AppendAnchored": func() { text.AppendAnchored(dst, all, 4) },
		"AppendPlain":    func() { text.AppendPlain(dst, all) },
		"Show":           func() { text.Show(dst, all, Style{Width: 4}) },
		"AppendHashes":   func() { text.AppendHashes(hashes, all) },
		"Hash":           func() { text.Hash(9); text.Hash(text.Lines()) },
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}
