package socket

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Peer is the process at the other end of a socket.
type Peer struct {
	UID int
	PID int // when it connected; 0 if the system does not tell
}

// ErrRefused is wrapped by the errors about peers that may not come in.
var ErrRefused = errors.New("the peer is refused")

// CheckPeer returns the peer of a connection, or an error that wraps ErrRefused:
// it must be known, belong to this user and see the same mounts.
func CheckPeer(connection *net.UnixConn) (Peer, error) {
	raw, err := connection.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	var peer Peer
	failed := raw.Control(func(fd uintptr) { peer, err = credentials(int(fd)) })
	if err = errors.Join(failed, err); err != nil {
		return Peer{}, fmt.Errorf("%w: its user is unknown: %w", ErrRefused, err)
	}
	if peer.UID != os.Getuid() {
		return peer, fmt.Errorf("%w: it belongs to user %d, the daemon to user %d", ErrRefused, peer.UID, os.Getuid())
	}
	if err := checkMounts(peer.PID); err != nil {
		return peer, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return peer, nil
}
