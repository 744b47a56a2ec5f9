// Package format finds the symbols of data and documents: JSON and its
// relatives, YAML, TOML, INI, CSV, Markdown and other markup, SQL, Clojure,
// notebooks, diffs, XML, and some languages whose structure shows in
// indentation or brackets.
//
// Every line number is that of a byte the scanner has seen; none is guessed.
// Symbols are in line order, children lie within their parents, and duplicates
// are kept. A broken document gives what stands before (for line based formats:
// also after) the error, and the list says so. Scanning takes time linear in
// the size of the text and memory bounded by the limits below.
//
// Names are the text that a path would use: a key's decoded text, "[3]" for an
// element of an array, a heading's text without its marks. Signatures say what
// the bytes show: types, counts, previews. What a limit leaves out is stated by
// a symbol named Elided whose lines cover everything left out and whose
// signature counts it.
//
// JSON is read by jsontext, which is as fast as any and reports offsets. The
// other formats have scanners of their own, and the libraries for them are the
// oracles of their tests: yaml.v3 and go-toml keep a node for each value and
// stop at the first error, encoding/csv does not tell where a record ends and
// gives up on a stray quote, goldmark keeps no lines of blocks, and for SQL,
// Clojure and patches there is none that knows all dialects.
//
// The package does no I/O and starts no goroutines.
package format
