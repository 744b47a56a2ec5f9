package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// The colours that are used, as parameters of the escape sequence.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

// screen says how results are shown on stdout.
type screen struct {
	terminal bool // columns for a person, and no control characters of others
	color    bool
}

// screenOf decides by --color, then NO_COLOR, then the user's configuration,
// then by what stdout is.
func (a *app) screenOf(stdout io.Writer) screen {
	f, ok := stdout.(*os.File)
	s := screen{terminal: ok && term.IsTerminal(int(f.Fd()))}
	s.color = s.terminal && a.getenv("TERM") != "dumb"
	choice := a.color
	if choice == "" && a.getenv("NO_COLOR") != "" {
		choice = "never"
	}
	if choice == "" {
		choice = a.conf.user.Color
	}
	switch choice {
	case "always":
		s.color = true
	case "never":
		s.color = false
	}
	return s
}

// checkColor refuses what --color may not be.
func (a *app) checkColor() error {
	switch a.color {
	case "", "auto", "always", "never":
		return nil
	}
	return &usageError{fmt.Errorf("--color %s: want auto, always or never", a.color)}
}

// paint returns text in a colour, if there are colours.
func (s screen) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// writer returns a writer to out that paints each line, which it gets without its
// end. On a terminal what would control it is made visible first: the text is
// that of files and of clients.
func (s screen) writer(out io.Writer, paint func(line string) string) io.Writer {
	if !s.terminal && !s.color {
		return out
	}
	return &lineWriter{screen: s, out: out, paint: paint}
}

// lineWriter shows whole lines; results end with one.
type lineWriter struct {
	screen
	out   io.Writer
	paint func(string) string
	rest  []byte // of a line that has not ended
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	end := bytes.LastIndexByte(w.rest, '\n') + 1
	var shown strings.Builder
	for line := range strings.Lines(string(w.rest[:end])) {
		line = strings.TrimSuffix(line, "\n")
		if w.terminal {
			line = visible(line)
		}
		shown.WriteString(w.paint(line) + "\n")
	}
	w.rest = append(w.rest[:0], w.rest[end:]...)
	if _, err := io.WriteString(w.out, shown.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// visible writes control characters other than tabs, and bytes that are no text,
// such that they do nothing.
func visible(line string) string {
	harmless := func(r rune) bool { return r == '\t' || r != utf8.RuneError && !unicode.IsControl(r) }
	if strings.IndexFunc(line, func(r rune) bool { return !harmless(r) }) < 0 {
		return line
	}
	var out strings.Builder
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, "\\x%02x", line[0])
		case harmless(r) || r == utf8.RuneError:
			out.WriteString(line[:size])
		case r < ' ':
			out.WriteString("^" + string(r+'@'))
		default:
			fmt.Fprintf(&out, "\\u%04x", r)
		}
		line = line[size:]
	}
	return out.String()
}

// paintAnchor makes the LINE#HASH: before a line recede.
func (s screen) paintAnchor(line string) string {
	end := strings.IndexByte(line, ':')
	if number, hash, ok := strings.Cut(line[:max(end, 0)], "#"); ok && isNumber(number) && hash != "" {
		return s.paint(dim, line[:end+1]) + line[end+1:]
	}
	return line
}

// paintRange makes the [start-end] behind a symbol recede.
func (s screen) paintRange(line string) string {
	at := strings.LastIndex(line, ": [")
	if at < 0 || !strings.HasSuffix(line, "]") {
		return line
	}
	return line[:at] + s.paint(dim, line[at:])
}

// paintHit tells PATH:LINE#HASH from what is there.
func (s screen) paintHit(line string) string {
	at := strings.IndexByte(line, '#')
	if at < 0 {
		return line
	}
	if end := strings.IndexAny(line[at:], ": "); end >= 0 {
		return s.paint(bold, line[:at]) + s.paint(dim, line[at:at+end]) + line[at+end:]
	}
	return line
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// aligned writes rows in columns, the first row as their heads.
func (s screen) aligned(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range rows {
		var line strings.Builder
		for k, cell := range row {
			line.WriteString(cell)
			if k < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell)+2))
			}
		}
		text := line.String()
		if i == 0 {
			text = s.paint(dim, text)
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}
