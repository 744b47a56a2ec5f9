// Package hashline turns bytes into lines, and lines into hashes, anchors and
// ranges that survive being quoted by a language model.
//
// It is pure: no I/O, no clock, no goroutines. Everything in it is a function
// of the bytes it is given. Line numbers are 1-based and ranges inclusive, on
// the wire and in Go.
//
// Text indexes the lines of a file; Anchor names one of them by number and
// hash; Show and AppendAnchored render them; MapLines says which line of an
// older text provably is which line of a newer one; Apply turns a batch of edits
// into new bytes.
//
// The comparison behind MapLines is written here because a diff library returns
// one edit script out of many equally short ones, and the question is what all
// of them agree on. (go-udiff, gotextdiff and go-difflib were looked at; each
// picks a script, none tells where it had a choice.)
//
// What a line is:
//
//   - a line ends at "\n"; its terminator is "\n" or "\r\n";
//   - the "\r" before "\n" is part of the terminator: neither hashed nor shown;
//   - a bare "\r", U+2028, a form feed are content;
//   - a UTF-8 byte order mark is before line 1;
//   - a terminal newline opens no line, and an empty file has no lines.
//
// Where its promises end:
//
//   - an anchor shows at most 16 bits of a hash over three lines. It tells a line
//     from what stood there before with a chance of 1 in 65,536 to be wrong, at
//     two letters 1 in 256, and two places with the same three lines have the
//     same hash. That is why anchors are checked against the version they were
//     served from, which package recovery does; a hash alone proves nothing;
//   - a line map proves what bytes can prove. A line that was deleted and typed
//     again between the same neighbours is the same line to it, and so is a copy
//     that took the exact place of its original;
//   - a Digest is no defence against someone who constructs collisions.
package hashline
