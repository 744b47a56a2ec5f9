package format

import "bytes"

// linkDefinition is "[label]: target 'title'". first and last are lines
// counted from 0 in the paragraph.
type linkDefinition struct {
	label, target string
	first, last   int
}

// linkDefinitions reads the definitions at the start of a paragraph and returns
// them with the number of lines they take.
func linkDefinitions(lines [][]byte) (defs []linkDefinition, taken int) {
	body := bytes.Join(lines, []byte("\n"))
	for taken < len(lines) {
		r := linkReader{b: body, line: taken}
		def, ok := r.definition()
		if !ok {
			break
		}
		def.first, def.last = taken, r.line-1
		defs = append(defs, def)
		body, taken = r.b, r.line
	}
	return defs, taken
}

// linkReader reads one definition; line is the line of its position.
type linkReader struct {
	b    []byte
	line int
}

func (r *linkReader) definition() (linkDefinition, bool) {
	var def linkDefinition
	label, ok := r.label()
	if !ok || len(r.b) == 0 || r.b[0] != ':' {
		return def, false
	}
	r.b = r.b[1:]
	if !r.blanks() {
		return def, false
	}
	target, ok := r.target()
	if !ok {
		return def, false
	}
	def.label, def.target = preview(label, MaxPreview), preview(target, MaxPreview)
	bare := *r
	if r.title() && r.endOfLine() {
		return def, true
	}
	*r = bare // a title that does not fit is the next paragraph
	return def, r.endOfLine()
}

func (r *linkReader) label() ([]byte, bool) {
	const most = 999
	if len(r.b) == 0 || r.b[0] != '[' {
		return nil, false
	}
	for i := 1; i < len(r.b) && i <= most+1; i++ {
		switch r.b[i] {
		case '\\':
			i++
		case '[':
			return nil, false
		case ']':
			label := r.b[1:i]
			r.line += bytes.Count(label, []byte("\n"))
			r.b = r.b[i+1:]
			return label, len(bytes.TrimSpace(label)) > 0
		}
	}
	return nil, false
}

// blanks passes over blanks with at most one line end, and reports whether
// text follows.
func (r *linkReader) blanks() bool {
	r.b = bytes.TrimLeft(r.b, " \t")
	if len(r.b) > 0 && r.b[0] == '\n' {
		r.b = bytes.TrimLeft(r.b[1:], " \t")
		r.line++
	}
	return len(r.b) > 0 && r.b[0] != '\n'
}

func (r *linkReader) target() ([]byte, bool) {
	if r.b[0] == '<' {
		end := bytes.IndexAny(r.b[1:], "<>\n")
		if end < 0 || r.b[end+1] != '>' {
			return nil, false
		}
		target := r.b[1 : end+1]
		r.b = r.b[end+2:]
		return target, true
	}
	end := bytes.IndexAny(r.b, " \t\n")
	if end < 0 {
		end = len(r.b)
	}
	target := r.b[:end]
	r.b = r.b[end:]
	return target, end > 0
}

// title passes over an optional title and reports whether there is one, which
// must stand apart from the target.
func (r *linkReader) title() bool {
	if len(r.b) == 0 || r.b[0] != ' ' && r.b[0] != '\t' && r.b[0] != '\n' || !r.blanks() {
		return false
	}
	closing := map[byte]byte{'"': '"', '\'': '\'', '(': ')'}[r.b[0]]
	if closing == 0 {
		return false
	}
	const most = 2000 // bytes; a bound keeps unclosed titles from costing a scan each
	for i := 1; i < min(len(r.b), most); i++ {
		switch r.b[i] {
		case '\\':
			i++
		case closing:
			r.line += bytes.Count(r.b[:i], []byte("\n"))
			r.b = r.b[i+1:]
			return true
		}
	}
	return false
}

// endOfLine passes over the rest of the line, which must be blank.
func (r *linkReader) endOfLine() bool {
	r.b = bytes.TrimLeft(r.b, " \t")
	if len(r.b) > 0 && r.b[0] != '\n' {
		return false
	}
	if len(r.b) > 0 {
		r.b = r.b[1:]
	}
	r.line++
	return true
}
