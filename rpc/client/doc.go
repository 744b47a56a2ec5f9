// Package client is the way to the daemon: Dial finds it or starts it, Client
// asks it.
//
// A Client multiplexes any number of concurrent calls over one connection. Its
// reader knows how the daemon spells a reply and slices the result out of the
// frame instead of decoding the envelope.
//
// Guarantees: a call ends when its context does, whatever the daemon is doing,
// and the daemon is told; an error reply is a *wire.Error; after Close nothing
// of the Client is left but, if it started the daemon, one goroutine that waits
// for that process to end, so that it does not stay behind as a zombie.
//
// ReadToolResult, FileMapMessage and RecoveryMessage turn what the daemon says
// into the messages that an agent harness puts into its conversation.
//
// The package knows no method by name except initialize and those in
// methods.go; it neither retries a call nor reconnects once a session is
// initialized, as the session would be a new one.
package client
