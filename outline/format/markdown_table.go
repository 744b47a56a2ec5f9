package format

import "bytes"

// tableStart returns the names of the columns if header and delimiter are the
// first two lines of a table, nil if they are not.
func tableStart(header, delimiter []byte) []string {
	n, ok := delimiterRow(delimiter)
	if !ok || len(delimiter) == 0 {
		return nil
	}
	cells := tableCells(header, n+1)
	if len(cells) != n {
		return nil
	}
	return cells
}

// delimiterRow counts the cells of "| --- | :-: |".
func delimiterRow(b []byte) (cells int, ok bool) {
	b = bytes.Trim(b, " \t")
	if len(b) == 0 || bytes.IndexByte([]byte("|:-"), b[0]) < 0 {
		return 0, false
	}
	b = bytes.TrimPrefix(b, []byte("|"))
	b = bytes.TrimSuffix(b, []byte("|"))
	for {
		cell, rest, more := bytes.Cut(b, []byte("|"))
		cell = bytes.Trim(cell, " \t")
		cell = bytes.TrimSuffix(bytes.TrimPrefix(cell, []byte(":")), []byte(":"))
		if len(cell) == 0 || len(bytes.Trim(cell, "-")) > 0 {
			return 0, false
		}
		cells++
		if !more {
			return cells, true
		}
		b = rest
	}
}

// tableCells splits a row at its bars, at most into most cells. A bar after a
// backslash belongs to its cell.
func tableCells(row []byte, most int) []string {
	row = bytes.Trim(row, " \t")
	row = bytes.TrimPrefix(row, []byte("|"))
	var cells []string
	start := 0
	for i := 0; i < len(row) && len(cells) < most; i++ {
		switch row[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, preview(row[start:i], MaxPreview))
			start = i + 1
		}
	}
	if start < len(row) && len(cells) < most {
		cells = append(cells, preview(row[start:], MaxPreview))
	}
	return cells
}
