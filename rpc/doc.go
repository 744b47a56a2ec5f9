// Package rpc answers the protocol: it decodes requests, pins versions of
// files, and projects what the rooms below know to the wire.
//
// A Server is the daemon's heart without its socket. Each connection is a peer;
// initialize gives it a Session, which holds its folders, its choices and its
// ledger. Handlers decode, pin a version, call and project; they hold no logic
// of their own, and every field of an answer comes from one Version. What an editor
// has open (package buffers) is what textDocument methods of its session see, and
// nothing else.
//
// What it guarantees: a method is looked up before its parameters are decoded;
// errors get their codes from one table; a delivery is in the ledger before
// its frame is queued, and is taken back if the frame never left; what one
// connection sends or fails to read does not delay another.
package rpc
