package format

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// maxColumns bounds the columns of one table.
const maxColumns = 1000

// scanJSONLines handles one JSON value a line. Sessions of agents become turns;
// other files become a table with a column for each key of the records, and the
// first records. Lines that are not JSON are counted.
func scanJSONLines(d *doc) {
	if isSession(d.text) {
		scanSession(d)
		return
	}
	t := recordTable{d: d, byName: map[string]int{}}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		if line := d.text.Line(n); len(bytes.TrimSpace(line)) > 0 {
			t.add(n, line)
		}
	}
	t.finish()
}

// recordTable is the union of what the lines of a file hold.
type recordTable struct {
	d        *doc
	dec      jsontext.Decoder
	buf      bytes.Buffer // of dec
	byName   map[string]int
	columns  []tableColumn
	samples  []symbol.Symbol
	records  int
	rest     int // line of the first record that is not among the samples
	last     int // line of the last record
	invalid  int
	firstBad int
	more     int // columns beyond the limit
}

type tableColumn struct {
	name  string
	raw   string // as it was first written
	first int    // line
	n     int    // records that have it
	kinds kindSet
}

// jsonOptions accept what real files hold.
var jsonOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func (t *recordTable) add(n int, line []byte) {
	t.buf = *bytes.NewBuffer(line)
	t.dec.Reset(&t.buf, jsonOptions...)
	keys, kind, ok := t.record(n)
	if ok && t.dec.PeekKind() != jsontext.KindInvalid {
		ok = false // more than one value
	}
	if !ok {
		if t.invalid++; t.firstBad == 0 {
			t.firstBad = n
		}
		return
	}
	if i := t.records; t.d.tree.wantedIn(recordsName, i) {
		s := symbol.Symbol{Name: "[" + strconv.Itoa(i) + "]", Kind: symbol.Record, Start: n, End: n, NameLine: n}
		if kind == '{' {
			s.Signature = "object, " + count(keys, "key")
		} else {
			var set kindSet
			set.add(kind)
			s.Signature = string(set.append(nil))
		}
		t.samples = append(t.samples, s)
	} else if t.rest == 0 {
		t.rest = n
	}
	t.records++
	t.last = n
}

// record reads one value and the keys of an object.
func (t *recordTable) record(n int) (keys int, kind jsontext.Kind, ok bool) {
	kind = t.dec.PeekKind()
	if kind != '{' {
		_, err := t.dec.ReadValue()
		return 0, kind, err == nil
	}
	if _, err := t.dec.ReadToken(); err != nil {
		return 0, kind, false
	}
	for t.dec.PeekKind() != '}' {
		raw, err := t.dec.ReadValue()
		if err != nil {
			return keys, kind, false
		}
		c := t.column(raw, keys, n)
		value := t.dec.PeekKind()
		if _, err := t.dec.ReadValue(); err != nil {
			return keys, kind, false
		}
		if c != nil {
			c.n++
			c.kinds.add(value)
		}
		keys++
	}
	_, err := t.dec.ReadToken()
	return keys, kind, err == nil
}

// column returns the column of a key, which is the record's i-th: most records
// have the same keys in the same order.
func (t *recordTable) column(raw []byte, i, n int) *tableColumn {
	if i < len(t.columns) && string(raw) == t.columns[i].raw {
		return &t.columns[i]
	}
	name := t.d.pool.jsonName(raw)
	i, ok := t.byName[name]
	switch {
	case ok:
	case len(t.columns) >= maxColumns:
		t.more++
		return nil
	default:
		i = len(t.columns)
		t.byName[name] = i
		t.columns = append(t.columns, tableColumn{name: name, raw: string(raw[:min(len(raw), MaxName)]), first: n})
	}
	return &t.columns[i]
}

func (t *recordTable) finish() {
	if t.invalid > 0 {
		t.d.broken(symbol.Segments)
	}
	if t.records+t.invalid == 0 {
		return
	}
	signature := count(t.records, "record")
	if len(t.columns) > 0 {
		signature += " × " + count(len(t.columns), "key")
	}
	if t.more > 0 {
		signature += fmt.Sprintf(" (only the first %d listed)", maxColumns)
	}
	if t.invalid > 0 {
		signature += fmt.Sprintf(", %s not JSON, the first on line %d", count(t.invalid, "line"), t.firstBad)
	}
	children := make([]symbol.Symbol, 0, len(t.columns)+len(t.samples))
	for _, c := range t.columns {
		children = append(children, symbol.Symbol{
			Name: c.name, Kind: symbol.Column, Start: c.first, End: c.first, NameLine: c.first,
			Signature: fmt.Sprintf("%s, in %s", c.kinds.append(nil), count(c.n, "record")),
		})
	}
	children = append(children, t.samples...)
	if n := t.records - len(t.samples); n > 0 {
		children = append(children, elided(n, "record", t.rest, t.last))
	}
	slices.SortStableFunc(children, func(a, b symbol.Symbol) int { return cmp.Compare(a.Start, b.Start) })
	d := t.d
	d.tree.begin(symbol.Symbol{Name: recordsName, Kind: symbol.Table, Start: 1, Signature: signature})
	for _, c := range children {
		d.tree.leaf(c)
	}
	d.tree.end(d.text.Lines())
}

// isSession reports whether one of the first lines is of an agent's session.
func isSession(text *hashline.Text) bool {
	const look = 50
	var r eventReader
	for n := 1; n <= min(text.Lines(), look); n++ {
		if r.read(text.Line(n)).strong {
			return true
		}
	}
	return false
}
