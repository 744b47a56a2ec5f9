// Package hashline turns bytes into lines, and lines into hashes, anchors and
// ranges that survive being quoted by a language model.
//
// It is pure: no I/O, no clock, no goroutines. Everything in it is a function
// of the bytes it is given. Line numbers are 1-based and ranges inclusive, on
// the wire and in Go.
//
// What a line is:
//
//   - a line ends at "\n"; its terminator is "\n" or "\r\n";
//   - the "\r" before "\n" is part of the terminator: neither hashed nor shown;
//   - a bare "\r", U+2028, a form feed are content;
//   - a UTF-8 byte order mark is before line 1;
//   - a terminal newline opens no line, and an empty file has no lines.
package hashline
