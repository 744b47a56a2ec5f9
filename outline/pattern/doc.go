// Package pattern finds definitions by looking at lines, for languages without
// a parser and for files that are too much for theirs.
//
// It knows how a language writes comments and strings, so that what stands in
// them is not taken for code; which words start a definition; and how a block
// ends. A definition ends where its brackets close, where a line with its
// indentation ends it, or where a line that is not indented deeper starts
// something else. No end is invented: a definition of which nothing more is
// known than its first line has only that line.
//
// A scan is one pass in time linear in the size of the text. It uses no regular
// expressions and keeps nothing but the symbols, of which there are at most
// MaxSymbols.
package pattern
