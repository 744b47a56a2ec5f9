// Package outline turns the bytes of a file and its language into symbols, and
// symbols into the text of a map.
//
// Extraction is a pure function of (bytes, language, options) and keeps
// everything, nested functions included; budgets hide, in Render. There are
// three families of extractors behind one interface: Go through go/parser;
// other code through tree-sitter grammars, which run only in worker processes
// (package sandbox), because a grammar can abort its process; and formats
// (JSON, Markdown, …) through scanners. What none of them knows gets line
// patterns and says so.
//
// The package does no file I/O and knows nothing of workspaces or sessions.
package outline
