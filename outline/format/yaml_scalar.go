package format

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"mapd/outline/symbol"
)

// value reads what follows a key, a dash or a document mark. indent is the
// column of the collection that holds it; s is the symbol to describe, or nil.
func (y *yaml) value(b []byte, n, indent int, s *symbol.Symbol) {
	b = bytes.TrimLeft(b, " \t")
	props, b := yamlProperties(b)
	if s != nil && len(props) > 0 {
		s.Modifiers = append(s.Modifiers, props...)
	}
	if len(b) == 0 || b[0] == '#' {
		return
	}
	y.indent = indent
	switch c := b[0]; {
	case c == '|' || c == '>':
		if len(bytes.Trim(dropComment(b[1:]), "+-123456789")) > 0 {
			y.bad = true
			return
		}
		y.mode, y.first = yamlText, true
		if i := bytes.IndexAny(b[1:min(len(b), 3)], "123456789"); i >= 0 {
			y.indent, y.first = max(indent, 0)+int(b[1+i]-'0')-1, false
		}
		y.d.pool.describe(s, "text", nil)
	case c == '"' || c == '\'':
		end := quoteEnd(b, 1, c)
		switch {
		case end >= 0:
			b = b[:end]
		case y.short:
			y.bad = true
		default:
			y.mode, y.quote = yamlQuoted, c
		}
		y.scalar(s, "string", b)
	case c == '{' || c == '[':
		y.startFlow(b, n)
	case c == '*':
		y.d.pool.describe(s, "alias", dropComment(b))
	default:
		y.mode = yamlPlain
		text := dropComment(b)
		y.scalar(s, plainType(text), text)
	}
}

// scalar describes s and remembers what names an element or a resource.
func (y *yaml) scalar(s *symbol.Symbol, typ string, text []byte) {
	y.d.pool.describe(s, typ, text)
	if len(y.boxes) == 0 {
		return
	}
	top := &y.boxes[len(y.boxes)-1]
	switch key := string(top.key); {
	case top.seq:
	case key == "kind" && len(y.boxes) == 1:
		y.kind = keyText(text)
	case key == "name" && len(y.boxes) == 2 && string(y.boxes[0].key) == "metadata":
		y.name = keyText(text)
	}
	if !top.seq && s != nil && (string(top.key) == "name" || string(top.key) == "id" && top.label == "") {
		top.label = string(top.key) + ": " + preview(text, 40)
	}
}

// plainType guesses what a plain scalar is, as YAML 1.2 does.
func plainType(b []byte) string {
	switch string(b[:min(len(b), 6)]) {
	case "~", "null", "Null", "NULL":
		return "null"
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return "boolean"
	}
	if len(b) == 0 || len(b) > 32 || strings.IndexByte("+-.0123456789", b[0]) < 0 {
		return "string"
	}
	if _, err := strconv.ParseInt(string(b), 0, 64); err == nil {
		return "number"
	}
	if _, err := strconv.ParseFloat(string(b), 64); err == nil {
		return "number"
	}
	return "string"
}

// yamlProperties reads the anchor and the tag before a node.
func yamlProperties(b []byte) (props []string, rest []byte) {
	for range 2 {
		if len(b) < 2 || b[0] != '&' && b[0] != '!' {
			break
		}
		end := 1
		for end < len(b) && b[end] != ' ' && b[end] != '\t' && (b[0] == '!' || bareKey[b[end]]) {
			end++
		}
		props = append(props, cutName(string(b[:end])))
		b = bytes.TrimLeft(b[end:], " \t")
	}
	return props, b
}

// yamlKey reads "key:" off the start of b; key is as written. It is followed by a blank or the
// end of the line.
func yamlKey(b []byte) (key, value []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	if q := b[0]; q == '"' || q == '\'' {
		end := quoteEnd(b, 1, q)
		if end < 0 {
			return nil, nil, false
		}
		after := bytes.TrimLeft(b[end:], " \t")
		if len(after) == 0 || after[0] != ':' || len(after) > 1 && after[1] != ' ' && after[1] != '\t' {
			return nil, nil, false
		}
		return b[:end], after[1:], true
	}
	if strings.IndexByte("[{#|>@`%,]}", b[0]) >= 0 {
		return nil, nil, false
	}
	for i := 0; ; i++ {
		k := bytes.IndexAny(b[i:], ":#")
		if k < 0 {
			return nil, nil, false
		}
		i += k
		blankAfter := i+1 == len(b) || b[i+1] == ' ' || b[i+1] == '\t'
		switch {
		case b[i] == '#' && i > 0 && (b[i-1] == ' ' || b[i-1] == '\t'):
			return nil, nil, false
		case b[i] == ':' && blankAfter:
			return bytes.TrimRight(b[:i], " \t"), b[i+1:], true
		}
	}
}

// keyText decodes a key or short scalar: quotes are taken off.
func keyText(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return ""
	}
	quote := b[0]
	if quote != '"' && quote != '\'' {
		return string(b[:min(len(b), 2*MaxName)])
	}
	end := quoteEnd(b, 1, quote)
	if end < 0 {
		end = len(b) + 1
	}
	inner := string(b[1:min(end-1, 8*MaxName)])
	if quote == '\'' {
		return strings.ReplaceAll(inner, "''", "'")
	}
	return unescapeYAML(inner)
}

// unescapeYAML decodes the escapes of a double-quoted scalar.
func unescapeYAML(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out.WriteByte(s[i])
			continue
		}
		i++
		if digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]]; digits > 0 && i+digits < len(s) {
			if r, err := strconv.ParseUint(s[i+1:i+1+digits], 16, 32); err == nil && r <= utf8.MaxRune {
				out.WriteRune(rune(r))
				i += digits
				continue
			}
		}
		if k := strings.IndexByte("0abtnvfre", s[i]); k >= 0 {
			out.WriteByte("\x00\a\b\t\n\v\f\r\x1b"[k])
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

// quoteEnd returns the offset after the closing quote at or after from, -1 if
// there is none.
func quoteEnd(b []byte, from int, quote byte) int {
	for i := from; i < len(b); i++ {
		switch {
		case b[i] == '\\' && quote == '"':
			i++
		case b[i] != quote:
		case quote == '\'' && i+1 < len(b) && b[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return -1
}

// dropComment returns b without blanks at its ends and without a comment, which
// a blank must precede.
func dropComment(b []byte) []byte {
	for i := 0; ; i++ {
		k := bytes.IndexByte(b[i:], '#')
		if k < 0 {
			return bytes.TrimSpace(b)
		}
		i += k
		if i == 0 || b[i-1] == ' ' || b[i-1] == '\t' {
			return bytes.TrimSpace(b[:i])
		}
	}
}
