// Package buffers keeps the documents that an editor has open in a session, as
// LSP synchronizes them.
//
// A Text is immutable and made of pieces: a change copies the pieces that it
// touches and shares all others, so that who holds a Text may use it while the
// next change is made, and a large document costs no more per key stroke than a
// small one. A Set is an immutable view of all open documents of a session; every
// notification makes the next one.
//
// What it guarantees: the text of a Document is what the editor has, or the
// Document says that its text is not known and why. A change that cannot be
// applied exactly as sent makes the text unknown until the editor sends all of
// it again; it is never guessed. Positions follow LSP, in which \n, \r\n and a
// bare \r end a line, which is not how the rest of mapd counts.
//
// The package does no I/O, and knows neither files nor the wire.
package buffers
