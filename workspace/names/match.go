package names

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Class says how a name matches, from the best way to the weakest.
type Class uint8

// The classes. A word of a name starts at its first letter, after what is
// neither letter nor digit, at an upper-case letter after others or before a
// lower-case one, and at the first of several digits.
const (
	Exact       Class = iota // the name, or what follows its last . : or #
	Prefix                   // the name starts so
	Humps                    // starts of words from the first word on: "NS" for NewServer
	Inside                   // the name has it in one piece
	Words                    // letters of words in order, where each word is entered at its start: "nwsrv"
	Subsequence              // letters of the name in order
	None
)

// maxBits is how many characters of a pattern are matched as humps, words and
// subsequence; a longer pattern is only matched in one piece.
const maxBits = 63

// pattern is one name as it was asked for. An upper-case letter of it matches
// itself, any other letter matches both cases, unless fold.
type pattern struct {
	text  string
	fold  bool
	runes int
	spans bool // it has white space, so that only what is in one piece matches
	mask  uint32
	// ascii has for each character of ASCII the bits of the places where the
	// pattern has it; wide has those of other characters.
	ascii [utf8.RuneSelf]uint64
	wide  []wideBits
}

type wideBits struct {
	r    rune
	bits uint64
}

func newPattern(text string, fold bool) *pattern {
	p := &pattern{text: text, fold: fold, runes: utf8.RuneCountInString(text), mask: maskOf(text)}
	p.spans = strings.ContainsFunc(text, unicode.IsSpace)
	if p.runes > maxBits {
		return p
	}
	at := 0
	for _, r := range text {
		bit := uint64(1) << at
		at++
		p.add(r, bit)
		if fold || !unicode.IsUpper(r) {
			p.add(upper(r), bit)
			p.add(lower(r), bit)
		}
	}
	return p
}

func (p *pattern) add(r rune, bit uint64) {
	if r < utf8.RuneSelf {
		p.ascii[r] |= bit
		return
	}
	for i := range p.wide {
		if p.wide[i].r == r {
			p.wide[i].bits |= bit
			return
		}
	}
	p.wide = append(p.wide, wideBits{r, bit})
}

// upper and lower change the case of a character, but never from ASCII to what
// is not or back: masks could not tell.
func upper(r rune) rune { return within(r, unicode.ToUpper(r)) }
func lower(r rune) rune { return within(r, unicode.ToLower(r)) }

func within(r, changed rune) rune {
	if (r < utf8.RuneSelf) != (changed < utf8.RuneSelf) {
		return r
	}
	return changed
}

func (p *pattern) bitsOf(r rune) uint64 {
	for i := range p.wide {
		if p.wide[i].r == r {
			return p.wide[i].bits
		}
	}
	return 0
}

// same reports whether r of the pattern matches c.
func (p *pattern) same(r, c rune) bool {
	return r == c || (p.fold || !unicode.IsUpper(r)) && (upper(r) == c || lower(r) == c)
}

// match returns how name matches p.
func (p *pattern) match(name string) Class {
	switch {
	case p.runes == 0:
		return Prefix
	case p.runes > maxBits:
		return p.matchLong(name)
	case !p.mayMatch(name):
		return None
	}
	s := states{all: 1 << p.runes, prefix: 1}
	prev := other
	for i := 0; i < len(name); {
		r, size := rune(name[i]), 1
		var bits uint64
		if r < utf8.RuneSelf {
			bits = p.ascii[r]
		} else {
			r, size = utf8.DecodeRuneInString(name[i:])
			bits = p.bitsOf(r)
		}
		cur := caseOf(r)
		start := starts(prev, cur, name[i+size:])
		s.step(bits, start, i == 0)
		prev = cur
		i += size
	}
	return s.class(p.spans)
}

// mayMatch reports whether the characters of the pattern stand in name in order,
// which every class needs. Of one outside of ASCII it does not know.
func (p *pattern) mayMatch(name string) bool {
	bit, all := uint64(1), uint64(1)<<p.runes
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			if p.wide != nil {
				return true
			}
		} else if p.ascii[name[i]]&bit != 0 {
			if bit <<= 1; bit == all {
				return true
			}
		}
	}
	return false
}

// states are which beginnings of a pattern have matched so far: bit n is that of
// the first n characters. They are stepped from one character of the name to
// the next, all beginnings at once.
type states struct {
	all      uint64 // the bit of the whole pattern
	prefix   uint64 // at the start of the name
	began    bool   // the whole pattern was a prefix
	inside   uint64 // in one piece up to here
	within   bool   // the whole pattern was in one piece
	hump     uint64 // by starts of words, ending here
	humps    uint64 // by starts of words, ending anywhere
	word     uint64 // by words, ending in this one
	words    uint64 // by words, ending anywhere
	anywhere uint64
}

// step takes one character that matches the pattern at bits. start says that it
// starts a word, first that it is the first.
func (s *states) step(bits uint64, start, first bool) {
	s.prefix = (s.prefix & bits) << 1
	s.began = s.began || s.prefix&s.all != 0
	s.inside = ((s.inside | 1) & bits) << 1
	s.within = s.within || s.inside&s.all != 0
	hump, word := s.hump, s.word
	if start {
		hump |= s.humps
		word = s.words | 1
		s.word = 0
	}
	if first {
		hump |= 1
	}
	s.hump = (hump & bits) << 1
	s.humps |= s.hump
	word = (word & bits) << 1
	s.word |= word
	s.words |= word
	s.anywhere |= ((s.anywhere | 1) & bits) << 1
}

// class returns how the whole name matches. onePiece leaves out what is not.
func (s *states) class(onePiece bool) Class {
	switch {
	case s.prefix&s.all != 0:
		return Exact
	case s.began:
		return Prefix
	case onePiece && s.within:
		return Inside
	case onePiece:
		return None
	case s.humps&s.all != 0:
		return Humps
	case s.within:
		return Inside
	case s.words&s.all != 0:
		return Words
	case s.anywhere&s.all != 0:
		return Subsequence
	}
	return None
}

// matchLong is match for a pattern with more characters than states have bits.
func (p *pattern) matchLong(name string) Class {
	for i := range name {
		end, ok := p.startsAt(name[i:])
		switch {
		case !ok:
		case i > 0:
			return Inside
		case end == len(name):
			return Exact
		default:
			return Prefix
		}
	}
	return None
}

// startsAt reports whether name starts with the pattern, and where that ends.
func (p *pattern) startsAt(name string) (end int, ok bool) {
	for _, r := range p.text {
		c, size := utf8.DecodeRuneInString(name[end:])
		if size == 0 || !p.same(r, c) {
			return 0, false
		}
		end += size
	}
	return end, true
}

// letterCase is what a character means for where words start.
type letterCase uint8

const (
	other letterCase = iota
	lowerCase
	upperCase
	digit
)

func caseOf(r rune) letterCase {
	switch {
	case 'a' <= r && r <= 'z':
		return lowerCase
	case 'A' <= r && r <= 'Z':
		return upperCase
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf:
		return other
	case unicode.IsUpper(r):
		return upperCase
	case unicode.IsLetter(r):
		return lowerCase
	case unicode.IsDigit(r):
		return digit
	}
	return other
}

// starts reports whether a character starts a word, between the one before it
// and the rest of the name.
func starts(prev, cur letterCase, rest string) bool {
	switch {
	case cur == other:
		return false
	case prev == other:
		return true
	case cur == upperCase && prev == upperCase:
		next, _ := utf8.DecodeRuneInString(rest)
		return rest != "" && caseOf(next) == lowerCase
	case cur == upperCase:
		return true
	}
	return cur == digit && prev != digit
}
