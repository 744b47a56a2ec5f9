package grammar

import "bytes"

// blankOpenStrings returns src with each string that has no end on its line
// blanked up to there, in languages with the lexical shape of Java whose
// grammars let a string go on until the next quote, over all definitions on the
// way. A string of three quotes may have many lines.
func blankOpenStrings(src []byte) []byte {
	out := src
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '/':
			if i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*') {
				i = commentEnd(src, i) - 1
			}
		case '"', '\'':
			if bytes.HasPrefix(src[i:], []byte(`"""`)) {
				k := bytes.Index(src[i+3:], []byte(`"""`))
				if k < 0 {
					return out
				}
				i += k + 5
				continue
			}
			end := stringEnd(src, i)
			if end < 0 {
				end = len(src) - 1
			}
			if src[end] != src[i] {
				if &out[0] == &src[0] {
					out = bytes.Clone(src)
				}
				for k := i; k <= end; k++ {
					if !isSpace(out[k]) {
						out[k] = ' '
					}
				}
			}
			i = end
		}
	}
	return out
}
