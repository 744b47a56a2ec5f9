//go:build !linux

package sandbox

import (
	"os"
	"syscall"
	"time"
)

// executable returns the path of this program.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func widen(...*os.File) {}

// confine limits what the system lets it limit; only Linux bounds the data of a
// process reliably.
func confine(memory int64) error {
	limit := syscall.Rlimit{Cur: uint64(memory), Max: uint64(memory)}
	syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
	return nil
}

func limitCPU(time.Duration) error { return nil }

// processorTime is not known here.
func processorTime(int) (time.Duration, bool) { return 0, false }
