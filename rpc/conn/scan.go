package conn

import (
	"errors"
	"unicode/utf8"
)

// errSyntax and errDepth are the two ways a frame fails to be JSON.
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
}

func (s *scanner) reset(data []byte) {
	s.data, s.pos, s.depth, s.stack = data, 0, 0, s.stack[:0]
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

// end reports an error unless only white space is left.
func (s *scanner) end() error {
	s.space()
	if s.pos != len(s.data) {
		return errSyntax
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

// text consumes a string. The bytes are known to be valid UTF-8.
func (s *scanner) text() error {
	for i := s.pos + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c < 0x20:
			return errSyntax
		case c == '\\':
			n := escape(s.data[i+1:])
			if n == 0 {
				return errSyntax
			}
			i += n
		}
	}
	return errSyntax
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

// checkUTF8 is done once for a whole frame, so that text needs not decode runes.
func checkUTF8(frame []byte) error {
	if !utf8.Valid(frame) {
		return errUTF8
	}
	return nil
}
