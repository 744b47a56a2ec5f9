// Package grammar extracts symbols from code with tree-sitter grammars. It is
// the only package that imports them, and only the worker processes of package
// sandbox call it: a grammar can abort its process or never return.
//
// Outline is a pure function of the grammar's name and the bytes. One call into
// C parses and walks the tree and returns records of the nodes that the
// language's table asked for; Go code turns the records into symbols. A
// language is one table: which node types define something, where the name
// stands, which subtrees can be passed over.
//
// A file whose tree has errors is parsed again in segments, each from one
// definition at the left margin to the next, so that an error costs only its
// own segment; what the whole tree knows besides is added.
package grammar
