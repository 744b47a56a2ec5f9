package buffers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// oracle is a text as LSP describes it, with no thought for speed.
type oracle struct {
	text     string
	encoding Encoding
}

// lines returns where each line starts and where its content ends.
func (o oracle) lines() (starts, ends []int) {
	starts = []int{0}
	for i := 0; i < len(o.text); i++ {
		c := o.text[i]
		if c != '\r' && c != '\n' {
			continue
		}
		ends = append(ends, i)
		if c == '\r' && i+1 < len(o.text) && o.text[i+1] == '\n' {
			i++
		}
		starts = append(starts, i+1)
	}
	return starts, append(ends, len(o.text))
}

// units returns the length of s in the encoding, by the conversions of the
// standard library.
func (o oracle) units(s string) uint64 {
	switch o.encoding {
	case UTF8:
		return uint64(len(s))
	case UTF32:
		return uint64(len([]rune(s)))
	default:
		return uint64(len(utf16.Encode([]rune(s))))
	}
}

// offset returns the byte offset of a position, and false inside a character.
func (o oracle) offset(p Position) (int, bool) {
	starts, ends := o.lines()
	if p.Line >= uint64(len(starts)) {
		return len(o.text), true
	}
	line := o.text[starts[p.Line]:ends[p.Line]]
	for i := 0; i <= len(line); i++ {
		if i < len(line) && !utf8.RuneStart(line[i]) {
			continue
		}
		switch n := o.units(line[:i]); {
		case n == p.Character:
			return starts[p.Line] + i, true
		case n > p.Character:
			return 0, false
		}
	}
	return ends[p.Line], true
}

// apply returns the text after one change, and false if it cannot be applied.
func (o oracle) apply(c Change) (string, bool) {
	if c.Range == nil {
		return c.Text, true
	}
	start, ok1 := o.offset(c.Range.Start)
	end, ok2 := o.offset(c.Range.End)
	s, e := c.Range.Start, c.Range.End
	if !ok1 || !ok2 || e.Line < s.Line || e.Line == s.Line && e.Character < s.Character {
		return "", false
	}
	return o.text[:start] + c.Text + o.text[end:], true
}

// checkPieces fails unless the pieces of a text are as they should be.
func checkPieces(t testing.TB, text *Text) {
	t.Helper()
	size := 0
	for i, p := range text.pieces {
		if p != measure(p.s) {
			t.Fatalf("piece %d counts %+v", i, p)
		}
		if p.s == "" || len(p.s) > pieceMost+1 || !utf8.ValidString(p.s) {
			t.Fatalf("piece %d has %d bytes", i, len(p.s))
		}
		if i > 0 && p.s[0] == '\n' && strings.HasSuffix(text.pieces[i-1].s, "\r") {
			t.Fatalf("piece %d starts inside of a line end", i)
		}
		size += len(p.s)
	}
	if size != text.size {
		t.Fatalf("the size is %d, and of the pieces %d", text.size, size)
	}
}

var encodings = []Encoding{UTF8, UTF16, UTF32}

func TestChanges(t *testing.T) {
	at := func(line, char uint64) Position { return Position{line, char} }
	for _, c := range []struct {
		name, text string
		encoding   Encoding
		from, to   Position
		insert     string
		want       string // "!" for an error
	}{
		{"insert", "ab\n", UTF16, at(0, 1), at(0, 1), "X", "aXb\n"},
		{"an empty document", "", UTF16, at(0, 0), at(0, 0), "X", "X"},
		{"past the end of a line", "ab\ncd\n", UTF16, at(0, 9), at(0, 9), "X", "abX\ncd\n"},
		{"past the end of a CRLF line", "ab\r\ncd", UTF16, at(0, 9), at(0, 9), "X", "abX\r\ncd"},
		{"past the last line", "ab\n", UTF16, at(7, 3), at(9, 0), "X", "ab\nX"},
		{"the line after a last line end", "ab\n", UTF16, at(1, 0), at(1, 0), "X", "ab\nX"},
		{"a bare CR ends a line", "a\rb\rc", UTF16, at(1, 0), at(1, 1), "X", "a\rX\rc"},
		{"CR CR LF are two line ends", "a\r\r\nb", UTF16, at(2, 0), at(2, 0), "X", "a\r\r\nXb"},
		{"U+2028 ends none", "a\u2028b\nc", UTF16, at(1, 0), at(1, 0), "X", "a\u2028b\nXc"},
		{"a line is joined", "ab\ncd", UTF16, at(0, 2), at(1, 0), "", "abcd"},
		{"utf-16 counts a pair as two", "😀b", UTF16, at(0, 2), at(0, 3), "X", "😀X"},
		{"utf-32 counts it as one", "😀b", UTF32, at(0, 1), at(0, 2), "X", "😀X"},
		{"utf-8 counts bytes", "😀b", UTF8, at(0, 4), at(0, 5), "X", "😀X"},
		{"inside a pair", "😀b", UTF16, at(0, 1), at(0, 2), "X", "!"},
		{"inside a character", "äb", UTF8, at(0, 1), at(0, 2), "X", "!"},
		{"backwards", "abc", UTF16, at(0, 2), at(0, 1), "X", "!"},
		{"backwards past the end", "abc", UTF16, at(9, 2), at(9, 1), "X", "!"},
		{"a CRLF comes together", "a\rb\nc", UTF16, at(1, 0), at(1, 1), "", "a\r\nc"},
		{"a byte order mark is a character", "\ufeffab", UTF16, at(0, 1), at(0, 2), "X", "\ufeffXb"},
	} {
		text, err := NewText(c.text).Apply([]Change{{Range: &Range{c.from, c.to}, Text: c.insert}}, c.encoding)
		if c.want == "!" {
			if err == nil {
				t.Errorf("%s: no error, and %q", c.name, text.Bytes())
			}
			continue
		}
		if err != nil || string(text.Bytes()) != c.want {
			t.Errorf("%s: %v %v, want %q", c.name, text, err, c.want)
		}
	}
}

// Changes of a batch see what those before them left, and a batch with a bad one
// changes nothing.
func TestBatchOfChanges(t *testing.T) {
	zero := &Range{}
	text := NewText("old")
	next, err := text.Apply([]Change{{Text: "new"}, {Range: zero, Text: "a\n"}, {Range: &Range{Position{1, 0}, Position{1, 1}}, Text: "N"}}, UTF16)
	if err != nil || string(next.Bytes()) != "a\nNew" {
		t.Fatalf("%v %v", next, err)
	}
	_, err = text.Apply([]Change{{Range: zero, Text: "x"}, {Range: &Range{Start: Position{1, 0}}}}, UTF16)
	if err == nil || err.(*ChangeError).Change != 1 {
		t.Errorf("a bad second change: %v", err)
	}
	if string(text.Bytes()) != "old" {
		t.Errorf("the text is %q", text.Bytes())
	}
}

// A large text is edited in many places, and each text stays what it was.
func TestLargeText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"a", "ä", "€", "😀", "\n", "\r\n", "\r", "xyz", strings.Repeat("long ", 300)}
	var b strings.Builder
	for b.Len() < 100_000 {
		b.WriteString(words[random.IntN(len(words))])
	}
	text, was := NewText(b.String()), oracle{text: b.String()}
	first := was.text
	original := text
	for i := range 200 {
		was.encoding = encodings[i%3]
		c := randomChange(random, was, words)
		next, err := text.Apply([]Change{c}, was.encoding)
		want, ok := was.apply(c)
		if ok != (err == nil) {
			t.Fatalf("change %d, %+v: %v, and the oracle says %v", i, *c.Range, err, ok)
		}
		if !ok {
			continue
		}
		text, was.text = next, want
		if !text.Equal([]byte(want)) {
			t.Fatalf("change %d, %+v: the texts differ", i, *c.Range)
		}
		if i%20 == 0 {
			checkPieces(t, text)
		}
	}
	if string(original.Bytes()) != first {
		t.Error("the first text has changed")
	}
}

// position returns the position of a byte offset.
func (o oracle) position(offset int) Position {
	starts, ends := o.lines()
	line := 0
	for line+1 < len(starts) && starts[line+1] <= offset {
		line++
	}
	return Position{uint64(line), o.units(o.text[starts[line]:min(offset, ends[line])])}
}

// Line ends and characters that come together or apart at the end of a piece
// stay whole.
func TestChangesBetweenPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, unit := range []string{"\r\n", "\r\n\r", "a\r\n", "😀😀\r", "b\n\r"} {
		o := oracle{strings.Repeat(unit, 30_000/len(unit)), UTF16}
		text := NewText(o.text)
		checkPieces(t, text)
		for i := range 40 {
			boundary := 0
			for _, p := range text.pieces[:1+random.IntN(len(text.pieces)-1)] {
				boundary += len(p.s)
			}
			near := func() Position {
				at := max(0, min(boundary+random.IntN(7)-3, len(o.text)))
				for at < len(o.text) && !utf8.RuneStart(o.text[at]) {
					at++
				}
				return o.position(at)
			}
			r := Range{near(), near()}
			if r.End.before(r.Start) {
				r.Start, r.End = r.End, r.Start
			}
			c := Change{Range: &r, Text: []string{"", "", "\n", "\r", "x"}[random.IntN(5)]}
			want, _ := o.apply(c)
			next, err := text.Apply([]Change{c}, o.encoding)
			if err != nil || !next.Equal([]byte(want)) {
				t.Fatalf("%q, change %d %+v %q: %v", unit, i, r, c.Text, err)
			}
			checkPieces(t, next)
			text, o.text = next, want
		}
	}
}

// randomChange makes a change whose positions lie mostly in the text.
func randomChange(random *rand.Rand, o oracle, words []string) Change {
	starts, ends := o.lines()
	position := func(near int) Position {
		line := max(0, min(near+random.IntN(40)-2, len(starts)))
		if line == len(starts) {
			return Position{uint64(line), 0}
		}
		units := o.units(o.text[starts[line]:ends[line]])
		return Position{uint64(line), random.Uint64N(units + 2)}
	}
	near := random.IntN(len(starts) + 1)
	r := Range{position(near), position(near)}
	if r.End.before(r.Start) && random.IntN(20) > 0 {
		r.Start, r.End = r.End, r.Start
	}
	insert := strings.Repeat(words[random.IntN(len(words))], random.IntN(4))
	if random.IntN(50) == 0 {
		insert = strings.Repeat("much\r", 10_000)
	}
	return Change{Range: &r, Text: insert}
}

// FuzzChanges compares with the oracle: three changes of a text, which is
// repeated so that it may have several pieces.
func FuzzChanges(f *testing.F) {
	f.Add("a\r\nb\rc😀ä", uint16(1), uint8(1), uint64(0x0001_0002_0003), "\r", uint64(0x1_0000_0001), "\n")
	f.Add("\r\n", uint16(9000), uint8(0), uint64(0x0fff_0000_0001), "", uint64(0), "x")
	f.Add("😀\r", uint16(4000), uint8(2), uint64(0x0010_0001_0001), "\n", uint64(77), "ä\r\n")
	f.Fuzz(func(t *testing.T, unit string, times uint16, encoding uint8, where uint64, insert string, second uint64, other string) {
		if !utf8.ValidString(unit) || !utf8.ValidString(insert) || !utf8.ValidString(other) || len(unit)*int(times) > 1<<17 {
			t.Skip()
		}
		o := oracle{strings.Repeat(unit, int(times)), encodings[int(encoding)%len(encodings)]}
		text := NewText(o.text)
		for i, c := range []Change{fuzzChange(where, insert), fuzzChange(second, other), fuzzChange(where>>1, other)} {
			want, ok := o.apply(c)
			next, err := text.Apply([]Change{c}, o.encoding)
			if ok != (err == nil) {
				t.Fatalf("change %d %+v: %v, and the oracle says %v", i, *c.Range, err, ok)
			}
			if !ok {
				return
			}
			if !next.Equal([]byte(want)) || string(next.Bytes()) != want {
				t.Fatalf("change %d %+v: %q, want %q", i, *c.Range, shorten(string(next.Bytes())), shorten(want))
			}
			checkPieces(t, next)
			text, o.text = next, want
		}
	})
}

// fuzzChange reads a range from bits: 16 for the line, and its length, the
// start, and the end in its line.
func fuzzChange(bits uint64, text string) Change {
	line := bits >> 32 & 0xffff
	return Change{
		Range: &Range{Position{line, bits & 0xffff}, Position{line + bits>>48, bits >> 16 & 0xffff}},
		Text:  text,
	}
}

func shorten(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%s… (%d bytes)", s[:200], len(s))
	}
	return s
}

// BenchmarkTyping measures a key stroke in the middle of a text of 10 MB. Its
// metric ratio is its time over that of a copy of the text, which a flat buffer
// would cost.
func BenchmarkTyping(b *testing.B) {
	text := NewText(strings.Repeat("\tif err := something(); err != nil {\n", 280_000))
	c := []Change{{Range: &Range{Position{140_000, 4}, Position{140_000, 4}}, Text: "x"}}
	const copies = 10
	start := time.Now()
	for range copies {
		_ = text.Bytes()
	}
	floor := time.Since(start) / copies
	for b.Loop() {
		next, err := text.Apply(c, UTF16)
		if err != nil {
			b.Fatal(err)
		}
		text = next
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(floor), "ratio")
}
