package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// watchProcess returns a function that waits for the end of a process, by
// looking for it.
func watchProcess(ctx context.Context, pid int) (wait func() error, err error) {
	return func() error {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
				return nil
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}, nil
}

// widenPipe does nothing: here pipes grow by themselves.
func widenPipe(*os.File) {}
