package hashline

import "github.com/zeebo/xxh3"

// A Hash is the low 16 bits of a line's hash; an anchor shows the low 4 bits
// for each letter of its width.
type Hash uint16

// Sum64 hashes a line together with its neighbours: XXH3-64 (seed 0) of
// previous line, NUL, line, NUL, next line, all without terminators. An absent
// neighbour is empty.
func Sum64(prev, line, next []byte) uint64 {
	var scratch [512]byte
	if len(prev)+len(line)+len(next)+2 > len(scratch) {
		return sumLong(prev, line, next)
	}
	buf := append(scratch[:0], prev...)
	buf = append(buf, 0)
	buf = append(buf, line...)
	buf = append(buf, 0)
	buf = append(buf, next...)
	return xxh3.Hash(buf)
}

// Sum16 returns the low 16 bits of Sum64, which are all that an anchor shows.
func Sum16(prev, line, next []byte) Hash { return Hash(Sum64(prev, line, next)) }

// sumLong is Sum64 without a copy of its input: past the size that fits the
// stack a copy would cost more than the hash.
func sumLong(prev, line, next []byte) uint64 {
	var h xxh3.Hasher
	for i, part := range [...][]byte{prev, line, next} {
		if i > 0 {
			_, _ = h.Write([]byte{0}) // a Hasher never fails
		}
		_, _ = h.Write(part)
	}
	return h.Sum64()
}

// Hash returns the hash of line n. It panics unless 1 <= n <= Lines(). For a
// run of lines AppendHashes costs a third.
func (t *Text) Hash(n int) Hash {
	line := t.Line(n)
	return Sum16(t.lineOrNone(n-1), line, t.lineOrNone(n+1))
}

// lineOrNone returns line n, or nil if t has no such line.
func (t *Text) lineOrNone(n int) []byte {
	if n < 1 || n > t.Lines() {
		return nil
	}
	return t.Line(n)
}

// AppendHashes appends the hashes of the lines of r, in order. It panics unless
// 1 <= r.Start and r.End <= Lines(); an r that is not Valid has no lines.
func (t *Text) AppendHashes(dst []Hash, r Range) []Hash {
	if !r.Valid() {
		return dst
	}
	var w window
	w.start(t, r.Start)
	for n := r.Start; n <= r.End; n++ {
		dst = append(dst, w.sum())
		w.advance()
	}
	return dst
}

// window slides over the lines of a text and hashes each together with its
// neighbours, copying every line once: the lines stand in buf joined by NUL, so
// that three neighbours are one slice of it. It allocates nothing.
type window struct {
	text *Text
	n    int    // the line that sum hashes
	line []byte // its content
	next []byte // the content of line n+1, empty if there is none

	buf    [4 << 10]byte
	starts [3]int // offsets in buf of the lines n-1, n, n+1
	end    int    // the end of line n+1 in buf
	joined bool   // buf holds these three lines; else they are too long
}

// start puts w at line n of t.
func (w *window) start(t *Text, n int) {
	w.text, w.n, w.line, w.next = t, n, t.Line(n), t.lineOrNone(n+1)
	w.join()
}

// join fills buf from the three lines around w.n, if they fit.
func (w *window) join() {
	prev := w.text.lineOrNone(w.n - 1)
	w.joined = len(prev)+len(w.line)+len(w.next)+2 <= len(w.buf)
	if !w.joined {
		return
	}
	w.end = copy(w.buf[:], prev)
	w.starts[0] = 0
	w.starts[1] = w.push(w.line)
	w.starts[2] = w.push(w.next)
}

// push appends NUL and line to buf, which has room, and returns where line
// starts.
func (w *window) push(line []byte) int {
	w.buf[w.end] = 0
	at := w.end + 1
	w.end = at + copy(w.buf[at:], line)
	return at
}

// sum returns the hash of line n.
func (w *window) sum() Hash {
	if !w.joined {
		return Sum16(w.text.lineOrNone(w.n-1), w.line, w.next)
	}
	return Hash(xxh3.Hash(w.buf[w.starts[0]:w.end]))
}

// advance moves to line n+1. Past the last line, sum and line have no meaning.
func (w *window) advance() {
	w.n++
	w.line = w.next
	w.next = nil
	if w.n < w.text.Lines() {
		w.next = w.text.Line(w.n + 1)
	}
	if !w.joined || w.end+1+len(w.next) > len(w.buf) {
		w.join()
		return
	}
	w.starts[0], w.starts[1] = w.starts[1], w.starts[2]
	w.starts[2] = w.push(w.next)
}
