package grammar

// smallInitializer is the size in bytes up to which the values of a variable
// are left to the grammar.
const smallInitializer = 200

// initializer blanks the values between the brace at i and its partner: no
// definition is looked for among them, and generated tables are most of the
// files they stand in. It returns where to go on.
func (m *macroScanner) initializer(i int) int {
	if i >= m.noValues {
		end, ok := valuesEnd(m.src, i)
		if !ok {
			m.noValues = end
		} else if end-i > smallInitializer {
			m.blank(i+1, end)
			m.prev = '}'
			return end + 1
		}
	}
	m.mark('{')
	return i + 1
}

// valuesEnd returns where the partner of the brace at i is. It returns false,
// and where that turns out, if what follows is not plainly a list of values: it
// holds the end of a statement or a line of the preprocessor, or the brace has
// no partner.
func valuesEnd(src []byte, i int) (end int, ok bool) {
	depth := 0
	for i < len(src) {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i, true
			}
		case ';', '#':
			return i, false
		case '"', '\'':
			if separatesDigits(src, i) {
				break
			}
			end := stringEnd(src, i)
			if end < 0 {
				return len(src), false
			}
			i = end
		case '/':
			if i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*') {
				i = commentEnd(src, i) - 1
			}
		}
		i++
	}
	return len(src), false
}

// separatesDigits reports whether the quote at i stands in a number of C++.
func separatesDigits(src []byte, i int) bool {
	return src[i] == '\'' && i > 0 && wordByte[src[i-1]] && i+2 < len(src) && wordByte[src[i+1]] && src[i+2] != '\''
}
