package recovery

import (
	"fmt"
	"testing"

	"mapd/hashline"
)

// BenchmarkLedgerMemory delivers 1,000 ranges to each of 1,000 sessions, from one
// version and from 20, and says what 1,000 of them weigh.
func BenchmarkLedgerMemory(b *testing.B) {
	const sessions, ranges = 1000, 1000
	for _, versions := range []int{1, 20} {
		b.Run(fmt.Sprintf("%dversions", versions), func(b *testing.B) {
			var bytes int64
			for b.Loop() {
				set := NewLedgers(1 << 40)
				for range sessions {
					l := set.New()
					for i := range ranges {
						l.Record(Delivery{Path: "f", Snapshot: fmt.Sprint(i % versions), Lines: []hashline.Range{{Start: 1 + 4*i, End: 2 + 4*i}}})
					}
				}
				bytes, _ = set.Bytes()
			}
			b.ReportMetric(float64(bytes)/sessions, "B/1000-ranges")
		})
	}
}
