// Package find searches the files of several workspaces: for symbols by their
// names, and for lines by their text.
//
// An index only says where to look. What is found is read again, after the
// request for it, and every hit is true of the Version that it comes with: the
// lines of a symbol, its name, the text. A file that changed since it was
// indexed is searched as it is now; one that is gone has no hits.
//
// The order of hits depends on the files, the query and what the session read
// before, and on nothing else.
package find
