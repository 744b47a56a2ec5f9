package outline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mapd/hashline"
	"mapd/outline/symbol"
)

// Match is the symbol that a path names.
type Match struct {
	Symbol  *symbol.Symbol
	Path    string           // canonical: Lookup of it gives this symbol again
	Parents []*symbol.Symbol // from the top level down
}

// Candidate is one of the symbols that a path could mean.
type Candidate struct {
	Name  string      `json:"name"` // a path that names it alone
	Kind  symbol.Kind `json:"kind"`
	Start int         `json:"start"`
	End   int         `json:"end"`
}

// NotFoundError says that a path names no symbol.
type NotFoundError struct {
	Path    string
	Nearest []string // paths of symbols with similar names, at most MaxNearest
}

// AmbiguousError says that a path names several symbols.
type AmbiguousError struct {
	Path       string
	Candidates []Candidate // in line order, at most MaxCandidates
	Total      int         // of all candidates
}

// Bounds of what an error of Lookup lists.
const (
	MaxNearest    = 5
	MaxCandidates = 20
)

// maxPath is the longest path that is looked up, in bytes.
const maxPath = 4 << 10

func (e *NotFoundError) Error() string {
	msg := "no symbol " + quoted(e.Path)
	if len(e.Nearest) > 0 {
		msg += "; the nearest are " + strings.Join(e.Nearest, ", ")
	}
	return msg
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s names %d symbols; ask for one of ", quoted(e.Path), e.Total)
	for i, c := range e.Candidates {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s, %s)", c.Name, c.Kind, hashline.Range{Start: c.Start, End: c.End})
	}
	if more := e.Total - len(e.Candidates); more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

func quoted(path string) string { return strconv.Quote(shorten(path, 200)) }

// Lookup returns the symbol that path names.
//
// A path is the names from a symbol down to one in it, with any of . :: # / ->
// or " > " between them: "Class.method", "mod::fn", "Class#method",
// "#Install > Linux", "a.b[3].c", "$.a". A name may contain separators itself;
// a key can also be written ["x.y"]. Of siblings with the same name f[2] is the
// second, and so is f#2, counted from 1 in line order; but where the symbol has
// an element named [2], as arrays of data have, f[2] is that. An only one has
// no number. f[2-5] is a record of the lines of the elements or overloads from
// the one to the other. A path may also say the kind, "class A", have brackets
// at its end, "f()", or a receiver, "(*T).f".
//
// The path is tried in this order, and the first step that finds something
// decides; if it finds several symbols the error is an *AmbiguousError:
//
//  1. as the whole name of a symbol of the top level, such as "File.Close";
//  2. from the top level down;
//  3. as steps 1 and 2 from any symbol that is not local, where the first name
//     may also lack qualifiers: "Close" for "File.Close";
//  4. from any symbol;
//  5. for headings also without regard to case and punctuation.
//
// If nothing is found the error is a *NotFoundError.
func (o *Outline) Lookup(path string) (Match, error) {
	if len(path) > maxPath {
		return Match{}, &NotFoundError{Path: path}
	}
	if list, first, last, ok := span(path); ok {
		return o.elements(path, list, first, last)
	}
	paths := spellings(path)
	for _, step := range []finder{
		{whole: true},
		{},
		{whole: true, anywhere: true},
		{anywhere: true, unqualified: true},
		{anywhere: true, unqualified: true, locals: true},
		{anywhere: true, unqualified: true, locals: true, loose: true},
	} {
		for _, p := range paths {
			if step.whole && step.anywhere && unqualified(p) == "" {
				continue // a plain name has no better claim than the end of a qualified one
			}
			f := step
			f.find(o.Symbols, p)
			switch {
			case f.total == 1:
				f.found[0].Path = o.pathTo(f.found[0])
				return f.found[0], nil
			case f.total > 1:
				return Match{}, o.ambiguous(path, &f)
			}
		}
	}
	return Match{}, &NotFoundError{Path: path, Nearest: o.nearest(path)}
}

// span reads "list[2-5]".
func span(path string) (list string, first, last int, ok bool) {
	at := strings.LastIndexByte(path, '[')
	if at < 0 || path[len(path)-1] != ']' {
		return "", 0, 0, false
	}
	a, b, ok := strings.Cut(path[at+1:len(path)-1], "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	return path[:at], first, last, ok && err1 == nil && err2 == nil && first <= last
}

// elements returns a record of all elements of a list from the first to the
// last.
func (o *Outline) elements(path, list string, first, last int) (Match, error) {
	from, err := o.Lookup(fmt.Sprintf("%s[%d]", list, first))
	if err != nil {
		return Match{}, err
	}
	to, err := o.Lookup(fmt.Sprintf("%s[%d]", list, last))
	if err != nil {
		return Match{}, err
	}
	if !slices.Equal(from.Parents, to.Parents) || to.Symbol.End < from.Symbol.Start {
		return Match{}, &NotFoundError{Path: path, Nearest: []string{from.Path, to.Path}}
	}
	s := &symbol.Symbol{Name: fmt.Sprintf("[%d-%d]", first, last), Kind: symbol.Record, Start: from.Symbol.Start, End: max(from.Symbol.End, to.Symbol.End), Lead: from.Symbol.Lead}
	return Match{Symbol: s, Path: path, Parents: from.Parents}, nil
}

func (o *Outline) ambiguous(path string, f *finder) error {
	e := &AmbiguousError{Path: path, Total: f.total}
	for _, m := range f.found {
		e.Candidates = append(e.Candidates, Candidate{Name: o.pathTo(m), Kind: m.Symbol.Kind, Start: m.Symbol.Start, End: m.Symbol.End})
	}
	return e
}

// kindWords are words that people put before a name to say what it is.
var kindWords = []string{"func", "function", "fn", "def", "class", "struct", "interface", "type", "method", "const", "var", "enum", "trait", "module", "namespace", "heading", "table"}

// spellings returns path, and what it may mean besides: without the mark of a
// root or a heading, without the kind before it or the brackets after it, with a
// receiver as Go writes it.
func spellings(path string) []string {
	list := []string{path}
	add := func(p string) {
		if p = strings.TrimSpace(p); p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	switch {
	case strings.HasPrefix(path, "$"):
		add(strings.TrimPrefix(path[1:], "."))
	case strings.HasPrefix(path, "#"):
		add(strings.TrimLeft(path, "# "))
	case strings.HasPrefix(path, "."), strings.HasPrefix(path, "/"):
		add(path[1:])
	case strings.HasPrefix(path, "::"):
		add(path[2:])
	case strings.HasPrefix(path, "("):
		if recv, rest, ok := strings.Cut(path[1:], ")"); ok {
			add(strings.TrimLeft(recv, "*& ") + rest)
		}
	}
	for _, p := range slices.Clone(list) {
		word, rest, ok := strings.Cut(p, " ")
		if ok && slices.Contains(kindWords, word) {
			add(rest)
		}
	}
	for _, p := range slices.Clone(list) {
		if i := strings.IndexByte(p, '('); i > 0 && strings.HasSuffix(p, ")") {
			add(p[:i])
		}
	}
	return list
}

// finder collects the symbols that a path names.
type finder struct {
	whole       bool // the path is one name, without parents
	anywhere    bool // the path may start at any symbol
	unqualified bool // the first name may lack qualifiers
	locals      bool // the path may start at a local symbol
	loose       bool // headings match by their letters and digits alone

	found   []Match // at most MaxCandidates
	total   int
	parents []*symbol.Symbol
}

// find tries path from the symbols of one level, and if anywhere from those
// below.
func (f *finder) find(symbols []symbol.Symbol, path string) {
	var same counter
	for i := range symbols {
		s := &symbols[i]
		f.try(symbols, s, path, true, &same)
		if f.anywhere && len(s.Children) > 0 {
			f.parents = append(f.parents, s)
			f.find(s.Children, path)
			f.parents = f.parents[:len(f.parents)-1]
		}
	}
}

// try matches path from one of siblings. first says that the path starts here;
// same counts the siblings so far whose names path starts with.
func (f *finder) try(siblings []symbol.Symbol, s *symbol.Symbol, path string, first bool, same *counter) {
	rest, ok := f.consume(s, path, first)
	if !ok {
		return
	}
	hidden := first && f.anywhere && s.Local && !f.locals
	if rest == "" {
		if !hidden {
			f.add(s)
		}
		return
	}
	f.below(s, rest)
	n, after, ok := index(rest)
	if !ok {
		return
	}
	if same.add(s.Name) != n || hasElement(s, n) || !isRepeated(siblings, s.Name) {
		return
	}
	switch {
	case after != "":
		f.below(s, after)
	case !hidden:
		f.add(s)
	}
}

// counter counts names.
type counter struct{ names map[string]int }

func (c *counter) add(name string) int {
	if c.names == nil {
		c.names = map[string]int{}
	}
	c.names[name]++
	return c.names[name]
}

// isRepeated reports whether several siblings have the name.
func isRepeated(siblings []symbol.Symbol, name string) bool {
	n := 0
	for i := range siblings {
		if siblings[i].Name == name {
			if n++; n > 1 {
				return true
			}
		}
	}
	return false
}

// below matches the rest of a path against the children of s.
func (f *finder) below(s *symbol.Symbol, rest string) {
	if f.whole || len(s.Children) == 0 {
		return
	}
	f.parents = append(f.parents, s)
	var same counter
	for i := range s.Children {
		f.try(s.Children, &s.Children[i], strip(rest), false, &same)
	}
	f.parents = f.parents[:len(f.parents)-1]
}

func (f *finder) add(s *symbol.Symbol) {
	if f.total++; len(f.found) < MaxCandidates {
		f.found = append(f.found, Match{Symbol: s, Parents: slices.Clone(f.parents)})
	}
}

// consume returns what follows the name of s in path.
func (f *finder) consume(s *symbol.Symbol, path string, first bool) (rest string, ok bool) {
	if rest, ok := cutName(path, s.Name); ok {
		return rest, true
	}
	if key, rest, ok := quotedKey(path); ok && key == s.Name {
		return rest, true
	}
	if first && f.unqualified {
		for name := unqualified(s.Name); name != ""; name = unqualified(name) {
			if rest, ok := cutName(path, name); ok {
				return rest, true
			}
		}
	}
	if name := extended(s); name != "" {
		// The type itself is another symbol; this one only leads to its members.
		if rest, ok := cutName(path, name); ok && strip(rest) != rest {
			return rest, true
		}
	}
	if f.loose && isHeading(s.Kind) {
		head, rest, _ := strings.Cut(path, " > ")
		if key := letters(s.Name); key != "" && key == letters(head) {
			return rest, true
		}
	}
	return "", false
}

// extended returns the name of the type that a block adds members to, as
// Rust's "impl<T> Trait for Type<T>" and Swift's "extension Type" do, and "" for
// any other symbol.
func extended(s *symbol.Symbol) string {
	if s.Kind != symbol.Object {
		return ""
	}
	name, ok := strings.CutPrefix(s.Name, "extension ")
	if !ok {
		if name, ok = strings.CutPrefix(s.Name, "impl"); !ok {
			return ""
		}
		for depth := 0; name != "" && (depth > 0 || name[0] == '<'); name = name[1:] {
			switch name[0] {
			case '<':
				depth++
			case '>':
				depth--
			}
		}
		if i := strings.LastIndex(name, " for "); i >= 0 {
			name = name[i+len(" for "):]
		}
	}
	name = strings.TrimLeft(name, " &")
	if i := strings.IndexAny(name, "< :("); i >= 0 {
		name = name[:i]
	}
	return name
}

func isHeading(k symbol.Kind) bool { return k == symbol.Heading || k == symbol.Section }

// cutName cuts name off the start of path, if a name can end there.
func cutName(path, name string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, name)
	if !ok || name == "" {
		return "", false
	}
	return rest, rest == "" || rest[0] == '[' || strip(rest) != rest || name[len(name)-1] == ']'
}

var separators = []string{"::", "->", " > ", ".", "#", "/", ":", ">", "\\"}

// strip drops the separator that starts rest.
func strip(rest string) string {
	for _, sep := range separators {
		if after, ok := strings.CutPrefix(rest, sep); ok && after != "" {
			return after
		}
	}
	return rest
}

// unqualified drops the first qualifier of a name, "" if it has none.
func unqualified(name string) string {
	i := strings.IndexAny(name, ".:#")
	if i < 0 || i+1 == len(name) {
		return ""
	}
	return strings.TrimLeft(name[i:], ".:#")
}

// quotedKey reads ["key"] or ['key'] off the start of path.
func quotedKey(path string) (key, rest string, ok bool) {
	if len(path) < 4 || path[0] != '[' || path[1] != '"' && path[1] != '\'' {
		return "", "", false
	}
	end := strings.Index(path, path[1:2]+"]")
	for end >= 2 && path[end-1] == '\\' {
		next := strings.Index(path[end+1:], path[1:2]+"]")
		if next < 0 {
			return "", "", false
		}
		end += 1 + next
	}
	if end < 2 {
		return "", "", false
	}
	key = path[2:end]
	if unquoted, err := strconv.Unquote(`"` + key + `"`); err == nil && path[1] == '"' {
		key = unquoted
	}
	return key, path[end+2:], true
}

// index reads the number of an overload, [2] or #2, off the start of rest.
func index(rest string) (n int, after string, ok bool) {
	digits := ""
	switch {
	case strings.HasPrefix(rest, "["):
		digits, after, ok = strings.Cut(rest[1:], "]")
	case strings.HasPrefix(rest, "#"):
		digits, ok = rest[1:], true
		if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			digits, after = digits[:i], digits[i:]
		}
	}
	n, err := strconv.Atoi(digits)
	return n, after, ok && err == nil && n > 0
}

func hasElement(s *symbol.Symbol, n int) bool {
	name := "[" + strconv.Itoa(n) + "]"
	for i := range s.Children {
		if s.Children[i].Name == name {
			return true
		}
	}
	return false
}

// letters returns the letters and digits of s in lower case, as links to
// headings keep them.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !wordRune(r) || r == '_' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}
