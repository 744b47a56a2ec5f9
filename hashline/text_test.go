package hashline

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naiveLine is a line of the oracle.
type naiveLine struct{ content, terminator string }

// naiveLines splits a file into lines by the rules of the package doc, the slow
// and obvious way.
func naiveLines(file string) (bom string, lines []naiveLine) {
	rest, found := strings.CutPrefix(file, "\ufeff")
	if found {
		bom = "\ufeff"
	}
	for _, l := range strings.SplitAfter(rest, "\n") {
		switch {
		case l == "":
		case strings.HasSuffix(l, "\r\n"):
			lines = append(lines, naiveLine{strings.TrimSuffix(l, "\r\n"), "\r\n"})
		case strings.HasSuffix(l, "\n"):
			lines = append(lines, naiveLine{strings.TrimSuffix(l, "\n"), "\n"})
		default:
			lines = append(lines, naiveLine{l, ""})
		}
	}
	return bom, lines
}

// fileGen draws files of short pieces in which line ends of all kinds, byte
// order marks and invalid bytes are common.
func fileGen() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"\n", "\n", "\n", "\r\n", "\r", "\ufeff", "\u2028", "\f", "\x00", "\xff", "é", "a", "b", "}", " ", "\t", "//",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
	})
}

func TestTextEqualsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := fileGen().Draw(t, "file")
		bom, want := naiveLines(file)
		text := NewText([]byte(file))
		if text.Lines() != len(want) || text.HasBOM() != (bom != "") || text.Size() != len(file) {
			t.Fatalf("lines %d, BOM %v, size %d; want %d, %v, %d",
				text.Lines(), text.HasBOM(), text.Size(), len(want), bom != "", len(file))
		}
		rebuilt := bom
		offset := len(bom)
		for i, l := range want {
			n := i + 1
			if got := string(text.Line(n)); got != l.content {
				t.Fatalf("line %d = %q, want %q", n, got, l.content)
			}
			if got := string(text.Terminator(n)); got != l.terminator {
				t.Fatalf("terminator %d = %q, want %q", n, got, l.terminator)
			}
			start, end := text.Span(n)
			if start != offset || end != offset+len(l.content)+len(l.terminator) {
				t.Fatalf("span %d = %d-%d, want from %d", n, start, end, offset)
			}
			for at := start; at < end; at++ {
				if got := text.LineAt(at); got != n {
					t.Fatalf("LineAt(%d) = %d, want %d", at, got, n)
				}
			}
			offset = end
			rebuilt += l.content + l.terminator
		}
		if rebuilt != file {
			t.Fatalf("lines do not add up to the file: %q, want %q", rebuilt, file)
		}
		first := min(1, len(want))
		if got := text.LineAt(0); got != first {
			t.Fatalf("LineAt(0) = %d, want %d", got, first)
		}
		if got := text.LineAt(len(file)); got != len(want) {
			t.Fatalf("LineAt(end) = %d, want %d", got, len(want))
		}
	})
}

func TestHashesEqualNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := fileGen().Draw(t, "file")
		if rapid.Bool().Draw(t, "long") {
			// Lines around the size of the window's buffer and past the limit of
			// what is copied.
			size := rapid.SampledFrom([]int{1000, 1361, 4090, 4096, 5000, 65_536}).Draw(t, "size")
			file = strings.Repeat("x", size) + "\n" + file + strings.Repeat("y", size) + "\n" + file
		}
		_, lines := naiveLines(file)
		content := func(n int) string {
			if n < 1 || n > len(lines) {
				return ""
			}
			return lines[n-1].content
		}
		text := NewText([]byte(file))
		var want []Hash
		for n := 1; n <= len(lines); n++ {
			h := Sum16([]byte(content(n-1)), []byte(content(n)), []byte(content(n+1)))
			if got := text.Hash(n); got != h {
				t.Fatalf("Hash(%d) = %04x, want %04x", n, got, h)
			}
			want = append(want, h)
		}
		from := 1
		if len(lines) > 0 {
			from = rapid.IntRange(1, len(lines)).Draw(t, "from")
		}
		if got := text.AppendHashes(nil, Range{from, len(lines)}); !slices.Equal(got, want[from-1:]) {
			t.Fatalf("AppendHashes from %d = %04x, want %04x", from, got, want[from-1:])
		}
	})
}

func TestTextKeepsItsSampleHonest(t *testing.T) {
	// A file whose first 64 KiB hold no line end and whose rest is only that:
	// the guess of the index size is wrong by far, the index must not be.
	file := append(bytes.Repeat([]byte("x"), 100_000), bytes.Repeat([]byte("\n"), 50_000)...)
	text := NewText(file)
	if text.Lines() != 50_000 || len(text.Line(1)) != 100_000 || len(text.Line(50_000)) != 0 {
		t.Errorf("lines %d, first %d bytes", text.Lines(), len(text.Line(1)))
	}
}

func TestLineAtWithoutLines(t *testing.T) {
	for _, file := range []string{"", BOM} {
		for offset := -1; offset < 5; offset++ {
			if got := NewText([]byte(file)).LineAt(offset); got != 0 {
				t.Errorf("LineAt(%d) of %q = %d, want 0", offset, file, got)
			}
		}
	}
}

func TestLinePanicsOutside(t *testing.T) {
	text := NewText([]byte("a\nb"))
	for _, n := range []int{-1, 0, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Line(%d) of two lines did not panic", n)
				}
			}()
			text.Line(n)
		}()
	}
}
