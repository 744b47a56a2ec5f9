package format

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"mapd/hashline"
	"mapd/outline/symbol"
)

type rowAt struct{ Start, End, Cells int }

// oracleRows reads records with encoding/csv. A record ends where its last
// field does, which is known from the line breaks in the fields.
func oracleRows(data []byte, comma rune) (rows []rowAt, ok bool) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord = comma, -1
	for {
		record, err := r.Read()
		if err != nil {
			return rows, err.Error() == "EOF"
		}
		start, _ := r.FieldPos(0)
		last, _ := r.FieldPos(len(record) - 1)
		rows = append(rows, rowAt{start, last + strings.Count(record[len(record)-1], "\n"), len(record)})
	}
}

func readRows(data []byte, delim byte) (rows []rowAt) {
	text := hashline.NewText(data)
	r := csvReader{b: data, delim: delim}
	for r.record(nil) {
		rows = append(rows, rowAt{text.LineAt(r.start), text.LineAt(r.end), r.cells})
	}
	return rows
}

func TestCSVAgainstEncodingCSV(t *testing.T) {
	check := func(name string, data []byte) {
		delim := sniffDelimiter(data)
		want, ok := oracleRows(data, rune(delim))
		list := mustScan(t, "csv", data)
		if !ok {
			return
		}
		if diff := gocmp.Diff(want, readRows(data, delim)); diff != "" || list.Why != "" {
			t.Fatalf("%s: %s (-encoding/csv +ours) %s", name, list.Why, diff)
		}
		checkRows(t, want, list)
	}
	for _, f := range realFiles(t, ".csv", 4<<20, 50) {
		check(f.name, f.data)
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		data := randomCSV(rng)
		check(fmt.Sprintf("%q", data), data)
	}
}

// checkRows compares the records and the sum of rows of a list with want.
func checkRows(t *testing.T, want []rowAt, list symbol.List) {
	t.Helper()
	if len(want) == 0 {
		return
	}
	table := list.Symbols[0]
	rows := len(want) - 1
	if strings.Contains(table.Signature, "no header") {
		rows++
	}
	if prefix := count(rows, "row") + " × " + count(want[0].Cells, "column"); !strings.HasPrefix(table.Signature, prefix) {
		t.Fatalf("table is %q, want %q", table.Signature, prefix)
	}
	for _, s := range table.Children {
		var i int
		if n, _ := fmt.Sscanf(s.Name, "[%d]", &i); n != 1 || s.Kind != symbol.Record {
			continue
		}
		if w := want[len(want)-rows+i]; s.Start != w.Start || s.End != w.End {
			t.Fatalf("row %d is at %d-%d, want %+v", i, s.Start, s.End, w)
		}
	}
	if last := want[len(want)-1].End; table.End != last {
		t.Fatalf("table ends on %d, want %d", table.End, last)
	}
}

func randomCSV(rng *rand.Rand) []byte {
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	delim := pick(",", ";", "\t", "|")
	end := pick("\n", "\r\n")
	width := 1 + rng.IntN(4)
	var out bytes.Buffer
	for range 1 + rng.IntN(6) {
		cells := width
		if rng.IntN(5) == 0 {
			cells += rng.IntN(3)
		}
		for i := range cells {
			if i > 0 {
				out.WriteString(delim)
			}
			out.WriteString(pick("a", "12", "-1.5", "\"x\"", "\"two"+end+"lines\"", "\"say \"\"hi\"\"\"", "\"a,b;c\td|e\"", "ü", "true", "b"))
		}
		out.WriteString(end)
		if rng.IntN(8) == 0 {
			out.WriteString(end)
		}
	}
	return out.Bytes()
}

func TestCSVHostile(t *testing.T) {
	tests := map[string]string{
		"quotes":   huge("\"", 10<<20),
		"unclosed": huge("\"a\"b\"\n", 1<<20),
		"open":     huge("x,\"\n\"\"a\n", 1<<18),
		"commas":   huge(",", 10<<20),
		"lines":    huge("\n", 10<<20),
		"rows":     huge("1,2\n", 1<<20),
		"ragged":   "a,b\n" + huge("1\n", 1<<20),
		"returns":  huge("\r", 1<<20),
		"NULs":     huge("\x00", 1<<20),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) { mustScan(t, "csv", []byte(data)) })
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n\"c\n\"\"d\",1\n"))
	f.Add([]byte("sep=;\nx;\"y\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		mustScan(t, "csv", data)
		mustScan(t, "tsv", data)
	})
}

func FuzzKeyLines(f *testing.F) {
	f.Add([]byte("[a]\nb = c \\\n d\n; e\nf: g\n  h\n"))
	f.Add([]byte("export A=\"b\nc\"\nD='\n"))
	f.Add([]byte("a\\ b : c\\\nd\n\\u00e9=\\"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, lang := range []string{"ini", "env", "properties"} {
			mustScan(t, lang, data)
		}
	})
}
