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
	// trimAfter is how much it must have allocated since it last gave memory back to
	// do so at once, and how large its heap must be. A daemon of ordinary use stays
	// below.
	trimAfter = 128 << 20
	// trimPause bounds the growing pauses after which a heap that stays large is
	// looked through again: what was in use the last time may not be any more. The
	// runtime collects once in such a time by itself.
	trimPause = 2 * time.Minute
)

// pressure is the part of the memory limit (GOMEMLIMIT), in percent, that may be
// in use before caches are emptied. Past the limit the collector runs all the
// time.
const pressure = 75

// press calls short, every trimPeriod, with whether memory is short, until ctx
// ends.
func press(ctx context.Context, short func(bool)) {
	ticker := time.NewTicker(trimPeriod)
	defer ticker.Stop()
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		metrics.Read(samples)
		limit := debug.SetMemoryLimit(-1) // which only asks
		short(isShort(samples[0].Value.Uint64(), limit))
	}
}

// isShort reports whether so much of the memory limit is in use that caches must
// give way.
func isShort(live uint64, limit int64) bool { return live > uint64(limit)/100*pressure }

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
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	var trimmed uint64 // the allocations so far when memory was last given back
	var rest uint64    // what was held then at the least
	var again time.Time
	pause := trimPeriod
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		metrics.Read(samples)
		allocated := samples[0].Value.Uint64()
		var held uint64
		for _, s := range samples[1:] {
			held += s.Value.Uint64()
		}
		rest = min(rest, held)
		if held < trimAfter {
			continue
		}
		if allocated-trimmed >= trimAfter || held-rest >= trimAfter { // stacks grow without allocations
			pause = trimPeriod
		} else if now.Before(again) {
			continue
		}
		debug.FreeOSMemory()
		trimmed, rest, again, pause = allocated, held, now.Add(pause), min(2*pause, trimPause)
	}
}
