package client

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func executable() (string, error) { return os.Executable() }

// hideDescriptors keeps the descriptors that this process has inherited from
// going on to the daemon.
func hideDescriptors() error {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= 3 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
