package grammar

import (
	"fmt"
	"sort"
	"sync"
	"unsafe"

	"mapd/outline/symbol"
)

// Version changes whenever the same bytes may give another outline: a grammar
// or a table changed. It is part of cache keys.
const Version = "2"

// A language is the table of one grammar.
type language struct {
	name    string
	grammar func() unsafe.Pointer

	// rules are the node types that mean something; actions are those to pass
	// over or to look into without a rule; otherwise is the action of the rest
	// of the named types.
	rules     map[string]*rule
	actions   map[string]action
	otherwise action

	fields   []string // fields whose nodes a rule may ask for
	triggers []string // texts of which a gated node must hold one

	modifiers []string // words in front of a name that are modifiers

	// prepare returns src with text that the grammar cannot read blanked; it
	// must keep length and lines. Nil means nothing to do.
	prepare func(src []byte) []byte
	// preamble returns what must stand before a text for the grammar to know it,
	// if before is what stands before it in the file. Nil means nothing.
	preamble func(before, text []byte) string
	// hide finds the lines of a broken file that begin inside strings or comments.
	// Nil means comments of the shape of C if braces is set.
	hide func(x *extraction, hidden []bool)
	// reserved are words that cannot be names, but look so in broken files.
	reserved map[string]bool
	// missing returns what a text that was cut needs at its end for the grammar to
	// know what it is in the middle of. Nil means nothing.
	missing func(src []byte) string
	// split says whether a line without indentation begins a definition, where a
	// broken file may be cut. Nil means that it cannot be cut.
	split func(line []byte) bool
	// statements are the types of nodes of the file that define nothing and can
	// be believed when they have no error although the file has one.
	statements []string
	// headLines says that a definition may begin with words on lines of their own
	// before the line that split knows.
	headLines bool
	// longStrings says that a string in plain quotes may have many lines.
	longStrings bool
	// heads says whether a line belongs to the definition on the next one.
	heads func(line, next []byte) bool
	// inner says what an indented line begins, if a broken definition may be cut
	// there, and wrappers what must stand around the parts to parse them alone.
	inner    func(line []byte) place
	wrappers map[place]wrapper
	// flat says that functions are not cut so: statements look like members.
	flat bool
	// braces says that the language has the lexical shape of C, so that open
	// brackets can be closed.
	braces bool
	// finish completes the outline once all symbols are known; exports are the
	// names that the file lists as exported.
	finish func(text []byte, exports []string, list *symbol.List)
}

// A rule is what to do with the nodes of one type.
type rule struct {
	act  action // with keep; the zero value means visit|fields
	role role
	do   func(x *extraction, i int, sc *scope)

	// For do == nil: a definition of this kind.
	kind   symbol.Kind
	member symbol.Kind // the kind inside a class or its like, if another one
	name   string      // the field of the name, if not "name"
	body   string      // the field where the signature ends, if not "body"

	// Where the grammar has no fields, the types of the nodes of the name and of
	// the body; then act must have all.
	nameTypes, bodyTypes []string
}

// A place is where the part of a broken definition stands.
type place uint8

const (
	nowhere  place = iota // not the start of a part
	inBlock               // a statement, at home in a function
	inType                // a member of a class or its like
	inObject              // a property of an object literal
)

// A wrapper makes a whole of a part: one line before it and text behind it. It
// defines a symbol named wrapperName.
type wrapper struct{ open, close string }

const wrapperName = "mapd_wrapper"

// A role is how a node takes part in its neighbours.
type role uint8

const (
	definition role = iota
	comment         // documents the definition after it
	attribute       // a decorator, annotation or attribute: belongs to the definition after it
	inert           // only its children count
)

var tables sync.Map // name → *lazyTable

type lazyTable struct {
	once sync.Once
	l    *language
	t    *table
	err  error
}

// register makes l known; each language's file calls it once.
func register(l *language) {
	if _, dup := tables.LoadOrStore(l.name, &lazyTable{l: l}); dup {
		panic("grammar: " + l.name + " registered twice")
	}
}

// Supports reports whether there is a table for the named grammar.
func Supports(name string) bool {
	_, ok := tables.Load(name)
	return ok
}

// Names returns the names of all grammars, sorted.
func Names() []string {
	var names []string
	tables.Range(func(k, _ any) bool {
		names = append(names, k.(string))
		return true
	})
	sort.Strings(names)
	return names
}

func lookup(name string) (*table, error) {
	v, ok := tables.Load(name)
	if !ok {
		return nil, fmt.Errorf("grammar: no table for %q", name)
	}
	lazy := v.(*lazyTable)
	lazy.once.Do(func() {
		for _, r := range lazy.l.rules {
			if r.act == 0 {
				r.act = visit | fields
			}
		}
		lazy.t, lazy.err = newTable(lazy.l)
	})
	return lazy.t, lazy.err
}

// Outline returns the symbols and imports of src in the named grammar.
func Outline(name string, src []byte) (symbol.List, error) {
	t, err := lookup(name)
	if err != nil {
		return symbol.List{}, err
	}
	return t.outline(src)
}
