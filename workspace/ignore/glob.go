package ignore

import "strings"

// A glob is a compiled pattern of git's wildmatch. Its tokens are run as a
// nondeterministic automaton, so that no pattern takes more time than its
// length times the length of the text.
type glob struct {
	prefix string // literal start, compared first
	tokens []token
	never  bool // malformed: matches nothing
	fold   bool // ignore the case of ASCII letters
}

type tokenKind uint8

const (
	oneByte  tokenKind = iota // one byte of set
	inName                    // any bytes but slashes: *
	anyBytes                  // any bytes: ** that stands alone
	anyDirs                   // nothing, or any bytes up to and with a slash: **/
)

type token struct {
	kind tokenKind
	set  *byteSet
}

// byteSet is a set of bytes.
type byteSet [256]bool

// compile compiles pattern. With path a slash is matched only by a slash and by
// "**"; without, the text is a single name, and all stars are alike.
func compile(pattern string, path, fold bool) glob {
	c := compiler{path: path, fold: fold}
	n := literalLen(pattern)
	g := glob{prefix: pattern[:n], fold: fold}
	// Git compares the literal start separately, and what follows is a pattern
	// of its own: "**" after it stands at a start.
	g.never = !c.compile(pattern[n:])
	g.tokens = c.tokens
	return g
}

// literalLen returns the length of the start of pattern without special bytes.
func literalLen(pattern string) int {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return i
	}
	return len(pattern)
}

type compiler struct {
	path, fold bool
	tokens     []token
}

// compile appends the tokens of p and reports whether p is well formed.
func (c *compiler) compile(p string) bool {
	for i := 0; i < len(p); {
		switch p[i] {
		case '*':
			i = c.stars(p, i)
		case '?':
			c.any()
			i++
		case '[':
			set, next, ok := c.bracket(p, i+1)
			if !ok {
				return false
			}
			c.tokens = append(c.tokens, token{oneByte, set})
			i = next
		case '\\':
			if i++; i == len(p) {
				return false
			}
			fallthrough
		default:
			c.literal(p[i])
			i++
		}
	}
	return true
}

// stars compiles the run of stars at i and returns what follows it.
func (c *compiler) stars(p string, i int) int {
	end := i
	for end < len(p) && p[end] == '*' {
		end++
	}
	kind := inName
	if !c.path {
		kind = anyBytes
	} else if end-i >= 2 && (i == 0 || p[i-1] == '/') {
		rest := p[end:]
		switch {
		case strings.HasPrefix(rest, "/"):
			kind = anyDirs
			end++
		case rest == "", strings.HasPrefix(rest, `\/`):
			kind = anyBytes
		}
	}
	c.tokens = append(c.tokens, token{kind: kind})
	return end
}

func (c *compiler) any() {
	set := new(byteSet)
	for b := range set {
		set[b] = !c.path || b != '/'
	}
	c.tokens = append(c.tokens, token{oneByte, set})
}

func (c *compiler) literal(b byte) {
	set := new(byteSet)
	set[c.folded(b)] = true
	c.tokens = append(c.tokens, token{oneByte, set})
}

func (c *compiler) folded(b byte) byte {
	if c.fold {
		return lower(b)
	}
	return b
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// bracket compiles the set that starts after the "[" before i.
func (c *compiler) bracket(p string, i int) (set *byteSet, next int, ok bool) {
	set = new(byteSet)
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	prev := -1 // the byte that a range may start with
	for first := true; ; first = false {
		if i >= len(p) {
			return nil, 0, false
		}
		b := p[i]
		switch {
		case b == ']' && !first:
			c.finish(set, negated)
			return set, i + 1, true
		case b == '\\':
			if i++; i == len(p) {
				return nil, 0, false
			}
			set[p[i]] = true
			prev = int(p[i])
			i++
		case b == '-' && prev >= 0 && i+1 < len(p) && p[i+1] != ']':
			if i++; p[i] == '\\' {
				if i++; i == len(p) {
					return nil, 0, false
				}
			}
			c.addRange(set, prev, int(p[i]))
			prev = -1
			i++
		case b == '[' && i+1 < len(p) && p[i+1] == ':':
			end := strings.IndexByte(p[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name := p[i+2 : i+2+end]
			if !strings.HasSuffix(name, ":") {
				set['['] = true
				prev = '['
				i++
				continue
			}
			class := classes[strings.TrimSuffix(name, ":")]
			if class == nil {
				return nil, 0, false
			}
			for x := range 256 {
				if class(byte(x)) || c.fold && strings.HasPrefix(name, "upper") && 'a' <= x && x <= 'z' {
					set[x] = true
				}
			}
			prev = -1
			i += 2 + end + 1
		default:
			set[b] = true
			prev = int(b)
			i++
		}
	}
}

// addRange adds from to to. When case is ignored the text is in lower case,
// and a letter is in the range if either form of it is.
func (c *compiler) addRange(set *byteSet, from, to int) {
	for x := from; x <= to; x++ {
		set[x] = true
		if c.fold {
			set[lower(byte(x))] = true
		}
	}
}

func (c *compiler) finish(set *byteSet, negated bool) {
	for x := range set {
		set[x] = set[x] != negated
	}
	if c.path {
		set['/'] = false
	}
}

func between(lo, hi byte) func(byte) bool { return func(b byte) bool { return lo <= b && b <= hi } }

func isAlpha(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }
func isDigit(b byte) bool { return '0' <= b && b <= '9' }
func isGraph(b byte) bool { return '!' <= b && b <= '~' }

// classes are the named classes of a bracket, in ASCII.
var classes = map[string]func(byte) bool{
	"alnum":  func(b byte) bool { return isAlpha(b) || isDigit(b) },
	"alpha":  isAlpha,
	"blank":  func(b byte) bool { return b == ' ' || b == '\t' },
	"cntrl":  func(b byte) bool { return b < ' ' || b == 0x7f },
	"digit":  isDigit,
	"graph":  isGraph,
	"lower":  between('a', 'z'),
	"print":  between(' ', '~'),
	"punct":  func(b byte) bool { return isGraph(b) && !isAlpha(b) && !isDigit(b) },
	"space":  func(b byte) bool { return b == ' ' || '\t' <= b && b <= '\r' },
	"upper":  between('A', 'Z'),
	"xdigit": func(b byte) bool { return isDigit(b) || 'a' <= lower(b) && lower(b) <= 'f' },
}

// match reports whether g matches all of text.
func (g *glob) match(text string) bool {
	if g.never || len(text) < len(g.prefix) {
		return false
	}
	head, rest := text[:len(g.prefix)], text[len(g.prefix):]
	if head != g.prefix && !(g.fold && strings.EqualFold(head, g.prefix) && equalFoldASCII(head, g.prefix)) {
		return false
	}
	if len(g.tokens) == 0 {
		return rest == ""
	}
	return g.run(rest)
}

func equalFoldASCII(a, b string) bool {
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// run runs the automaton. State i means that the tokens before i have matched.
func (g *glob) run(text string) bool {
	var space [2][64]bool
	now, next := space[0][:], space[1][:]
	if n := len(g.tokens) + 1; n > len(now) {
		both := make([]bool, 2*n)
		now, next = both[:n], both[n:]
	}
	now = now[:len(g.tokens)+1]
	next = next[:len(g.tokens)+1]
	g.enter(now, 0)
	for i := range len(text) {
		b := text[i]
		if g.fold {
			b = lower(b)
		}
		clear(next)
		alive := false
		for s, on := range now[:len(g.tokens)] {
			if !on {
				continue
			}
			switch t := g.tokens[s]; {
			case t.kind == oneByte && t.set[b]:
				g.enter(next, s+1)
			case t.kind == inName && b != '/', t.kind == anyBytes:
				g.enter(next, s)
			case t.kind == anyDirs:
				next[s] = true // inside a name that anyDirs must end
				if b == '/' {
					g.enter(next, s+1)
				}
			default:
				continue
			}
			alive = true
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
	return now[len(g.tokens)]
}

// enter adds state s and all states that are reached from it without a byte.
func (g *glob) enter(states []bool, s int) {
	for {
		states[s] = true
		if s == len(g.tokens) || g.tokens[s].kind == oneByte {
			return
		}
		s++
	}
}
