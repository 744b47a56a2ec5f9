package names

import "unicode/utf8"

// The bits of a mask beside those of the letters a to z, which are bits 0 to 25.
const (
	maskLow   = 1 << 26 // digits 0 to 3
	maskMid   = 1 << 27 // 4 to 6
	maskHigh  = 1 << 28 // 7 to 9
	maskUnder = 1 << 29 // _
	maskSign  = 1 << 30 // any other character of ASCII
	maskWide  = 1 << 31 // any other character
)

// masks has the bit of each byte of UTF-8; of a character of several bytes each
// has the same.
var masks = func() (m [256]uint32) {
	for b := range m {
		switch c := lowerASCII(byte(b)); {
		case c >= utf8.RuneSelf:
			m[b] = maskWide
		case 'a' <= c && c <= 'z':
			m[b] = 1 << (c - 'a')
		case '0' <= c && c <= '3':
			m[b] = maskLow
		case '4' <= c && c <= '6':
			m[b] = maskMid
		case '7' <= c && c <= '9':
			m[b] = maskHigh
		case c == '_':
			m[b] = maskUnder
		default:
			m[b] = maskSign
		}
	}
	return m
}()

// maskOf returns which characters s has, whatever their case. If s has all
// characters of a query, its mask has all bits of that of the query.
func maskOf(s string) uint32 {
	var m uint32
	for i := range len(s) {
		m |= masks[s[i]]
	}
	return m
}

func lowerASCII(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
