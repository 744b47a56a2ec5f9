package format

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime returns the processor time of the calling thread, which other load on
// the machine does not change as it does the clock.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
