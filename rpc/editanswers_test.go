package rpc_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mapd/hashline"
	"mapd/rpc/wire"
)

// answered writes down the result of an edit and reports whether it was applied.
func (c *editCase) answered(source string, m message) bool {
	var r wire.EditResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	words := []string{"applied"}
	switch {
	case r.DryRun && r.NoChange:
		words = []string{"dry run, no change"}
	case r.DryRun:
		words = []string{"dry run"}
	case r.NoChange:
		words = []string{"no change"}
	}
	if r.Applied == (r.DryRun || r.NoChange) {
		c.t.Errorf("%s: %s", source, m.Result)
	}
	if r.FirstChangedLine > 0 {
		words = append(words, fmt.Sprintf("first %d", r.FirstChangedLine))
	}
	for _, s := range r.Renumber {
		words = append(words, fmt.Sprintf("after %d %+d", s.After, s.Delta))
	}
	for _, b := range r.Rebased {
		words = append(words, fmt.Sprintf("%s followed to %s", lineOf(b.From), lineOf(b.To)))
	}
	if r.InPlace {
		words = append(words, "in place")
	}
	var shown []wire.Content
	for _, h := range r.Anchors {
		shown = append(shown, wire.Content{Text: h.Text})
		words = append(words, fmt.Sprintf("shows %d-%d", h.Start, h.End))
	}
	words = append(words, r.Warnings...)
	c.anchors[source], c.snapshot[source] = anchors(wire.ReadResult{Content: shown}), r.Snapshot
	fmt.Fprintf(&c.out, "%s: %s\n", source, strings.Join(words, ", "))
	return r.Applied
}

func lineOf(anchor string) string {
	line, _, _ := strings.Cut(anchor, "#")
	return line
}

// refused writes down the error of an edit.
func (c *editCase) refused(source string, m message) {
	if !strings.Contains(m.Error.Message, "nothing was written") {
		c.t.Errorf("%s: the message could be read as success: %q", source, m.Error.Message)
	}
	var data struct {
		Applied        *bool
		Mismatches     []wire.Mismatch
		Remaps         map[string]string
		AffectedRanges []hashline.Range
		Snapshot       string
		Reread         *wire.Reread
	}
	if err := json.Unmarshal(m.Error.Data, &data); err != nil {
		c.t.Fatal(err)
	}
	if m.code() != "stale_anchors" {
		words := strings.ReplaceAll(m.Error.Message, c.dir+"/", "")
		fmt.Fprintf(&c.out, "%s: %s: %s\n", source, m.code(), words)
		return
	}
	var words []string
	for _, mm := range data.Mismatches {
		word := lineOf(mm.Anchor) + " " + mm.Status
		if mm.Now != "" {
			word += " to " + lineOf(mm.Now)
		}
		words = append(words, word)
	}
	for _, old := range slices.SortedFunc(maps.Keys(data.Remaps), compareLines) {
		words = append(words, lineOf(old)+" is now "+lineOf(data.Remaps[old]))
	}
	words = append(words, fmt.Sprintf("affected %v", data.AffectedRanges))
	if data.Reread == nil || data.Applied == nil || *data.Applied {
		c.t.Fatalf("%s: %s", source, m.Error.Data)
	}
	words = append(words, fmt.Sprintf("shows %v", data.Reread.Ranges))
	c.anchors[source], c.snapshot[source] = anchors(wire.ReadResult{Content: []wire.Content{{Text: data.Reread.Text}}}), data.Snapshot
	fmt.Fprintf(&c.out, "%s: stale_anchors: %s\n", source, strings.Join(words, ", "))
}

func compareLines(a, b string) int {
	x, _ := strconv.Atoi(lineOf(a))
	y, _ := strconv.Atoi(lineOf(b))
	return x - y
}
