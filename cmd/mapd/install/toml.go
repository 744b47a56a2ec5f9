package install

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEntry is the table mcp_servers.mapd of a TOML document. It is put at the
// end as lines of its own, and taken out by the offsets of the parser.
type tomlEntry struct{}

// tomlPath is where the entry lies.
var tomlPath = []string{"mcp_servers", entryName}

func decodeTOML(content []byte) (map[string]any, error) {
	m := map[string]any{}
	if err := toml.Unmarshal(withoutBOM(content), &m); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			line, column := at.Position()
			return nil, fmt.Errorf("it is no TOML: line %d, column %d: %w", line, column, err)
		}
		return nil, fmt.Errorf("it is no TOML: %w", err)
	}
	return m, nil
}

func (tomlEntry) inspect(content []byte) (command string, present bool, err error) {
	m, err := decodeTOML(content)
	if err != nil {
		return "", false, err
	}
	servers, ok := m[tomlPath[0]].(map[string]any)
	if !ok && m[tomlPath[0]] != nil {
		return "", false, errors.New("its mcp_servers is no table")
	}
	if servers[entryName] == nil {
		return "", false, nil
	}
	entry, _ := servers[entryName].(map[string]any)
	command, _ = entry["command"].(string)
	var args []string
	list, _ := entry["args"].([]any)
	for _, a := range list {
		arg, _ := a.(string)
		args = append(args, arg)
	}
	if !runsMapd(command, args) {
		return "", false, ErrForeign
	}
	return command, true, nil
}

func (t tomlEntry) add(content []byte, command string) (added []byte, made []string, err error) {
	old, present, err := t.inspect(content)
	switch {
	case err != nil:
		return nil, nil, err
	case present && old == command:
		return content, nil, nil
	case present:
		added, err = t.update(content, command)
		return added, nil, err
	}
	before, err := decodeTOML(content)
	if err != nil {
		return nil, nil, err
	}
	if before[tomlPath[0]] == nil {
		made = tomlPath[:1]
	}
	nl := "\n"
	if i := bytes.IndexByte(content, '\n'); i > 0 && content[i-1] == '\r' {
		nl = "\r\n"
	}
	added = bytes.Clone(content)
	if text := withoutBOM(content); len(text) > 0 {
		if text[len(text)-1] != '\n' {
			added = append(added, nl...)
		}
		added = append(added, nl...)
	}
	added = fmt.Appendf(added, "[mcp_servers.mapd]%s", nl)
	added = fmt.Appendf(added, "command = %s%s", quote(command), nl)
	added = fmt.Appendf(added, `args = ["mcp"]%s`, nl)
	return added, made, t.sameBut(added, content, made)
}

// update puts another program into the entry.
func (t tomlEntry) update(content []byte, command string) ([]byte, error) {
	text := withoutBOM(content)
	skipped := len(content) - len(text)
	for _, e := range expressions(text) {
		if slices.Equal(e.key, append(slices.Clone(tomlPath), "command")) && e.value.Length > 0 {
			start := skipped + int(e.value.Offset)
			return slices.Concat(content[:start], []byte(quote(command)), content[start+int(e.value.Length):]), nil
		}
	}
	return nil, errByHand
}

var errByHand = errors.New("mapd does not know how to change it without changing more; change it by hand")

// expression is a header or an assignment of a document.
type expression struct {
	key        []string // full, with the table it is in
	start, end int      // offsets; of a header the end is that of its last key
	value      unstable.Range
	comment    bool
}

// expressions lists those of a document that parses.
func expressions(text []byte) []expression {
	var out []expression
	var table []string
	p := unstable.Parser{KeepComments: true}
	p.Reset(text)
	for p.NextExpression() {
		n := p.Expression()
		e := expression{start: int(n.Raw.Offset), end: int(n.Raw.Offset + n.Raw.Length), comment: n.Kind == unstable.Comment}
		if e.comment {
			out = append(out, e)
			continue
		}
		var key []string
		first := true
		for keys := n.Key(); keys.Next(); first = false {
			k := keys.Node()
			key = append(key, string(k.Data))
			if n.Kind != unstable.KeyValue {
				if first {
					e.start = int(k.Raw.Offset)
				}
				e.end = int(k.Raw.Offset + k.Raw.Length)
			}
		}
		if n.Kind == unstable.KeyValue {
			e.key = slices.Concat(table, key)
			if v := n.Value(); v.Kind == unstable.String {
				e.value = v.Raw
			}
		} else {
			table, e.key = key, key
		}
		out = append(out, e)
	}
	return out
}

func (t tomlEntry) remove(content []byte, made []string) (removed []byte, empty bool, err error) {
	text := withoutBOM(content)
	all := expressions(text)
	at := 0
	removed = bytes.Clone(content[:len(content)-len(text)])
	for i := 0; i < len(all); i++ {
		if !ours(all[i]) {
			continue
		}
		last := i // of a run of ours, with the comments between them
		for j := i + 1; j < len(all) && (all[j].comment || ours(all[j])); j++ {
			if ours(all[j]) {
				last = j
			}
		}
		start := lineStart(text, all[i].start)
		if start >= 2 && lineStart(text, start-1) == start-len(lineEnd(text, start)) { // an empty line before it
			start = lineStart(text, start-1)
		}
		removed = append(removed, text[at:start]...)
		at = len(text)
		if n := bytes.IndexByte(text[all[last].end:], '\n'); n >= 0 {
			at = all[last].end + n + 1
		}
		i = last
	}
	removed = append(removed, text[at:]...)
	return removed, len(bytes.TrimSpace(withoutBOM(removed))) == 0, t.sameBut(content, removed, made)
}

func ours(e expression) bool {
	return len(e.key) >= len(tomlPath) && slices.Equal(e.key[:len(tomlPath)], tomlPath)
}

func lineStart(text []byte, offset int) int { return bytes.LastIndexByte(text[:offset], '\n') + 1 }

// lineEnd is what ends the line before offset, a start of a line.
func lineEnd(text []byte, offset int) string {
	if bytes.HasSuffix(text[:offset], []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// sameBut checks that two documents are the same but for the entry, which is in
// the first, and for the table of servers where it was made.
func (tomlEntry) sameBut(with, without []byte, made []string) error {
	a, err := decodeTOML(with)
	if err != nil {
		return errByHand
	}
	b, err := decodeTOML(without)
	if err != nil {
		return errByHand
	}
	prune(a, tomlPath, made)
	if len(made) == 0 {
		// Without its last header a table of servers is no table any more.
		if servers, ok := a[tomlPath[0]].(map[string]any); ok && len(servers) == 0 && b[tomlPath[0]] == nil {
			delete(a, tomlPath[0])
		}
	}
	if !reflect.DeepEqual(a, b) {
		return errByHand
	}
	return nil
}
