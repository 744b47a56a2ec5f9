package names

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"mapd/hashline"
)

// ErrDamaged is what every error of Parse wraps.
var ErrDamaged = errors.New("damaged names")

// sumBytes is how much of the digest of a packed form is kept beside it.
const sumBytes = 8

// AppendBinary appends the form that Parse reads. It depends on the symbols
// alone, so that equal names have equal forms. The error is always nil.
func (n Names) AppendBinary(dst []byte) ([]byte, error) {
	sum := hashline.Sum([]byte(n.s))
	dst = append(dst, sum[:sumBytes]...)
	return append(dst, n.s...), nil
}

// Parse reads what AppendBinary wrote. It takes no other bytes: an error, which
// wraps ErrDamaged, says that they were cut, changed, or written by another
// version of this package. It keeps no reference to b.
func Parse(b []byte) (Names, error) {
	if len(b) < sumBytes {
		return Names{}, fmt.Errorf("%w: %d bytes", ErrDamaged, len(b))
	}
	n := Names{string(b[sumBytes:])}
	if sum := hashline.Sum(b[sumBytes:]); string(sum[:sumBytes]) != string(b[:sumBytes]) {
		return Names{}, fmt.Errorf("%w: the digest differs", ErrDamaged)
	}
	// A digest is no proof that this package wrote the bytes.
	if why := n.check(); why != "" {
		return Names{}, fmt.Errorf("%w: %s", ErrDamaged, why)
	}
	return n, nil
}

// check says what is wrong with the packed form, "" if nothing is: then no
// reader of it can fail.
func (n Names) check() string {
	if n.s == "" {
		return ""
	}
	if len(n.s) < headBytes || n.s[0] != version || n.s[2] != 0 || n.s[3] != 0 {
		return "not of this version"
	}
	if w := n.s[1]; w != narrow && w != wide {
		return "unknown width"
	}
	r := n.reader()
	if r.count == 0 || r.count > len(n.s) || r.nameBytes > len(n.s) || r.size() != len(n.s) {
		return "wrong length"
	}
	var union uint32
	end := 0
	for i := range r.count {
		nameEnd := r.number(i, nameEndField)
		if nameEnd <= end || nameEnd > r.nameBytes {
			return "names out of bounds"
		}
		end = nameEnd
		if name := r.name(i); !utf8.ValidString(name) || maskOf(name) != r.mask(i) || r.lastName(i, name) != lastName(name) {
			return "wrong name"
		}
		union |= r.mask(i)
		if why := r.checkRecord(i); why != "" {
			return why
		}
	}
	if end != r.nameBytes || union != r.union() {
		return "wrong sum of names"
	}
	return ""
}

// checkRecord checks what is no name.
func (r *reader) checkRecord(i int) string {
	start, end, parent := r.number(i, startField), r.number(i, endField), r.parent(i)
	switch {
	case start < 1 || end < start:
		return "wrong lines"
	case int(r.rest(i, 1)) >= len(kinds) || r.rest(i, 3) >= flagsEnd:
		return "unknown kind or flag"
	case r.rest(i, 0) != noNameLine && start+int(r.rest(i, 0)) > end:
		return "a name outside of its symbol"
	case parent >= i:
		return "a symbol inside a later one"
	case parent < 0 && r.depth(i) != 0:
		return "wrong depth"
	case parent >= 0 && (start < r.number(parent, startField) || end > r.number(parent, endField) || r.depth(i) != min(r.depth(parent)+1, 255)):
		return "a symbol outside of its parent"
	}
	return ""
}
