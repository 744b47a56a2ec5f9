package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"mapd/outline"
	"mapd/outline/symbol"
)

// ErrDamaged is what every error of Decode wraps.
var ErrDamaged = errors.New("packed outline damaged")

// ErrVersion says that another version of this package made the bytes. It
// wraps ErrDamaged, because to a reader it is the same: there is no outline.
var ErrVersion = fmt.Errorf("%w: another version of the format", ErrDamaged)

// maxDepth is how deep symbols may nest. Outlines nest far less.
const maxDepth = 1000

// minSymbol is the size of the smallest symbol: flags, kind, name, two lines.
const minSymbol = 5

// Decode returns the outline that b holds, which must be all that Append
// appended. It keeps nothing of b.
func Decode(b []byte) (*outline.Outline, error) {
	if len(b) < 1+sumBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, len(b))
	}
	if b[0] != Version {
		return nil, ErrVersion
	}
	body := b[:len(b)-sumBytes]
	if xxh3.Hash(body) != binary.LittleEndian.Uint64(b[len(body):]) {
		return nil, fmt.Errorf("%w: checksum", ErrDamaged)
	}
	d := decoder{s: string(body[1:])}
	o := d.outline()
	if d.bad == "" && d.at != len(d.s) {
		d.fail("bytes left over")
	}
	if d.bad != "" {
		return nil, fmt.Errorf("%w: %s at %d", ErrDamaged, d.bad, d.at)
	}
	return o, nil
}

// decoder reads s. After a failure it is at the end, where all it reads is zero.
type decoder struct {
	s     string
	at    int
	bad   string
	texts []string
	slab  []symbol.Symbol // of which all symbols are cut
}

func (d *decoder) fail(why string) {
	if d.bad == "" {
		d.bad = why
	}
	d.at = len(d.s)
}

func (d *decoder) uint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		if d.at >= len(d.s) {
			d.fail("cut short")
			return 0
		}
		c := d.s[d.at]
		d.at++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	d.fail("number too long")
	return 0
}

// int reads a number that fits 32 bits, as all lines and sizes do.
func (d *decoder) int() int {
	v := d.uint()
	if v > math.MaxUint32 {
		d.fail("number too large")
		return 0
	}
	return int(v)
}

func (d *decoder) delta() int {
	v := d.uint()
	if v > math.MaxUint32*2+1 {
		d.fail("number too large")
		return 0
	}
	return int(v>>1) ^ -int(v&1)
}

// count reads the number of things that take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.int()
	if n > (len(d.s)-d.at)/size {
		d.fail("more things than bytes")
		return 0
	}
	return n
}

func (d *decoder) plain() string {
	n := d.count(1)
	s := d.s[d.at : d.at+n]
	d.at += n
	return s
}

func (d *decoder) text() string {
	n := d.int()
	switch {
	case n > len(d.texts):
		d.fail("unknown text")
		return ""
	case n > 0:
		return d.texts[n-1]
	}
	s := d.plain()
	d.texts = append(d.texts, s)
	return s
}

func (d *decoder) outline() *outline.Outline {
	o := &outline.Outline{Language: outline.Language(d.text()), Lines: d.int(), Bytes: d.int()}
	o.Source, o.Why = symbol.Source(d.text()), symbol.Why(d.text())
	if n := d.count(3); n > 0 {
		o.Imports = make([]symbol.Import, n)
		last := 0
		for i := range o.Imports {
			im := &o.Imports[i]
			im.Path = d.text()
			im.Start = last + d.delta()
			im.End = im.Start + d.delta()
			last = im.Start
		}
	}
	o.Count = d.count(minSymbol)
	d.slab = make([]symbol.Symbol, o.Count)
	o.Symbols = d.symbols(0, 0)
	if len(d.slab) > 0 {
		d.fail("fewer symbols than counted")
	}
	return o
}

func (d *decoder) symbols(last, depth int) []symbol.Symbol {
	n := d.count(minSymbol)
	if n == 0 {
		return nil
	}
	if n > len(d.slab) || depth > maxDepth {
		d.fail("more symbols than counted, or too deep")
		return nil
	}
	symbols := d.slab[:n:n]
	d.slab = d.slab[n:]
	for i := range symbols {
		d.symbol(&symbols[i], last, depth)
		last = symbols[i].Start
	}
	return symbols
}

func (d *decoder) symbol(s *symbol.Symbol, last, depth int) {
	flags := d.int()
	s.Kind, s.Name = symbol.Kind(d.text()), d.text()
	s.Exported, s.Local = flags&flagExported != 0, flags&flagLocal != 0
	s.Start = last + d.delta()
	s.End = s.Start + d.delta()
	switch {
	case flags&flagNameLine != 0:
		s.NameLine = s.Start + d.delta()
	case flags&flagNoNameLine == 0:
		s.NameLine = s.Start
	}
	if flags&flagLead != 0 {
		s.Lead = s.Start - d.delta()
	}
	if flags&flagSignature != 0 {
		s.Signature = d.plain()
	}
	if flags&flagDocstring != 0 {
		s.Docstring = d.plain()
	}
	if flags&flagModifiers != 0 {
		if n := d.count(1); n > 0 {
			s.Modifiers = make([]string, n)
			for i := range s.Modifiers {
				s.Modifiers[i] = d.text()
			}
		}
	}
	if flags&flagChildren != 0 {
		s.Children = d.symbols(s.Start, depth+1)
	}
}
