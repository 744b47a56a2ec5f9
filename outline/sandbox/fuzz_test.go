package sandbox

import (
	"bytes"
	"errors"
	"testing"

	"mapd/outline/symbol"
)

// FuzzDecodeAnswer plays a worker that has run wild. Whatever it answers is
// refused, or is an outline that lies within the file and that packs and unpacks
// to itself.
func FuzzDecodeAnswer(f *testing.F) {
	list := symbol.List{
		Source: symbol.Parser,
		Symbols: []symbol.Symbol{{
			Name: "T", Kind: symbol.Struct, Start: 1, End: 3, NameLine: 1, Signature: "T struct", Modifiers: []string{"pub"}, Docstring: "A T.",
			Children: []symbol.Symbol{{Name: "f", Kind: symbol.Field, Start: 2, End: 2}},
		}},
		Imports: []symbol.Import{{Path: "fmt", Start: 1, End: 1}},
	}
	text := []byte("type T\nf int\n}\n")
	whole := encodeList([]byte{statusOK}, &list)
	f.Add(whole, text)
	for i := range whole {
		f.Add(whole[:i+1], text)
	}
	f.Add([]byte{statusFailed, 'x'}, text)
	f.Add([]byte{statusUnsupported}, []byte(nil))
	f.Add([]byte{statusOK, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, text)
	f.Fuzz(func(t *testing.T, answer, src []byte) {
		if len(answer) == 0 {
			return // an answer has a status, or it is none
		}
		got, err := decodeAnswer(answer, src)
		if err != nil {
			if !errors.Is(err, ErrCrashed) && !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v wraps none of the errors of the package", err)
			}
			return
		}
		lines := bytes.Count(src, []byte("\n")) + 1
		symbol.Walk(got.Symbols, func(s *symbol.Symbol, _ int) bool {
			if s.Start < 1 || s.End < s.Start || s.End > lines {
				t.Errorf("%s %q lies in lines %d-%d of %d", s.Kind, s.Name, s.Start, s.End, lines)
			}
			return true
		})
		packed := encodeList([]byte{statusOK}, &got)
		again, err := decodeAnswer(packed, src)
		if err != nil || !bytes.Equal(encodeList([]byte{statusOK}, &again), packed) {
			t.Errorf("it does not unpack to itself: %v", err)
		}
	})
}
