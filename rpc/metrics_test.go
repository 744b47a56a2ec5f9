package rpc

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mapd/rpc/wire"
)

func TestHistogramBuckets(t *testing.T) {
	var h histogram
	for _, d := range []time.Duration{0, 16 * time.Microsecond, 16*time.Microsecond + 1, 33 * time.Microsecond, time.Hour} {
		h.add(d, d == time.Hour)
	}
	want := wire.MethodLatency{
		Method: "m", Count: 5, Failed: 1, P50Micros: 32, P99Micros: time.Hour.Microseconds(), MaxMicros: time.Hour.Microseconds(),
		Buckets: []wire.LatencyBucket{{UpToMicros: 16, Count: 2}, {UpToMicros: 32, Count: 1}, {UpToMicros: 64, Count: 1}, {Count: 1}},
	}
	if diff := cmp.Diff(want, h.status("m")); diff != "" {
		t.Error(diff)
	}
}

func TestHistogramQuantiles(t *testing.T) {
	var h histogram
	for range 99 {
		h.add(10*time.Microsecond, false)
	}
	h.add(time.Second, false)
	if s := h.status("m"); s.P50Micros != 16 || s.P99Micros != 16 || s.MaxMicros != 1_000_000 {
		t.Errorf("one of a hundred is slow: %+v", s)
	}
	h.add(time.Second, false)
	if s := h.status("m"); s.P50Micros != 16 || s.P99Micros != 1_000_000 {
		t.Errorf("two of 101 are slow: %+v", s)
	}
	if s := new(histogram).status("m"); s.P50Micros != 0 || s.P99Micros != 0 || s.Buckets != nil {
		t.Errorf("nothing counted: %+v", s)
	}
}

// TestHistogramKnowsMethods holds that the table of methods alone makes the
// keys, so that a peer cannot.
func TestHistogramKnowsMethods(t *testing.T) {
	m := newMetrics()
	if len(m.latency) != len(methods) {
		t.Errorf("%d histograms for %d methods", len(m.latency), len(methods))
	}
}
