// Package install puts mapd into the configuration of the programs that use it,
// and takes it out again.
//
// Guarantees: every byte outside of what is put in stays as it is, comments,
// byte order mark and line ends too; a second run changes nothing; what would be
// written is parsed again first and must differ from the old configuration by
// nothing but mapd's entry; a file that does not parse, or an entry that mapd did
// not write, is refused and nothing is written; a write is atomic, keeps the mode
// and goes through symbolic links; taking mapd out of a file that nobody has
// changed since gives the bytes of before.
//
// What was there before is kept as a backup in mapd's state directory, with a
// record of what was written, until mapd is taken out again.
package install
