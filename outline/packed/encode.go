package packed

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"mapd/outline"
	"mapd/outline/symbol"
)

// Version is the first byte of every packed outline. It grows when the format
// changes.
const Version = 1

// sumBytes is the size of the checksum at the end.
const sumBytes = 8

// What the flags of a symbol say. Where no bit tells otherwise, its name stands
// on its first line.
const (
	flagExported = 1 << iota
	flagLocal
	flagSignature
	flagDocstring
	flagChildren
	flagLead
	flagModifiers
	flagNoNameLine
	flagNameLine
)

// Append appends o to dst:
//
//	version; language, lines, bytes, source, why; imports; symbols; checksum
//
// Numbers are varints, lines are counted from the symbol before. A text is 0,
// its length and its bytes where it occurs first, and the number of that place
// from then on; signatures and docstrings, which seldom repeat, are never
// looked up.
func Append(dst []byte, o *outline.Outline) []byte {
	e := encoder{b: append(dst, Version), known: make(map[string]int, 64)}
	e.text(string(o.Language))
	e.int(o.Lines)
	e.int(o.Bytes)
	e.text(string(o.Source))
	e.text(string(o.Why))
	e.int(len(o.Imports))
	last := 0
	for _, im := range o.Imports {
		e.text(im.Path)
		e.delta(im.Start - last)
		e.delta(im.End - im.Start)
		last = im.Start
	}
	e.int(o.Count)
	e.symbols(o.Symbols, 0)
	return binary.LittleEndian.AppendUint64(e.b, xxh3.Hash(e.b[len(dst):]))
}

type encoder struct {
	b     []byte
	known map[string]int // the places of texts, from 1
}

func (e *encoder) int(n int)      { e.b = binary.AppendUvarint(e.b, uint64(n)) }
func (e *encoder) delta(n int)    { e.b = binary.AppendVarint(e.b, int64(n)) }
func (e *encoder) plain(s string) { e.int(len(s)); e.b = append(e.b, s...) }

func (e *encoder) text(s string) {
	if n := e.known[s]; n > 0 {
		e.int(n)
		return
	}
	e.known[s] = len(e.known) + 1
	e.int(0)
	e.plain(s)
}

func (e *encoder) symbols(symbols []symbol.Symbol, last int) {
	e.int(len(symbols))
	for i := range symbols {
		s := &symbols[i]
		flags := flagsOf(s)
		e.int(flags)
		e.text(string(s.Kind))
		e.text(s.Name)
		e.delta(s.Start - last)
		e.delta(s.End - s.Start)
		last = s.Start
		if flags&flagNameLine != 0 {
			e.delta(s.NameLine - s.Start)
		}
		if flags&flagLead != 0 {
			e.delta(s.Start - s.Lead)
		}
		if flags&flagSignature != 0 {
			e.plain(s.Signature)
		}
		if flags&flagDocstring != 0 {
			e.plain(s.Docstring)
		}
		if flags&flagModifiers != 0 {
			e.int(len(s.Modifiers))
			for _, m := range s.Modifiers {
				e.text(m)
			}
		}
		if flags&flagChildren != 0 {
			e.symbols(s.Children, s.Start)
		}
	}
}

func flagsOf(s *symbol.Symbol) int {
	flags := 0
	for _, f := range [...]struct {
		set bool
		bit int
	}{
		{s.Exported, flagExported}, {s.Local, flagLocal}, {s.Signature != "", flagSignature},
		{s.Docstring != "", flagDocstring}, {len(s.Children) > 0, flagChildren}, {s.Lead != 0, flagLead},
		{len(s.Modifiers) > 0, flagModifiers}, {s.NameLine == 0 && s.Start != 0, flagNoNameLine},
		{s.NameLine != 0 && s.NameLine != s.Start, flagNameLine},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	return flags
}
