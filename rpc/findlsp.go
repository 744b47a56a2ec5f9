package rpc

import (
	"context"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mapd/outline/symbol"
	"mapd/workspace/find"
)

// workspaceSymbols is how many symbols workspace/symbol answers.
const workspaceSymbols = 200

// workspaceSymbolParams is what of LSP's WorkspaceSymbolParams is used.
type workspaceSymbolParams struct {
	Query string `json:"query"`
}

// workspaceSymbol answers workspace/symbol: where the best symbols of the
// session's folders are named, on disk. The empty query asks for all of them.
func (s *Session) workspaceSymbol(ctx context.Context, p workspaceSymbolParams) ([]protocol.SymbolInformation, error) {
	out := []protocol.SymbolInformation{}
	if len(p.Query) > maxFindQuery {
		return out, nil // no name is so long
	}
	search, err := s.search(ctx)
	if err != nil {
		return nil, err
	}
	search.Limit = workspaceSymbols
	found, err := search.Symbols(ctx, p.Query, find.WeakestOfSymbol)
	if err != nil {
		return nil, err
	}
	for _, h := range found.Hits {
		l := &namer{locator: newLocator(h.Version.Text(), s.encoding, false)}
		named := &symbol.Symbol{Name: h.Name, Kind: h.Kind, Start: h.Start, End: h.End, NameLine: h.Line}
		info := protocol.SymbolInformation{BaseSymbolInformation: protocol.BaseSymbolInformation{
			Name: symbolName(named), Kind: symbolKind(h.Kind),
		}}
		info.Location.URI = uri.URI(fileURI(h.Version.Path()))
		info.Location.Range = l.name(named)
		if h.Container != "" {
			info.ContainerName = &h.Container
		}
		out = append(out, info)
	}
	return out, nil
}
