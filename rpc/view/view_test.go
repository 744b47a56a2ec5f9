package view

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mapd/hashline"
)

func all(text *hashline.Text) []Span {
	if text.Lines() == 0 {
		return nil
	}
	return []Span{{Range: hashline.Range{Start: 1, End: text.Lines()}}}
}

// texts are files with long lines, characters of every length, invalid bytes
// and every terminator.
func texts() *rapid.Generator[[]byte] {
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "}", "a", "\treturn nil", "é", "日本語", "\xff\xfe", "a\xc3", "🙂🙂"}),
		rapid.StringN(0, 30, 90),
		rapid.Custom(func(t *rapid.T) string {
			unit := rapid.SampledFrom([]string{"x", "é", "語", "🙂", "\xf0"}).Draw(t, "unit")
			return strings.Repeat(unit, rapid.IntRange(1, 60).Draw(t, "times"))
		}),
	)
	return rapid.Custom(func(t *rapid.T) []byte {
		var b []byte
		for _, l := range rapid.SliceOfN(line, 0, 40).Draw(t, "lines") {
			b = append(b, strings.ReplaceAll(l, "\n", "")...)
			b = append(b, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")...)
		}
		if rapid.Bool().Draw(t, "cut") {
			b = bytes.TrimSuffix(b, []byte("\n"))
		}
		return b
	})
}

// Following the cursors shows every byte of every line once and in bounded
// pieces, whatever the budget; and each view keeps its budget, unless that has
// no room for one character.
func TestCursorsReachEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := texts().Draw(t, "content")
		text := hashline.NewText(content)
		digest := hashline.Sum(content)
		style := Style{
			Anchors: rapid.Bool().Draw(t, "anchors"),
			Width:   hashline.DefaultWidth,
			Lossy:   true,
		}
		budget := Budget{
			Lines: rapid.IntRange(1, 12).Draw(t, "lines"),
			Bytes: rapid.IntRange(1, 300).Draw(t, "bytes"),
			Line:  rapid.IntRange(4, 60).Draw(t, "line"),
		}
		shown := make([][]byte, text.Lines()+1)
		spans := all(text)
		bytesShown := 0
		for views := 0; len(spans) > 0; views++ {
			if views > len(content)+text.Lines()+1 {
				t.Fatalf("no end after %d views, rest %v", views, spans)
			}
			plan := Make(text, spans, budget, style)
			blocks := plan.Render(text, style)
			checkPlan(t, plan, blocks, budget)
			collect(text, plan, shown)
			bytesShown += plan.Bytes
			if len(plan.Rest) == 0 {
				break
			}
			c, err := ParseCursor(Cursor{Bound: digest, Rest: plan.Rest}.String())
			if err != nil || !c.Fits(text, digest) {
				t.Fatalf("cursor of %v: %v, fits %v", plan.Rest, err, c.Fits(text, digest))
			}
			spans = c.Rest
		}
		for n := 1; n <= text.Lines(); n++ {
			if !bytes.Equal(shown[n], text.Line(n)) {
				t.Fatalf("line %d: shown %q, want %q", n, shown[n], text.Line(n))
			}
		}
		if bytesShown != len(content) {
			t.Fatalf("file bytes shown: %d, want %d", bytesShown, len(content))
		}
	})
}

func checkPlan(t *rapid.T, plan Plan, blocks []string, budget Budget) {
	if plan.Lines == 0 {
		t.Fatal("a view of lines shows none")
	}
	if plan.Lines > budget.Lines {
		t.Fatalf("%d lines shown, budget %d", plan.Lines, budget.Lines)
	}
	if len(blocks) != len(plan.Blocks) {
		t.Fatalf("%d blocks for %d ranges", len(blocks), len(plan.Blocks))
	}
	size, lines := 0, 0
	for i, b := range blocks {
		size += len(b)
		lines += plan.Blocks[i].Len()
		if got := strings.Count(b, "\n") + 1; got != plan.Blocks[i].Len() {
			t.Fatalf("block %v has %d lines: %q", plan.Blocks[i], got, b)
		}
	}
	if size != plan.Size || lines != plan.Lines {
		t.Fatalf("planned %d bytes in %d lines, rendered %d in %d", plan.Size, plan.Lines, size, lines)
	}
	if size > budget.Bytes && plan.Lines > 1 {
		t.Fatalf("%d bytes shown in %d lines, budget %d", size, plan.Lines, budget.Bytes)
	}
	if (plan.Cause == None) != (len(plan.Rest) == 0) {
		t.Fatalf("cause %q with rest %v", plan.Cause, plan.Rest)
	}
}

// collect appends what a plan shows of each line.
func collect(text *hashline.Text, plan Plan, shown [][]byte) {
	part := map[int]Cut{}
	for _, c := range plan.Cuts {
		part[c.Line] = c
	}
	for _, b := range plan.Blocks {
		for n := b.Start; n <= b.End; n++ {
			content := text.Line(n)
			if c, ok := part[n]; ok {
				content = content[c.From:c.To]
			}
			shown[n] = append(shown[n], content...)
		}
	}
}

func TestMake(t *testing.T) {
	long := strings.Repeat("é", 20) // 40 bytes
	text := hashline.NewText([]byte("one\ntwo\n" + long + "\nfour\n"))
	spans := []Span{{Range: hashline.Range{Start: 1, End: 2}}, {Range: hashline.Range{Start: 3, End: 4}}}
	for _, c := range []struct {
		name   string
		spans  []Span
		budget Budget
		want   string
		cause  Cause
		rest   []Span
	}{
		{"everything", spans, Budget{10, 100, 100}, "one\ntwo\n" + long + "\nfour", None, nil},
		{"lines", spans, Budget{1, 100, 100}, "one", ByLines, []Span{{hashline.Range{Start: 2, End: 2}, 0}, spans[1]}},
		{"bytes to the byte", spans, Budget{10, 7, 100}, "one\ntwo", ByBytes, spans[1:]},
		{"one byte less", spans, Budget{10, 6, 100}, "one", ByBytes, []Span{{hashline.Range{Start: 2, End: 2}, 0}, spans[1]}},
		{"a long line is cut at a character", spans, Budget{10, 100, 5}, "one\ntwo\néé\nfour", ByLine, []Span{{hashline.Range{Start: 3, End: 3}, 4}}},
		{"the rest of a line is cut as well", []Span{{hashline.Range{Start: 3, End: 3}, 4}}, Budget{10, 100, 5}, "éé", ByLine, []Span{{hashline.Range{Start: 3, End: 3}, 8}}},
		{"the last piece of a line", []Span{{hashline.Range{Start: 3, End: 3}, 36}}, Budget{10, 100, 5}, "éé", None, nil},
		{"a first line too long for the budget", spans[1:], Budget{10, 3, 100}, "é", ByBytes, []Span{{hashline.Range{Start: 3, End: 4}, 2}}},
		{"no room for a character", spans[1:], Budget{10, 1, 100}, "é", ByBytes, []Span{{hashline.Range{Start: 3, End: 4}, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := Make(text, c.spans, c.budget, Style{})
			if got := strings.Join(plan.Render(text, Style{}), "\n"); got != c.want {
				t.Errorf("shown %q, want %q", got, c.want)
			}
			if plan.Cause != c.cause || !equal(plan.Rest, c.rest) {
				t.Errorf("cause %q, rest %v; want %q, %v", plan.Cause, plan.Rest, c.cause, c.rest)
			}
		})
	}
}

func equal(a, b []Span) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func FuzzParseCursor(f *testing.F) {
	f.Add(Cursor{Rest: []Span{{hashline.Range{Start: 3, End: 9}, 17}}}.String())
	f.Add("AQA")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCursor(s)
		if err != nil {
			return
		}
		line := 0
		for _, span := range c.Rest {
			if span.Start <= line || span.End < span.Start || span.Skip < 0 {
				t.Fatalf("%q gives the spans %v", s, c.Rest)
			}
			line = span.End
		}
	})
}
