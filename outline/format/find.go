package format

import (
	"context"
	"strconv"
	"strings"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// Find returns the symbol of text that path names, also where Scan leaves it
// out: elements, records and rows beyond MaxElements, keys below MaxDepth or
// beyond MaxChildren, scalar elements in the middle of a line. It scans the text
// anew, as far as it must, and reports false if there is no such symbol. The
// symbol has no children. Its error is that of ctx.
//
// A path is the names from the top down with ".", "/", "::", "#", "->" or " > "
// between them, as in "a.b[3].c" or "$.a"; ["x.y"] quotes a name. Elements,
// records and rows are named by their number from 0. Of several symbols that a
// path names, the first is found.
func Find(ctx context.Context, lang string, text *hashline.Text, path string) (symbol.Symbol, bool, error) {
	scan := scanners[lang]
	path = strings.TrimPrefix(path, "$")
	if scan == nil || path == "" || len(path) > maxPath {
		return symbol.Symbol{}, false, ctx.Err()
	}
	if leadingIndex(path) >= 0 {
		path = wrappingTable[lang] + path
	}
	d := newDoc(ctx, text)
	d.tree.search(path)
	if text.Lines() > 0 && !d.stopped() {
		scan(d)
	}
	if err := ctx.Err(); err != nil {
		return symbol.Symbol{}, false, err
	}
	d.tree.finish(text.Lines())
	if d.tree.found == nil {
		return symbol.Symbol{}, false, nil
	}
	return *d.tree.found, true, nil
}

// maxPath is the length in bytes of the longest path that is looked for.
const maxPath = 4 << 10

// The names of the tables that hold rows and records.
const (
	rowsName    = "rows"
	recordsName = "records"
)

// wrappingTable is what holds the elements of the top level of a format.
var wrappingTable = map[string]string{"csv": rowsName, "tsv": rowsName, "jsonl": recordsName}

// search makes the tree keep nothing but the symbols on the path.
func (t *tree) search(path string) {
	t.path = path
	t.root.rest, t.root.index = path, leadingIndex(path)
}

// step cuts name off the front of a path, and reports whether it stands there.
func step(path, name string) (rest string, ok bool) {
	for _, separator := range []string{" > ", "::", "->", ".", "/", "#"} {
		if after, found := strings.CutPrefix(path, separator); found && after != "" {
			path = after
			break
		}
	}
	if len(path) > 1 && path[0] == '[' && (path[1] == '"' || path[1] == '\'') {
		key, rest, found := strings.Cut(path[2:], path[1:2]+"]")
		return rest, found && key == name
	}
	rest, ok = strings.CutPrefix(path, name)
	if !ok || name == "" {
		return "", false
	}
	return rest, rest == "" || strings.IndexByte("[./:#", rest[0]) >= 0 || strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, " > ") ||
		name[len(name)-1] == ']'
}

// leadingIndex returns the number of the element with which a path starts, -1
// if it starts with a name.
func leadingIndex(path string) int {
	digits, _, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if n, err := strconv.Atoi(digits); found && err == nil && path[0] == '[' {
		return n
	}
	return -1
}

// wanted reports whether the i-th element of the open symbol is to be listed.
func (t *tree) wanted(i int) bool {
	if t.path == "" {
		return i < MaxElements
	}
	return t.top().kept && t.top().index == i
}

// wantedIn is wanted for an element of a table of that name, which will be begun
// once all of its rows are read.
func (t *tree) wantedIn(table string, i int) bool {
	if t.path == "" {
		return i < MaxElements
	}
	rest, ok := step(t.root.rest, table)
	return ok && leadingIndex(rest) == i
}
