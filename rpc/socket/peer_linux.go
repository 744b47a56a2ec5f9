package socket

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func credentials(fd int) (Peer, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return Peer{}, err
	}
	return Peer{UID: int(cred.Uid), PID: int(cred.Pid)}, nil
}

// NamespaceError says that a peer sees other mounts: the paths it names would be
// other files here.
type NamespaceError struct {
	PID int
	Why string
}

func (e *NamespaceError) Error() string {
	return fmt.Sprintf("process %d %s: the same path would be another file there; use a private daemon instead (mapd serve --stdio)", e.PID, e.Why)
}

// checkMounts compares the mount namespaces. A pid of 0 is a process outside of
// this process's pid namespace, whose mounts cannot be looked up.
func checkMounts(pid int) error {
	if pid == 0 {
		return &NamespaceError{pid, "is in another pid namespace"}
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		// Without /proc there is nothing to compare with.
		return nil
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if os.IsNotExist(err) {
		return nil // it has ended: what it asks for cannot harm it any more
	}
	if err != nil {
		return &NamespaceError{pid, "hides its mount namespace"}
	}
	if ours != theirs {
		return &NamespaceError{pid, "is in another mount namespace"}
	}
	return nil
}
