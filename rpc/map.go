package rpc

import (
	"context"

	"mapd/outline"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// serveMap answers mapd/map.
func (s *Session) serveMap(ctx context.Context, p wire.MapParams) (conn.Reply, error) {
	result, err := s.mapFile(ctx, p)
	if err != nil {
		return conn.Reply{}, err
	}
	news := s.news(ctx)
	result.Stale = news.stale
	if result.Symbols != nil && result.Details.SymbolCount > manySymbols {
		done, err := s.largeReply(ctx)
		if err != nil {
			return conn.Reply{}, err
		}
		defer done()
	}
	encoded, err := encode(result)
	return news.told(conn.Reply{Result: encoded}), err
}

// manySymbols are more than a megabyte when they are encoded.
const manySymbols = 5000

// mapFile describes the structure of one Version.
func (s *Session) mapFile(ctx context.Context, p wire.MapParams) (*wire.MapResult, error) {
	name, err := fileName(p.Path, p.URI)
	if err != nil {
		return nil, err
	}
	detail := outline.Detail(orDefault(p.Detail, string(outline.Auto)))
	if !detail.Valid() {
		return nil, wire.Errorf(wire.InvalidParams, "detail is %q; it must be one of auto, full, compact, minimal, outline, truncated", p.Detail)
	}
	format := orDefault(p.Format, "both")
	if err := oneOf("format", format, "text", "json", "both"); err != nil {
		return nil, err
	}
	maxBytes, err := positive("maxBytes", p.MaxBytes, wire.DefaultMapMaxBytes)
	if err != nil {
		return nil, err
	}
	v, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	if v.Binary() {
		return nil, wire.Errorf(wire.BinaryFile, "%s is binary (%s) and has no outline", quotePath(v.Name()), v.MIME()).With("mimeType", v.MIME())
	}
	o, err := s.outline(ctx, v)
	if err != nil {
		return nil, err
	}
	result := &wire.MapResult{
		Path:     wireText(v.Name()),
		Snapshot: v.Snapshot(),
		Details: wire.MapDetails{
			FilePath:    wireText(v.Path()),
			Language:    string(v.Language()),
			TotalLines:  v.Text().Lines(),
			TotalBytes:  v.Size(),
			SymbolCount: o.Count,
			Outline:     wire.OutlineInfo{Source: string(o.Source), Why: string(o.Why)},
			Unstable:    v.Unstable(),
		},
	}
	if format != "json" {
		m := o.Render(outline.RenderOptions{Name: v.Name(), Detail: detail, MaxBytes: maxBytes})
		result.Text = &m.Text
		result.Details.Map = mapInfo(m)
	}
	if format != "text" {
		result.Symbols = &o.Symbols
		result.Imports = o.Imports
	}
	if p.Since != "" {
		if result.Changes, err = s.changes(ctx, p.Since, v, o); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// changes returns what differs between an earlier version of the file and v.
func (s *Session) changes(ctx context.Context, since string, v *workspace.Version, now *outline.Outline) (*[]wire.Change, error) {
	before, ok := s.server.cache.Snapshot(since)
	if !ok || before.File() != v.File() {
		return nil, wire.Errorf(wire.UnknownSnapshot, "since: %q is no version of %s that is still kept; ask for the map without it", since, quotePath(v.Name()))
	}
	before = before.In(v.Language())
	then, err := s.outline(ctx, before)
	if err != nil {
		return nil, err
	}
	changes := []wire.Change{}
	for _, c := range outline.Diff(outline.Side{Outline: then, Text: before.Text()}, outline.Side{Outline: now, Text: v.Text()}) {
		changes = append(changes, wire.Change{Op: string(c.Op), Name: c.Name, Kind: string(c.Kind), Start: c.Start, End: c.End, Was: c.Was})
	}
	return &changes, nil
}
