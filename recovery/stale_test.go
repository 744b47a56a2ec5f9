package recovery

import (
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
)

// holder is a session with a ledger, on a file that lives.
type holder struct {
	*lived
	ledger *Ledger
}

func newHolder(t *testing.T, content string) *holder {
	return &holder{newLived(t, content), NewLedgers(1 << 20).New()}
}

func (h *holder) read(start, end int) {
	h.ledger.Record(Delivery{Path: "f", Snapshot: h.at, Lines: []hashline.Range{rng(start, end)}})
}

func (h *holder) change(gone bool) Change {
	c := Change{File: h.ledger.File("f"), Snapshot: h.at, Map: func(from, to string) (*hashline.LineMap, bool) {
		return h.lineage.Map("f", from, to, h.text)
	}}
	if gone {
		c.Snapshot = Gone
	}
	return c
}

// news returns what the session is told, and notes that it was.
func (h *holder) news(gone bool) string {
	news := h.change(gone).News()
	var out []string
	for _, s := range news.Stale {
		words := s.From + ">"
		if s.To != nil {
			words += *s.To
		}
		for _, r := range s.Ranges {
			words += fmt.Sprintf(" %v %s", r.Served, r.Status)
			if r.Now != nil {
				words += fmt.Sprintf(" %v", *r.Now)
			}
		}
		out = append(out, words)
	}
	h.ledger.Tell("f", news.Known)
	return strings.Join(out, "; ")
}

func (h *holder) hears(want string) {
	h.t.Helper()
	if got := h.news(false); got != want {
		h.t.Errorf("told %q, want %q", got, want)
	}
}

func (h *holder) survey(gone bool) string {
	s := h.change(gone).Survey()
	return fmt.Sprintf("%v stale %v", s.Ranges, s.Stale)
}

const tenLines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

// News that never left are told again, unless more was told since.
func TestStaleTakenBack(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(4, 8)
	h.foreign("1\n2\n3\n4\nA\nB\nC\n8\n9\n10\n")
	tell := func() (takeBack func()) {
		t.Helper()
		c := h.change(false)
		takeBack, ok := h.ledger.TellIf(c.File, c.News().Known)
		if !ok {
			t.Fatal("the ledger did not change, and yet it was not told")
		}
		return takeBack
	}
	back := tell()
	back()
	back()
	h.hears("s1>s2 5-7 changed 5-7")
	h.hears("")
	h.foreign("1\n2\n3\n4\nA\nB\nC\nD\n9\n10\n")
	back = tell()
	h.foreign("1\n2\n3\n4\nA\nB\nC\nD\n9\n")
	tell()
	back()
	h.hears("")
}

func TestStaleOnce(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(4, 8)
	h.hears("")
	h.foreign("1\n2\n3\n4\nA\nB\nC\n8\n9\n10\n")
	h.hears("s1>s2 5-7 changed 5-7")
	h.hears("")
	if got := h.survey(false); got != "[4-8] stale [5-7]" {
		t.Errorf("survey %s", got)
	}
	h.foreign("new\n1\n2\n3\n4\nA\nB\nC\n8\n9\n10\n")
	h.hears("s1>s3 4 moved 5 8 moved 9")
	h.hears("")
	if got := h.survey(false); got != "[5-9] stale [6-8]" {
		t.Errorf("survey %s", got)
	}
}

func TestStaleOnlyForLinesHeld(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 3)
	h.foreign("1\n2\n3\n4\n5\n6\n7\nEIGHT\n9\n10\n")
	h.hears("")
	h.foreign("1\n2\n10\n")
	h.hears("s1>s3 3 deleted")
	h.foreign("")
	h.hears("s1>s4 1-2 deleted")
	h.hears("")
}

func TestStaleNeverForUnchangedBytes(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("other\n")
	h.foreign(tenLines)
	h.hears("")
	h.foreign("1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n")
	h.hears("") // other bytes, and the same lines
}

func TestStaleComesBack(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("new\n" + tenLines)
	h.hears("s1>s2 1-10 moved 2-11")
	h.foreign("new\n" + tenLines + "more\n")
	h.hears("")
	h.foreign("new\nnew2\n" + tenLines)
	h.hears("s1>s4 1-10 moved 3-12")
	h.foreign(tenLines)
	h.hears("") // what it was shown is true again
}

func TestStaleAgainAfterItWasReadAgain(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("new\n" + tenLines)
	h.hears("s1>s2 1-10 moved 2-11")
	h.foreign(tenLines)
	h.read(1, 10)
	h.foreign("new\n" + tenLines)
	h.hears("s1>s2 1-10 moved 2-11")
}

func TestStaleRunsByTheirPlace(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("new\n1\n2\n3\n4\nnew2\n5\n6\n7\n8\n9\n10\n")
	h.hears("s1>s2 1-4 moved 2-5 5-10 moved 7-12")
}

func TestStaleDeletedBesideAShownLine(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("1\n2\n3\n4\n6\n7\n8\n9\n10\n")
	h.read(5, 5)
	h.hears("s1>s2 5 deleted 7-10 moved 6-9")
}

func TestStaleNeverForOwnEdits(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	known := h.change(false).News().Known
	h.edit(hashline.Edit{Op: hashline.Replace, Start: 2, End: 3, Lines: []string{"a", "b", "c"}})
	way, _ := h.lineage.Map("f", "s1", h.at, h.text)
	h.ledger.Tell("f", known.After(h.at, way)) // as the author is
	h.hears("")
	// A foreign change after it is news, and only that.
	h.foreign(strings.Replace(string(h.texts[h.at].Bytes()), "9\n", "NINE\n", 1))
	h.hears("s1>s3 9 changed 10")
}

func TestStaleNotForWhatWasShownSince(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.foreign("1\n2\n3\n4\nA\n6\n7\nB\n9\n10\n")
	h.read(5, 5) // a rejection, say
	h.hears("s1>s2 8 changed 8")
	if got := h.survey(false); got != "[1-10] stale [8]" {
		t.Errorf("survey %s", got)
	}
	h.foreign("1\n2\n3\n4\nAA\n6\n7\nB\n9\n10\n")
	h.hears("s2>s3 5 changed 5")
}

func TestStaleFromSeveralVersions(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 5)
	h.foreign("new\n" + tenLines)
	h.hears("s1>s2 1-5 moved 2-6")
	h.read(8, 9) // 7 and 8
	h.foreign("new\n1\nTWO\n3\n4\n5\n6\nSEVEN\n8\n9\n10\n")
	h.hears("s1>s3 2 changed 3; s2>s3 8 changed 8")
	if got := h.survey(false); got != "[2-6 8-9] stale [3 8]" {
		t.Errorf("survey %s", got)
	}
}

func TestStaleGone(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(2, 4)
	if got := h.news(true); got != "s1> 2-4 deleted" {
		t.Errorf("told %q", got)
	}
	if got := h.news(true); got != "" {
		t.Errorf("told again %q", got)
	}
	if got := h.survey(true); got != "[2-4] stale [2-4]" {
		t.Errorf("survey %s", got)
	}
	h.foreign("new\n" + tenLines)
	h.hears("") // it was told that they are gone
	h.read(3, 3)
	h.foreign("new\n1\nTWO\n")
	h.hears("s2>s3 3 changed 3")
}

func TestStaleAmbiguous(t *testing.T) {
	h := newHolder(t, "a\nx\nx\nb\n")
	h.read(1, 4)
	h.foreign("a\nx\nb\n")
	h.hears("s1>s2 2-3 ambiguous 2 4 moved 3")
}

func TestStaleAfterForget(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	h.ledger.Forget("f")
	h.foreign("other\n")
	h.hears("")
	if got := h.survey(false); got != "[] stale []" {
		t.Errorf("survey %s", got)
	}
}

// TestStaleCostsTheSameAfterManyEdits has an author deliver hundreds of versions
// to itself: the news of a foreign change must not cost a comparison for each.
func TestStaleCostsTheSameAfterManyEdits(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 10)
	for i := range 300 {
		known := h.change(false).News().Known
		from := h.at
		h.edit(hashline.Edit{Op: hashline.Replace, Start: 1 + i%9, End: 1 + i%9, Lines: []string{fmt.Sprint("edit", i)}})
		way, _ := h.lineage.Map("f", from, h.at, h.text)
		h.ledger.Tell("f", known.After(h.at, way))
		h.read(max(1, i%9), 2+i%9)
	}
	last := string(h.texts[h.at].Bytes())
	h.foreign("new\n" + last)
	maps := 0
	c := h.change(false)
	ask := c.Map
	c.Map = func(from, to string) (*hashline.LineMap, bool) {
		maps++
		return ask(from, to)
	}
	news := c.News()
	lines := 0
	for _, s := range news.Stale {
		for _, r := range s.Ranges {
			lines += r.Served.Len()
		}
	}
	if maps > 5 || lines != 10 {
		t.Errorf("%d comparisons for news of %d lines, want few for 10", maps, lines)
	}
	if got := h.survey(false); got != "[2-11] stale []" {
		t.Errorf("survey %s", got)
	}
}

// TestWithdrawnIsNotKnown has a reply not leave after what it showed was counted
// as known.
func TestWithdrawnIsNotKnown(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 2)
	lost := h.ledger.Record(Delivery{Path: "f", Snapshot: h.at, Lines: []hashline.Range{rng(5, 8)}})
	h.hears("")
	lost.Withdraw()
	if got := h.survey(false); got != "[1-2] stale []" {
		t.Errorf("survey %s", got)
	}
	h.foreign("new\n" + tenLines)
	h.hears("s1>s2 1-2 moved 2-3")
}

// TestKnownIsCounted holds that what a ledger keeps of the news is part of its
// bound, and given back.
func TestKnownIsCounted(t *testing.T) {
	set := NewLedgers(1 << 20)
	h := &holder{newLived(t, tenLines), set.New()}
	h.read(1, 10)
	before, _ := set.Bytes()
	h.hears("")
	if after, _ := set.Bytes(); after <= before {
		t.Errorf("%d bytes before, %d with what is known", before, after)
	}
	h.ledger.Forget("")
	if after, _ := set.Bytes(); after != 0 {
		t.Errorf("%d bytes after all is forgotten", after)
	}
}

// TestStaleWhileThereAreNoLines has a file be binary for a while.
func TestStaleWhileThereAreNoLines(t *testing.T) {
	h := newHolder(t, tenLines)
	h.read(1, 3)
	h.foreign("\x00")
	c := h.change(false)
	c.Binary = true
	news := c.News()
	if len(news.Stale) > 0 {
		t.Errorf("told of lines where there are none: %v", news.Stale)
	}
	h.ledger.Tell("f", news.Known)
	if !h.ledger.File("f").Knows(h.at) || h.ledger.File("f").Knows("s1") {
		t.Error("what was told is not known")
	}
	h.foreign("new\n" + tenLines)
	h.hears("s1>s3 1-3 moved 2-4")
}
