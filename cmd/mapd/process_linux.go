package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// watchProcess returns a function that waits for the end of a process. The
// process is held by a descriptor, so a new one with its number is not mistaken
// for it. Its number may stay in use until its parent has noticed.
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
				return nil
			case err != nil && err != unix.EINTR:
				return err
			case ctx.Err() != nil:
				return ctx.Err()
			}
		}
	}, nil
}

// pipeBytes is what a pipe holds at most without a privilege.
const pipeBytes = 1 << 20

// widenPipe lets a pipe take a large answer at once, so that its reader is
// woken once. What is no pipe stays as it is.
func widenPipe(f *os.File) { _, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, pipeBytes) }
