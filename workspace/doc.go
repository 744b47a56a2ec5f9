// Package workspace owns the files: it is the only room that opens, reads,
// lists and replaces them.
//
// What it guarantees:
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
//   - Reads in flight, history, outlines and listings have a limit each.
//   - After Close no goroutine and no descriptor of the Cache is left.
//
// It does not know sessions, the wire or ledgers. A folder of a session is a
// guard against accidents: any process of the user may name any folder.
package workspace
