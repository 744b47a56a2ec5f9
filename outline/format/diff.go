package format

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"mapd/outline/symbol"
)

// scanDiff finds the files of a patch and their hunks. A hunk ends where the
// counts in its header say; removed lines that look like headers are not taken
// for them.
func scanDiff(d *doc) {
	p := patch{d: d}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		p.line(n, d.text.Line(n))
	}
	p.endHunk()
	p.endFile()
}

type patch struct {
	d      *doc
	inFile bool
	inHunk bool
	named  bool // by its --- or +++ line
	last   int  // last line of the file so far

	old, new       int // lines of the hunk that are still to come
	added, removed int // in the hunk
	plus, minus    int // in the file
	note           string
	text           string // behind the hunk's header
	hunks          int
	combined       bool // of a merge: only the marks tell its lines
}

func (p *patch) line(n int, line []byte) {
	if p.inHunk && p.inside(line) {
		p.last = n
		return
	}
	p.endHunk()
	switch {
	case bytes.HasPrefix(line, []byte("diff --git ")), bytes.HasPrefix(line, []byte("diff --cc ")), bytes.HasPrefix(line, []byte("diff -")), bytes.HasPrefix(line, []byte("Index: ")):
		p.begin(n, headerPath(line))
	case bytes.HasPrefix(line, []byte("--- ")) && p.nextIsPlus(n):
		if !p.inFile || p.named || p.hunks > 0 {
			p.begin(n, "")
		}
		p.name(line[4:])
	case bytes.HasPrefix(line, []byte("+++ ")) && p.inFile && p.hunks == 0:
		p.name(line[4:])
		p.last = n
	case bytes.HasPrefix(line, []byte("@@ ")), bytes.HasPrefix(line, []byte("@@@ ")):
		p.hunk(n, line)
	case p.inFile && p.hunks == 0:
		p.extended(n, line)
	}
}

// inside takes a line of the open hunk and reports whether it is one.
func (p *patch) inside(line []byte) bool {
	mark := byte(' ')
	if len(line) > 0 {
		mark = line[0]
	}
	switch {
	case mark == '\\':
		return true
	case p.old <= 0 && p.new <= 0:
		return false
	case mark == '+' && p.new > 0:
		p.new--
		p.added++
	case mark == '-' && p.old > 0:
		p.old--
		p.removed++
	case mark == ' ' || len(line) == 0:
		p.old--
		p.new--
	default:
		if !p.combined {
			p.d.broken(symbol.Segments)
		}
		return false
	}
	return true
}

// nextIsPlus reports whether the line after n names the new file.
func (p *patch) nextIsPlus(n int) bool {
	return n < p.d.text.Lines() && bytes.HasPrefix(p.d.text.Line(n+1), []byte("+++ "))
}

// headerPath takes the new path off "diff --git a/x b/x"; it is replaced by
// that of the +++ line if there is one.
func headerPath(line []byte) string {
	line = bytes.TrimSpace(line[:min(len(line), 8<<10)])
	if rest, ok := bytes.CutPrefix(line, []byte("diff --git ")); ok {
		// Both paths are equal unless the file is renamed.
		if half := len(rest) / 2; len(rest)%2 == 1 && rest[half] == ' ' && half > 2 && string(rest[2:half]) == string(rest[half+3:]) {
			return string(rest[2:half])
		}
	}
	i := bytes.LastIndexByte(line, ' ')
	return strings.TrimPrefix(string(line[i+1:]), "b/")
}

func (p *patch) begin(n int, name string) {
	p.endFile()
	p.d.tree.begin(symbol.Symbol{Name: cutName(name), Kind: symbol.File, Start: n, NameLine: n})
	p.inFile, p.named, p.last, p.hunks = true, false, n, 0
	p.plus, p.minus, p.note = 0, 0, ""
}

// name takes the path of a --- or +++ line; /dev/null says that there is no
// file on that side.
func (p *patch) name(path []byte) {
	path, _, _ = bytes.Cut(path, []byte("\t"))
	name := strings.Trim(string(path[:min(len(path), 2*MaxName)]), `" `)
	p.named = true
	p.last = max(p.last, p.d.tree.current().Start)
	if name == "/dev/null" {
		return
	}
	if rest, ok := strings.CutPrefix(name, "a/"); ok {
		name = rest
	} else if rest, ok := strings.CutPrefix(name, "b/"); ok {
		name = rest
	}
	p.d.tree.current().Name = cutName(name)
}

// extended takes a line between a file's header and its first hunk.
func (p *patch) extended(n int, line []byte) {
	for _, mark := range []string{"new file", "deleted file", "rename from", "copy from", "Binary files", "GIT binary patch"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			if p.note = mark; strings.HasSuffix(mark, "from") {
				p.note = preview(line, MaxPreview)
			}
			p.last = n
			return
		}
	}
	for _, mark := range []string{"index ", "old mode", "new mode", "rename to", "copy to", "similarity", "dissimilarity", "====="} {
		if bytes.HasPrefix(line, []byte(mark)) {
			p.last = n
		}
	}
}

// hunk takes "@@ -1,2 +3,4 @@ context". Of a combined diff only the counts of
// the new file are known to be right, so its lines are told by their marks.
func (p *patch) hunk(n int, line []byte) {
	fields := strings.Fields(string(line[:min(len(line), 200)]))
	marks := len(fields[0])
	if !p.inFile || len(fields) < marks+2 || fields[marks+1] != fields[0] {
		return
	}
	p.old, p.new = hunkCount(fields[1]), hunkCount(fields[marks])
	if p.combined = marks > 2; p.combined {
		p.old = 1 << 30
	}
	name := strings.Join(fields[:marks+2], " ")
	p.text = ""
	if i := bytes.Index(line[2:], []byte(fields[0])); i >= 0 {
		if at := i + 2 + bytes.IndexByte(line[i+2:], '@'); at < len(line) {
			p.text = preview(bytes.TrimLeft(line[at:], "@ "), MaxPreview)
		}
	}
	p.d.tree.begin(symbol.Symbol{Name: name, Kind: symbol.Section, Start: n, NameLine: n})
	p.inHunk, p.last = true, n
	p.added, p.removed = 0, 0
	p.hunks++
}

func hunkCount(s string) int {
	_, n, found := strings.Cut(s, ",")
	if !found {
		return 1
	}
	k, _ := strconv.Atoi(n)
	return k
}

func (p *patch) endHunk() {
	if !p.inHunk {
		return
	}
	p.inHunk = false
	s := p.d.tree.current()
	s.Signature = strings.TrimSpace(fmt.Sprintf("+%d -%d %s", p.added, p.removed, p.text))
	p.d.tree.end(p.last)
	p.plus += p.added
	p.minus += p.removed
}

func (p *patch) endFile() {
	if !p.inFile {
		return
	}
	p.inFile = false
	s := p.d.tree.current()
	s.Signature = fmt.Sprintf("+%d -%d", p.plus, p.minus)
	if p.note != "" {
		s.Signature += ", " + p.note
	}
	p.d.tree.end(p.last)
}
