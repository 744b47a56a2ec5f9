package rpc

import (
	"bytes"
	"context"
	"unicode/utf16"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mapd/hashline"
	"mapd/outline/symbol"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// documentSymbolParams is what of LSP's DocumentSymbolParams is used.
type documentSymbolParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
}

// documentSymbol answers textDocument/documentSymbol: nested symbols, or flat
// ones for a client that knows no others.
func (s *Session) documentSymbol(ctx context.Context, p documentSymbolParams) (any, error) {
	name, err := uriPath(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	v, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if v.Binary() {
		return nil, wire.Errorf(wire.BinaryFile, "%s is binary (%s) and has no symbols", quotePath(v.Name()), v.MIME()).With("mimeType", v.MIME())
	}
	o, err := s.outline(ctx, v)
	if err != nil {
		return nil, err
	}
	l := locator{text: v.Text(), encoding: s.encoding}
	if s.hierarchical {
		return l.nested(o.Symbols), nil
	}
	return l.flat(o.Symbols, v), nil
}

// locator turns lines of a text into positions of LSP: 0-based lines, and
// columns in the negotiated encoding.
type locator struct {
	text     *hashline.Text
	encoding string
}

func (l locator) nested(symbols []symbol.Symbol) []protocol.DocumentSymbol {
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

func (l locator) flat(symbols []symbol.Symbol, v *workspace.Version) []protocol.SymbolInformation {
	out := []protocol.SymbolInformation{}
	var containers []string
	symbol.Walk(symbols, func(s *symbol.Symbol, depth int) bool {
		containers = append(containers[:depth], symbolName(s))
		info := protocol.SymbolInformation{BaseSymbolInformation: protocol.BaseSymbolInformation{
			Name: symbolName(s),
			Kind: symbolKind(s.Kind),
		}}
		info.Location.URI = uri.URI(fileURI(v.Path()))
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

// lines returns the whole lines from start to end without the last terminator.
func (l locator) lines(start, end int) protocol.Range {
	return protocol.Range{
		Start: protocol.Position{Line: uint32(start - 1)},
		End:   protocol.Position{Line: uint32(end - 1), Character: l.column(end, len(l.text.Line(end)))},
	}
}

// name returns where the symbol's name stands, or the content of its first
// line if the name is not found there.
func (l locator) name(s *symbol.Symbol) protocol.Range {
	n := s.NameLine
	if n < s.Start || n > s.End {
		n = s.Start
	}
	line := l.text.Line(n)
	last := s.Name[lastWord(s.Name):]
	at := bytes.Index(line, []byte(last))
	from, to := at, at+len(last)
	if at < 0 || last == "" {
		from, to = 0, len(line)
	}
	pos := func(offset int) protocol.Position {
		return protocol.Position{Line: uint32(n - 1), Character: l.column(n, offset)}
	}
	return protocol.Range{Start: pos(from), End: pos(to)}
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

// column returns the position of a byte offset of line n in the encoding.
func (l locator) column(n, offset int) uint32 {
	if l.encoding == "utf-8" {
		return uint32(offset)
	}
	units := 0
	for line := l.text.Line(n)[:offset]; len(line) > 0; {
		r, size := utf8.DecodeRune(line)
		units += utf16.RuneLen(r)
		line = line[size:]
	}
	return uint32(units)
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
