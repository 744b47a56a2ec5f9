package format

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"mapd/outline/symbol"
)

// scanCSV reads comma separated values whatever the separator is: it is the one
// of , ; tab | that splits the first records most evenly.
func scanCSV(d *doc) {
	body := d.src[d.bom:]
	if rest, ok := bytes.CutPrefix(body, []byte("sep=")); ok && len(rest) > 1 && (rest[1] == '\r' || rest[1] == '\n') {
		scanTable(d, rest[0], d.bom+min(lineEndFrom(body, 0)+1, len(body)))
		return
	}
	scanTable(d, sniffDelimiter(body), d.bom)
}

// scanTSV reads values separated by tabs.
func scanTSV(d *doc) { scanTable(d, '\t', d.bom) }

// sniffDelimiter tries each separator on the first records.
func sniffDelimiter(body []byte) byte {
	const look, records = 64 << 10, 50
	best, bestScore := byte(','), 0
	for _, delim := range []byte(",;\t|") {
		r := csvReader{b: body[:min(len(body), look)], delim: delim}
		widths := map[int]int{}
		for n := 0; n < records && r.record(nil); n++ {
			if r.i < len(r.b) || len(body) <= look { // the last may be cut
				widths[r.cells]++
			}
		}
		score, total := 0, 0
		for width, n := range widths {
			total += n
			if width > 1 {
				score = max(score, n*1000+min(width, 900))
			}
		}
		if total > 0 && score/total > bestScore {
			best, bestScore = delim, score/total
		}
	}
	return best
}

// csvReader splits records. A quote that is not closed is an ordinary
// character.
type csvReader struct {
	b     []byte
	i     int
	delim byte

	start, end int // of the record: offsets of its first and last characters
	cells      int
	unclosed   int
}

// maxUnclosed is how many unclosed quotes a file may have until quotes mean
// nothing: each costs a scan to the end.
const maxUnclosed = 16

// record reads the next record that is not blank, and reports whether there is
// one. It calls cell, if not nil, with each cell as it stands in the file.
func (r *csvReader) record(cell func(i int, raw []byte)) bool {
	for r.i < len(r.b) && (r.b[r.i] == '\n' || r.b[r.i] == '\r' && (r.i+1 == len(r.b) || r.b[r.i+1] == '\n')) {
		r.i++
	}
	if r.i >= len(r.b) {
		return false
	}
	r.start, r.cells = r.i, 0
	for {
		from := r.i
		r.skipCell()
		to := r.i
		last := r.i >= len(r.b) || r.b[r.i] == '\n'
		if last && to > from && r.b[to-1] == '\r' {
			to--
		}
		if cell != nil {
			cell(r.cells, r.b[from:to])
		}
		r.cells++
		r.i++
		if last {
			r.end = max(r.start, to-1)
			return true
		}
	}
}

// texts reads the next record and returns its first cells.
func (r *csvReader) texts() (cells []string) {
	r.record(func(i int, raw []byte) {
		if i < maxColumns {
			cells = append(cells, cellText(raw))
		}
	})
	return cells
}

// skipCell moves to the separator or line end behind the cell.
func (r *csvReader) skipCell() {
	if r.i < len(r.b) && r.b[r.i] == '"' && r.unclosed < maxUnclosed {
		if end := closingQuote(r.b, r.i); end > 0 {
			r.i = end
		} else {
			r.unclosed++
		}
	}
	for r.i < len(r.b) && r.b[r.i] != r.delim && r.b[r.i] != '\n' {
		r.i++
	}
}

// closingQuote returns the offset after the quoted text that starts at i, 0 if
// it is not closed.
func closingQuote(b []byte, i int) int {
	for i++; ; i += 2 {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 {
			return 0
		}
		i += k
		if i+1 == len(b) || b[i+1] != '"' {
			return i + 1
		}
		if i+2 > len(b) {
			return 0
		}
	}
}

// table is what scanTable gathers.
type table struct {
	d       *doc
	names   []string
	types   []cellTypes
	header  bool
	rows    int
	ragged  int
	samples []symbol.Symbol
	flagged int // ragged rows among the samples

	omitted  int // rows that are not among the samples
	place    int // how many samples stand before the first of them
	from, to int // its line, and the offset at which the last of them ends
}

// scanTable adds one table with its columns, its first rows, and the first of
// the rows that have more or fewer cells than the first record.
func scanTable(d *doc, delim byte, from int) {
	r := csvReader{b: d.src, i: from, delim: delim}
	if !r.record(nil) {
		return
	}
	width := r.cells
	t := &table{d: d, types: make([]cellTypes, min(width, maxColumns))}
	first, end := r.start, r.end
	r.i = r.start
	t.names = r.texts()
	headLine, headEnd := d.lines.at(first), d.lines.at(end)
	rows := r.i
	if t.header = isHeader(t.names, r.texts()); !t.header {
		rows = first
	}
	r.i = rows
	add := func(i int, raw []byte) {
		if i < len(t.types) {
			t.types[i].add(raw)
		}
	}
	for !d.stopped() && r.record(add) {
		t.row(&r, width)
		end = r.end
	}
	if r.unclosed > 0 {
		d.broken(symbol.Segments)
	}
	t.emit(delim, width, headLine, headEnd, d.lines.at(end))
}

// row counts a row and keeps it if it is among the first or among the first
// ragged ones.
func (t *table) row(r *csvReader, width int) {
	i := t.rows
	t.rows++
	ragged := r.cells != width
	if ragged {
		t.ragged++
	}
	if !t.d.tree.wantedIn(rowsName, i) && (!ragged || t.flagged >= MaxElements) {
		if t.omitted++; t.omitted == 1 {
			t.place, t.from = len(t.samples), t.d.lines.at(r.start)
		}
		t.to = r.end
		return
	}
	line := t.d.lines.at(r.start)
	s := symbol.Symbol{Name: "[" + strconv.Itoa(i) + "]", Kind: symbol.Record, Start: line, End: t.d.lines.at(r.end), NameLine: line}
	if ragged {
		t.flagged++
		s.Signature = fmt.Sprintf("%s instead of %d", count(r.cells, "cell"), width)
	}
	t.samples = append(t.samples, s)
}

func (t *table) emit(delim byte, width, headLine, headEnd, last int) {
	signature := count(t.rows, "row") + " × " + count(width, "column")
	signature += ", separated by " + map[byte]string{',': "commas", ';': "semicolons", '\t': "tabs", '|': "bars"}[delim]
	if !t.header {
		signature += ", no header"
	}
	if t.ragged > 0 {
		signature += ", " + count(t.ragged, "ragged row")
	}
	tree := &t.d.tree
	tree.begin(symbol.Symbol{Name: rowsName, Kind: symbol.Table, Start: headLine, Signature: strings.TrimSuffix(signature, ", separated by ")})
	for i, name := range t.names {
		if !t.header {
			name = "column " + strconv.Itoa(i+1)
		}
		tree.leaf(symbol.Symbol{Name: name, Kind: symbol.Column, Start: headLine, End: headEnd, NameLine: headLine, Signature: t.types[i].String()})
	}
	for i, s := range t.samples {
		if i == t.place && t.omitted > 0 {
			t.elide()
		}
		tree.leaf(s)
	}
	if t.place == len(t.samples) && t.omitted > 0 {
		t.elide()
	}
	tree.end(last)
}

// elide adds what stands for the rows left out, before the ragged rows that
// follow their first one.
func (t *table) elide() {
	t.d.tree.leaf(elided(t.omitted, "row", t.from, t.d.lines.at(t.to)))
}
