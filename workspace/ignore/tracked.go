package ignore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// tracked is the set of files in git's index, sorted.
type tracked []string

func (t tracked) has(path string) bool {
	_, found := slices.BinarySearch(t, path)
	return found
}

// hasBelow reports whether a file below the directory is tracked.
func (t tracked) hasBelow(dir string) bool {
	dir += "/"
	i, _ := slices.BinarySearch(t, dir)
	return i < len(t) && strings.HasPrefix(t[i], dir)
}

// parseIndex returns the files that a git index of version 2 to 4 lists, and
// false if it cannot be read or is only a part of an index.
func parseIndex(b []byte, sha256 bool) (tracked, bool) {
	if len(b) < 12 || string(b[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	hash := 20
	if sha256 {
		hash = 32
	}
	if version < 2 || version > 4 || int64(count)*int64(40+hash+2) > int64(len(b)) {
		return nil, false
	}
	names := make(tracked, 0, count)
	at, last := 12, ""
	for range count {
		name, next, ok := indexEntry(b, at, hash, version, last)
		if !ok {
			return nil, false
		}
		if name != last || len(names) == 0 { // a conflict lists a file up to three times
			names = append(names, name)
		}
		at, last = next, name
	}
	return names, !isSplit(b[at:], hash) && slices.IsSorted(names)
}

// indexEntry reads the entry at at. last is the name before it.
func indexEntry(b []byte, at, hash int, version uint32, last string) (name string, next int, ok bool) {
	const stat, extended = 40, 0x4000
	start := at
	at += stat + hash
	if at+2 > len(b) {
		return "", 0, false
	}
	flags := binary.BigEndian.Uint16(b[at:])
	at += 2
	if flags&extended != 0 {
		at += 2
	}
	keep := 0
	if version == 4 {
		var strip int
		if strip, at, ok = varint(b, at); !ok || strip > len(last) {
			return "", 0, false
		}
		keep = len(last) - strip
	}
	if at >= len(b) {
		return "", 0, false
	}
	end := bytes.IndexByte(b[at:], 0)
	if end < 0 {
		return "", 0, false
	}
	name = last[:keep] + string(b[at:at+end])
	at += end + 1
	if version != 4 { // padded with NULs to a multiple of eight
		at = start + (at-start+7)/8*8
	}
	return name, at, at <= len(b)
}

// varint reads a number as version 4 of the index stores it.
func varint(b []byte, at int) (n, next int, ok bool) {
	for first := true; at < len(b) && n < 1<<24; first = false {
		if !first {
			n++
		}
		n = n<<7 | int(b[at]&0x7f)
		at++
		if b[at-1]&0x80 == 0 {
			return n, at, true
		}
	}
	return 0, 0, false
}

// isSplit reports whether the extensions after the entries say that most of
// the index is in another file.
func isSplit(b []byte, hash int) bool {
	for len(b) > hash+8 {
		size := int64(binary.BigEndian.Uint32(b[4:]))
		if string(b[:4]) == "link" {
			return true
		}
		if 8+size > int64(len(b)) {
			return false
		}
		b = b[8+size:]
	}
	return false
}
