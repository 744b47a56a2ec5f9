package grep

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// oneLine makes an expression match within one line: nothing in it matches a
// line break, and the text starts and ends where the line does.
func oneLine(re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return fmt.Errorf("%w: it has a line break; lines are searched one by one, so give one line of it", ErrPattern)
		}
	case syntax.OpCharClass:
		re.Rune = without(re.Rune, '\n')
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	}
	for _, sub := range re.Sub {
		if err := oneLine(sub); err != nil {
			return err
		}
	}
	return nil
}

// without returns a character class, as pairs of first and last, without r.
func without(class []rune, r rune) []rune {
	var out []rune
	for i := 0; i < len(class); i += 2 {
		lo, hi := class[i], class[i+1]
		if r < lo || r > hi {
			out = append(out, lo, hi)
			continue
		}
		if lo < r {
			out = append(out, lo, r-1)
		}
		if r < hi {
			out = append(out, r+1, hi)
		}
	}
	return out
}

// loosen lets the end of a line be before its "\r": what matches the content of
// a line then matches the same in a buffer.
func loosen(re *syntax.Regexp) {
	for i, sub := range re.Sub {
		if sub.Op == syntax.OpEndLine {
			re.Sub[i] = beforeReturn()
			continue
		}
		loosen(sub)
	}
	if re.Op == syntax.OpEndLine {
		*re = *beforeReturn()
	}
}

func beforeReturn() *syntax.Regexp {
	cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
		{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}, Sub0: [1]*syntax.Regexp{cr}},
		{Op: syntax.OpEndLine},
	}}
}

// maxAlternatives is how many literals are looked for at once.
const maxAlternatives = 8

// required returns literals of which every match of an expression has at least
// one, nil if there are none.
func required(re *syntax.Regexp) anyOf {
	switch re.Op {
	case syntax.OpLiteral:
		return literalOf(re)
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best anyOf
		for _, sub := range re.Sub {
			if need := required(sub); need.worth() > best.worth() {
				best = need
			}
		}
		return best
	case syntax.OpAlternate:
		var all anyOf
		for _, sub := range re.Sub {
			need := required(sub)
			if need == nil || len(all)+len(need) > maxAlternatives {
				return nil
			}
			all = append(all, need...)
		}
		return all
	}
	return nil
}

// worth says how much looking for literals narrows a search: the bytes of the
// shortest one, less for many.
func (a anyOf) worth() int {
	shortest := 0
	for i, l := range a {
		if i == 0 || l.size() < shortest {
			shortest = l.size()
		}
	}
	return shortest*maxAlternatives - len(a) + 1
}

// literalOf returns the literal of a node of an expression. Of one that ignores
// case only a part counts that has the same length in both cases: of ASCII, and
// without k and s, which are also other cases of letters outside of it.
func literalOf(re *syntax.Regexp) anyOf {
	if re.Flags&syntax.FoldCase == 0 {
		return anyOf{newLiteral(string(re.Rune), false)}
	}
	var longest []rune
	start := 0
	for i, r := range append(slices.Clone(re.Rune), utf8.MaxRune) {
		if l := unicode.ToLower(r); r < utf8.RuneSelf && l != 'k' && l != 's' {
			continue
		}
		if i-start > len(longest) {
			longest = re.Rune[start:i]
		}
		start = i + 1
	}
	if len(longest) == 0 {
		return nil
	}
	return anyOf{newLiteral(string(longest), true)}
}

// hasUpper reports whether an expression has an upper-case letter of its own:
// one that is not part of an escape such as \W, of the name of a group or class.
func hasUpper(text string) bool {
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; {
		case r == '\\' && i+1 < len(runes):
			i = afterEscape(runes, i+1)
		case r == '(' && i+1 < len(runes) && runes[i+1] == '?':
			i = afterGroup(runes, i)
		case unicode.IsUpper(r):
			return true
		}
	}
	return false
}

// afterEscape returns the last place of the escape whose letter is at i.
func afterEscape(runes []rune, i int) int {
	switch runes[i] {
	case 'p', 'P', 'x':
		if i+1 < len(runes) && runes[i+1] == '{' {
			if end := slices.Index(runes[i:], '}'); end > 0 {
				return i + end
			}
		}
		if runes[i] == 'x' {
			return min(i+2, len(runes)-1)
		}
		return min(i+1, len(runes)-1)
	}
	return i
}

// afterGroup returns the last place of the flags or the name of the group that
// opens at i.
func afterGroup(runes []rune, i int) int {
	for end := i + 2; end < len(runes); end++ {
		if runes[end] == '>' || runes[end] == ':' || runes[end] == ')' {
			return end
		}
	}
	return i
}
