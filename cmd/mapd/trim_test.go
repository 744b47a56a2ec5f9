package main

import (
	"math"
	"testing"
)

func TestIsShort(t *testing.T) {
	for _, c := range []struct {
		live  uint64
		limit int64
		want  bool
	}{
		{0, math.MaxInt64, false},
		{1 << 40, math.MaxInt64, false}, // no limit
		{700 << 20, 1000 << 20, false},
		{800 << 20, 1000 << 20, true},
		{2000 << 20, 1000 << 20, true},
	} {
		if got := isShort(c.live, c.limit); got != c.want {
			t.Errorf("%d of %d: %v", c.live, c.limit, got)
		}
	}
}
