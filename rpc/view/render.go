package view

import "mapd/hashline"

// Render returns the text of each block of p, which was made from text in this
// style: lines joined by "\n", no newline at the end.
func (p *Plan) Render(text *hashline.Text, style Style) []string {
	buf := make([]byte, 0, p.Size)
	out := make([]string, 0, len(p.Blocks))
	cuts := p.Cuts
	for _, block := range p.Blocks {
		start := len(buf)
		for n := block.Start; n <= block.End; {
			if n > block.Start {
				buf = append(buf, '\n')
			}
			if len(cuts) > 0 && cuts[0].Line == n {
				buf = appendPart(buf, text, cuts[0], style)
				cuts, n = cuts[1:], n+1
				continue
			}
			last := block.End
			if len(cuts) > 0 {
				last = min(last, cuts[0].Line-1)
			}
			buf = appendLines(buf, text, hashline.Range{Start: n, End: last}, style)
			n = last + 1
		}
		out = append(out, string(buf[start:]))
	}
	return out
}

func appendLines(buf []byte, text *hashline.Text, r hashline.Range, style Style) []byte {
	switch {
	case style.Lossy:
		for n := r.Start; n <= r.End; n++ {
			if n > r.Start {
				buf = append(buf, '\n')
			}
			line := len(text.Line(n))
			buf = appendPart(buf, text, Cut{Line: n, To: line, Total: line}, style)
		}
		return buf
	case style.Anchors:
		return text.AppendAnchored(buf, r, style.Width)
	default:
		return text.AppendPlain(buf, r)
	}
}

func appendPart(buf []byte, text *hashline.Text, c Cut, style Style) []byte {
	if style.Anchors {
		buf = append(text.Anchor(c.Line, style.Width).Append(buf), ':')
	}
	content := text.Line(c.Line)[c.From:c.To]
	if style.Lossy {
		return hashline.AppendValid(buf, content)
	}
	return append(buf, content...)
}
