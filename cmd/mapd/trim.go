package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// trimPeriod is how often the daemon looks whether it holds memory that it no
	// longer needs.
	trimPeriod = 2 * time.Second
	// trimAfter is how much it must have allocated since it last gave memory back,
	// and how large its heap must be. A daemon of ordinary use stays below.
	trimAfter = 128 << 20
)

// trim gives memory back to the system until ctx ends. A daemon that has served
// one huge request may then have nothing to do for hours, and without
// allocations no collection would ever find what that request has left.
func trim(ctx context.Context) {
	ticker := time.NewTicker(trimPeriod)
	defer ticker.Stop()
	samples := []metrics.Sample{
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
	}
	var trimmed uint64 // the allocations so far when memory was last given back
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		metrics.Read(samples)
		allocated := samples[0].Value.Uint64()
		var heap uint64
		for _, s := range samples[1:] {
			heap += s.Value.Uint64()
		}
		if allocated-trimmed < trimAfter || heap < trimAfter {
			continue
		}
		debug.FreeOSMemory()
		trimmed = allocated
	}
}
