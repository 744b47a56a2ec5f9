package outline

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"mapd/hashline"
	"mapd/outline/symbol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRenderGolden renders the first file of each testdata/render/*.txtar as
// the names of the other files say: a level, and a cap if not the default one.
func TestRenderGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/render/*.txtar")
	if len(files) == 0 {
		t.Fatal("no golden files")
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			o, err := New(Options{}).Extract(context.Background(), Detect(in.Name, in.Data), hashline.NewText(in.Data))
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range archive.Files[1:] {
				level, limit, _ := strings.Cut(f.Name, " ")
				most, _ := strconv.Atoi(limit)
				m := o.Render(RenderOptions{Name: in.Name, Detail: Detail(level), MaxBytes: most})
				checkMap(t, o, m, max(most, 1))
				if *update {
					archive.Files[1+i].Data = []byte(m.Text + "\n")
				} else if diff := cmp.Diff(string(f.Data), m.Text+"\n"); diff != "" {
					t.Errorf("%s: want -, got +\n%s", f.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var lineFormat = regexp.MustCompile(`^((?:  )*)(\S.*|): \[(\d+)(?:-(\d+))?\]$`)

var gapLine = regexp.MustCompile(`^… \d+ (?:more|members|locals|symbols)$`)

// checkMap checks what holds for every map: its cap, its header, the format and
// the order of its lines, and its counts.
func checkMap(t testing.TB, o *Outline, m Map, most int) {
	t.Helper()
	if most > 1 && len(m.Text) > most {
		t.Fatalf("%d bytes, cap %d", len(m.Text), most)
	}
	if !utf8.ValidString(m.Text) {
		t.Fatal("not UTF-8")
	}
	lines := strings.Split(m.Text, "\n")
	shown, depth := 0, -1
	last := map[int]int{} // start of the line before at a depth
	for _, line := range lines[1:] {
		f := lineFormat.FindStringSubmatch(line)
		if f == nil {
			t.Fatalf("line %q of\n%s", line, m.Text)
		}
		start, _ := strconv.Atoi(f[3])
		end, _ := strconv.Atoi(f[4])
		d := len(f[1]) / 2
		if d > depth+1 {
			t.Fatalf("line %q is %d deep after %d", line, d, depth)
		}
		if d > depth {
			last[d] = last[d-1] // a child starts no earlier than its parent
		}
		if start < last[d] || f[4] != "" && end <= start {
			t.Fatalf("line %q after one of line %d", line, last[d])
		}
		depth, last[d] = d, start
		if !gapLine.MatchString(f[2]) {
			shown++
		}
	}
	if shown != m.ShownSymbols || m.TotalSymbols != o.Count || shown > o.Count {
		t.Fatalf("%d lines, shown %d of %d, count %d", shown, m.ShownSymbols, m.TotalSymbols, o.Count)
	}
	if !m.Detail.Valid() || m.Detail == Auto {
		t.Fatalf("detail %q", m.Detail)
	}
}

// randomOutline makes an outline of about n symbols.
func randomOutline(rng *rand.Rand, n int) *Outline {
	names := []string{"f", "name", "Type.Method", "a\nb", "\x1b[31m", "日本語", "x: [1-2]", strings.Repeat("long", 100), "\u2028", "… 3 members", "[3]", "\xff"}
	kinds := []symbol.Kind{symbol.Function, symbol.Class, symbol.Key, symbol.Heading}
	left := n
	var level func(from, to, depth int) []symbol.Symbol
	level = func(from, to, depth int) (out []symbol.Symbol) {
		for from <= to && left > 0 && depth < 12 {
			left--
			s := symbol.Symbol{Name: names[rng.IntN(len(names))] + strconv.Itoa(left), Kind: kinds[rng.IntN(len(kinds))], Local: depth > 0 && rng.IntN(3) == 0}
			s.Start = from + rng.IntN(min(3, to-from+1))
			s.End = s.Start + rng.IntN(min(1+n/(1<<depth), to-s.Start+1))
			switch rng.IntN(3) {
			case 0:
				s.Signature = "func (r *T)\t" + s.Name + "(" + strings.Repeat("a int, ", rng.IntN(90)) + ")"
			case 1:
				s.Docstring = strings.Repeat("words ", rng.IntN(40))
			}
			if rng.IntN(2) == 0 {
				s.Children = level(s.Start, s.End, depth+1)
			}
			out = append(out, s)
			from = s.Start + rng.IntN(s.End-s.Start+2)
		}
		return out
	}
	o := &Outline{Language: Go, Lines: 3*n + 1, Bytes: 100 * n}
	for left > 0 {
		before := left
		o.Symbols = level(1, o.Lines, 0)
		if left == before {
			break
		}
		left = 0
	}
	o.Count = symbol.Count(o.Symbols)
	return o
}

// TestRenderHoldsCap renders random outlines on every level with random caps.
func TestRenderHoldsCap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	details := []Detail{Auto, Full, Compact, Minimal, Top, Truncated}
	seen := map[Detail]int{}
	for range 600 {
		o := randomOutline(rng, 1<<rng.IntN(13))
		most := 1 << rng.IntN(18)
		most += rng.IntN(most)
		detail := details[max(0, rng.IntN(2*len(details))-len(details))]
		name := strings.Repeat("dir\n/", rng.IntN(3)*rng.IntN(200)) + "f.go"
		m := o.Render(RenderOptions{Name: name, Detail: detail, MaxBytes: most})
		if most < 200 { // the header may be cut, and nothing else is shown then
			if len(m.Text) > most || !utf8.ValidString(m.Text) {
				t.Fatalf("%d bytes, cap %d", len(m.Text), most)
			}
			continue
		}
		checkMap(t, o, m, most)
		if detail != Auto && m.Detail != detail {
			t.Fatalf("asked for %s, got %s", detail, m.Detail)
		}
		if detail == Auto {
			seen[m.Detail]++
		}
	}
	for _, d := range details[1:] {
		if seen[d] == 0 {
			t.Errorf("auto never chose %s: %v", d, seen)
		}
	}
}

// flat returns an outline of n functions with names of the given length.
func flat(n, length int) *Outline {
	o := &Outline{Language: Go, Lines: 10 * n, Bytes: 300 * n, Count: n}
	for i := range n {
		name := fmt.Sprintf("f%0*d", length-1, i)
		o.Symbols = append(o.Symbols, symbol.Symbol{Name: name, Kind: symbol.Function, Start: 10*i + 1, End: 10*i + 9, Signature: "func " + name + "(a, b int) error"})
	}
	return o
}

// TestRenderLevels walks the sizes of a flat outline up and checks that each
// level is left exactly when its text exceeds its limit.
func TestRenderLevels(t *testing.T) {
	limits := map[Detail]int{Full: 10 << 10, Compact: 20 << 10, Minimal: 25 << 10, Top: 50 << 10, Truncated: 100 << 10}
	order := []Detail{Full, Compact, Minimal, Top, Truncated}
	at := 0
	for n := 1; n < 6000; n += 1 + n/25 {
		o := flat(n, 8)
		m := o.Render(RenderOptions{Name: "f.go"})
		for order[at] != m.Detail {
			// The level before was left for its limit, not earlier.
			forced := o.Render(RenderOptions{Name: "f.go", Detail: order[at], MaxBytes: 1 << 30})
			if len(forced.Text) <= limits[order[at]]-len(", 9999 of 9999 symbols") {
				t.Fatalf("%d symbols: %s has %d bytes, but auto is %s", n, order[at], len(forced.Text), m.Detail)
			}
			if at++; at == len(order) {
				t.Fatalf("%d symbols: back to %s", n, m.Detail)
			}
		}
		if len(m.Text) > limits[m.Detail] {
			t.Fatalf("%d symbols: %s has %d bytes", n, m.Detail, len(m.Text))
		}
		checkMap(t, o, m, DefaultMapBytes)
	}
	if order[at] != Truncated {
		t.Errorf("only reached %s", order[at])
	}
}

func TestRenderTruncatedNamesWhatIsLeftOut(t *testing.T) {
	o := flat(20_000, 10)
	m := o.Render(RenderOptions{Name: "f.go"})
	lines := strings.Split(m.Text, "\n")
	if m.Detail != Truncated || !strings.Contains(lines[1], "f000000000") || !strings.Contains(lines[len(lines)-1], "f000019999: [199991-199999]") {
		t.Fatalf("%s: first %q last %q", m.Detail, lines[1], lines[len(lines)-1])
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "… ") {
			hidden := 20_000 - m.ShownSymbols
			want := fmt.Sprintf("… %d symbols: [%d-%d]", hidden, 10*(i-1)+1, 10*(i-2+hidden)+9)
			if line != want {
				t.Errorf("gap %q, want %q", line, want)
			}
			return
		}
	}
	t.Error("no line names what is left out")
}

// TestRenderKeepsSmallMembers checks that for want of room the members of the
// largest type go, and not those of the others.
func TestRenderKeepsSmallMembers(t *testing.T) {
	o := &Outline{Language: Java, Lines: 100_000, Bytes: 1 << 20}
	class := func(name string, start, members int) symbol.Symbol {
		s := symbol.Symbol{Name: name, Kind: symbol.Class, Start: start, End: start + members + 1}
		for i := range members {
			s.Children = append(s.Children, symbol.Symbol{Name: fmt.Sprintf("%sMember%d", name, i), Kind: symbol.Method, Start: start + 1 + i, End: start + 1 + i})
		}
		return s
	}
	o.Symbols = append(o.Symbols, class("Huge", 1, 3000))
	for i := range 100 {
		o.Symbols = append(o.Symbols, class(fmt.Sprintf("Small%d", i), 4000+10*i, 3))
	}
	o.Count = symbol.Count(o.Symbols)
	m := o.Render(RenderOptions{Name: "A.java"})
	checkMap(t, o, m, DefaultMapBytes)
	if m.Detail != Top {
		t.Fatalf("level %s", m.Detail)
	}
	for i := range 100 {
		for j := range 3 {
			if want := fmt.Sprintf("  method Small%dMember%d: [", i, j); !strings.Contains(m.Text, want) {
				t.Fatalf("no %q", want)
			}
		}
	}
	gap := regexp.MustCompile(`(?m)^  … (\d+) more: \[(\d+)-3001\]$`).FindStringSubmatch(m.Text)
	if gap == nil || strings.Count(m.Text, "… ") != 1 {
		t.Fatalf("gaps %v", regexp.MustCompile(`(?m)^.*… .*$`).FindAllString(m.Text, 5))
	}
	hidden, _ := strconv.Atoi(gap[1])
	if from, _ := strconv.Atoi(gap[2]); from != 3002-hidden || hidden == 3000 {
		t.Errorf("%d hidden from line %d", hidden, from)
	}
	if len(m.Text) < 45<<10 {
		t.Errorf("only %d bytes used", len(m.Text))
	}
}

// TestRenderSmallTypesKeepMembers checks that members of small types are shown
// where the top level leaves no room to name the others.
func TestRenderSmallTypesKeepMembers(t *testing.T) {
	o := &Outline{Language: Java, Lines: 100_000, Bytes: 1 << 20}
	for i := range 2200 {
		s := symbol.Symbol{Name: fmt.Sprintf("TypeWithName%d", i), Kind: symbol.Interface, Start: 1 + 40*i, End: 40 + 40*i}
		for j := range 1 + i%20 {
			s.Children = append(s.Children, symbol.Symbol{Name: fmt.Sprint("m", j), Kind: symbol.Method, Start: s.Start + 1 + j, End: s.Start + 1 + j})
		}
		o.Symbols = append(o.Symbols, s)
	}
	o.Count = symbol.Count(o.Symbols)
	m := o.Render(RenderOptions{Name: "A.java"})
	checkMap(t, o, m, DefaultMapBytes)
	if m.Detail != Truncated || m.ShownSymbols < 2200+110 || !strings.Contains(m.Text, "\n  method m0: [2]\n") {
		t.Errorf("%s, %d of %d, %d bytes", m.Detail, m.ShownSymbols, m.TotalSymbols, len(m.Text))
	}
}

// TestRenderLocalsGoFirst checks that locals make room for signatures.
func TestRenderLocalsGoFirst(t *testing.T) {
	o := flat(100, 20)
	for i := range o.Symbols {
		s := &o.Symbols[i]
		for j := range 1 + i%3*3 {
			s.Children = append(s.Children, symbol.Symbol{Name: fmt.Sprint("local", j), Kind: symbol.Function, Start: s.Start + j, End: s.Start + j, Local: true, Signature: "local := func()"})
		}
	}
	o.Count = symbol.Count(o.Symbols)
	m := o.Render(RenderOptions{Name: "f.go"})
	checkMap(t, o, m, DefaultMapBytes)
	if m.Detail != Full || m.ShownSymbols < 100 || m.ShownSymbols == o.Count || !strings.Contains(m.Text, "(a, b int) error") {
		t.Fatalf("%s, %d of %d\n%s", m.Detail, m.ShownSymbols, m.TotalSymbols, m.Text[:500])
	}
	if !regexp.MustCompile(`(?m)^  … \d locals: \[\d+-\d+\]$|^  … \d more: \[`).MatchString(m.Text) {
		t.Errorf("locals are not named:\n%s", m.Text[:500])
	}
	if rest := o.Render(RenderOptions{Name: "f.go", MaxBytes: 1 << 20, Detail: Full}); rest.ShownSymbols != o.Count {
		t.Errorf("forced full shows %d of %d", rest.ShownSymbols, o.Count)
	}
}

func TestRenderOneLineEach(t *testing.T) {
	o := &Outline{Language: Go, Lines: 1, Bytes: 2, Count: 1}
	o.Symbols = []symbol.Symbol{{Name: "a\nb\x00\u202e", Kind: symbol.Function, Start: 1, End: 1}}
	m := o.Render(RenderOptions{Name: "x\r\ny.go", Detail: Compact})
	want := "x\\r\\ny.go (1 line, 2 bytes, go, compact)\nfunction a\\nb\\x00\\u202e: [1]"
	if m.Text != want {
		t.Errorf("got %q, want %q", m.Text, want)
	}
}

// TestRenderHuge renders outlines of extreme shapes, with every cap and level
// in bounded time.
func TestRenderHuge(t *testing.T) {
	wide := &Outline{Language: Go, Lines: 10_000_000, Bytes: 1 << 30, Count: 1_000_000}
	for i := range wide.Count {
		wide.Symbols = append(wide.Symbols, symbol.Symbol{Name: "same", Kind: symbol.Function, Start: 10*i + 1, End: 10*i + 9, Signature: "func same(a, b int) error"})
	}
	nested := &Outline{Language: JSON, Lines: 1 << 20, Count: 1_000_001}
	nested.Symbols = []symbol.Symbol{{Name: "root", Kind: symbol.Object, Start: 1, Children: wide.Symbols}}
	nested.Lines = 10_000_000
	nested.Symbols[0].End = nested.Lines
	named := &Outline{Language: C, Lines: 1, Count: 1}
	named.Symbols = []symbol.Symbol{{Name: strings.Repeat("n", 1<<20), Kind: symbol.Function, Start: 1, End: 1, Signature: strings.Repeat("s\n", 1<<20)}}
	for name, o := range map[string]*Outline{"wide": wide, "nested": nested, "name": named} {
		for _, detail := range []Detail{Auto, Full, Compact, Minimal, Top, Truncated} {
			for _, most := range []int{1, 100, 1000, 0} {
				start := time.Now()
				m := o.Render(RenderOptions{Name: "x", Detail: detail, MaxBytes: most})
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("%s %s %d took %s", name, detail, most, took)
				}
				if most == 0 {
					most = DefaultMapBytes
				}
				if len(m.Text) > most {
					t.Errorf("%s %s: %d bytes, cap %d", name, detail, len(m.Text), most)
				}
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	o := flat(10_000, 20)
	for i := range o.Symbols {
		o.Symbols[i].Children = flat(5, 8).Symbols
	}
	o.Count = symbol.Count(o.Symbols)
	small := flat(2000, 14)
	for name, o := range map[string]*Outline{"60k": o, "2k": small} {
		for _, detail := range []Detail{Auto, Full, Minimal} {
			b.Run(name+"/"+string(detail), func(b *testing.B) {
				for b.Loop() {
					o.Render(RenderOptions{Name: "f.go", Detail: detail})
				}
			})
		}
	}
}
