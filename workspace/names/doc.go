// Package names holds the names of the symbols of many files in little memory,
// and finds in them what a person or an agent means by a few letters.
//
// Names is the packed form of one outline: what a search needs of it and no
// more. It is one string without pointers into it, so that a workspace of
// millions of symbols costs the garbage collector one object a file, and the
// same bytes can be written to disk and be read back; damage is an error there.
//
// A Query matches names. Everything here is pure: no files, no clock.
package names
