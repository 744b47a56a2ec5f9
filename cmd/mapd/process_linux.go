package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// reapWait is how long an ended process may keep its number, until its parent
// has noticed. In a container without an init that is for ever.
const reapWait = time.Second

// watchProcess returns a function that waits for the end of a process, and a
// little for its number to be free. The process is held by a descriptor, so a
// new one with its number is not mistaken for it.
func watchProcess(ctx context.Context, pid int) (wait func() error, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	return func() error {
		defer unix.Close(fd)
		const step = 100 // milliseconds between two looks at ctx
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, step)
			switch {
			case n > 0:
				awaitReaped(pid)
				return nil
			case err != nil && err != unix.EINTR:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			}
		}
	}, nil
}

func awaitReaped(pid int) {
	for end := time.Now().Add(reapWait); unix.Kill(pid, 0) == nil && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
	}
}
