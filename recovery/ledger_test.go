package recovery

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"mapd/hashline"
)

func rng(start, end int) hashline.Range { return hashline.Range{Start: start, End: end} }

// naiveLedger keeps deliveries as they were made.
type naiveLedger struct {
	deliveries []*naiveDelivery // in order, without the withdrawn
}

type naiveDelivery struct{ Delivery }

func (l *naiveLedger) withdraw(d *naiveDelivery) {
	l.deliveries = slices.DeleteFunc(l.deliveries, func(e *naiveDelivery) bool { return e == d })
}

func (l *naiveLedger) forget(path string) {
	l.deliveries = slices.DeleteFunc(l.deliveries, func(e *naiveDelivery) bool { return path == "" || e.Path == path })
}

// held returns what File(path).Held must be, without Told.
func (l *naiveLedger) held(path string) (out []*Held) {
	for _, d := range slices.Backward(l.deliveries) {
		if d.Path != path || slices.ContainsFunc(out, func(h *Held) bool { return h.Snapshot == d.Snapshot }) {
			continue
		}
		lines, whole := map[int]bool{}, map[int]bool{}
		for _, e := range l.deliveries {
			if e.Path != path || e.Snapshot != d.Snapshot {
				continue
			}
			for n := range 30 {
				in := func(rs []hashline.Range) bool {
					return slices.ContainsFunc(rs, func(r hashline.Range) bool { return r.Contains(n) })
				}
				if in(e.Lines) {
					lines[n] = true
					whole[n] = whole[n] || !in(e.Partial)
				}
			}
		}
		h := &Held{Snapshot: d.Snapshot}
		for n := range 30 {
			if lines[n] {
				h.Lines = append(h.Lines, rng(n, n))
			}
			if whole[n] {
				h.Whole = append(h.Whole, rng(n, n))
			}
		}
		h.Lines, h.Whole = hashline.Merge(h.Lines), hashline.Merge(h.Whole)
		out = append(out, h)
	}
	return out
}

func TestExactLedger(t *testing.T) {
	ranges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) hashline.Range {
		start := rapid.IntRange(1, 20).Draw(t, "start")
		return rng(start, start+rapid.IntRange(0, 5).Draw(t, "more"))
	}), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		set := NewLedgers(1 << 30)
		ledger := set.New()
		var naive naiveLedger
		type receipt struct {
			r *Receipt
			d *naiveDelivery
		}
		var open []receipt
		t.Repeat(map[string]func(*rapid.T){
			"record": func(t *rapid.T) {
				d := Delivery{
					Path:     rapid.SampledFrom([]string{"a", "b"}).Draw(t, "path"),
					Snapshot: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "snapshot"),
					Lines:    ranges.Draw(t, "lines"),
				}
				if rapid.Bool().Draw(t, "cut") {
					d.Partial = ranges.Draw(t, "partial")
				}
				n := &naiveDelivery{Delivery: d}
				naive.deliveries = append(naive.deliveries, n)
				open = append(open, receipt{ledger.Record(d), n})
			},
			"withdraw": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip()
				}
				// A reply is withdrawn soon: one of the last few.
				i := len(open) - 1 - rapid.IntRange(0, min(3, len(open)-1)).Draw(t, "which")
				open[i].r.Withdraw()
				open[i].r.Withdraw()
				naive.withdraw(open[i].d)
				open = slices.Delete(open, i, i+1)
			},
			"forget": func(t *rapid.T) {
				path := rapid.SampledFrom([]string{"a", ""}).Draw(t, "forgotten")
				ledger.Forget(path)
				naive.forget(path)
			},
			"": func(t *rapid.T) {
				for _, path := range []string{"a", "b"} {
					got, want := ledger.File(path).Held, naive.held(path)
					if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Held{}), cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("%s: held (-want +got)\n%s", path, diff)
					}
				}
				if bytes, _ := set.Bytes(); (bytes == 0) != (len(naive.deliveries) == 0) || bytes < 0 {
					t.Fatalf("%d bytes for %d deliveries", bytes, len(naive.deliveries))
				}
			},
		})
	})
}

func TestLedgerFilesNewestFirst(t *testing.T) {
	l := NewLedgers(1 << 20).New()
	for _, path := range []string{"a", "b", "c", "a"} {
		l.Record(Delivery{Path: path, Snapshot: "1", Lines: []hashline.Range{rng(1, 2)}})
	}
	l.Record(Delivery{Path: "empty", Snapshot: "1"}).Withdraw()
	var got []string
	for _, f := range l.Files() {
		got = append(got, f.Path)
	}
	if fmt.Sprint(got) != "[a c b]" {
		t.Errorf("files %v", got)
	}
	if f := l.File("none"); f.Path != "none" || len(f.Held) != 0 {
		t.Errorf("a file that was not delivered: %+v", f)
	}
}

func TestLedgersAreBounded(t *testing.T) {
	const limit = 10_000
	set := NewLedgers(limit)
	a, b := set.New(), set.New()
	released := map[string]int{}
	record := func(l *Ledger, snapshot string) *Receipt {
		return l.Record(Delivery{Path: "f", Snapshot: snapshot, Lines: []hashline.Range{rng(1, 9)}, Pin: func() func() {
			return func() { released[snapshot]++ }
		}})
	}
	first := record(a, "first")
	for i := range 100 {
		record(b, fmt.Sprint("b", i))
		if bytes, _ := set.Bytes(); bytes > limit {
			t.Fatalf("%d bytes, the limit is %d", bytes, limit)
		}
	}
	if len(a.File("f").Held) != 0 {
		t.Error("the oldest version was kept")
	}
	held := b.File("f").Held
	if n := len(held); n < 5 || n > 30 || held[0].Snapshot != "b99" {
		t.Errorf("%d versions are held, %s first", n, held[0].Snapshot)
	}
	first.Withdraw() // of a version that was dropped: nothing happens
	if released["first"] != 1 || released["b99"] != 0 {
		t.Errorf("released: first %d times, the latest %d", released["first"], released["b99"])
	}
	if _, evicted := set.Bytes(); int(evicted) != 101-len(held) {
		t.Errorf("%d evicted, %d held", evicted, len(held))
	}
	b.Forget("")
	a.Forget("")
	total := 0
	for _, n := range released {
		total += n
	}
	if total != 101 {
		t.Errorf("%d of 101 pins were released", total)
	}
	if bytes, _ := set.Bytes(); bytes != 0 {
		t.Errorf("%d bytes after all is forgotten", bytes)
	}
}

func TestOneHugeVersionIsKept(t *testing.T) {
	set := NewLedgers(100)
	l := set.New()
	l.Record(Delivery{Path: "f", Snapshot: "1", Lines: []hashline.Range{rng(1, 9)}})
	if len(l.File("f").Held) != 1 {
		t.Error("the only version was dropped, though its reply is about to leave")
	}
}

func TestPinnedOnce(t *testing.T) {
	l := NewLedgers(1 << 20).New()
	pins, releases := 0, 0
	d := Delivery{Path: "f", Snapshot: "1", Lines: []hashline.Range{rng(1, 9)}, Pin: func() func() {
		pins++
		return func() { releases++ }
	}}
	r1 := l.Record(d)
	r2 := l.Record(d)
	if pins-releases != 1 {
		t.Errorf("%d pins, %d releases of a version held once", pins, releases)
	}
	r1.Withdraw()
	if pins-releases != 1 {
		t.Error("released while another delivery holds it")
	}
	r2.Withdraw()
	if pins != releases {
		t.Errorf("%d pins, %d releases after all was withdrawn", pins, releases)
	}
}

// TestLedgerIsCompact holds what a delivery costs.
func TestLedgerIsCompact(t *testing.T) {
	set := NewLedgers(1 << 30)
	l := set.New()
	for i := range 1000 {
		l.Record(Delivery{Path: "f", Snapshot: "1", Lines: []hashline.Range{rng(20*i+1, 20*i+10)}})
	}
	if bytes, _ := set.Bytes(); bytes > 60_000 {
		t.Errorf("%d bytes for 1,000 ranges", bytes)
	}
	if n := len(l.File("f").Held[0].Lines); n != 1000 {
		t.Errorf("%d ranges", n)
	}
	for range 1000 { // the same read again and again costs nothing
		l.Record(Delivery{Path: "g", Snapshot: "2", Lines: []hashline.Range{rng(1, 2000)}})
	}
	for i := range 100 { // pages that follow each other are one range
		l.Record(Delivery{Path: "h", Snapshot: "3", Lines: []hashline.Range{rng(10*i+1, 10*i+10)}})
	}
	for _, path := range []string{"g", "h"} {
		if runs := len(l.files[path].versions[map[string]string{"g": "2", "h": "3"}[path]].all.runs); runs != 1 {
			t.Errorf("%s: %d runs for one range", path, runs)
		}
	}
}

func BenchmarkRecord(b *testing.B) {
	l := NewLedgers(64 << 20).New()
	i := 0
	for b.Loop() {
		i++
		l.Record(Delivery{Path: fmt.Sprint("f", i%50), Snapshot: fmt.Sprint(i % 100), Lines: []hashline.Range{rng(i%1000+1, i%1000+50)}})
	}
}

// TestLedgersAreShared is for the race detector: sessions that deliver, withdraw,
// forget and look at the same time under one bound.
func TestLedgersAreShared(t *testing.T) {
	set := NewLedgers(20_000)
	lineage := NewLineage()
	var wg sync.WaitGroup
	for range 4 {
		l := set.New()
		for i := range 2 {
			wg.Go(func() {
				for k := range 200 {
					path := fmt.Sprint("f", k%7)
					r := l.Record(Delivery{Path: path, Snapshot: fmt.Sprint(k % 5), Lines: []hashline.Range{rng(k+1, k+9)}})
					switch (k + i) % 4 {
					case 0:
						r.Withdraw()
					case 1:
						l.Forget(path)
					case 2:
						l.Tell(path, Known{snapshot: "9"})
					}
					l.Files()
					lineage.Add(path, "1", "2", hashline.Identity(3))
					lineage.Map(path, "1", "2", nil)
				}
			})
		}
	}
	wg.Wait()
	if bytes, _ := set.Bytes(); bytes < 0 || bytes > 20_000+1000 {
		t.Errorf("%d bytes", bytes)
	}
}
