package format

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"mapd/hashline"
	"mapd/outline/pattern"
	"mapd/outline/symbol"
)

// scanNotebook adds the cells of a Jupyter notebook: each is a section with its
// headings or definitions, at their lines in the file.
func scanNotebook(d *doc) {
	body := d.src[d.bom:]
	n := notebook{d: d, base: d.bom, language: notebookLanguage(body)}
	n.dec = jsontext.NewDecoder(bytes.NewBuffer(body), jsonOptions...)
	if !n.run() && !d.ended {
		d.broken(symbol.Segments)
	}
}

type notebook struct {
	d        *doc
	dec      *jsontext.Decoder
	base     int // offset of what dec reads
	language string
	cells    int
}

// notebookLanguage finds the language in the metadata, which usually stand
// after the cells.
func notebookLanguage(body []byte) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body), jsonOptions...)
	language := ""
	eachField(dec, func(key string) bool {
		if key != "metadata" {
			_, err := dec.ReadValue()
			return err == nil
		}
		return eachField(dec, func(key string) bool {
			if key != "kernelspec" && key != "language_info" {
				_, err := dec.ReadValue()
				return err == nil
			}
			return eachField(dec, func(key string) bool {
				raw, err := dec.ReadValue()
				if err == nil && (key == "language" || key == "name" && language == "") && raw[0] == '"' {
					language = strings.ToLower(unquoteJSON(raw))
				}
				return err == nil
			})
		})
	})
	if language == "ir" {
		language = "r"
	}
	return strings.TrimRight(language, "0123456789.")
}

// eachField reads an object and calls field for each key; field must read the
// value. Another value is skipped. It reports whether all went well.
func eachField(dec *jsontext.Decoder, field func(key string) bool) bool {
	if dec.PeekKind() != '{' {
		_, err := dec.ReadValue()
		return err == nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != '}' {
		raw, err := dec.ReadValue()
		if err != nil || !field(unquoteJSON(raw)) {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil
}

// eachElement is eachField for an array.
func eachElement(dec *jsontext.Decoder, element func() bool) bool {
	if dec.PeekKind() != '[' {
		_, err := dec.ReadValue()
		return err == nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != ']' {
		if !element() {
			return false
		}
	}
	_, err := dec.ReadToken()
	return err == nil
}

// unquoteJSON decodes a short string literal.
func unquoteJSON(raw []byte) string {
	if len(raw) > 4*MaxName {
		return ""
	}
	b, _ := jsontext.AppendUnquote(nil, raw)
	return string(b)
}

func (n *notebook) run() bool {
	return eachField(n.dec, func(key string) bool {
		switch key {
		case "cells":
			return eachElement(n.dec, n.cell)
		case "worksheets": // of old notebooks
			return eachElement(n.dec, func() bool {
				return eachField(n.dec, func(key string) bool {
					if key == "cells" {
						return eachElement(n.dec, n.cell)
					}
					_, err := n.dec.ReadValue()
					return err == nil
				})
			})
		}
		_, err := n.dec.ReadValue()
		return err == nil
	})
}

// cellSource is the text of a cell, with the line of the file for each of its
// lines.
type cellSource struct {
	text  []byte
	lines []int
}

func (n *notebook) cell() bool {
	if n.d.stopped() {
		return false
	}
	if n.dec.PeekKind() != '{' {
		_, err := n.dec.ReadValue()
		return err == nil
	}
	start := n.d.lines.at(n.base + skipToValue(n.dec))
	var kind, language string
	var source cellSource
	ok := eachField(n.dec, func(key string) bool {
		switch key {
		case "cell_type", "language":
			raw, err := n.dec.ReadValue()
			if err == nil && raw[0] == '"' {
				if s := unquoteJSON(raw); key == "language" {
					language = s
				} else {
					kind = s
				}
			}
			return err == nil
		case "source", "input":
			return n.source(&source)
		}
		_, err := n.dec.ReadValue()
		return err == nil
	})
	end := n.d.lines.at(n.base + max(int(n.dec.InputOffset())-1, 0))
	if language == "" {
		language = n.language
	}
	n.emit(kind, language, source, start, max(end, start))
	n.cells++
	return ok
}

// skipToValue returns the offset at which the value starts that was peeked at.
func skipToValue(dec *jsontext.Decoder) int {
	rest := dec.UnreadBuffer()
	blank := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n,:"))
	return int(dec.InputOffset()) + blank
}

// source reads a cell's text: a string, or an array with a string a line.
func (n *notebook) source(s *cellSource) bool {
	part := func() bool {
		raw, err := n.dec.ReadValue()
		if err != nil || raw[0] != '"' {
			return err == nil
		}
		line := n.d.lines.at(n.base + int(n.dec.InputOffset()) - len(raw))
		before := len(s.text)
		s.text, _ = jsontext.AppendUnquote(s.text, raw)
		if before == 0 || s.text[before-1] == '\n' {
			s.lines = append(s.lines, line)
		}
		for range bytes.Count(bytes.TrimSuffix(s.text[before:], []byte("\n")), []byte("\n")) {
			s.lines = append(s.lines, line)
		}
		return true
	}
	if n.dec.PeekKind() == '[' {
		return eachElement(n.dec, part)
	}
	return part()
}

// emit adds a cell with what its text defines.
func (n *notebook) emit(kind, language string, source cellSource, start, end int) {
	if kind == "heading" {
		kind = "markdown"
	}
	what := kind
	if kind == "code" && language != "" {
		what = language
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(source.text), []byte("\n"))
	n.d.tree.begin(symbol.Symbol{
		Name: "[" + strconv.Itoa(n.cells) + "]", Kind: symbol.Section, Start: start, NameLine: start,
		Signature: strings.TrimSpace(preview([]byte(what), MaxPreview) + " " + preview(first[:min(len(first), 4*MaxPreview)], MaxPreview)),
	})
	if !n.d.tree.full() {
		text := hashline.NewText(source.text)
		var list symbol.List
		switch {
		case text.Lines() == 0 || text.Lines() > len(source.lines):
		case kind == "markdown":
			inner := newDoc(n.d.ctx, text)
			scanMarkdown(inner)
			list = inner.list()
		case kind == "code" && pattern.Supports(language):
			list, _ = pattern.Scan(n.d.ctx, language, text)
		}
		n.add(list.Symbols, source.lines)
	}
	n.d.tree.end(end)
}

// add adds symbols of a cell, whose lines stand at the lines of the file.
func (n *notebook) add(symbols []symbol.Symbol, lines []int) {
	for _, s := range symbols {
		children := s.Children
		s.Children = nil
		s.Start, s.End = lines[s.Start-1], lines[s.End-1]
		if s.NameLine > 0 {
			s.NameLine = lines[s.NameLine-1]
		}
		if s.Lead > 0 {
			s.Lead = lines[s.Lead-1]
		}
		n.d.tree.begin(s)
		n.add(children, lines)
		n.d.tree.end(s.End)
	}
}
