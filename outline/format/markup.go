package format

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// scanRST finds the section titles of reStructuredText: text above a line of
// one punctuation character, or between two. A style's level is the order in
// which it first appears.
func scanRST(d *doc) {
	s := sections{d: d}
	var styles []string
	previous := []byte(nil) // the line before, nil if blank
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		line := bytes.TrimRight(d.text.Line(n), " \t")
		title, style, taken := rstTitle(d, n, line, previous)
		if taken == 0 {
			previous = line
			continue
		}
		level := 0
		for level < len(styles) && styles[level] != style {
			level++
		}
		if level == len(styles) {
			styles = append(styles, style)
		}
		s.heading(level+1, cutName(title), n)
		n += taken - 1
		previous = nil
	}
	s.end(d.text.Lines())
}

// rstTitle reads the title that starts on line n and returns how many lines it
// has, 0 if there is none.
func rstTitle(d *doc, n int, line, previous []byte) (title, style string, taken int) {
	at := func(k int) []byte {
		if k > d.text.Lines() {
			return nil
		}
		return bytes.TrimRight(d.text.Line(k), " \t")
	}
	if len(line) == 0 || len(previous) > 0 {
		return "", "", 0
	}
	if mark := adornment(line); mark != 0 {
		text, under := at(n+1), at(n+2)
		if len(bytes.TrimSpace(text)) > 0 && adornment(under) == mark && len(under) == len(line) && width(text) <= len(line) && adornment(text) == 0 {
			return string(bytes.TrimSpace(text[:min(len(text), 2*MaxName)])), string([]byte{mark, mark}), 3
		}
		return "", "", 0
	}
	under := at(n + 1)
	mark := adornment(under)
	if mark == 0 || line[0] == ' ' || line[0] == '\t' || len(under) < width(line) && len(under) < 4 || notTitle(line) {
		return "", "", 0
	}
	return string(line[:min(len(line), 2*MaxName)]), string(mark), 2
}

// adornment returns the character of which the whole line consists, 0 if it is
// no line of one punctuation character.
func adornment(line []byte) byte {
	if len(line) < 2 || strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", line[0]) < 0 {
		return 0
	}
	for _, c := range line {
		if c != line[0] {
			return 0
		}
	}
	return line[0]
}

func width(line []byte) int { return utf8.RuneCount(line) }

// notTitle reports whether a line starts a list, a field, markup or a table.
func notTitle(line []byte) bool {
	for _, mark := range []string{"- ", "* ", "+ ", ".. ", ">>> ", "| ", "__ "} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return false
}

// scanASCIIDoc finds section titles, "== Title" or a line above an underline of
// its own length, outside delimited blocks.
func scanASCIIDoc(d *doc) {
	s := sections{d: d}
	fence := "" // the line that ends the open block
	blank := true
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		line := bytes.TrimRight(d.text.Line(n), " \t")
		switch {
		case fence != "":
			if string(line) == fence {
				fence = ""
			}
			continue
		case len(line) == 0:
			blank = true
			continue
		}
		level, title := adocTitle(line)
		switch {
		case level > 0:
			s.heading(level, title, n)
		case adocFence(line):
			fence = string(line)
			if bytes.HasPrefix(line, []byte("```")) {
				fence = "```"
			}
		case blank && n < d.text.Lines():
			under := bytes.TrimRight(d.text.Line(n+1), " \t")
			if level := adocUnderline(line, under); level > 0 {
				s.heading(level, cutName(string(line[:min(len(line), 2*MaxName)])), n)
				n++
			}
		}
		blank = line[0] == '[' || line[0] == ':' || line[0] == '.' && len(line) > 1
	}
	s.end(d.text.Lines())
}

func adocTitle(line []byte) (level int, title string) {
	mark := line[0]
	if mark != '=' && mark != '#' {
		return 0, ""
	}
	for level < len(line) && line[level] == mark {
		level++
	}
	if level > 6 || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	text := bytes.TrimSpace(line[level:])
	// A symmetric title repeats its mark behind the text.
	if tail := string(line[:level]); bytes.HasSuffix(text, []byte(" "+tail)) {
		text = bytes.TrimSpace(bytes.TrimSuffix(text, []byte(tail)))
	}
	return level, cutName(string(text[:min(len(text), 2*MaxName)]))
}

// adocFence reports whether the line delimits a block.
func adocFence(line []byte) bool {
	switch {
	case string(line) == "--", bytes.HasPrefix(line, []byte("```")):
		return true
	case len(line) == 4 && strings.IndexByte("|,:!", line[0]) >= 0 && string(line[1:]) == "===":
		return true
	}
	return len(line) >= 4 && strings.IndexByte("-.=*_+/", line[0]) >= 0 && adornment(line) != 0
}

// adocUnderline returns the level of a title above an underline that differs by
// at most one character from its length.
func adocUnderline(title, under []byte) int {
	mark := adornment(under)
	if mark == 0 || len(under) < 3 || !bytes.ContainsFunc(title, isWordRune) || title[0] == '[' || title[0] == '.' || title[0] == ' ' {
		return 0
	}
	if diff := width(title) - len(under); diff < -1 || diff > 1 {
		return 0
	}
	return strings.IndexByte("=-~^+", mark) + 1
}

func isWordRune(r rune) bool {
	return r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r >= utf8.RuneSelf
}
