package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mapd/hashline"
)

// reader is a session that reads, edits and is told, of a file whose lines are all
// different, so that a line's text is its identity.
type reader struct {
	*holder
	rng     *rand.Rand
	lines   []string
	shown   map[string]bool // lines that were delivered
	doubted map[string]bool // those that could not be followed with certainty
	open    []*Receipt      // deliveries in order, and their lines
	of      map[*Receipt][]string
	next    int
}

// TestNewsAreTrueAndSaidOnce has a session read, edit, and be told at random while
// another program changes the file.
func TestNewsAreTrueAndSaidOnce(t *testing.T) {
	total := 0
	for seed := range uint64(150) {
		r := &reader{rng: rand.New(rand.NewPCG(seed, 3)), shown: map[string]bool{}, doubted: map[string]bool{}, of: map[*Receipt][]string{}}
		for range 20 {
			r.lines = append(r.lines, r.fresh())
		}
		r.holder = newHolder(t, r.text())
		for step := range 60 {
			switch r.rng.IntN(6) {
			case 0, 1:
				r.foreignChange()
			case 2, 3:
				r.deliver()
			case 4:
				r.ownEdit()
			default:
				total += r.told()
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
		total += r.told()
	}
	if total < 500 {
		t.Errorf("only %d lines were told of", total)
	}
}

func (r *reader) fresh() string {
	r.next++
	return fmt.Sprint("line", r.next)
}

func (r *reader) text() string { return strings.Join(r.lines, "\n") + "\n" }

// change replaces some lines by new ones and returns which.
func (r *reader) change() (at, gone int, with []string) {
	at = r.rng.IntN(len(r.lines))
	gone = r.rng.IntN(min(4, len(r.lines)-at))
	for range 1 + r.rng.IntN(3) {
		with = append(with, r.fresh())
	}
	r.lines = slices.Replace(slices.Clone(r.lines), at, at+gone, with...)
	return at, gone, with
}

func (r *reader) foreignChange() {
	r.change()
	r.foreign(r.text())
}

// deliver shows some lines; now and then an earlier delivery turns out not to have
// left.
func (r *reader) deliver() {
	start := 1 + r.rng.IntN(len(r.lines))
	end := min(len(r.lines), start+r.rng.IntN(6))
	receipt := r.ledger.Record(Delivery{Path: "f", Snapshot: r.at, Lines: []hashline.Range{rng(start, end)}})
	r.of[receipt] = slices.Clone(r.lines[start-1 : end])
	r.open = append(r.open, receipt)
	if len(r.open) > 3 && r.rng.IntN(4) == 0 {
		lost := r.open[len(r.open)-1-r.rng.IntN(3)]
		lost.Withdraw()
		delete(r.of, lost)
	}
	clear(r.shown)
	for _, lines := range r.of {
		for _, line := range lines {
			r.shown[line] = true
		}
	}
}

// ownEdit is an edit of the session; lines that it takes away are no news to it.
func (r *reader) ownEdit() {
	r.told()
	known := r.holder.change(false).News().Known
	from := r.at
	at, gone, with := r.change()
	edit := hashline.Edit{Op: hashline.Replace, Start: at + 1, End: at + gone, Lines: with}
	if gone == 0 {
		edit = hashline.Edit{Op: hashline.Prepend, Start: at + 1, Lines: with}
	}
	r.edit(edit)
	if got := string(r.texts[r.at].Bytes()); got != r.text() {
		r.t.Fatalf("the edit made %q, want %q", got, r.text())
	}
	way, _ := r.lineage.Map("f", from, r.at, r.holder.text)
	r.ledger.Own("f", known.After(r.at, way))
	if news := r.holder.change(false).News(); len(news.Stale) > 0 {
		r.t.Errorf("an own edit is news: %+v", news.Stale)
	}
}

// told takes the news, holds them against the file, and returns of how many lines
// they were.
func (r *reader) told() (lines int) {
	news := r.holder.change(false).News()
	for _, s := range news.Stale {
		from := r.texts[s.From]
		for _, stale := range s.Ranges {
			for n := stale.Served.Start; n <= stale.Served.End; n++ {
				lines++
				line := string(from.Line(n))
				at := slices.Index(r.lines, line) + 1
				switch {
				case !r.shown[line]:
					r.t.Errorf("told of %s, which was not shown", line)
				case stale.Status == Moved && at != stale.Now.Start+n-stale.Served.Start:
					r.t.Errorf("%s moved to %d, told %v of %v", line, at, stale.Now, stale.Served)
				case stale.Status == Ambiguous:
					r.doubted[line] = true
				case stale.Status != Moved && at > 0:
					r.t.Errorf("%s is at %d, told that it is %s", line, at, stale.Status)
				}
			}
		}
	}
	r.ledger.Tell("f", news.Known)
	if again := r.holder.change(false).News(); len(again.Stale) > 0 {
		r.t.Errorf("told again: %+v", again.Stale)
	}
	r.surveyed()
	return lines
}

// surveyed holds the survey against what was shown: no line may be claimed that
// was not, and none left out that is still there.
func (r *reader) surveyed() {
	survey := r.holder.change(false).Survey()
	proven := hashline.Subtract(survey.Ranges, survey.Stale)
	for i, line := range r.lines {
		if held := hashline.ContainsLine(proven, i+1); held != r.shown[line] && !(r.shown[line] && r.doubted[line]) {
			r.t.Errorf("line %d, %s: held %v, shown %v; survey %+v", i+1, line, held, r.shown[line], survey)
		}
	}
}
