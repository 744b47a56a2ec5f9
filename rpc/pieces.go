package rpc

import (
	"sync"

	"mapd/hashline"
	"mapd/rpc/view"
	"mapd/workspace"
)

// keptPieces is how many cut lines a session follows from piece to piece.
const keptPieces = 1024

// pieces knows how much of cut lines a session was shown without a gap from
// their start. A line that it was shown to the end, in several reads, was shown
// whole. The zero value is ready.
type pieces struct {
	mu    sync.Mutex // guards shown
	shown map[piece]int
}

// piece is a line of a version.
type piece struct {
	snapshot string
	line     int
}

// delivery is what an answer delivers: lines whose last piece it shows count as
// whole. A piece counts as shown only once its reply was queued, and a line with
// a reply that did not leave starts anew.
func (p *pieces) delivery(v *workspace.Version, s *shown) delivery {
	d := delivery{version: v, lines: s.plan.Blocks, partial: s.partial}
	if len(s.plan.Cuts) == 0 {
		return d
	}
	snapshot := v.Snapshot()
	var whole []hashline.Range
	p.mu.Lock()
	for _, c := range s.plan.Cuts {
		if c.To == c.Total && c.From > 0 && p.shown[piece{snapshot, c.Line}] >= c.From {
			whole = append(whole, hashline.Range{Start: c.Line, End: c.Line})
		}
	}
	p.mu.Unlock()
	d.partial = hashline.Subtract(s.partial, whole)
	d.queued = func() { p.note(snapshot, s.plan.Cuts) }
	d.withdrawn = func() { p.drop(snapshot, s.plan.Cuts) }
	return d
}

func (p *pieces) note(snapshot string, cuts []view.Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown == nil || len(p.shown)+len(cuts) > keptPieces {
		p.shown = map[piece]int{}
	}
	for _, c := range cuts {
		at := piece{snapshot, c.Line}
		if have := p.shown[at]; c.From <= have {
			p.shown[at] = max(have, c.To)
		}
	}
}

func (p *pieces) drop(snapshot string, cuts []view.Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range cuts {
		delete(p.shown, piece{snapshot, c.Line})
	}
}
