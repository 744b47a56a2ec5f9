package hashline

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tracked is a line of which the oracle knows the identity.
type tracked struct {
	id      int // unique over the whole history
	content string
	from    int // the line it was copied from, or 0
}

// history edits a file at random and remembers which line is which.
type history struct {
	rng    *rand.Rand
	nextID int
	lines  []tracked
	// common is the share of lines, in percent, whose content repeats.
	common int
}

// commonLines are what repeats in real files.
var commonLines = []string{"}", "", "\t}", "\treturn nil", "{", "});", "\t\tbreak", "end"}

func (h *history) fresh() tracked {
	h.nextID++
	if h.rng.IntN(100) < h.common {
		return tracked{id: h.nextID, content: commonLines[h.rng.IntN(len(commonLines))]}
	}
	return tracked{id: h.nextID, content: fmt.Sprintf("\tvalue%d := compute(%d)", h.nextID, h.rng.IntN(10))}
}

func newHistory(seed uint64, lines, common int) *history {
	h := &history{rng: rand.New(rand.NewPCG(seed, 1)), common: common}
	for range lines {
		h.lines = append(h.lines, h.fresh())
	}
	return h
}

// splice replaces count lines at index i.
func (h *history) splice(i, count int, with []tracked) {
	rest := append([]tracked{}, h.lines[i+count:]...)
	h.lines = append(append(h.lines[:i:i], with...), rest...)
}

// run draws a place and a length of at most most.
func (h *history) run(most int) (i, count int) {
	i = h.rng.IntN(len(h.lines) + 1)
	return i, min(h.rng.IntN(most)+1, len(h.lines)-i)
}

// moved reports whether the old line did not survive and the new line is its
// only surviving copy: copied and then deleted, which is how editors move.
func moved(new []tracked, old tracked, j int) bool {
	copies := 0
	for _, l := range new {
		if l.id == old.id {
			return false
		}
		if l.from == old.id {
			copies++
		}
	}
	return copies == 1 && new[j].from == old.id
}

// edit changes the file once, in one of the ways people and programs do.
func (h *history) edit() {
	i, count := h.run(6)
	switch h.rng.IntN(8) {
	case 0, 1: // insert new lines
		var with []tracked
		for range h.rng.IntN(5) + 1 {
			with = append(with, h.fresh())
		}
		h.splice(i, 0, with)
	case 2: // delete lines
		h.splice(i, count, nil)
	case 3, 4: // rewrite lines
		var with []tracked
		for range max(1, count+h.rng.IntN(3)-1) {
			with = append(with, h.fresh())
		}
		h.splice(i, count, with)
	case 5: // copy a block elsewhere: equal content, other lines
		var with []tracked
		for _, l := range h.lines[i : i+count] {
			h.nextID++
			with = append(with, tracked{h.nextID, l.content, l.id})
		}
		h.splice(h.rng.IntN(len(h.lines)+1), 0, with)
	case 6: // move a block: the same lines
		with := append([]tracked{}, h.lines[i:i+count]...)
		h.splice(i, count, nil)
		h.splice(h.rng.IntN(len(h.lines)+1), 0, with)
	case 7: // change the white space of lines
		for k := i; k < i+count; k++ {
			h.nextID++
			h.lines[k] = tracked{id: h.nextID, content: " " + h.lines[k].content}
		}
	}
}

func (h *history) text() *Text {
	var sb strings.Builder
	for _, l := range h.lines {
		sb.WriteString(l.content)
		sb.WriteByte('\n')
	}
	return NewText([]byte(sb.String()))
}

// placesOf returns the index of each line by its identity.
func placesOf(lines []tracked) map[int]int {
	at := make(map[int]int, len(lines))
	for i, l := range lines {
		at[l.id] = i
	}
	return at
}

// retyped reports whether old line i, which did not survive, and new line j,
// which is of no old line, have the same content between the same surviving
// lines. No program can tell such a line from one that was never touched.
func retyped(old, new []tracked, i, j int) bool {
	oldAt, newAt := placesOf(old), placesOf(new)
	if _, survived := newAt[old[i].id]; survived || old[i].content != new[j].content {
		return false
	}
	if _, known := oldAt[new[j].id]; known {
		return false
	}
	bound := func(lines []tracked, at, step int, other map[int]int) int {
		for k := at + step; k >= 0 && k < len(lines); k += step {
			if _, both := other[lines[k].id]; both {
				return lines[k].id
			}
		}
		return -1
	}
	return bound(old, i, -1, newAt) == bound(new, j, -1, oldAt) &&
		bound(old, i, +1, newAt) == bound(new, j, +1, oldAt)
}
