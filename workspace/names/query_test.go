package names

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"mapd/outline/symbol"
)

func (c Class) String() string {
	return []string{"exact", "prefix", "humps", "inside", "words", "subsequence", "none"}[c]
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		query, name string
		want        Class
	}{
		{"NewServer", "NewServer", Exact},
		{"newserver", "NewServer", Exact},
		{"Newserver", "NewServer", Exact},
		{"NEWserver", "NewServer", None},
		{"News", "NewServer", Prefix},
		{"NS", "NewServer", Humps},
		{"NeSer", "NewServer", Humps},
		{"ns", "NewServer", Humps},
		{"gfn", "get_file_name", Humps},
		{"gn", "get_file_name", Humps},
		{"fn", "get_file_name", Words},
		{"serv", "NewServer", Inside},
		{"Serv", "NewServer", Inside},
		{"nwsrv", "NewServer", Words},
		{"wsrv", "NewServer", Subsequence},
		{"nrs", "NewServer", None},
		{"hs", "HTTPServer", Humps},
		{"https", "HTTPServer", Prefix},
		{"s2", "sha256sum", Humps},
		{"abcd", "abc_cd", Humps},
		{"new ser", "New server", Prefix},
		{"n s", "New server", None},
		{"Ä", "ärger", None},
		{"ä", "Ärger", Prefix},
		{"k", "\u212a", None}, // the Kelvin sign is no letter of ASCII
		{strings.Repeat("ab", 40), strings.Repeat("ab", 40), Exact},
		{strings.Repeat("ab", 40), strings.Repeat("AB", 41), Prefix},
		{strings.Repeat("ab", 40), "x" + strings.Repeat("ab", 40), Inside},
		{strings.Repeat("ab", 40), strings.Repeat("ab", 39), None},
	} {
		if got := newPattern(c.query, false).match(c.name); got != c.want {
			t.Errorf("%q in %q: %v, want %v", c.query, c.name, got, c.want)
		}
	}
	if got := newPattern("NEWserver", true).match("NewServer"); got != Exact {
		t.Errorf("with Fold case still matters: %v", got)
	}
}

// naive is Class by its definitions.
func naive(query, name []rune, fold bool) Class {
	same := func(q, n rune) bool {
		return q == n || unicode.ToLower(q) == unicode.ToLower(n) && (fold || !unicode.IsUpper(q))
	}
	piece := func(at int) bool {
		return at+len(query) <= len(name) && slices.EqualFunc(query, name[at:at+len(query)], same)
	}
	start := make([]bool, len(name))
	prev := other
	for i, r := range name {
		cur := caseOf(r)
		start[i] = starts(prev, cur, string(name[i+1:]))
		prev = cur
	}
	// walk tries to match query[q:] from name[n:], where ok says which step from
	// one matched character to the next is allowed.
	var walk func(q, n, last int, ok func(last, at int) bool) bool
	walk = func(q, n, last int, ok func(last, at int) bool) bool {
		if q == len(query) {
			return true
		}
		for at := n; at < len(name); at++ {
			if same(query[q], name[at]) && ok(last, at) && walk(q+1, at+1, at, ok) {
				return true
			}
		}
		return false
	}
	one := slices.ContainsFunc(query, unicode.IsSpace)
	inside := false
	for at := range name {
		inside = inside || piece(at)
	}
	switch {
	case piece(0) && len(query) == len(name):
		return Exact
	case piece(0):
		return Prefix
	case one && inside:
		return Inside
	case one:
		return None
	case walk(0, 0, -1, func(last, at int) bool { return last < 0 && at == 0 || last >= 0 && (at == last+1 || start[at]) }):
		return Humps
	case inside:
		return Inside
	case walk(0, 0, -1, func(last, at int) bool {
		return start[at] || last >= 0 && !slices.Contains(start[last+1:at+1], true)
	}):
		return Words
	case walk(0, 0, -1, func(int, int) bool { return true }):
		return Subsequence
	}
	return None
}

func TestClassesByDefinition(t *testing.T) {
	letters := rapid.SliceOfN(rapid.SampledFrom([]rune("aAbBcC1_. äÄ")), 1, 12)
	rapid.Check(t, func(t *rapid.T) {
		name := letters.Draw(t, "name")
		query := letters.Draw(t, "query")
		if rapid.Bool().Draw(t, "likely") { // letters of the name
			query = nil
			for _, r := range name {
				if rapid.Bool().Draw(t, "take") {
					query = append(query, r)
				}
			}
			if len(query) == 0 {
				return
			}
		}
		fold := rapid.Bool().Draw(t, "fold")
		want := naive(query, name, fold)
		p := newPattern(string(query), fold)
		if got := p.match(string(name)); got != want {
			t.Fatalf("%q in %q: %v, want %v", string(query), string(name), got, want)
		}
		if want != None && p.mask&^maskOf(string(name)) != 0 {
			t.Fatalf("the mask of %q keeps %q out", string(query), string(name))
		}
	})
}

func packed(t testing.TB) Names {
	t.Helper()
	method := func(name string) symbol.Symbol {
		return symbol.Symbol{Name: name, Kind: symbol.Method, Start: 2, End: 2}
	}
	return Pack(outlineOf(
		symbol.Symbol{Name: "Server", Kind: symbol.Class, Start: 1, End: 3, Children: []symbol.Symbol{method("stop"), method("Start")}},
		symbol.Symbol{Name: "Server.Stop", Kind: symbol.Method, Start: 4, End: 4},
		symbol.Symbol{Name: "Stop", Kind: symbol.Function, Start: 5, End: 5},
		symbol.Symbol{Name: "impl Closer for File", Kind: symbol.Object, Start: 6, End: 8, Children: []symbol.Symbol{method("stop")}},
		symbol.Symbol{Name: "1. Stop signs", Kind: symbol.Heading, Start: 9, End: 9},
	))
}

// found returns what a query finds as "name class", in order.
func found(n Names, query string, opt QueryOptions) []string {
	var out []string
	NewQuery(query, opt).Search(n, func(m Match) {
		text := fmt.Sprintf("%s %v %d", n.At(m.Index).Name, m.Class, m.Depth)
		if m.Fold {
			text += " fold"
		}
		out = append(out, text)
	})
	return out
}

func TestSearch(t *testing.T) {
	all := QueryOptions{Weakest: Subsequence}
	for _, c := range []struct {
		query string
		opt   QueryOptions
		want  []string
	}{
		{"Stop", all, []string{"Server.Stop exact 1", "Stop exact 0", "1. Stop signs prefix 1"}},
		{"stop", all, []string{"stop exact 1", "Server.Stop exact 1 fold", "Stop exact 0 fold", "stop exact 1", "1. Stop signs prefix 1"}},
		{"STOP", all, nil},
		{"STOP", QueryOptions{Fold: true, Weakest: Subsequence}, []string{"stop exact 1 fold", "Server.Stop exact 1 fold", "Stop exact 0 fold", "stop exact 1 fold", "1. Stop signs prefix 1"}},
		{"Server.stop", all, []string{"stop exact 1", "Server.Stop exact 1 fold"}},
		{"Server.Stop", all, []string{"Server.Stop exact 1"}},
		{"(*Server).Stop()", all, []string{"Server.Stop exact 1"}},
		{"Server::st", all, []string{"stop prefix 1", "Start prefix 1", "Server.Stop prefix 1"}},
		{"Se#stop", all, []string{"stop prefix 1", "Server.Stop prefix 1"}},
		{"File.stop", all, []string{"stop exact 1"}},
		{"Other.stop", all, nil},
		{"A.Server.stop", all, nil},
		{"stop", QueryOptions{Kinds: []symbol.Kind{symbol.Function, symbol.Class}, Weakest: Exact}, []string{"Stop exact 0 fold"}},
		{"stop signs", all, []string{"1. Stop signs exact 1 fold"}},
		{"tosignz", all, nil},
		{"st", QueryOptions{Weakest: Exact}, nil},
		{"", QueryOptions{Kinds: []symbol.Kind{symbol.Class, symbol.Function}, Weakest: Prefix}, []string{"Server prefix 0", "Stop prefix 0"}},
		{".", all, []string{"Server.Stop inside 1", "1. Stop signs inside 1"}},
	} {
		if got := found(packed(t), c.query, c.opt); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.query, got, c.want)
		}
	}
	if got := found(Names{}, "a", all); got != nil {
		t.Errorf("in no names: %q", got)
	}
}

func TestExpression(t *testing.T) {
	for _, c := range []struct {
		expr  string
		kinds []symbol.Kind
		want  []string
	}{
		{"^St", nil, []string{"Start prefix 1", "Server.Stop prefix 1", "Stop prefix 0", "1. Stop signs prefix 1"}},
		{"S[a-z]+p", nil, []string{"Server.Stop exact 1", "Stop exact 0", "1. Stop signs prefix 1"}},
		{"top", []symbol.Kind{symbol.Method}, []string{"stop inside 1", "Server.Stop inside 1", "stop inside 1"}},
		{`^Server\.S`, nil, []string{"Server.Stop prefix 1"}},
		{"nothing", nil, nil},
	} {
		var got []string
		n := packed(t)
		NewExpression(regexp.MustCompile(c.expr), c.kinds).Search(n, func(m Match) {
			got = append(got, fmt.Sprintf("%s %v %d", n.At(m.Index).Name, m.Class, m.Depth))
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
	}
}

func TestCaseMatters(t *testing.T) {
	for query, want := range map[string]bool{"stop": false, "Stop": true, "a.B": true, "1_": false} {
		if got := NewQuery(query, QueryOptions{}).CaseMatters(); got != want {
			t.Errorf("%q: %v", query, got)
		}
		if NewQuery(query, QueryOptions{Fold: true}).CaseMatters() {
			t.Errorf("%q with Fold", query)
		}
	}
}
