package outline

import (
	"time"

	"mapd/outline/sandbox"
)

// Limits bound the making of one outline. Past a limit the file gets an outline
// by line patterns that says why. The zero value of a field means its value in
// DefaultLimits.
type Limits struct {
	// Bytes is the size of the largest file of code that is parsed.
	Bytes int
	// FormatBytes is the size of the largest file of data or text that is
	// scanned. Scanners are linear and keep little, so it is far above Bytes.
	FormatBytes int
	// Time is how long one parse or scan may take.
	Time time.Duration
	// FormatTime is how long one scan of data or text may take.
	FormatTime time.Duration
	// Memory is what a worker process that parses may use for data, in bytes.
	Memory int64
}

// DefaultLimits returns the limits of a daemon that was not told otherwise.
func DefaultLimits() Limits {
	return Limits{
		Bytes:       32 << 20,
		FormatBytes: 256 << 20,
		Time:        2 * time.Second,
		FormatTime:  10 * time.Second,
		Memory:      1536 << 20,
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	for _, f := range []struct{ value, def *int }{{&l.Bytes, &d.Bytes}, {&l.FormatBytes, &d.FormatBytes}} {
		if *f.value <= 0 {
			*f.value = *f.def
		}
	}
	for _, f := range []struct{ value, def *time.Duration }{{&l.Time, &d.Time}, {&l.FormatTime, &d.FormatTime}} {
		if *f.value <= 0 {
			*f.value = *f.def
		}
	}
	if l.Memory <= 0 {
		l.Memory = d.Memory
	}
	return l
}

// Sandbox returns what l means for the worker processes.
func (l Limits) Sandbox() sandbox.Options {
	l = l.orDefault()
	return sandbox.Options{Timeout: l.Time, Memory: l.Memory}
}
