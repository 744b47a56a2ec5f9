package conn

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"
)

// These are the ways a frame fails to be JSON.
var (
	errSyntax = errors.New("the message is not valid JSON")
	errDepth  = errors.New("the message is nested too deeply")
	errUTF8   = errors.New("the message is not valid UTF-8")
)

// scanner walks one JSON text. It is strict (RFC 8259), does not recurse and
// allocates nothing once its stack has grown to the depth of the text. It works
// on borrowed bytes; a string is only skipped here, whoever needs its value
// decodes it.
type scanner struct {
	data  []byte
	pos   int
	stack []byte // the open brackets of the value being skipped
	depth int    // brackets that the caller has opened itself
	max   int    // deepest nesting allowed
	// foreign is set if a string, or what follows it, has bytes that are not
	// ASCII. Elsewhere such bytes are a syntax error.
	foreign bool
}

func (s *scanner) reset(data []byte) {
	s.data, s.pos, s.depth, s.stack, s.foreign = data, 0, 0, s.stack[:0], false
}

// space skips white space and returns the next byte, 0 at the end.
func (s *scanner) space() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// accept skips white space and consumes c if it comes next.
func (s *scanner) accept(c byte) bool {
	if s.space() != c || s.pos == len(s.data) {
		return false
	}
	s.pos++
	return true
}

// open consumes a bracket on behalf of the caller, who walks the container.
func (s *scanner) open(c byte) error {
	if !s.accept(c) {
		return errSyntax
	}
	if s.depth++; s.depth > s.max {
		return errDepth
	}
	return nil
}

// end reports an error unless only white space is left and all of the text is
// valid UTF-8.
func (s *scanner) end() error {
	s.space()
	if s.pos != len(s.data) {
		return errSyntax
	}
	if s.foreign && !utf8.Valid(s.data) {
		return errUTF8
	}
	return nil
}

// key consumes a member name and its colon and returns the quoted name.
func (s *scanner) key() ([]byte, error) {
	if s.space() != '"' {
		return nil, errSyntax
	}
	start := s.pos
	if err := s.text(); err != nil {
		return nil, err
	}
	name := s.data[start:s.pos]
	if !s.accept(':') {
		return nil, errSyntax
	}
	return name, nil
}

// value consumes one value and returns its bytes without surrounding space.
func (s *scanner) value() ([]byte, error) {
	s.space()
	start := s.pos
	s.stack = s.stack[:0]
	for {
		opened, err := s.token()
		if err != nil {
			return nil, err
		}
		if opened {
			continue
		}
		more, err := s.afterValue()
		if err != nil {
			return nil, err
		}
		if !more {
			return s.data[start:s.pos], nil
		}
	}
}

// token consumes a scalar, an empty container, or the opening of a container up
// to its first value; opened tells that the last is the case.
func (s *scanner) token() (opened bool, err error) {
	switch c := s.space(); {
	case c == '{' || c == '[':
		s.pos++
		if s.depth+len(s.stack)+1 > s.max {
			return false, errDepth
		}
		if s.accept(closing(c)) {
			return false, nil
		}
		s.stack = append(s.stack, c)
		if c == '{' {
			_, err = s.key()
		}
		return true, err
	case c == '"':
		return false, s.text()
	case c == '-' || '0' <= c && c <= '9':
		return false, s.number()
	case c == 't':
		return false, s.literal("true")
	case c == 'f':
		return false, s.literal("false")
	case c == 'n':
		return false, s.literal("null")
	default:
		return false, errSyntax
	}
}

// afterValue consumes what follows a value: the brackets it closes and a comma
// with the next member's name. more is false when the outermost value is over.
func (s *scanner) afterValue() (more bool, err error) {
	for len(s.stack) > 0 {
		top := s.stack[len(s.stack)-1]
		switch s.space() {
		case ',':
			s.pos++
			if top == '{' {
				_, err = s.key()
			}
			return true, err
		case closing(top):
			s.pos++
			s.stack = s.stack[:len(s.stack)-1]
		default:
			return false, errSyntax
		}
	}
	return false, nil
}

func closing(open byte) byte {
	if open == '{' {
		return '}'
	}
	return ']'
}

// text consumes a string. Whether its bytes are UTF-8 is left to end.
func (s *scanner) text() error {
	for i := s.pos + 1; ; i++ {
		if i = s.plain(i); i >= len(s.data) {
			return errSyntax
		}
		switch s.data[i] {
		case '"':
			s.pos = i + 1
			return nil
		case '\\':
			n := escape(s.data[i+1:])
			if n == 0 {
				return errSyntax
			}
			i += n
		default:
			return errSyntax
		}
	}
}

// plain returns the index at or after i of the next byte that is not simply part
// of a string: a quote, a backslash or a control character. It looks at eight
// bytes at once. A borrow may flag a byte wrongly, but only behind a byte that is
// flagged rightly, and the first flag counts.
func (s *scanner) plain(i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	data, seen := s.data, uint64(0)
	for ; len(data)-i >= 8; i += 8 {
		v := binary.LittleEndian.Uint64(data[i:])
		seen |= v
		quote, slash := v^(ones*'"'), v^(ones*'\\')
		flags := (v-ones*0x20)&^v | (quote-ones)&^quote | (slash-ones)&^slash
		if flags &= highs; flags != 0 {
			s.foreign = s.foreign || seen&highs != 0
			return i + bits.TrailingZeros64(flags)/8
		}
	}
	for ; i < len(data); i++ {
		c := data[i]
		if seen |= uint64(c); c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	s.foreign = s.foreign || seen&highs != 0
	return i
}

// escape returns the length of the escape sequence that b continues after its
// backslash, 0 if it is none.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, c := range b[1:5] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return 0
			}
		}
		return 5
	}
	return 0
}

func (s *scanner) number() error {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else if !s.digits() {
		return errSyntax
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return errSyntax
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return errSyntax
		}
	}
	return nil
}

// digits consumes digits and reports whether there was one.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) literal(word string) error {
	if rest := s.data[s.pos:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return errSyntax
	}
	s.pos += len(word)
	return nil
}
