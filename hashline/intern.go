package hashline

import (
	"bytes"

	"github.com/zeebo/xxh3"
)

// interned is two texts as sequences of numbers: equal lines have equal
// numbers, whatever their terminators.
type interned struct {
	old, new []int32
	// in[id] counts the lines with that number in each text.
	in []occurrences
}

type occurrences struct{ old, new int32 }

// unique reports whether exactly one line of each text has that number.
func (t *interned) unique(id int32) bool { return t.in[id] == occurrences{1, 1} }

// intern numbers the lines of old and new in the runs given, which may be
// empty. Lines are equal when their bytes are; a hash only finds the candidates.
func intern(old *Text, oldRun Range, new *Text, newRun Range) *interned {
	size := 16
	for size < 2*(oldRun.Len()+newRun.Len()) {
		size *= 2
	}
	n := numbering{table: make([]slot, size), mask: uint64(size - 1), lines: make([][]byte, 0, oldRun.Len())}
	t := &interned{old: n.number(old, oldRun), new: n.number(new, newRun)}
	t.in = make([]occurrences, len(n.lines))
	for _, id := range t.old {
		t.in[id].old++
	}
	for _, id := range t.new {
		t.in[id].new++
	}
	return t
}

// numbering is a hash table with open addressing from lines to numbers.
type numbering struct {
	table []slot
	mask  uint64
	lines [][]byte // the line that stands for each number
}

type slot struct {
	tag uint32 // the high half of the hash; the low half is the place
	id  int32  // number + 1; 0 is an empty slot
}

func (n *numbering) number(text *Text, run Range) []int32 {
	ids := make([]int32, run.Len())
	for i := range ids {
		line := text.Line(run.Start + i)
		sum := xxh3.Hash(line)
		tag, at := uint32(sum>>32), sum&n.mask
		for {
			s := n.table[at]
			if s.id == 0 {
				n.lines = append(n.lines, line)
				s = slot{tag, int32(len(n.lines))}
				n.table[at] = s
			}
			if s.tag == tag && bytes.Equal(n.lines[s.id-1], line) {
				ids[i] = s.id - 1
				break
			}
			at = (at + 1) & n.mask
		}
	}
	return ids
}
