package grammar

import "bytes"

// openBrackets returns what closes the strings, comments and brackets that src
// leaves open, in languages with the lexical shape of C.
func openBrackets(src []byte) string {
	var open []byte
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '{':
			open = append(open, '}')
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '}', ')', ']':
			if k := len(open) - 1; k >= 0 && open[k] == c {
				open = open[:k]
			}
		case '/':
			if bytes.HasPrefix(src[i:], []byte("//")) {
				k := bytes.IndexByte(src[i:], '\n')
				if k < 0 {
					return "\n" + reversed(open)
				}
				i += k
			} else if bytes.HasPrefix(src[i:], []byte("/*")) {
				k := bytes.Index(src[i+2:], []byte("*/"))
				if k < 0 {
					return "*/" + reversed(open)
				}
				i += k + 3
			}
		case '"', '\'', '`':
			end := stringEnd(src, i)
			if end < 0 {
				return string(c) + reversed(open)
			}
			i = end
		}
	}
	if len(open) > 100 {
		return ""
	}
	return reversed(open)
}

// stringEnd returns where the string that begins at i ends: at its quote, at
// the line's end unless it is a template, or -1 at the end of src.
func stringEnd(src []byte, i int) int {
	for j := i + 1; j < len(src); j++ {
		switch {
		case src[j] == '\\':
			j++
		case src[j] == src[i], src[j] == '\n' && src[i] != '`':
			return j
		}
	}
	return -1
}

func reversed(b []byte) string {
	b = bytes.Clone(b)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}
