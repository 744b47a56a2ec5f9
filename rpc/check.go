package rpc

import (
	"context"
	"errors"

	"mapd/hashline"
	"mapd/recovery"
	"mapd/rpc/conn"
	"mapd/rpc/wire"
	"mapd/workspace"
)

// serveCheck answers mapd/check.
func (s *Session) serveCheck(ctx context.Context, p wire.CheckParams) (conn.Reply, error) {
	name, err := fileName(p.Path, p.URI)
	if err != nil {
		return conn.Reply{}, err
	}
	anchors, err := parseAnchors(p.Anchors)
	if err != nil {
		return conn.Reply{}, err
	}
	v, err := s.open(ctx, name)
	if err != nil {
		return conn.Reply{}, err
	}
	if err := mustBeText(v); err != nil {
		return conn.Reply{}, err
	}
	scene := s.scene(v)
	report := scene.Check(anchors, p.Snapshot)
	result := wire.CheckResult{
		Path: wireText(v.Name()), Snapshot: v.Snapshot(), Fresh: report.Fresh,
		Results: []wire.CheckedAnchor{}, Remaps: report.Remaps,
		AffectedRanges: append([]hashline.Range{}, report.Affected...),
	}
	for _, verdict := range report.Results {
		r := wire.CheckedAnchor{Anchor: verdict.Anchor.String(), Status: string(verdict.Status)}
		if verdict.Renamed() {
			r.Now = verdict.Now.String()
		}
		result.Results = append(result.Results, r)
	}
	deliveries := []delivery{renamed(scene, v, report.Results)}
	if len(report.Affected) > 0 {
		excerpt := scene.Reread(report.Affected, wire.DefaultMaxBytes)
		result.Reread = reread(excerpt)
		deliveries = append(deliveries, delivery{version: v, lines: excerpt.Ranges, partial: excerpt.Partial})
	}
	news := s.news(ctx, v)
	result.Stale = news.stale
	encoded, err := encode(result)
	return news.told(s.recorded(conn.Reply{Result: encoded}, deliveries...)), err
}

// reread is an excerpt as it goes over the wire.
func reread(e recovery.Excerpt) *wire.Reread {
	return &wire.Reread{Ranges: append([]hashline.Range{}, e.Ranges...), Text: e.Text}
}

// renamed returns the lines for which verdicts tell the client a new anchor:
// lines whose content it was shown before, now also by that anchor. They are
// whole only if they were shown whole.
func renamed(scene *recovery.Scene, v *workspace.Version, verdicts []recovery.Verdict) delivery {
	d := delivery{version: v}
	for _, verdict := range verdicts {
		if !verdict.Renamed() || verdict.Status == recovery.NeverServed {
			continue
		}
		line := hashline.Range{Start: verdict.Line, End: verdict.Line}
		d.lines = append(d.lines, line)
		if scene.Sight(verdict.Line) != recovery.Whole {
			d.partial = append(d.partial, line)
		}
	}
	return d
}

// parseAnchors reads anchors as models write them.
func parseAnchors(texts []string) ([]hashline.Anchor, error) {
	if len(texts) == 0 || len(texts) > wire.MaxAnchors {
		return nil, wire.Errorf(wire.InvalidParams, "anchors has %d entries; it must have 1 to %d", len(texts), wire.MaxAnchors)
	}
	out := make([]hashline.Anchor, len(texts))
	for i, text := range texts {
		var err error
		if out[i], err = hashline.ParseAnchor(text); err != nil {
			return nil, anchorError(err)
		}
	}
	return out, nil
}

func anchorError(err error) error {
	if errors.Is(err, hashline.ErrAnchor) {
		return wire.Errorf(wire.InvalidAnchor, "%v", err)
	}
	return err
}

// mustBeText refuses a file that has no lines.
func mustBeText(v *workspace.Version) error {
	if v.Binary() {
		return wire.Errorf(wire.BinaryFile, "%s is binary (%s) and has no lines", quotePath(v.Name()), v.MIME()).With("mimeType", v.MIME())
	}
	return nil
}
