package config

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"mapd/outline"
)

const (
	maxWarnings = 100 // about one file
	maxKeys     = 8   // in a dotted name
)

// parser reads one file.
type parser struct {
	file   string
	text   []byte
	limits map[string]int64
	home   string            // user's file only
	fixed  func(string) bool // project's file only
	user   bool

	line     int // of the field that is read
	broken   bool
	seen     map[string]bool
	warnings []Warning
	out      Settings
}

func (p *parser) parse() (s Settings) {
	// A project's file may be anybody's work; a defect of the library must not end
	// the daemon.
	defer func() {
		if v := recover(); v != nil {
			p.fail(fmt.Sprint(v))
			s = p.out
		}
	}()
	p.text = bytes.TrimPrefix(p.text, []byte("\ufeff"))
	p.line, p.seen = 1, map[string]bool{}
	p.out = Settings{Languages: map[string]outline.Language{}, Limits: map[string]int64{}}
	var toml unstable.Parser
	toml.Reset(p.text)
	var table []string
	for toml.NextExpression() {
		e := toml.Expression()
		switch e.Kind {
		case unstable.Table:
			table = p.key(e)
			p.once(strings.Join(table, "."))
		case unstable.ArrayTable:
			table = []string{"[[" + strings.Join(p.key(e), ".") + "]]"} // none is known
		case unstable.KeyValue:
			p.pair(table, e)
		}
	}
	var syntax *unstable.ParserError
	if err := toml.Error(); errors.As(err, &syntax) {
		// The error names its place as a slice of the text.
		if at := cap(p.text) - cap(syntax.Highlight); syntax.Highlight != nil && at >= 0 && at <= len(p.text) {
			p.line = p.lineOf(at)
		}
		p.fail(syntax.Message)
	} else if err != nil {
		p.fail(err.Error())
	}
	return p.out
}

// fail notes that the file is no TOML from the line on.
func (p *parser) fail(why string) {
	p.broken = true
	p.warnings = append(p.warnings, Warning{p.file, p.line, "", why + "; nothing from this line on counts"})
}

func (p *parser) warn(name, reason string, args ...any) {
	if len(p.warnings) < maxWarnings {
		p.warnings = append(p.warnings, Warning{p.file, p.line, name, fmt.Sprintf(reason, args...)})
	}
}

func (p *parser) lineOf(offset int) int {
	return 1 + bytes.Count(p.text[:min(max(offset, 0), len(p.text))], []byte{'\n'})
}

// key returns the parts of the key of e, and notes its line.
func (p *parser) key(e *unstable.Node) (parts []string) {
	for it := e.Key(); it.Next(); {
		if len(parts) == 0 {
			p.line = p.lineOf(int(it.Node().Raw.Offset))
		}
		parts = append(parts, string(it.Node().Data))
	}
	return parts
}

// once reports whether name comes for the first time.
func (p *parser) once(name string) bool {
	if p.seen[name] {
		p.warn(name, "it stands in the file twice, the first counts")
		return false
	}
	p.seen[name] = true
	return true
}

// pair reads a key with its value, below a table.
func (p *parser) pair(table []string, e *unstable.Node) {
	keys := append(slices.Clone(table), p.key(e)...)
	if len(keys) > maxKeys {
		p.warn(strings.Join(keys[:maxKeys], "."), "there is no such field")
		return
	}
	v := e.Value()
	if v.Kind == unstable.InlineTable {
		for it := v.Children(); it.Next(); {
			p.pair(keys, it.Node())
		}
		return
	}
	name := strings.Join(keys, ".")
	if !p.once(name) {
		return
	}
	switch {
	case len(keys) == 2 && keys[0] == "limits":
		p.limit(name, keys[1], v)
	case len(keys) > 1 && keys[0] == "languages":
		p.language(name, strings.Join(keys[1:], "."), v) // a dot needs no quotes
	case name == "ignore":
		p.ignore(name, v)
	case !p.user && slices.Contains([]string{"roots", "log", "session", "color", "fsync"}, name):
		p.warn(name, "only the user's file may set it")
	case name == "roots":
		p.roots(name, v)
	case name == "log":
		p.choice(name, v, &p.out.Log, "info", "debug")
	case name == "color":
		p.choice(name, v, &p.out.Color, "auto", "always", "never")
	case name == "session":
		if p.isText(name, v) {
			p.out.Session = string(v.Data)
		}
	case name == "fsync":
		if v.Kind != unstable.Bool {
			p.warn(name, "want true or false")
			return
		}
		p.out.Fsync = map[bool]string{true: "1", false: "0"}[string(v.Data) == "true"]
	default:
		p.warn(name, "there is no such field")
	}
}

func (p *parser) isText(name string, v *unstable.Node) bool {
	if v.Kind != unstable.String || len(v.Data) == 0 || bytes.IndexByte(v.Data, 0) >= 0 {
		p.warn(name, "want a text in quotes")
		return false
	}
	return true
}

func (p *parser) choice(name string, v *unstable.Node, to *string, choices ...string) {
	if v.Kind != unstable.String || !slices.Contains(choices, string(v.Data)) {
		p.warn(name, "want one of %q", choices)
		return
	}
	*to = string(v.Data)
}

// texts calls each for the texts of an array, with p.line at their lines. Other
// elements are left out.
func (p *parser) texts(name string, v *unstable.Node, each func(text string)) {
	if v.Kind != unstable.Array {
		p.warn(name, "want a list of texts, as in [\"a\", \"b\"]")
		return
	}
	for it := v.Children(); it.Next(); {
		n := it.Node()
		if n.Raw.Length > 0 {
			p.line = p.lineOf(int(n.Raw.Offset))
		}
		if p.isText(name, n) {
			each(string(n.Data))
		}
	}
}

func (p *parser) ignore(name string, v *unstable.Node) {
	p.texts(name, v, func(pattern string) {
		switch {
		case strings.HasPrefix(pattern, "!"):
			p.warn(name, "%q takes nothing away: write it into .ignore", pattern)
		case strings.ContainsAny(pattern, "\n\r"):
			p.warn(name, "%q is more than one line", pattern)
		default:
			p.out.Ignore = append(p.out.Ignore, pattern)
		}
	})
}

// roots are a fence, so an entry that cannot be understood leaves the fence up.
func (p *parser) roots(name string, v *unstable.Node) {
	line := p.line
	p.texts(name, v, func(dir string) {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok || dir == "~" {
			dir = filepath.Join(p.home, strings.TrimPrefix(rest, "~"))
		}
		if !filepath.IsAbs(dir) {
			p.warn(name, "%q is no absolute path", dir)
			return
		}
		p.out.Roots = append(p.out.Roots, filepath.Clean(dir))
	})
	if len(p.out.Roots) == 0 {
		p.warnings = append(p.warnings, Warning{p.file, line, "", "no directory is left in roots, so none is allowed until that is mended"})
		p.out.Roots = []string{nowhere}
	}
}

func (p *parser) language(name, key string, v *unstable.Node) {
	if !p.isText(name, v) {
		return
	}
	lang, ok := outline.ParseLanguage(string(v.Data))
	key = strings.ToLower(strings.TrimPrefix(key, "."))
	switch {
	case !ok:
		p.warn(name, "no language is called %q", v.Data)
	case key == "" || strings.ContainsAny(key, "/\x00"):
		p.warn(name, "want the extension or the name of a file before the =")
	default:
		p.out.Languages[key] = lang
	}
}

func (p *parser) limit(name, key string, v *unstable.Node) {
	now, known := p.limits[key]
	n, err := strconv.ParseInt(strings.ReplaceAll(string(v.Data), "_", ""), 0, 64)
	switch {
	case !known:
		p.warn(name, "there is no such limit; mapd status --json lists them")
	case v.Kind != unstable.Integer || err != nil || n < 1:
		p.warn(name, "want a positive whole number")
	case p.user:
		p.out.Limits[key] = n
	case !slices.Contains(Lowerable, key):
		p.warn(name, "a project may only lower %s", strings.Join(Lowerable, ", "))
	case n > now:
		p.warn(name, "a project may only lower it, and it is %d", now)
	case !p.fixed(key):
		p.out.Limits[key] = n
	}
}
