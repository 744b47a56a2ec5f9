package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"mapd/hashline"
	"mapd/hashline/cases"
)

// TestCheckCases runs the cases in testdata/check. A case is some sections with
// one name:
//
//	NAME/v1, v2, …  versions that were delivered to the session, in that order
//	NAME/live       the file as it is now
//	NAME/ask        one line each:
//	                  served v1 2-5[,7] [partial 4]   what was delivered of a version;
//	                                                  without it, all lines of all versions
//	                  evicted v1                      the version is not kept any more
//	                  snapshot v1                     narrows what follows
//	                  width 2                         of the anchors that follow
//	                  v1:5                            check the anchor of line 5 of v1
//	                  span v1:3 v1:6                  resolve these lines
//	                  anchor TEXT                     check an anchor as it is written;
//	                                                  {v1:5} in it is the anchor of that line
//	NAME/want       the answers, then what is affected
//
// In a text, \r and \ufeff stand for these characters.
func TestCheckCases(t *testing.T) {
	cases.Run(t, "testdata/check/*.txtar", 40, func(string) func(*testing.T, *cases.Case) { return runCheckCase })
}

type checkCase struct {
	versions []string // names of delivered versions, in order
	texts    map[string]*hashline.Text
}

// fakeTexts are versions by their names, compared directly.
type fakeTexts struct {
	texts   map[string]*hashline.Text
	evicted map[string]bool
}

func (f fakeTexts) Text(snapshot string) (*hashline.Text, bool) {
	t, ok := f.texts[snapshot]
	return t, ok && !f.evicted[snapshot]
}

func (f fakeTexts) Map(snapshot string) (*hashline.LineMap, bool) {
	t, ok := f.Text(snapshot)
	if !ok {
		return nil, false
	}
	return hashline.MapLines(t, f.texts["live"]), true
}

// asking is the state of a case while its questions are asked.
type asking struct {
	checkCase
	t        *testing.T
	ledger   *Ledger
	served   bool
	evicted  map[string]bool
	snapshot string
	width    hashline.Width
	verdicts []Verdict
	out      strings.Builder
}

func runCheckCase(t *testing.T, c *cases.Case) {
	read := checkCase{texts: map[string]*hashline.Text{}}
	for _, section := range c.Sections {
		if section == "ask" || section == "want" {
			continue
		}
		text := strings.NewReplacer(`\r`, "\r", `\ufeff`, "\ufeff").Replace(c.Raw(section))
		read.texts[section] = hashline.NewText([]byte(text))
		if section != "live" {
			read.versions = append(read.versions, section)
		}
	}
	a := &asking{checkCase: read, t: t, ledger: NewLedgers(1 << 20).New(), evicted: map[string]bool{}, width: hashline.DefaultWidth}
	for line := range strings.Lines(c.Raw("ask")) {
		a.answer(strings.TrimSuffix(line, "\n"))
	}
	if len(a.verdicts) > 0 {
		r := a.scene().report(a.verdicts)
		fmt.Fprintf(&a.out, "fresh %v, affected %v\n", r.Fresh, r.Affected)
		for _, old := range slices.Sorted(maps.Keys(r.Remaps)) {
			a.checkRemap(old, r.Remaps[old])
		}
	}
	c.Compare(t, "want", a.out.String())
}

func (a *asking) scene() *Scene {
	if !a.served {
		a.served = true
		for _, v := range a.versions {
			a.ledger.Record(Delivery{Path: "f", Snapshot: v, Lines: []hashline.Range{{Start: 1, End: a.texts[v].Lines()}}})
		}
	}
	return &Scene{Held: a.ledger.File("f").Held, Live: a.texts["live"], Texts: fakeTexts{a.texts, a.evicted}}
}

func (a *asking) answer(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "served":
		a.served = true
		fields := strings.Fields(rest)
		if len(fields) == 1 {
			return // nothing of it
		}
		d := Delivery{Path: "f", Snapshot: fields[0], Lines: parseRanges(a.t, fields[1])}
		if len(fields) == 4 {
			d.Partial = parseRanges(a.t, fields[3])
		}
		a.ledger.Record(d)
	case "evicted":
		a.evicted[rest] = true
	case "snapshot":
		a.snapshot = rest
	case "width":
		fmt.Sscan(rest, &a.width)
	case "anchor":
		written := rest
		if before, after, ok := strings.Cut(rest, "{"); ok {
			where, tail, _ := strings.Cut(after, "}")
			written = before + a.anchor(where).String() + tail
		}
		anchor, err := hashline.ParseAnchor(written)
		if err != nil {
			fmt.Fprintf(&a.out, "%s\n", err)
			return
		}
		a.check(line, anchor)
	case "span":
		from, to, _ := strings.Cut(rest, " ")
		s := a.scene().ResolveSpan(a.anchor(from), a.anchor(to), a.snapshot)
		fmt.Fprintf(&a.out, "%s: %s\n", line, spanWords(s))
		a.verdicts = append(a.verdicts, s.Verdicts()...)
	default:
		a.check(line, a.anchor(word))
	}
}

// anchor returns the anchor of a line, written v1:5.
func (a *asking) anchor(where string) hashline.Anchor {
	name, number, _ := strings.Cut(where, ":")
	var n int
	if _, err := fmt.Sscan(number, &n); err != nil || a.texts[name] == nil {
		a.t.Fatalf("anchor %q", where)
	}
	return a.texts[name].Anchor(n, a.width)
}

func (a *asking) check(line string, anchor hashline.Anchor) {
	v := a.scene().Resolve(anchor, a.snapshot)
	a.verdicts = append(a.verdicts, v)
	fmt.Fprintf(&a.out, "%s: %s\n", line, verdictWords(v))
	if v.Accepted() && v.Now != a.texts["live"].Anchor(v.Line, hashline.DefaultWidth) {
		a.t.Errorf("%s: now is %v, which is not the live anchor of line %d", line, v.Now, v.Line)
	}
}

// checkRemap holds that a remap leads to the anchor that a verdict accepted.
func (a *asking) checkRemap(old, now string) {
	if !slices.ContainsFunc(a.verdicts, func(v Verdict) bool {
		return v.Anchor.String() == old && v.Accepted() && v.Now.String() == now && v.Renamed()
	}) {
		a.t.Errorf("remap of %s to %s is of no verdict", old, now)
	}
}

func verdictWords(v Verdict) string {
	words := string(v.Status)
	switch {
	case v.Accepted() && v.Line != v.Anchor.Line:
		words += fmt.Sprintf(" to %d", v.Line)
	case v.Accepted() && v.Renamed():
		words += ", new hash"
	case v.Accepted():
	case v.Place.Valid():
		words += fmt.Sprintf(" near %v", v.Place)
	default:
		words += " near nothing"
	}
	if v.Status == NeverServed && v.Accepted() {
		words += ", accepted"
	}
	if v.Snapshot != "" {
		words += ", from " + v.Snapshot
	}
	return words
}

func spanWords(s Span) string {
	words := "refused"
	if s.OK() {
		words = fmt.Sprintf("lines %v", s.Lines)
	}
	for _, b := range s.Broken {
		words += fmt.Sprintf(", line %d of %s is %s near %v", b.Anchor.Line, b.Snapshot, b.Status, b.Place)
	}
	if len(s.Partial) > 0 {
		words += fmt.Sprintf(", partial %v", s.Partial)
	}
	if len(s.Unseen) > 0 {
		words += fmt.Sprintf(", unseen %v", s.Unseen)
	}
	return words
}

func parseRanges(t *testing.T, s string) (out []hashline.Range) {
	t.Helper()
	for part := range strings.SplitSeq(s, ",") {
		var r hashline.Range
		n, err := fmt.Sscanf(part, "%d-%d", &r.Start, &r.End)
		if n == 0 {
			t.Fatalf("range %q: %v", part, err)
		}
		if n == 1 {
			r.End = r.Start
		}
		out = append(out, r)
	}
	return out
}
