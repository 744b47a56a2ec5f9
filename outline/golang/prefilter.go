package golang

import "bytes"

var (
	funcWord = []byte("func")
	typeWord = []byte("type")
)

// mayDefine reports whether statements can bind a function to a name or declare
// a type. Most bodies cannot, and to look at bytes is much faster than to walk
// over nodes. It errs on the side of true: comments and strings count as code.
func mayDefine(src []byte) bool {
	for at := 0; ; {
		i := bytes.Index(src[at:], funcWord)
		if i < 0 {
			break
		}
		at += i
		if mayBind(src, at) {
			return true
		}
		at += len(funcWord)
	}
	for at := 0; ; {
		i := bytes.Index(src[at:], typeWord)
		if i < 0 {
			return false
		}
		at += i
		if startsStatement(src[:at]) {
			return true
		}
		at += len(typeWord)
	}
}

// startsStatement reports whether a statement may start after before.
func startsStatement(before []byte) bool {
	before = bytes.TrimRight(before, " \t\r")
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case '\n', ';', '{', '}', ':', '/': // also after a label or a comment
		return true
	}
	return false
}

// mayBind reports whether the func at an offset may be a value that is assigned
// to a name: not the operand of a word (go func), not what follows only a
// bracket of a call or a composite literal (Run(func), a: func).
func mayBind(src []byte, at int) bool {
	if end := at + len(funcWord); end < len(src) && isLetter(src[end]) {
		return false
	}
	before := bytes.TrimRight(src[:at], " \t\r\n(")
	if len(before) == 0 {
		return false
	}
	switch c := before[len(before)-1]; {
	case c == ',':
		return manyAssigned(before)
	case c == '{' || c == ']' || c == '*' || c == ':' || c == ')' || c == '.':
		return false
	case isLetter(c) || c >= '0' && c <= '9':
		return false
	}
	return true
}

// manyAssigned reports whether the values before a comma may be assigned to
// several names, as far as their line tells.
func manyAssigned(before []byte) bool {
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	left, _, assigns := bytes.Cut(line, []byte{'='})
	return !assigns || bytes.IndexByte(left, ',') >= 0
}
