package recovery

import (
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
)

// onScene makes the scene of a session that was shown all lines of old.
func onScene(old, live string) *Scene {
	texts := map[string]*hashline.Text{"v1": hashline.NewText([]byte(old)), "live": hashline.NewText([]byte(live))}
	held := []*Held{{Snapshot: "v1", Lines: []hashline.Range{rng(1, max(1, texts["v1"].Lines()))}}}
	held[0].Whole = held[0].Lines
	return &Scene{Held: held, Live: texts["live"], Texts: fakeTexts{texts, nil}}
}

func served(s *Scene, line int) hashline.Anchor {
	t, _ := s.Texts.Text("v1")
	return t.Anchor(line, 4)
}

func TestRejection(t *testing.T) {
	s := onScene(tenLines, "new\n1\n2\n3\n4\nA\nB\n7\n8\n9\n10\n")
	span := s.ResolveSpan(served(s, 5), served(s, 6), "")
	verdicts := append(span.Verdicts(), s.Resolve(served(s, 9), ""))
	r, rejected := s.Reject("dir/f.txt", verdicts, false, 1000)
	if !rejected {
		t.Fatal("not rejected")
	}
	live := func(n int) string { return s.Live.Anchor(n, 4).String() }
	if got, want := fmt.Sprintf("%+v", r.Mismatches), fmt.Sprintf("[{Anchor:%v Status:changed Now: Expected:%s Actual:%s} {Anchor:%v Status:changed Now: Expected:%s Actual:%s}]",
		served(s, 5), letters(served(s, 5)), letters(s.Live.Anchor(5, 4)), served(s, 6), letters(served(s, 6)), letters(s.Live.Anchor(6, 4))); got != want {
		t.Errorf("mismatches %s\nwant %s", got, want)
	}
	if fmt.Sprint(r.Affected) != "[6-7]" || fmt.Sprint(r.Reread.Ranges) != "[4-9]" {
		t.Errorf("affected %v, reread %v", r.Affected, r.Reread.Ranges)
	}
	if len(r.Remaps) != 1 || r.Remaps[served(s, 9).String()] != live(10) {
		t.Errorf("remaps %v", r.Remaps)
	}
	if want := string(s.Live.AppendAnchored(nil, rng(4, 9), 4)); r.Reread.Text != want {
		t.Errorf("reread %q, want %q", r.Reread.Text, want)
	}
	want := fmt.Sprintf(`edit of dir/f.txt rejected, nothing was written: 2 of 3 anchors cannot be used: %v is changed, %v is changed.
The lines as they are now, >>> before those in question; use these anchors:
    %s:3
    %s:4
>>> %s:A
>>> %s:B
    %s:7
    %s:8`, served(s, 5), served(s, 6), live(4), live(5), live(6), live(7), live(8), live(9))
	if r.Message != want {
		t.Errorf("message:\n%s\nwant:\n%s", r.Message, want)
	}
}

// TestRejectionOfAWholeRange: lines 5, 6, 7 are stale, two anchors say so, and
// the range to look at is one.
func TestRejectionOfAWholeRange(t *testing.T) {
	s := onScene(tenLines, "1\n2\n3\n4\nA\nB\nC\n8\n9\n10\n")
	r, rejected := s.Reject("f", s.ResolveSpan(served(s, 5), served(s, 7), "").Verdicts(), false, 1000)
	if !rejected || len(r.Mismatches) != 2 || fmt.Sprint(r.Affected) != "[5-7]" {
		t.Errorf("mismatches %+v, affected %v", r.Mismatches, r.Affected)
	}
	if !strings.Contains(r.Message, ": 2 of 2 anchors cannot be used: ") || strings.Count(r.Message, ">>> ") != 4 {
		t.Errorf("message %q", r.Message)
	}
	// With the ends in place the line between them is what is refused.
	s = onScene(tenLines, "1\n2\n3\n4\n5\nB\n7\n8\n9\n10\n")
	r, rejected = s.Reject("f", s.ResolveSpan(served(s, 5), served(s, 7), "").Verdicts(), false, 1000)
	if !rejected || len(r.Mismatches) != 1 || r.Mismatches[0].Anchor != served(s, 6).String() || fmt.Sprint(r.Affected) != "[6]" {
		t.Errorf("mismatches %+v, affected %v", r.Mismatches, r.Affected)
	}
}

func TestRejectionOfMovedLines(t *testing.T) {
	s := onScene(tenLines, "new\n"+tenLines)
	verdicts := []Verdict{s.Resolve(served(s, 5), "")}
	if _, rejected := s.Reject("f", verdicts, false, 1000); rejected {
		t.Error("a moved line is rejected, though it may be followed")
	}
	r, rejected := s.Reject("f", verdicts, true, 1000)
	if !rejected || r.Mismatches[0].Now != s.Live.Anchor(6, 4).String() || fmt.Sprint(r.Affected) != "[6]" {
		t.Errorf("strict: %v, %+v, affected %v", rejected, r.Mismatches, r.Affected)
	}
}

func TestRejectionOfAnEmptiedFile(t *testing.T) {
	s := onScene(tenLines, "")
	r, rejected := s.Reject("f", []Verdict{s.Resolve(served(s, 5), "")}, false, 1000)
	want := fmt.Sprintf("edit of f rejected, nothing was written: 1 of 1 anchors cannot be used: %v is deleted. The file is empty now.", served(s, 5))
	if !rejected || r.Message != want || r.Reread.Text != "" || r.Mismatches[0].Actual != "" {
		t.Errorf("%+v", r)
	}
}

func TestRejectionNamesAFewAnchors(t *testing.T) {
	var old, live strings.Builder
	for i := range 50 {
		fmt.Fprintf(&old, "old %d\n", i)
		fmt.Fprintf(&live, "live %d\n", i)
	}
	s := onScene(old.String(), live.String())
	var verdicts []Verdict
	for n := 1; n <= 50; n++ {
		verdicts = append(verdicts, s.Resolve(served(s, n), ""))
	}
	r, _ := s.Reject("f", verdicts, false, 400)
	first, _, _ := strings.Cut(r.Message, "\n")
	if !strings.HasSuffix(first, ", and 45 more.") || len(r.Mismatches) != 50 {
		t.Errorf("%q, %d mismatches", first, len(r.Mismatches))
	}
	if len(r.Reread.Text) > 400 || len(r.Message) > 1200 {
		t.Errorf("reread has %d bytes, the message %d", len(r.Reread.Text), len(r.Message))
	}
}

func TestRereadBlocks(t *testing.T) {
	s := onScene("", strings.Repeat("line\n", 30))
	blocks := func(rs ...hashline.Range) (out []string) {
		for _, r := range rs {
			out = append(out, string(s.Live.AppendAnchored(nil, r, 4)))
		}
		return out
	}
	for _, c := range []struct {
		affected []hashline.Range
		max      int
		want     []hashline.Range
	}{
		{[]hashline.Range{rng(10, 10)}, 1000, []hashline.Range{rng(8, 12)}},
		{[]hashline.Range{rng(1, 1), rng(30, 30)}, 1000, []hashline.Range{rng(1, 3), rng(28, 30)}},
		{[]hashline.Range{rng(5, 5), rng(10, 10)}, 1000, []hashline.Range{rng(3, 12)}},
		{[]hashline.Range{rng(5, 5), rng(11, 11)}, 1000, []hashline.Range{rng(3, 7), rng(9, 13)}},
		{[]hashline.Range{rng(10, 10), rng(20, 20)}, 30, []hashline.Range{rng(8, 9)}},
		{[]hashline.Range{rng(10, 10), rng(20, 20)}, 76, []hashline.Range{rng(8, 12), rng(18, 18)}},
		{[]hashline.Range{rng(10, 10), rng(20, 20)}, 75, []hashline.Range{rng(8, 12)}},
		{[]hashline.Range{rng(10, 10), rng(20, 20)}, 62, []hashline.Range{rng(8, 12)}},
		{[]hashline.Range{rng(10, 10), rng(20, 20)}, 61, []hashline.Range{rng(8, 11)}},
		{[]hashline.Range{rng(10, 10)}, 1, []hashline.Range{rng(8, 8)}},
		{nil, 1000, nil},
	} {
		e := s.Reread(c.affected, c.max)
		want := strings.Join(blocks(c.want...), "\n\n")
		if fmt.Sprint(e.Ranges) != fmt.Sprint(c.want) || e.Text != want {
			t.Errorf("%v within %d: %v %q, want %v %q", c.affected, c.max, e.Ranges, e.Text, c.want, want)
		}
		if len(e.Text) > c.max && len(e.Ranges) > 0 && e.Ranges[0].Len() > 1 {
			t.Errorf("%v within %d: %d bytes", c.affected, c.max, len(e.Text))
		}
	}
}

func TestRereadSaysWhatIsPartial(t *testing.T) {
	s := onScene("", "a\n"+strings.Repeat("x", 3000)+"\n\xff\nd\ne\nf\n")
	e := s.Reread([]hashline.Range{rng(3, 3)}, 10_000)
	if fmt.Sprint(e.Ranges) != "[1-5]" || fmt.Sprint(e.Partial) != "[2-3]" {
		t.Errorf("ranges %v, partial %v", e.Ranges, e.Partial)
	}
}

func TestRemapsAtTheSessionsWidth(t *testing.T) {
	s := onScene(tenLines, "new\n"+tenLines)
	s.Width = 2
	r := s.Check([]hashline.Anchor{served(s, 5)}, "")
	if got, want := r.Remaps[served(s, 5).String()], s.Live.Anchor(6, 2).String(); got != want {
		t.Errorf("remap to %s, want %s", got, want)
	}
	// A hash of another width of the same line is no change.
	s = onScene(tenLines, tenLines)
	s.Width = 2
	if r := s.Check([]hashline.Anchor{served(s, 5)}, ""); len(r.Remaps) != 0 || !r.Fresh {
		t.Errorf("unchanged: %+v", r)
	}
}

func TestSight(t *testing.T) {
	s := onScene(tenLines, "new\n"+tenLines)
	s.Held = []*Held{
		{Snapshot: "v1", Lines: []hashline.Range{rng(2, 5)}, Whole: []hashline.Range{rng(2, 3), rng(5, 5)}},
		{Snapshot: "gone", Lines: []hashline.Range{rng(1, 9)}, Whole: []hashline.Range{rng(1, 9)}},
	}
	var got []Sight
	for n := 1; n <= 7; n++ {
		got = append(got, s.Sight(n))
	}
	if fmt.Sprint(got) != fmt.Sprint([]Sight{Unseen, Unseen, Whole, Whole, Partial, Whole, Unseen}) {
		t.Errorf("sights %v", got)
	}
}
