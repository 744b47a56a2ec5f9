package install

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// wholeFile is a file that mapd writes as a whole. Its first line has the
// digest of the rest, so that a file that somebody has changed is known.
type wholeFile struct {
	text    string // COMMAND stands for the quoted path of mapd
	comment string // starts a line that is a comment
}

// placeholder is where the path of mapd goes in the text of a wholeFile.
const placeholder = `"MAPD_COMMAND"`

var errChanged = errors.New("it was not written by mapd, or was changed since; move your changes to another file and remove this one")

func (w wholeFile) render(command string) []byte {
	body := strings.Replace(w.text, placeholder, strconv.Quote(command), 1)
	return []byte(w.head(body) + body)
}

func (w wholeFile) head(body string) string {
	return fmt.Sprintf("%s Written by 'mapd install'; 'mapd uninstall' removes it. Unchanged: %s\n", w.comment, digest([]byte(body))[:16])
}

// ours returns the text after the first line, if all is as mapd wrote it.
func (w wholeFile) ours(content []byte) (body string, ok bool) {
	_, body, found := strings.Cut(string(content), "\n")
	return body, found && w.head(body)+body == string(content)
}

func (w wholeFile) inspect(content []byte) (command string, present bool, err error) {
	if content == nil {
		return "", false, nil
	}
	body, ok := w.ours(content)
	if !ok {
		return "", false, errChanged
	}
	before, _, _ := strings.Cut(w.text, placeholder)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	_, rest, _ := strings.Cut(body, line)
	quoted, err := strconv.QuotedPrefix(rest)
	if err == nil {
		command, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return "", true, nil // of a version that says it elsewhere
	}
	return command, true, nil
}

func (w wholeFile) add(content []byte, command string) (added []byte, made []string, err error) {
	if content != nil {
		if _, ok := w.ours(content); !ok {
			return nil, nil, errChanged
		}
	}
	return w.render(command), nil, nil
}

func (w wholeFile) remove(content []byte, _ []string) (removed []byte, empty bool, err error) {
	if _, ok := w.ours(content); !ok {
		return nil, false, errChanged
	}
	return nil, true, nil
}
