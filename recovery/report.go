package recovery

import (
	"fmt"
	"strings"

	"mapd/hashline"
)

// Context is how many lines are shown around the lines in question.
const Context = 2

// Excerpt is a showing of live lines with anchors.
type Excerpt struct {
	// Ranges are the lines shown, one block each.
	Ranges []hashline.Range
	// Text holds the lines as LINE#HASH:content, joined by "\n"; a blank line is
	// between two blocks.
	Text string
	// Partial are the lines that are cut, or of which bytes are replaced.
	Partial []hashline.Range
}

// Around returns the ranges of live lines around rs, Context lines on each
// side, sorted and merged.
func (s *Scene) Around(rs []hashline.Range) []hashline.Range {
	var out []hashline.Range
	for _, r := range rs {
		wide := hashline.Range{Start: r.Start - Context, End: r.End + Context}
		if wide, ok := wide.Clip(s.Live.Lines()); ok {
			out = append(out, wide)
		}
	}
	return hashline.Merge(out)
}

// Reread shows the lines around the ranges given. It stops before the line that
// would make the text longer than maxBytes, but shows one line at least.
func (s *Scene) Reread(rs []hashline.Range, maxBytes int) Excerpt {
	var out Excerpt
	var text []byte
	for i, r := range s.Around(rs) {
		mark := len(text)
		if i > 0 {
			text = append(text, "\n\n"...)
		}
		left := maxBytes - len(text)
		if left <= 0 && i > 0 {
			text = text[:mark]
			break
		}
		style := hashline.Style{Width: s.width(), MaxLine: hashline.MaxShown, MaxBytes: max(left, 1)}
		var shown hashline.Shown
		text, shown = s.Live.Show(text, r, style)
		if shown.Lines == 0 && i == 0 {
			style.MaxBytes = 0
			text, shown = s.Live.Show(text, hashline.Range{Start: r.Start, End: r.Start}, style)
		}
		if shown.Lines == 0 {
			text = text[:mark]
			break
		}
		out.add(r, shown)
		if shown.Lines < r.Len() {
			break
		}
	}
	out.Text = string(text)
	return out
}

func (e *Excerpt) add(r hashline.Range, shown hashline.Shown) {
	e.Ranges = append(e.Ranges, hashline.Range{Start: r.Start, End: r.Start + shown.Lines - 1})
	var partial []int
	for _, c := range shown.Cut {
		partial = append(partial, c.Line)
	}
	partial = append(partial, shown.Lossy...)
	e.Partial = hashline.Merge(append(e.Partial, hashline.Compact(partial)...))
}

// Mismatch is an anchor that an edit cannot use.
type Mismatch struct {
	Anchor string `json:"anchor"`
	Status Status `json:"status"`
	// Now is the live anchor of the line, where it is proven but was refused.
	Now string `json:"now,omitzero"`
	// Expected are the letters of the hash that was sent, Actual those of the
	// live line of that number; Actual is empty if there is no such line.
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
}

// Mismatches returns the verdicts that refuse an edit: those not accepted, and
// with strict also the moved ones.
func (s *Scene) Mismatches(verdicts []Verdict, strict bool) []Mismatch {
	var out []Mismatch
	for _, v := range verdicts {
		if v.Aside || v.Accepted() && !(strict && v.Status == Moved) {
			continue
		}
		m := Mismatch{Anchor: v.Anchor.String(), Status: v.Status, Expected: letters(v.Anchor)}
		if v.Accepted() {
			m.Now = v.Now.String()
		}
		if v.Anchor.Line <= s.Live.Lines() {
			m.Actual = letters(s.Live.Anchor(v.Anchor.Line, v.Anchor.Width))
		}
		out = append(out, m)
	}
	return out
}

func letters(a hashline.Anchor) string { return string(a.Hash.Append(nil, a.Width)) }

// Rejection is what an edit with stale anchors is answered: all that the next
// try needs.
type Rejection struct {
	Mismatches []Mismatch
	Remaps     map[string]string
	Affected   []hashline.Range
	Reread     Excerpt
	// Message says that nothing was written, and shows the lines.
	Message string
}

// Reject makes the rejection of an edit from the verdicts on all its anchors,
// and reports false if they do not refuse it. With strict a moved line refuses
// it too. name is the file's name for the message; the lines shown have at most
// maxBytes.
func (s *Scene) Reject(name string, verdicts []Verdict, strict bool, maxBytes int) (Rejection, bool) {
	out := Rejection{Mismatches: s.Mismatches(verdicts, strict)}
	if len(out.Mismatches) == 0 {
		return out, false
	}
	report := s.report(verdicts)
	out.Remaps, out.Affected = report.Remaps, report.Affected
	if strict {
		for _, v := range verdicts {
			if v.Status == Moved {
				out.Affected = append(out.Affected, v.Place)
			}
		}
		out.Affected = hashline.Merge(out.Affected)
	}
	out.Reread = s.Reread(out.Affected, maxBytes)
	sent := 0
	for _, v := range verdicts {
		if !v.Aside {
			sent++
		}
	}
	out.Message = s.message(name, sent, out)
	return out, true
}

// message is prose that cannot be read as success, and the reread lines, with
// >>> before the affected ones.
func (s *Scene) message(name string, anchors int, r Rejection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "edit of %s rejected, nothing was written: %d of %d anchors cannot be used", name, len(r.Mismatches), anchors)
	for i, m := range r.Mismatches {
		if i == maxNamed {
			fmt.Fprintf(&b, ", and %d more", len(r.Mismatches)-maxNamed)
			break
		}
		fmt.Fprintf(&b, "%s %s is %s", [...]string{":", ","}[min(i, 1)], m.Anchor, strings.ReplaceAll(string(m.Status), "_", " "))
	}
	if s.Live.Lines() == 0 {
		b.WriteString(". The file is empty now.")
		return b.String()
	}
	b.WriteString(".\nThe lines as they are now, >>> before those in question; use these anchors:\n")
	for i, r2 := range r.Reread.Ranges {
		if i > 0 {
			b.WriteString("...\n")
		}
		text, _ := s.Live.Show(nil, r2, hashline.Style{Width: s.width(), MaxLine: hashline.MaxShown})
		for k, line := range strings.Split(string(text), "\n") {
			mark := "    "
			if hashline.ContainsLine(r.Affected, r2.Start+k) {
				mark = ">>> "
			}
			b.WriteString(mark + line + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxNamed is how many anchors a message names.
const maxNamed = 5
