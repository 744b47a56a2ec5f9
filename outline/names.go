package outline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// pathTo returns the canonical path of a match.
func (o *Outline) pathTo(m Match) string {
	path, siblings := "", o.Symbols
	step := func(s *symbol.Symbol) {
		same, at := 0, 0
		for i := range siblings {
			if siblings[i].Name == s.Name {
				same++
			}
			if &siblings[i] == s {
				at = same
			}
		}
		path = join(path, s, at, same)
		siblings = s.Children
	}
	for _, s := range m.Parents {
		step(s)
	}
	step(m.Symbol)
	return path
}

// join appends the name of s to the path of its parent, and its number if s is
// not the only sibling of its name.
func join(parent string, s *symbol.Symbol, number, same int) string {
	switch {
	case parent == "":
		parent = s.Name
	case isHeading(s.Kind):
		parent += " > " + s.Name
	case strings.HasPrefix(s.Name, "["):
		parent += s.Name
	case isData(s.Kind) && strings.ContainsAny(s.Name, `.[]#"`):
		parent += "[" + strconv.Quote(s.Name) + "]"
	default:
		parent += "." + s.Name
	}
	if same > 1 {
		parent += "[" + strconv.Itoa(number) + "]"
	}
	return parent
}

// nearest returns the paths of at most MaxNearest symbols whose names are like
// the last name of path, the likest first.
func (o *Outline) nearest(path string) []string {
	const longest = 64 // of a name that is compared letter by letter
	want := strings.ToLower(lastName(path))
	if want == "" || len(want) > longest {
		return nil
	}
	type near struct {
		match    Match
		distance int
	}
	var best []near
	worst := 1 + utf8.RuneCountInString(want)/3
	n := nearness{want: []rune(want), budget: 20_000}
	var parents []*symbol.Symbol
	symbol.Walk(o.Symbols, func(s *symbol.Symbol, depth int) bool {
		parents = append(parents[:depth], s)
		if len(s.Name) > 4*longest {
			return true
		}
		d := n.distance(strings.ToLower(lastName(s.Name)), worst)
		if d > worst {
			return true
		}
		at, _ := slices.BinarySearchFunc(best, d, func(b near, d int) int { return cmp.Compare(b.distance, d+1) })
		best = slices.Insert(best, at, near{Match{Symbol: s, Parents: slices.Clone(parents[:depth])}, d})
		if len(best) > MaxNearest {
			best = best[:MaxNearest]
		}
		if len(best) == MaxNearest {
			worst = best[MaxNearest-1].distance - 1
		}
		return worst >= 0
	})
	var paths []string
	for _, b := range best {
		if path := o.pathTo(b.match); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// lastName returns the last name of a path without the number of an overload.
func lastName(path string) string {
	path = strings.TrimRight(path, " ")
	if i := strings.LastIndexByte(path, '['); i > 0 && strings.HasSuffix(path, "]") {
		path = path[:i]
	}
	if i := strings.LastIndexAny(path, ".:#/>\\"); i >= 0 && i+1 < len(path) {
		path = path[i+1:]
	}
	return strings.TrimSpace(path)
}

// nearness measures how like names are to one name.
type nearness struct {
	want   []rune
	budget int // names still compared letter by letter
	row    []int
}

// distance returns 0 for equal names, 1 if one is part of the other, and
// otherwise one more than the number of letters to change, add or drop. What is
// more than limit is not exact.
func (n *nearness) distance(name string, limit int) int {
	want := string(n.want)
	if name == want {
		return 0
	}
	if len(want) > 2 && len(name) > 2 && (strings.Contains(name, want) || strings.Contains(want, name)) {
		return 1
	}
	runes := []rune(name)
	if abs(len(runes)-len(n.want)) >= limit || n.budget <= 0 {
		return limit + 1
	}
	n.budget--
	return 1 + n.edits(runes)
}

// edits is the edit distance from the wanted name.
func (n *nearness) edits(name []rune) int {
	n.row = n.row[:0]
	for i := range len(n.want) + 1 {
		n.row = append(n.row, i)
	}
	for i, r := range name {
		diagonal := n.row[0]
		n.row[0] = i + 1
		for j, w := range n.want {
			cost := diagonal
			if r != w {
				cost++
			}
			diagonal = n.row[j+1]
			n.row[j+1] = min(cost, n.row[j]+1, diagonal+1)
		}
	}
	return n.row[len(n.want)]
}

func abs(n int) int { return max(n, -n) }
