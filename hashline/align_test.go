package hashline

import (
	"fmt"
	"testing"
)

// TestCoreChangesNothing holds that leaving out the equal ends of two texts
// gives what comparing them whole gives.
func TestCoreChangesNothing(t *testing.T) {
	left := 0
	for seed := range uint64(2000) {
		h := newHistory(seed, 40, int(seed%4)*30)
		old := h.text()
		for range 1 + seed%3 {
			h.edit()
		}
		new := h.text()
		text := intern(old, Range{1, old.Lines()}, new, Range{1, new.Lines()})
		whole := newAligner(text)
		if !whole.shortest(segment{0, old.Lines(), 0, new.Lines()}, maxEdits) {
			t.Fatalf("seed %d: not compared", seed)
		}
		a := newAligner(text)
		core := a.core()
		left += core.oldStart + old.Lines() - core.oldEnd
		if got := align(text); fmt.Sprint(got.match) != fmt.Sprint(whole.match) {
			t.Fatalf("seed %d: core %v:\n got %v\nwant %v", seed, core, got.match, whole.match)
		}
	}
	if left < 2000*5 {
		t.Errorf("only %d lines were left out", left)
	}
}
