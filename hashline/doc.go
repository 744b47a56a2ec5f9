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
package hashline
