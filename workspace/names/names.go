package names

import (
	"iter"
	"math"
	"slices"

	"mapd/outline"
	"mapd/outline/symbol"
)

// Names are the symbols of one file in the order of its outline, parents before
// their children. The value is immutable and its zero value has no symbols.
//
// A symbol costs its name and 16 bytes, or 24 in a file with more than 65,535
// lines, symbols or bytes of names.
type Names struct {
	// s is, with numbers of the low byte first: version, width, 2 bytes of
	// zeros; the number of symbols, the bytes of all names, the union of all
	// masks, 4 bytes each; the masks, 4 bytes each; the records; the names.
	//
	// A record has, in numbers of width bytes each: where its name ends among
	// the names, its first line, its last, and 1 + the number of its parent, 0 on
	// the top level. Then come in a byte each: how many lines after the first one
	// the name stands, 255 if that is not known or more; the kind; the depth; flags.
	s string
}

// Symbol is one symbol of Names. Lines are 1-based and inclusive.
type Symbol struct {
	Name     string
	Kind     symbol.Kind
	Start    int
	End      int
	NameLine int // the line that holds the name, Start if that is not known
	Parent   int // index of the symbol that it stands in, -1 if there is none
	Depth    int // 0 on the top level
	Exported bool
	Local    bool // visible only inside of its function
}

const (
	version    = 1
	headBytes  = 16
	narrow     = 2
	wide       = 4
	restBytes  = 4 // of a record, beside its numbers
	maskBytes  = 4
	noNameLine = 255
)

// Flags of a record.
const (
	flagExported = 1 << iota
	flagLocal
	flagQualified // lastName of the name is not 0
	flagsEnd
)

// kinds are all kinds, in the order of their numbers in the packed form.
var kinds = []symbol.Kind{
	symbol.File, symbol.Module, symbol.Namespace, symbol.Package, symbol.Class, symbol.Method,
	symbol.Property, symbol.Field, symbol.Constructor, symbol.Enum, symbol.Interface, symbol.Function,
	symbol.Variable, symbol.Constant, symbol.String, symbol.Number, symbol.Boolean, symbol.Array,
	symbol.Object, symbol.Key, symbol.Null, symbol.EnumMember, symbol.Struct, symbol.Event,
	symbol.Operator, symbol.TypeParameter,
	symbol.Heading, symbol.Section, symbol.Table, symbol.View, symbol.Column, symbol.Record,
}

// Kinds returns all kinds that a symbol can have.
func Kinds() []symbol.Kind { return slices.Clone(kinds) }

// Pack packs the symbols of an outline, which may be nil.
func Pack(o *outline.Outline) Names {
	if o == nil || len(o.Symbols) == 0 {
		return Names{}
	}
	p := packer{}
	count, bytes, last := 0, 0, 0
	symbol.Walk(o.Symbols, func(s *symbol.Symbol, _ int) bool {
		count, bytes, last = count+1, bytes+len(s.Name), max(last, s.End)
		return true
	})
	width := narrow
	if max(count, bytes, last) > math.MaxUint16 {
		width = wide
	}
	p.layout = layout{count: count, nameBytes: bytes, width: width}
	p.masks = make([]byte, 0, p.size())
	p.records = make([]byte, 0, count*p.recordBytes())
	p.names = make([]byte, 0, bytes)
	p.level(o.Symbols, -1, 0)
	return Names{string(p.done())}
}

// layout says where the parts of a packed form are.
type layout struct {
	count, nameBytes, width int
}

func (l layout) recordBytes() int { return 4*l.width + restBytes }
func (l layout) records() int     { return headBytes + maskBytes*l.count }
func (l layout) names() int       { return l.records() + l.recordBytes()*l.count }
func (l layout) size() int        { return l.names() + l.nameBytes }

// packer collects the parts of a packed form.
type packer struct {
	layout
	union                 uint32
	n                     int
	masks, records, names []byte
}

func (p *packer) level(symbols []symbol.Symbol, parent, depth int) {
	for i := range symbols {
		s := &symbols[i]
		at := p.n
		p.add(s, parent, depth)
		p.level(s.Children, at, depth+1)
	}
}

func (p *packer) add(s *symbol.Symbol, parent, depth int) {
	mask := maskOf(s.Name)
	p.union |= mask
	p.masks = appendNumber(p.masks, int(mask), maskBytes)
	p.names = append(p.names, s.Name...)
	for _, n := range []int{len(p.names), s.Start, s.End, parent + 1} {
		p.records = appendNumber(p.records, n, p.width)
	}
	after := noNameLine
	if s.NameLine >= s.Start && s.NameLine <= s.End && s.NameLine-s.Start < noNameLine {
		after = s.NameLine - s.Start
	}
	flags := 0
	if s.Exported {
		flags |= flagExported
	}
	if s.Local {
		flags |= flagLocal
	}
	if lastName(s.Name) > 0 {
		flags |= flagQualified
	}
	kind := max(slices.Index(kinds, s.Kind), 0)
	p.records = append(p.records, byte(after), byte(kind), byte(min(depth, math.MaxUint8)), byte(flags))
	p.n++
}

func (p *packer) done() []byte {
	out := make([]byte, 0, p.size())
	out = append(out, version, byte(p.width), 0, 0)
	out = appendNumber(out, p.count, 4)
	out = appendNumber(out, p.nameBytes, 4)
	out = appendNumber(out, int(p.union), 4)
	out = append(out, p.masks...)
	out = append(out, p.records...)
	return append(out, p.names...)
}

func appendNumber(b []byte, n, width int) []byte {
	for range width {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

// Len returns the number of symbols.
func (n Names) Len() int {
	if n.s == "" {
		return 0
	}
	return int(u32(n.s, 4))
}

// Size returns the bytes of memory that the packed form takes.
func (n Names) Size() int { return len(n.s) }

func (n Names) layout() layout {
	if n.s == "" {
		return layout{width: narrow}
	}
	return layout{count: int(u32(n.s, 4)), nameBytes: int(u32(n.s, 8)), width: int(n.s[1])}
}

// At returns symbol i, which must be at least 0 and less than Len.
func (n Names) At(i int) Symbol {
	r := n.reader()
	return r.at(i)
}

// All returns the symbols with their indexes.
func (n Names) All() iter.Seq2[int, Symbol] {
	return func(yield func(int, Symbol) bool) {
		r := n.reader()
		for i := range r.count {
			if !yield(i, r.at(i)) {
				return
			}
		}
	}
}

// Enclosing returns the index of the innermost symbol whose lines hold line, -1
// if there is none.
func (n Names) Enclosing(line int) int {
	r := n.reader()
	found := -1
	for i := range r.count {
		inside := r.number(i, startField) <= line && line <= r.number(i, endField)
		if inside && (found < 0 || r.depth(i) >= r.depth(found)) {
			found = i
		}
	}
	return found
}

// Has reports whether a symbol is of one of some kinds.
func (n Names) Has(some []symbol.Kind) bool {
	r, set := n.reader(), kindBits(some)
	for i := range r.count {
		if set>>r.rest(i, 1)&1 != 0 {
			return true
		}
	}
	return false
}

// reader reads a packed form that is known to be sound.
type reader struct {
	s string
	layout
	recordsAt, namesAt, stride int
}

func (n Names) reader() reader {
	l := n.layout()
	return reader{s: n.s, layout: l, recordsAt: l.records(), namesAt: l.names(), stride: l.recordBytes()}
}

// The numbers of a record.
const (
	nameEndField = iota
	startField
	endField
	parentField
	fields
)

// mask returns the mask of the name of symbol i.
func (r *reader) mask(i int) uint32 { return u32(r.s, headBytes+maskBytes*i) }

// union returns the union of all masks.
func (r *reader) union() uint32 {
	if r.count == 0 {
		return 0
	}
	return u32(r.s, 12)
}

func (r *reader) number(i, field int) int {
	at := r.recordsAt + i*r.stride + field*r.width
	if r.width == narrow {
		return int(r.s[at]) | int(r.s[at+1])<<8
	}
	return int(u32(r.s, at))
}

// rest returns byte k of those after the numbers of symbol i.
func (r *reader) rest(i, k int) byte { return r.s[r.recordsAt+i*r.stride+fields*r.width+k] }

// lastName returns where the last name in the name of symbol i starts.
func (r *reader) lastName(i int, name string) int {
	if r.rest(i, 3)&flagQualified == 0 {
		return 0
	}
	return lastName(name)
}

func (r *reader) depth(i int) int  { return int(r.rest(i, 2)) }
func (r *reader) parent(i int) int { return r.number(i, parentField) - 1 }

func (r *reader) name(i int) string {
	from := 0
	if i > 0 {
		from = r.number(i-1, nameEndField)
	}
	return r.s[r.namesAt+from : r.namesAt+r.number(i, nameEndField)]
}

func (r *reader) at(i int) Symbol {
	s := Symbol{
		Name: r.name(i), Kind: kinds[r.rest(i, 1)],
		Start: r.number(i, startField), End: r.number(i, endField),
		Parent: r.parent(i), Depth: r.depth(i),
		Exported: r.rest(i, 3)&flagExported != 0, Local: r.rest(i, 3)&flagLocal != 0,
	}
	s.NameLine = s.Start
	if after := r.rest(i, 0); after != noNameLine {
		s.NameLine += int(after)
	}
	return s
}

func u32(s string, at int) uint32 {
	_ = s[at+3]
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}
