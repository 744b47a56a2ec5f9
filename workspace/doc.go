// Package workspace owns the files: it is the only room that opens, reads,
// lists, watches and replaces them.
//
// A Cache serves single files and is shared by all sessions of a daemon. What
// it guarantees:
//
//   - A Version holds bytes that were read after the request for it. There is
//     no cache keyed by what stat says; the key of everything derived is the
//     digest of the bytes.
//   - Every field of a Version comes from one buffer of one read. A file that
//     changes while it is read is read again, a few times; if it never holds
//     still, the Version says that it is unstable.
//   - A file is opened only when it is a regular file whose real path, asked of
//     the open descriptor, lies in a folder of the session. Nothing that stands
//     at the path can make the daemon block, and no symbolic link leads out,
//     also when it is swapped in during the request.
//   - A Write that fails leaves the file as it was: bytes, inode, mode, times.
//     One that succeeds replaced exactly the bytes that its update saw; those
//     of other programs are put back and seen by the next try. A daemon that is
//     killed leaves old bytes or new ones, and the next one tidies up.
//   - Reads in flight, history, outlines, listings and indexes have a limit
//     each.
//
// A Workspace indexes one root: all files that git would not ignore (package
// ignore), kept up to date by events (package watch), equal at any time to what
// a fresh one would hold, or degraded and saying why.
//
// After Close no goroutine, watch and descriptor of either is left.
//
// The room does not know sessions, the wire or ledgers. A folder of a session
// is a guard against accidents: any process of the user may name any folder.
// Where promises end: a program that keeps a file open across a Write and
// writes to it afterwards; changes that the kernel reports to nobody, which are
// stores through memory maps and writes through hard links from outside, are
// found by single reads at once and by the index at its next audit.
package workspace
