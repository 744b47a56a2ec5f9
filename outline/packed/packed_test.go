package packed

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/testdata/corpus"
)

func sample() *outline.Outline {
	o := &outline.Outline{Language: "python", Lines: 90, Bytes: 1234, List: symbol.List{
		Source: symbol.Segments, Why: symbol.SyntaxErrors,
		Imports: []symbol.Import{{Path: "os", Start: 1, End: 1}, {Path: "os", Start: 2, End: 4}},
		Symbols: []symbol.Symbol{
			{Name: "A", Kind: symbol.Class, Start: 7, End: 40, NameLine: 7, Lead: 5, Signature: "class A(B)", Docstring: "Ein Ä.", Exported: true,
				Modifiers: []string{"@dataclass", "final"}, Children: []symbol.Symbol{
					{Name: "f", Kind: symbol.Method, Start: 9, End: 12, NameLine: 10},
					{Name: "f", Kind: symbol.Method, Start: 9, End: 40, NameLine: 0, Children: []symbol.Symbol{{Name: "A", Kind: "own kind", Start: 40, End: 40, Local: true, NameLine: 40}}},
				}},
			{Name: "z", Kind: symbol.Variable, Start: 41, End: 90, NameLine: 41},
		},
	}}
	o.Count = symbol.Count(o.Symbols)
	return o
}

func same(t testing.TB, want, got *outline.Outline) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatalf("another outline comes back (-packed +unpacked):\n%s", d)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, o := range []*outline.Outline{sample(), {}, {Language: "go", Lines: 1<<32 - 2, Bytes: 1<<32 - 2}} {
		b := Append([]byte("before"), o)
		got, err := Decode(b[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		same(t, o, got)
	}
}

// Whatever a symbol holds comes back, also what no extractor makes.
func TestRoundTripOfAnything(t *testing.T) {
	name := rapid.OneOf(rapid.StringN(0, 8, 30), rapid.SampledFrom([]string{"a", "b", "function"}))
	line := rapid.IntRange(0, 1<<31)
	var tree func(depth int) *rapid.Generator[[]symbol.Symbol]
	tree = func(depth int) *rapid.Generator[[]symbol.Symbol] {
		one := rapid.Custom(func(t *rapid.T) symbol.Symbol {
			s := symbol.Symbol{
				Name: name.Draw(t, "name"), Kind: symbol.Kind(name.Draw(t, "kind")), Signature: name.Draw(t, "signature"), Docstring: name.Draw(t, "doc"),
				Start: line.Draw(t, "start"), End: line.Draw(t, "end"), NameLine: line.Draw(t, "nameLine"), Lead: line.Draw(t, "lead"),
				Exported: rapid.Bool().Draw(t, "exported"), Local: rapid.Bool().Draw(t, "local"), Modifiers: rapid.SliceOfN(name, 0, 3).Draw(t, "modifiers"),
			}
			if depth > 0 {
				s.Children = tree(depth-1).Draw(t, "children")
			}
			return s
		})
		return rapid.SliceOfN(one, 0, 4)
	}
	rapid.Check(t, func(t *rapid.T) {
		o := &outline.Outline{Language: outline.Language(name.Draw(t, "language")), List: symbol.List{Symbols: tree(3).Draw(t, "symbols")}}
		o.Count = symbol.Count(o.Symbols)
		got, err := Decode(Append(nil, o))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(o, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

// Every byte that is changed, missing or too much is noticed.
func TestDamage(t *testing.T) {
	good := Append(nil, sample())
	check := func(what string, at int, b []byte) {
		t.Helper()
		if o, err := Decode(b); !errors.Is(err, ErrDamaged) || o != nil {
			t.Fatalf("%s at %d: %v, %v", what, at, o, err)
		}
	}
	for i := range good {
		check("cut", i, good[:i])
		for bit := range 8 {
			b := bytes.Clone(good)
			b[i] ^= 1 << bit
			check("flip", i, b)
		}
	}
	check("longer", len(good), append(bytes.Clone(good), 0))
	other := bytes.Clone(good)
	other[0]++
	if _, err := Decode(seal(other[:len(other)-sumBytes])); !errors.Is(err, ErrVersion) {
		t.Errorf("another version gives %v", err)
	}
}

// seal appends the checksum, as to bytes that something else than Append made.
func seal(body []byte) []byte {
	return binary.LittleEndian.AppendUint64(bytes.Clone(body), xxh3.Hash(body))
}

// FuzzDecode feeds bodies with a right checksum, which therefore are read: the
// result is an error or an outline that packs and unpacks to itself.
func FuzzDecode(f *testing.F) {
	good := Append(nil, sample())
	f.Add(good[:len(good)-sumBytes])
	f.Add([]byte{Version})
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := Decode(seal(body))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		again, err := Decode(Append(nil, o))
		if err != nil {
			t.Fatal(err)
		}
		same(t, o, again)
	})
}

// real returns outlines of files of the Go distribution.
func real(t testing.TB, dir string) (outlines []*outline.Outline, bytes int) {
	t.Helper()
	x := outline.New(outline.Options{})
	err := filepath.WalkDir(corpus.GoRoot(t, dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		o, err := x.Extract(context.Background(), outline.Go, hashline.NewText(src))
		outlines, bytes = append(outlines, o), bytes+len(src)
		return err
	})
	if err != nil || len(outlines) < 10 {
		t.Fatalf("%d files, %v", len(outlines), err)
	}
	return outlines, bytes
}

func TestRealFiles(t *testing.T) {
	outlines, _ := real(t, "src/net")
	for _, o := range outlines {
		got, err := Decode(Append(nil, o))
		if err != nil {
			t.Fatal(err)
		}
		same(t, o, got)
	}
}

// BenchmarkPacked packs and unpacks the outlines of a package tree; bytes/symbol
// is what one takes on disk.
func BenchmarkPacked(b *testing.B) {
	outlines, source := real(b, "src/net")
	symbols, size := 0, 0
	var all [][]byte
	for _, o := range outlines {
		p := Append(nil, o)
		all, symbols, size = append(all, p), symbols+o.Count, size+len(p)
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(symbols), "ns/symbol")
		b.ReportMetric(float64(size)/float64(symbols), "bytes/symbol")
		b.ReportMetric(float64(size)/float64(source), "bytes/source-byte")
	}
	b.Run("append", func(b *testing.B) {
		buf := make([]byte, 0, 1<<20)
		for b.Loop() {
			for _, o := range outlines {
				buf = Append(buf[:0], o)
			}
		}
		report(b)
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for _, p := range all {
				if _, err := Decode(p); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b)
	})
}
