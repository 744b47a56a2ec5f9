package rpc

import (
	"bytes"
	"context"
	"unicode"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/rpc/buffers"
)

// documentSymbol answers textDocument/documentSymbol: nested symbols, or flat
// ones for a client that knows no others.
func (s *Session) documentSymbol(ctx context.Context, docs *buffers.Set, p documentParams) (any, error) {
	d, o, err := s.outlinedDocument(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if s.hierarchical {
		return (&namer{locator: d.locator}).nested(o.Symbols), nil
	}
	return (&namer{locator: d.locator}).flat(o.Symbols, d.uri), nil
}

// outlinedDocument returns the document that a request is about, with its
// outline.
func (s *Session) outlinedDocument(ctx context.Context, docs *buffers.Set, uri string) (*document, *outline.Outline, error) {
	d, err := s.document(ctx, docs, uri)
	if err != nil {
		return nil, nil, err
	}
	o, err := s.outline(ctx, d.outlined)
	return d, o, err
}

// namer says of symbols, in line order, where they are and where their names
// stand.
type namer struct {
	*locator
	found int // just past the name that was found last
}

func (l *namer) nested(symbols []symbol.Symbol) []protocol.DocumentSymbol {
	out := make([]protocol.DocumentSymbol, 0, len(symbols))
	for i := range symbols {
		s := &symbols[i]
		d := protocol.DocumentSymbol{
			Name:           symbolName(s),
			Kind:           symbolKind(s.Kind),
			Range:          l.lines(s.Start, s.End),
			SelectionRange: l.name(s),
		}
		if s.Signature != "" {
			d.Detail = &s.Signature
		}
		if len(s.Children) > 0 {
			d.Children = l.nested(s.Children)
		}
		out = append(out, d)
	}
	return out
}

func (l *namer) flat(symbols []symbol.Symbol, documentURI string) []protocol.SymbolInformation {
	out := []protocol.SymbolInformation{}
	var containers []string
	symbol.Walk(symbols, func(s *symbol.Symbol, depth int) bool {
		containers = append(containers[:depth], symbolName(s))
		info := protocol.SymbolInformation{BaseSymbolInformation: protocol.BaseSymbolInformation{
			Name: symbolName(s),
			Kind: symbolKind(s.Kind),
		}}
		info.Location.URI = uri.URI(documentURI)
		info.Location.Range = l.lines(s.Start, s.End)
		if depth > 0 {
			container := containers[depth-1]
			info.ContainerName = &container
		}
		out = append(out, info)
		return true
	})
	return out
}

// nameWindow is how many bytes of a line are searched for a name.
const nameWindow = 4 << 10

// name returns where the symbol's name stands, or the content of its first
// line if the name is not found there. Of several symbols in one line each is
// looked for behind the one before.
func (l *namer) name(s *symbol.Symbol) protocol.Range {
	n := s.NameLine
	if n < s.Start || n > s.End {
		n = s.Start
	}
	from, _ := l.text.Span(n)
	line := l.text.Line(n)
	word := []byte(s.Name[lastWord(s.Name):])
	begin := 0
	if l.found > from && l.found < from+len(line) {
		begin = l.found - from
	}
	at := indexWord(line[begin:min(len(line), begin+nameWindow)], word)
	if at < 0 && begin > 0 && begin < nameWindow {
		begin = 0
		at = indexWord(line[:min(len(line), nameWindow)], word)
	}
	if at < 0 {
		return l.lines(n, n)
	}
	l.found = from + begin + at + len(word)
	return protocol.Range{Start: l.at(l.found - len(word)), End: l.at(l.found)}
}

// indexWord returns where word stands in line and is no part of a longer word,
// else where it stands at all, else -1.
func indexWord(line, word []byte) int {
	if len(word) == 0 {
		return -1
	}
	head, _ := utf8.DecodeRune(word)
	tail, _ := utf8.DecodeLastRune(word)
	first := -1
	for at := 0; ; at++ {
		i := bytes.Index(line[at:], word)
		if i < 0 {
			return first
		}
		at += i
		if first < 0 {
			first = at
		}
		before, _ := utf8.DecodeLastRune(line[:at])
		after, _ := utf8.DecodeRune(line[at+len(word):])
		if !(isWord(before) && isWord(head)) && !(isWord(after) && isWord(tail)) {
			return at
		}
	}
}

// isWord reports whether r is part of a word. utf8.RuneError, which stands for
// the end of a line, is not.
func isWord(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// lastWord returns where the last part of a dotted name starts: a Go method is
// named Type.Method, and only Method stands in its own line.
func lastWord(name string) int {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' || name[i] == ':' || name[i] == '#' {
			return i + 1
		}
	}
	return 0
}

// symbolName returns a name that LSP allows: one that is not blank.
func symbolName(s *symbol.Symbol) string {
	if len(bytes.TrimSpace([]byte(s.Name))) == 0 {
		return "(unnamed)"
	}
	return s.Name
}

// lspKinds maps the kinds that LSP knows; those of data and documents get the
// nearest.
var lspKinds = map[symbol.Kind]protocol.SymbolKind{
	symbol.File: protocol.SymbolKindFile, symbol.Module: protocol.SymbolKindModule,
	symbol.Namespace: protocol.SymbolKindNamespace, symbol.Package: protocol.SymbolKindPackage,
	symbol.Class: protocol.SymbolKindClass, symbol.Method: protocol.SymbolKindMethod,
	symbol.Property: protocol.SymbolKindProperty, symbol.Field: protocol.SymbolKindField,
	symbol.Constructor: protocol.SymbolKindConstructor, symbol.Enum: protocol.SymbolKindEnum,
	symbol.Interface: protocol.SymbolKindInterface, symbol.Function: protocol.SymbolKindFunction,
	symbol.Variable: protocol.SymbolKindVariable, symbol.Constant: protocol.SymbolKindConstant,
	symbol.String: protocol.SymbolKindString, symbol.Number: protocol.SymbolKindNumber,
	symbol.Boolean: protocol.SymbolKindBoolean, symbol.Array: protocol.SymbolKindArray,
	symbol.Object: protocol.SymbolKindObject, symbol.Key: protocol.SymbolKindKey,
	symbol.Null: protocol.SymbolKindNull, symbol.EnumMember: protocol.SymbolKindEnumMember,
	symbol.Struct: protocol.SymbolKindStruct, symbol.Event: protocol.SymbolKindEvent,
	symbol.Operator: protocol.SymbolKindOperator, symbol.TypeParameter: protocol.SymbolKindTypeParameter,

	symbol.Heading: protocol.SymbolKindString, symbol.Section: protocol.SymbolKindNamespace,
	symbol.Table: protocol.SymbolKindStruct, symbol.View: protocol.SymbolKindInterface,
	symbol.Column: protocol.SymbolKindField, symbol.Record: protocol.SymbolKindObject,
}

func symbolKind(k symbol.Kind) protocol.SymbolKind {
	if kind, ok := lspKinds[k]; ok {
		return kind
	}
	return protocol.SymbolKindVariable
}
