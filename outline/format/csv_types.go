package format

import (
	"bytes"
	"strconv"
	"strings"
)

// cellTypes is what the cells of a column have been so far.
type cellTypes struct {
	seen  uint8
	empty int
}

const (
	cellInteger = 1 << iota
	cellNumber
	cellBoolean
	cellDate
	cellString
)

func (c *cellTypes) add(raw []byte) {
	if len(raw) == 0 || len(raw) == 2 && raw[0] == '"' {
		c.empty++
		return
	}
	if c.seen&cellString == 0 {
		c.seen |= cellType(raw)
	}
}

// String names the narrowest type that holds all cells.
func (c *cellTypes) String() string {
	name := "string"
	switch c.seen {
	case 0:
		return "empty"
	case cellInteger:
		name = "integer"
	case cellNumber, cellInteger | cellNumber:
		name = "number"
	case cellBoolean:
		name = "boolean"
	case cellDate:
		name = "date"
	}
	if c.empty > 0 {
		name += ", " + strconv.Itoa(c.empty) + " empty"
	}
	return name
}

func cellType(raw []byte) uint8 {
	if raw[0] == '"' && len(raw) > 2 {
		raw = raw[1 : len(raw)-1]
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return cellString
	}
	if len(raw) <= 5 {
		switch strings.ToLower(string(raw)) {
		case "true", "false":
			return cellBoolean
		}
	}
	if len(raw) >= 10 && len(raw) <= 35 && isDate(raw) {
		return cellDate
	}
	return numberType(raw)
}

// isDate reports whether b starts with a date like 2026-01-31.
func isDate(b []byte) bool {
	for i, c := range b[:10] {
		if i == 4 || i == 7 {
			if c != b[4] || c != '-' && c != '/' {
				return false
			}
		} else if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) == 10 || b[10] == 'T' || b[10] == ' '
}

// numberType tells integers, other decimal numbers, and strings apart. A comma
// may be the decimal mark.
func numberType(b []byte) uint8 {
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	digits, marks := 0, 0
	for i, c := range b {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c == '.' || c == ',':
			if marks++; marks > 1 {
				return cellString
			}
		case (c == 'e' || c == 'E') && digits > 0 && i+1 < len(b):
			exponent := b[i+1:]
			if exponent[0] == '-' || exponent[0] == '+' {
				exponent = exponent[1:]
			}
			if len(exponent) == 0 || len(bytes.Trim(exponent, "0123456789")) > 0 {
				return cellString
			}
			return cellNumber
		default:
			return cellString
		}
	}
	switch {
	case digits == 0:
		return cellString
	case marks > 0:
		return cellNumber
	default:
		return cellInteger
	}
}

// cellText decodes a cell for use as a name.
func cellText(raw []byte) string {
	if len(raw) >= 2 && raw[0] == '"' && raw[len(raw)-1] == '"' {
		raw = bytes.ReplaceAll(raw[1:min(len(raw)-1, 2*MaxName)], []byte(`""`), []byte(`"`))
	}
	return preview(raw[:min(len(raw), 2*MaxName)], MaxName)
}

// isHeader reports whether the cells of the first record can be names of
// columns: none empty, no two equal, and none a number or a date, except where
// they are a series, as of years, and those of the next record are not.
func isHeader(names, next []string) bool {
	seen := map[string]bool{}
	series := false
	for i, name := range names {
		if name == "" && i > 0 || seen[name] {
			return false
		}
		series = series || name != "" && cellType([]byte(name)) != cellString
		seen[name] = true
	}
	return !series || isSeries(names) && len(next) > 0 && !isSeries(next)
}

// isSeries reports whether the numbers and dates among cells are dates in order,
// or whole numbers with equal steps: three at least, or two years.
func isSeries(cells []string) bool {
	const firstYear, lastYear = 1800, 2100
	n, step, last, lastDate := 0, 0, 0, ""
	for _, cell := range cells {
		switch {
		case cell == "":
			continue
		case cellType([]byte(cell)) == cellDate:
			if cell <= lastDate || n > 0 && lastDate == "" {
				return false
			}
			lastDate = cell
		case cellType([]byte(cell)) == cellInteger:
			number, err := strconv.Atoi(cell)
			if err != nil || lastDate != "" || n > 0 && number == last || n > 1 && number-last != step {
				return false
			}
			step, last = number-last, number
		case cellType([]byte(cell)) != cellString:
			return false
		default:
			continue
		}
		n++
	}
	year := last >= firstYear && last <= lastYear && (step == 1 || step == -1)
	return n > 2 || n == 2 && (lastDate != "" || year)
}
