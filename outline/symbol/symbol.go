// Package symbol is the data model that every extractor of an outline fills:
// symbols, imports, and how they were found. It has no behaviour beyond
// walking and counting, so that extractors depend on it and on nothing else of
// the outline room.
package symbol

// Kind is what a symbol is: LSP's SymbolKind names in lower case, and the kinds
// of data and documents.
type Kind string

// The kinds of LSP, and after them mapd's own.
const (
	File          Kind = "file"
	Module        Kind = "module"
	Namespace     Kind = "namespace"
	Package       Kind = "package"
	Class         Kind = "class"
	Method        Kind = "method"
	Property      Kind = "property"
	Field         Kind = "field"
	Constructor   Kind = "constructor"
	Enum          Kind = "enum"
	Interface     Kind = "interface"
	Function      Kind = "function"
	Variable      Kind = "variable"
	Constant      Kind = "constant"
	String        Kind = "string"
	Number        Kind = "number"
	Boolean       Kind = "boolean"
	Array         Kind = "array"
	Object        Kind = "object"
	Key           Kind = "key"
	Null          Kind = "null"
	EnumMember    Kind = "enummember"
	Struct        Kind = "struct"
	Event         Kind = "event"
	Operator      Kind = "operator"
	TypeParameter Kind = "typeparameter"

	Heading Kind = "heading"
	Section Kind = "section"
	Table   Kind = "table"
	View    Kind = "view"
	Column  Kind = "column"
	Record  Kind = "record"
)

// Symbol is one definition. Lines are 1-based and inclusive. Children lie
// within the lines of their parent, in line order.
type Symbol struct {
	Name      string   `json:"name"`
	Kind      Kind     `json:"kind"`
	Start     int      `json:"start"`               // the definition's own first line
	End       int      `json:"end"`                 // its last line
	NameLine  int      `json:"nameLine,omitzero"`   // where the name stands; 0 if not known
	Signature string   `json:"signature,omitzero"`  // as written, on one line, never inferred
	Modifiers []string `json:"modifiers,omitempty"` // as written, in order: "export", "async", "static"
	Docstring string   `json:"docstring,omitzero"`  // first line of the documentation
	Exported  bool     `json:"exported,omitzero"`
	Children  []Symbol `json:"children,omitempty"`

	// Lead is the first line of the decorators, attributes and documentation
	// that stand before Start and belong to the symbol; 0 if there are none.
	Lead int `json:"-"`
	// Local says that the symbol is visible only inside the function that holds
	// it. A budget hides locals first.
	Local bool `json:"-"`
}

// FirstLine returns the first line of the symbol with its decorators and
// documentation.
func (s *Symbol) FirstLine() int {
	if s.Lead > 0 {
		return s.Lead
	}
	return s.Start
}

// Import is one dependency as the file names it, on the lines Start to End.
type Import struct {
	Path  string `json:"path"`
	Start int    `json:"start"`
	End   int    `json:"end"`
}

// Source says how the symbols of an outline were found.
type Source string

// The sources, from the best to the worst.
const (
	Parser   Source = "parser"   // one parse of the whole file
	Segments Source = "segments" // parses of its segments, because the whole has errors
	Pattern  Source = "pattern"  // line patterns
	None     Source = "none"     // nothing is known about this language
)

// Why says why an outline is less than a parser's view of the whole file.
type Why string

// The reasons. The empty Why means that nothing went wrong.
const (
	SyntaxErrors Why = "syntax_errors"
	TooLarge     Why = "too_large"
	Timeout      Why = "timeout"
	Memory       Why = "memory"
	Crashed      Why = "crashed"
	Unsupported  Why = "unsupported"
)

// Transient reports whether w depends on this run and not on the bytes alone;
// an outline with such a reason must not be stored.
func (w Why) Transient() bool { return w == Timeout || w == Memory || w == Crashed }

// List is what an extractor found in one file.
type List struct {
	Symbols []Symbol // line order
	Imports []Import // line order
	Source  Source
	Why     Why
}

// Walk calls visit for each symbol in line order, parents before children,
// with its depth from 0. It does not descend below a symbol for which visit
// returns false.
func Walk(symbols []Symbol, visit func(s *Symbol, depth int) bool) {
	walk(symbols, 0, visit)
}

func walk(symbols []Symbol, depth int, visit func(*Symbol, int) bool) {
	for i := range symbols {
		if visit(&symbols[i], depth) {
			walk(symbols[i].Children, depth+1, visit)
		}
	}
}

// Count returns the number of symbols in the trees of symbols.
func Count(symbols []Symbol) int {
	n := 0
	Walk(symbols, func(*Symbol, int) bool { n++; return true })
	return n
}
