package sandbox

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mapd/outline/grammar"
)

// executable returns the path of this program; the link works even when the
// file was deleted, as go run and go test do.
func executable() string { return "/proc/self/exe" }

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// widen makes the pipes hold more, so that a large file takes few switches
// between the processes. Where that is refused they work all the same.
func widen(pipes ...*os.File) {
	for _, f := range pipes {
		if c, err := f.SyscallConn(); err == nil {
			c.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
		}
	}
}

// confine limits this process before it sees any input. The limit is of data,
// not of address space: a Go program starts with more than 1 GiB of the latter.
func confine(memory int64) error {
	limit := unix.Rlimit{Cur: uint64(memory), Max: uint64(memory)}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &limit); err != nil {
		return err
	}
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	grammar.LimitCPU()
	closeInherited()
	return nil
}

// closeInherited closes the descriptors that came with the process. They are
// those that exec left open; Go opens its own with the close-on-exec flag.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// limitCPU lets the process use what one parse may take on all its threads from
// now on. It is a backstop for a daemon that cannot kill any more.
func limitCPU(timeout time.Duration) error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &limit); err != nil {
		return err
	}
	soft := uint64(used.Utime.Sec+used.Stime.Sec) + uint64(4*timeout/time.Second) + 4
	limit.Cur = min(soft, limit.Max)
	return unix.Setrlimit(unix.RLIMIT_CPU, &limit)
}

// processorTime returns the processor time that a process has used on all its
// threads, and false if it cannot be told.
func processorTime(pid int) (time.Duration, bool) {
	// The clock of a process, as clock_getcpuclockid(3) makes it.
	const scheduler = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduler), &t); err != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}
