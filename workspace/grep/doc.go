// Package grep finds the lines of a text that hold a literal or a regular
// expression, over whole buffers and not line by line.
//
// A pattern matches within one line, never across: the content of a line is what
// stands before its "\n" or "\r\n", and a byte order mark is before the first
// one. Letters match both cases if the pattern has no upper-case letter of its
// own, else only themselves ("smart case").
//
// Regular expressions are Go's, so that the time is linear in the text whatever
// the pattern. Those that need some literal are run only on lines that hold it.
// Everything here is pure and works on bytes: text need not be UTF-8.
package grep
