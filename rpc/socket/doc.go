// Package socket is the door of the daemon: where its unix socket is, who may
// hold it and who may come in.
//
// Guarantees:
//
//   - One daemon for each path: Listen holds a lock file, removes only a socket
//     that nobody answers on, and only under that lock.
//   - The directory is the user's own and closed to others, the socket is 0600,
//     and a peer of another user, of an unknown one, or of another mount
//     namespace, whose paths would mean other files, is refused.
//   - Close removes the socket only while it still is the one that was listened
//     on, so a successor's socket is never removed.
//
// The package knows nothing of the protocol that is spoken through the door.
package socket
