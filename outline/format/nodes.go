package format

import "mapd/outline/symbol"

// nodeList holds kept symbols in line order, parents before their children, in
// a third of the space that they will take as symbol.Symbol: most of the cost of
// an outline with many symbols is moving them, and what is pruned later is never
// made. It grows by chunks, so that nothing is copied.
type nodeList struct {
	chunks [][]node
	kinds  []symbol.Kind   // node.kind is an index
	rare   []symbol.Symbol // those that have more than a node holds; node.rare is 1 + an index
}

type node struct {
	name, signature      string
	start, end, nameLine int32
	children             int32 // how many were kept, at first
	rare                 int32
	kind, depth          uint8
}

const chunkBits = 10

func (l *nodeList) len() int {
	if len(l.chunks) == 0 {
		return 0
	}
	last := len(l.chunks) - 1
	return last<<chunkBits + len(l.chunks[last])
}

func (l *nodeList) at(i int) *node { return &l.chunks[i>>chunkBits][i&(1<<chunkBits-1)] }

// add appends s at a depth and returns its place.
func (l *nodeList) add(s *symbol.Symbol, depth int) int {
	i := l.len()
	last := len(l.chunks) - 1
	switch {
	case last < 0: // grows like any slice: most files have few symbols
		l.chunks = append(l.chunks, nil)
		last = 0
	case i == len(l.chunks)<<chunkBits:
		l.chunks = append(l.chunks, make([]node, 0, 1<<chunkBits))
		last++
	}
	chunk := append(l.chunks[last], node{depth: uint8(depth)})
	l.chunks[last] = chunk
	l.set(&chunk[len(chunk)-1], s)
	return i
}

// set makes n stand for s. Its depth and its children are as they were.
func (l *nodeList) set(n *node, s *symbol.Symbol) {
	n.name, n.signature = s.Name, s.Signature
	n.start, n.end, n.nameLine = int32(s.Start), int32(s.End), int32(s.NameLine)
	n.kind = l.kind(s.Kind)
	switch rare := len(s.Modifiers) > 0 || s.Docstring != "" || s.Exported || s.Lead != 0 || s.Local; {
	case !rare:
		n.rare = 0
	case n.rare == 0:
		l.rare = append(l.rare, *s)
		n.rare = int32(len(l.rare))
	default:
		l.rare[n.rare-1] = *s
	}
}

func (l *nodeList) kind(kind symbol.Kind) uint8 {
	for i, k := range l.kinds {
		if k == kind {
			return uint8(i)
		}
	}
	l.kinds = append(l.kinds, kind)
	return uint8(len(l.kinds) - 1)
}

// dropBelow removes the symbols at depth levels and deeper, and tells the open
// ones, outermost first, their new places.
func (l *nodeList) dropBelow(levels int, open []frame) {
	end := l.len()
	kept := 0
	for i := range end {
		n := l.at(i)
		if len(open) > 0 && open[0].kept && open[0].node == i {
			open[0].node = kept
			open = open[1:]
		}
		if int(n.depth) < levels {
			*l.at(kept) = *n
			kept++
		}
	}
	for i := range l.chunks {
		clear(l.chunks[i][min(max(kept-i<<chunkBits, 0), len(l.chunks[i])):])
	}
	if kept > 0 {
		last := (kept - 1) >> chunkBits
		l.chunks = l.chunks[:last+1]
		l.chunks[last] = l.chunks[last][:kept-last<<chunkBits]
	} else {
		l.chunks = nil
	}
}

// symbols returns the trees of all symbols, of which top are at the top and none
// is at depth levels or deeper. Those of one parent stand side by side in one
// array of all.
func (l *nodeList) symbols(top, levels int) []symbol.Symbol {
	if l.len() == 0 {
		return nil
	}
	all := make([]symbol.Symbol, l.len())
	free := top
	var next [MaxDepth + 1]int // where the next symbol of each depth goes
	for _, chunk := range l.chunks {
		for i := range chunk {
			n := &chunk[i]
			s := &all[next[n.depth]]
			next[n.depth]++
			if n.rare > 0 {
				*s = l.rare[n.rare-1]
			}
			s.Name, s.Kind, s.Signature = n.name, l.kinds[n.kind], n.signature
			s.Start, s.End, s.NameLine = int(n.start), int(n.end), int(n.nameLine)
			if below := int(n.depth) + 1; n.children > 0 && below < levels {
				next[below] = free
				free += int(n.children)
				s.Children = all[next[below]:free:free]
			}
		}
	}
	return all[:top:top]
}
