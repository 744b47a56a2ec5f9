package grep

import "bytes"

// literal finds one literal.
type literal struct {
	text []byte // in lower case if fold
	fold bool   // letters of ASCII match both cases
	rare int    // the byte of it that is least common in texts, if fold
}

// newLiteral makes the finder of a text. With fold a letter of ASCII matches its
// other case in ASCII, and not the Kelvin sign or the long s as in expressions.
func newLiteral(text string, fold bool) *literal {
	l := &literal{text: []byte(text), fold: fold}
	if !fold {
		return l
	}
	for i, b := range l.text {
		l.text[i] = lower(b)
		if frequency(l.text[i]) < frequency(l.text[l.rare]) {
			l.rare = i
		}
	}
	// Without letters there is nothing to fold.
	l.fold = bytes.ContainsFunc(l.text, func(r rune) bool { return 'a' <= r && r <= 'z' })
	return l
}

func (l *literal) size() int { return len(l.text) }

func (l *literal) newCursor(text []byte) cursor {
	if !l.fold {
		return &exactCursor{l, text}
	}
	return &foldCursor{literal: l, body: text, low: -1, up: -1}
}

type exactCursor struct {
	*literal
	body []byte
}

func (c *exactCursor) next(from int) int {
	i := bytes.Index(c.body[from:], c.text)
	if i < 0 {
		return -1
	}
	return from + i
}

// foldCursor looks for the rarest byte of the literal in both of its cases, and
// compares the rest where it stands.
type foldCursor struct {
	*literal
	body    []byte
	low, up int // where the byte is next in lower and in upper case; -1: not looked for
}

func (c *foldCursor) next(from int) int {
	b := c.text[c.rare]
	for at := from + c.rare; at < len(c.body); {
		c.low = c.advance(c.low, at, b)
		if upper(b) != b {
			c.up = c.advance(c.up, at, upper(b))
		} else {
			c.up = len(c.body)
		}
		at = min(c.low, c.up)
		start := at - c.rare
		if start+len(c.text) > len(c.body) {
			return -1
		}
		if equalFold(c.body[start:start+len(c.text)], c.text) {
			return start
		}
		at++
	}
	return -1
}

// advance returns where b is next at or after at, len(c.body) if nowhere. known
// is where it was found before, from an earlier offset.
func (c *foldCursor) advance(known, at int, b byte) int {
	if known >= at {
		return known
	}
	if i := bytes.IndexByte(c.body[at:], b); i >= 0 {
		return at + i
	}
	return len(c.body)
}

// equalFold reports whether text is low, which is in lower case, but for the case
// of letters of ASCII.
func equalFold(text, low []byte) bool {
	for i, b := range low {
		if lower(text[i]) != b {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - 'a' + 'A'
	}
	return b
}

// common are bytes of source code from rare to common; what is not here is rarer
// than all of them.
const common = `@%&|~^!?'[]{}<>+-*\/=#$9876543201qzjxkv;:wybgh"()pmuf,._dlcsonraite` + "\t\n "

// frequency ranks a byte by how often it stands in texts.
func frequency(b byte) int { return bytes.IndexByte([]byte(common), b) }

// anyOf finds one of several literals.
type anyOf []*literal

func (a anyOf) newCursor(text []byte) cursor {
	c := &anyCursor{end: len(text)}
	for _, l := range a {
		c.cursors = append(c.cursors, l.newCursor(text))
		c.known = append(c.known, -1)
	}
	return c
}

type anyCursor struct {
	cursors []cursor
	known   []int // where each is next, end if nowhere; before the offset that is asked for: not known
	end     int
}

func (c *anyCursor) next(from int) int {
	first := c.end
	for i, cursor := range c.cursors {
		if c.known[i] < from {
			if c.known[i] = cursor.next(from); c.known[i] < 0 {
				c.known[i] = c.end
			}
		}
		first = min(first, c.known[i])
	}
	if first == c.end {
		return -1
	}
	return first
}
