package format

import (
	"bytes"
	"strconv"
	"strings"

	"mapd/outline/symbol"
)

// scanINI reads sections and keys: "[section]", "key = value", "key: value".
// A line indented deeper than the key before it, or after a backslash at the
// end of a line, continues the value.
func scanINI(d *doc) {
	s := keyLines{d: d}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		s.ini(n, d.text.Line(n))
	}
	s.endKey()
	s.endSection()
}

// keyLines is the state of the formats with one key a line.
type keyLines struct {
	d         *doc
	inSection bool
	inKey     bool
	indent    int  // of the open key
	last      int  // last line with content
	more      bool // the line before ended in a backslash
}

func (s *keyLines) ini(n int, line []byte) {
	ink := bytes.TrimSpace(line)
	indent := len(line) - len(bytes.TrimLeft(line, " \t"))
	switch {
	case s.more:
		s.more = continued(line)
		s.last = n
	case len(ink) == 0 || ink[0] == ';' || ink[0] == '#':
	case ink[0] == '[' && bytes.LastIndexByte(ink, ']') > 0 && (indent == 0 || !s.inKey || indent <= s.indent):
		s.section(n, ink)
	case s.inKey && indent > s.indent:
		s.last = n
	default:
		key, value := ink, []byte(nil)
		if i := bytes.IndexAny(ink, "=:"); i >= 0 {
			key, value = bytes.TrimSpace(ink[:i]), ink[i+1:]
		}
		if len(key) == 0 {
			s.d.broken(symbol.Pattern)
			return
		}
		s.key(n, string(key[:min(len(key), 2*MaxName)]), value, nil)
		s.indent = indent
		s.more = continued(line)
	}
}

func (s *keyLines) section(n int, ink []byte) {
	s.endKey()
	s.endSection()
	name := string(bytes.TrimSpace(ink[1:bytes.LastIndexByte(ink, ']')]))
	s.d.tree.begin(symbol.Symbol{Name: name, Kind: symbol.Section, Start: n, NameLine: n})
	s.inSection, s.last = true, n
}

// key begins a key; value is shown in its signature.
func (s *keyLines) key(n int, name string, value []byte, modifiers []string) {
	s.endKey()
	sym := symbol.Symbol{Name: name, Kind: symbol.Key, Start: n, NameLine: n, Modifiers: modifiers}
	if !s.d.tree.full() {
		sym.Signature = preview(value[:min(len(value), 4*MaxPreview)], MaxPreview)
	}
	s.d.tree.begin(sym)
	s.inKey, s.last = true, n
}

func (s *keyLines) endKey() {
	if s.inKey {
		s.d.tree.end(s.last)
	}
	s.inKey = false
}

func (s *keyLines) endSection() {
	if s.inSection {
		s.d.tree.end(s.last)
	}
	s.inSection = false
}

// continued reports whether an odd number of backslashes ends the line.
func continued(line []byte) bool { return escaped(line, 0) }

// scanEnv reads "KEY=value" and "export KEY=value". Quoted values may span
// lines. Values are not shown: they tend to be secrets.
func scanEnv(d *doc) {
	s := keyLines{d: d}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		n = s.env(n)
	}
}

// env reads the line n and returns the last line of what starts there.
func (s *keyLines) env(n int) int {
	ink := bytes.TrimSpace(s.d.text.Line(n))
	if len(ink) == 0 || ink[0] == '#' {
		return n
	}
	var modifiers []string
	if rest, ok := bytes.CutPrefix(ink, []byte("export ")); ok {
		ink, modifiers = bytes.TrimLeft(rest, " \t"), []string{"export"}
	}
	key, value, ok := bytes.Cut(ink, []byte("="))
	key = bytes.TrimSpace(key)
	if !ok || len(key) == 0 || bytes.ContainsAny(key, " \t\"'") {
		s.d.broken(symbol.Pattern)
		return n
	}
	s.key(n, string(key[:min(len(key), 2*MaxName)]), nil, modifiers)
	s.last = s.envEnd(n, bytes.TrimSpace(value))
	s.endKey()
	return s.last
}

// envEnd returns the line on which the value that starts on line n ends. A
// quote that is not closed within maxEnvLines is no quote.
func (s *keyLines) envEnd(n int, value []byte) int {
	const maxEnvLines = 500
	if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return n
	}
	quote := value[0]
	if envQuoteEnd(value[1:], quote) {
		return n
	}
	for k := n + 1; k <= min(s.d.text.Lines(), n+maxEnvLines); k++ {
		if envQuoteEnd(s.d.text.Line(k), quote) {
			return k
		}
	}
	s.d.broken(symbol.Pattern)
	return n
}

// envQuoteEnd reports whether b holds the quote, not after a backslash in
// double quotes.
func envQuoteEnd(b []byte, quote byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && quote == '"' {
			i++
		} else if b[i] == quote {
			return true
		}
	}
	return false
}

// scanProperties reads the properties of Java: the key ends at the first "=",
// ":" or blank that no backslash precedes.
func scanProperties(d *doc) {
	s := keyLines{d: d}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		line := d.text.Line(n)
		ink := bytes.TrimLeft(line, " \t\f")
		switch {
		case s.more:
			s.last = n
		case len(ink) == 0 || ink[0] == '#' || ink[0] == '!':
			continue
		default:
			if s.endKey(); s.d.tree.full() {
				s.key(n, "", nil, nil)
				break
			}
			key, value := splitProperty(ink)
			s.key(n, key, value, nil)
		}
		s.more = continued(line)
	}
	s.endKey()
}

func splitProperty(b []byte) (key string, value []byte) {
	i := 0
	for i < len(b) && strings.IndexByte("=: \t\f", b[i]) < 0 {
		if b[i] == '\\' {
			i++
		}
		i++
	}
	i = min(i, len(b))
	value = bytes.TrimLeft(b[i:], " \t\f")
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = bytes.TrimLeft(value[1:], " \t\f")
	}
	return unescapeProperty(string(b[:min(i, 8*MaxName)])), value
}

func unescapeProperty(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if s[i] == 'u' && i+4 < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+5], 16, 32); err == nil {
				out.WriteRune(rune(r))
				i += 4
				continue
			}
		}
		if k := strings.IndexByte("tnrf", s[i]); k >= 0 {
			out.WriteByte("\t\n\r\f"[k])
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
