package rpc

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mapd/hashline"
	"mapd/outline"
	"mapd/outline/symbol"
	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
	"mapd/workspace/find"
	"mapd/workspace/grep"
	"mapd/workspace/names"
)

// maxFindQuery is the longest query of mapd/find, in bytes.
const maxFindQuery = grep.MaxPattern

// findRequest is a wire.FindParams after the edge.
type findRequest struct {
	query   string
	kinds   []symbol.Kind
	glob    find.Glob
	mode    string         // not auto if that says the same
	pattern *grep.Pattern  // unless mode is symbol
	expr    *regexp.Regexp // for names, with mode symbol; may be nil
	limit   int
}

func parseFind(p wire.FindParams) (findRequest, error) {
	r := findRequest{query: p.Query, mode: orDefault(p.Mode, wire.FindAuto)}
	switch {
	case strings.TrimSpace(p.Query) == "":
		return r, wire.Errorf(wire.InvalidParams, "query is empty; give a name, or some text of a line")
	case len(p.Query) > maxFindQuery:
		return r, wire.Errorf(wire.InvalidParams, "query has %d bytes; it must have at most %d", len(p.Query), maxFindQuery)
	}
	if err := oneOf("mode", r.mode, wire.FindAuto, wire.FindSymbol, wire.FindText); err != nil {
		return r, err
	}
	var err error
	if r.limit, err = positive("limit", p.Limit, wire.DefaultFindLimit); err != nil {
		return r, err
	}
	if r.limit > wire.MaxFindLimit {
		return r, wire.Errorf(wire.InvalidParams, "limit is %d; it must be at most %d, narrow the search with path or kind", r.limit, wire.MaxFindLimit)
	}
	if r.glob, err = find.NewGlob(p.Path); err != nil {
		return r, wire.Errorf(wire.InvalidParams, "path: %v", err)
	}
	if err := r.choose(p); err != nil {
		return r, err
	}
	switch {
	case r.mode != wire.FindSymbol:
		r.pattern, err = grep.Compile(p.Query, p.Regexp)
	case p.Regexp:
		r.expr, err = grep.Expression(p.Query)
	}
	if err != nil {
		return r, wire.Errorf(wire.InvalidParams, "query: %v", err)
	}
	return r, nil
}

// choose narrows the mode auto by the other parameters: who gives an expression
// wants lines, who gives a kind alone wants symbols.
func (r *findRequest) choose(p wire.FindParams) error {
	if p.Kind != "" {
		kind := symbol.Kind(strings.ToLower(p.Kind))
		known := names.Kinds()
		if !slices.Contains(known, kind) {
			return wire.Errorf(wire.InvalidParams, "kind is %q; it must be one of %s", p.Kind, joinKinds(known))
		}
		r.kinds = []symbol.Kind{kind}
	}
	switch {
	case r.mode != wire.FindAuto:
	case p.Regexp:
		r.mode = wire.FindText
	case r.kinds != nil:
		r.mode = wire.FindSymbol
	}
	return nil
}

func joinKinds(kinds []symbol.Kind) string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return strings.Join(list, ", ")
}

// serveFind answers mapd/find.
func (s *Session) serveFind(ctx context.Context, p wire.FindParams) (conn.Reply, error) {
	req, err := parseFind(p)
	if err != nil {
		return conn.Reply{}, err
	}
	mode, found, err := s.find(ctx, req)
	if err != nil {
		return conn.Reply{}, err
	}
	result := wire.FindResult{Mode: mode, Results: []wire.FindHit{}, Truncated: found.Truncated}
	for _, d := range found.Degraded {
		result.Degraded = append(result.Degraded, wire.Degraded{Root: wireText(d.Root), Why: wireText(d.Why)})
	}
	var shown showing
	for _, hit := range found.Hits {
		result.Results = append(result.Results, s.findHit(hit, &shown))
	}
	news := s.news(ctx, shown.versions...)
	result.Stale = news.stale
	encoded, err := encode(result)
	return news.told(s.recorded(conn.Reply{Result: encoded}, shown.deliveries()...)), err
}

// find searches, and returns what was searched in the end: symbols or text.
func (s *Session) find(ctx context.Context, req findRequest) (mode string, found find.Result, err error) {
	search, err := s.search(ctx)
	if err != nil {
		return "", found, err
	}
	search.Glob, search.Kinds, search.Limit = req.glob, req.kinds, req.limit
	start := time.Now()
	if req.expr != nil {
		found, err = search.SymbolsLike(ctx, req.expr)
		return wire.FindSymbol, found, err
	}
	if req.mode != wire.FindText {
		weakest := find.WeakestOfAny
		if req.mode == wire.FindSymbol {
			weakest = find.WeakestOfSymbol
		}
		found, err = search.Symbols(ctx, req.query, weakest)
		if err != nil || req.mode == wire.FindSymbol || len(found.Hits) > 0 {
			return wire.FindSymbol, found, err
		}
	}
	incomplete := found.Degraded // of the search for symbols
	search.Patience = max(search.Patience-time.Since(start), search.Patience/10)
	found, err = search.Text(ctx, req.pattern)
	for _, d := range incomplete {
		if !slices.ContainsFunc(found.Degraded, func(e find.Degraded) bool { return e.Root == d.Root }) {
			found.Degraded = append(found.Degraded, d)
		}
	}
	return wire.FindText, found, err
}

// nearFiles is how many of the files that a session read last make what is near to
// them come first.
const nearFiles = 256

// search returns a search of the session's folders.
func (s *Session) search(ctx context.Context) (*find.Search, error) {
	roots, err := s.indexed(ctx)
	if err != nil {
		return nil, err
	}
	out := &find.Search{
		Patience: s.server.opt.Limits.FindWait, Slots: s.server.finding,
		Read: s.open,
		Outline: func(ctx context.Context, v *workspace.Version) (*outline.Outline, error) {
			return s.outline(ctx, v)
		},
	}
	for _, r := range roots {
		out.Roots = append(out.Roots, find.Root{Path: r.root, Workspace: r.ws, Why: r.why})
	}
	for _, f := range s.ledger.Files() {
		if len(out.Near) == nearFiles {
			break
		}
		if wasRead(f) {
			out.Near = append(out.Near, s.server.places.of(f.Path))
		}
	}
	return out, nil
}

// wasRead reports whether lines of a file were shown that follow each other.
// Searches show single ones, and what they find must not count as chosen.
func wasRead(f recovery.File) bool {
	return slices.ContainsFunc(f.Held, func(h *recovery.Held) bool {
		return slices.ContainsFunc(h.Lines, func(r hashline.Range) bool { return r.Len() > 1 })
	})
}

// showing collects which lines of which versions an answer shows.
type showing struct {
	versions []*workspace.Version
	lines    map[*workspace.Version]*shownLines
}

type shownLines struct{ all, partial []int }

func (w *showing) add(v *workspace.Version, line int, whole bool) {
	if w.lines == nil {
		w.lines = map[*workspace.Version]*shownLines{}
	}
	of := w.lines[v]
	if of == nil {
		of = &shownLines{}
		w.lines[v] = of
		w.versions = append(w.versions, v)
	}
	of.all = append(of.all, line)
	if !whole {
		of.partial = append(of.partial, line)
	}
}

func (w *showing) deliveries() []delivery {
	var out []delivery
	for _, v := range w.versions {
		of := w.lines[v]
		out = append(out, delivery{version: v, lines: compacted(of.all), partial: compacted(of.partial)})
	}
	return out
}

// compacted returns the ranges of lines in any order, which may repeat.
func compacted(lines []int) []hashline.Range {
	slices.Sort(lines)
	return hashline.Compact(slices.Compact(lines))
}

// findHit returns a hit as it goes over the wire, and notes the line that it
// shows.
func (s *Session) findHit(h find.Hit, shown *showing) wire.FindHit {
	v := h.Version
	out := wire.FindHit{
		Path: wireText(v.Name()), Snapshot: v.Snapshot(), Name: h.Name, Kind: string(h.Kind),
		Start: h.Start, End: h.End, Container: h.Container, Anchor: v.Text().Anchor(h.Line, s.width).String(),
	}
	line := v.Text().Line(h.Line)
	from, to := part(line, h.Column, s.server.opt.Limits.LineShown)
	whole := from == 0 && to == len(line)
	if !whole {
		out.Cut = &wire.FindCut{From: from, ShownBytes: to - from, TotalBytes: len(line)}
	}
	out.Text = string(line[from:to])
	if !utf8.ValidString(out.Text) {
		out.Text = string(hashline.AppendValid(nil, line[from:to]))
		whole = false
	}
	shown.add(v, h.Line, whole)
	return out
}

// part returns which bytes of a line are shown where only so many are: the first
// ones, or, if the match at column starts past them, those around it. It cuts
// between characters.
func part(line []byte, column, most int) (from, to int) {
	if len(line) <= most {
		return 0, len(line)
	}
	if column >= most {
		from = column - most/4
		for from > 0 && column-from < most && !utf8.RuneStart(line[from]) {
			from--
		}
	}
	return from, from + hashline.CutAt(line[from:], most)
}
