package format

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of the calling thread, which other load on
// the machine does not change as it does the clock.
func cpuTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
