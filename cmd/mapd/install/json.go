package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// entryName is mapd's name among the servers of a client.
const entryName = "mapd"

// field is a member of an entry. The value is JSON; that of the command is put
// in when it is known.
type field struct{ name, value string }

// jsonEntry is an object among the servers in a JSON document, which may have
// comments and trailing commas. The parser is hujson, whose offsets say where to
// splice: no byte beside the entry is written anew.
type jsonEntry struct {
	containers []string // from the root to the object of the servers
	fields     []field
	inArray    bool // the command is an array with its arguments in it
}

// opencodeEntry is the entry of OpenCode: below mcp.servers where the file is of
// its second version, else below mcp, which the second version takes too.
type opencodeEntry struct{}

func (opencodeEntry) of(content []byte) jsonEntry {
	e := jsonEntry{
		containers: []string{"mcp"}, inArray: true,
		fields: []field{{"type", `"local"`}, {"command", ""}, {"enabled", "true"}},
	}
	var doc struct {
		MCP struct {
			Servers map[string]json.RawMessage `json:"servers"`
		} `json:"mcp"`
	}
	standard, err := hujson.Standardize(bytes.Clone(withoutBOM(content)))
	if err == nil && json.Unmarshal(standard, &doc) == nil && doc.MCP.Servers != nil && doc.MCP.Servers["command"] == nil {
		e.containers, e.fields = []string{"mcp", "servers"}, e.fields[:2]
	}
	return e
}

func (o opencodeEntry) inspect(content []byte) (string, bool, error) {
	return o.of(content).inspect(content)
}

func (o opencodeEntry) add(content []byte, command string) ([]byte, []string, error) {
	return o.of(content).add(content, command)
}

func (o opencodeEntry) remove(content []byte, made []string) ([]byte, bool, error) {
	return o.of(content).remove(content, made)
}

var bom = []byte("\xEF\xBB\xBF")

func withoutBOM(content []byte) []byte { return bytes.TrimPrefix(content, bom) }

// document is a parsed JSON file.
type document struct {
	text []byte // without a byte order mark; offsets are into it
	root hujson.Value
	nl   string
	unit string // one level of indentation
}

func parseJSON(content []byte) (*document, error) {
	d := &document{text: withoutBOM(content), nl: "\n", unit: "  "}
	var err error
	if d.root, err = hujson.Parse(bytes.Clone(d.text)); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	object, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it holds no JSON object")
	}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		d.nl = "\r\n"
	}
	if len(object.Members) > 0 {
		if unit, ok := indentOf(object.Members[0].Name.BeforeExtra); ok && unit != "" {
			d.unit = unit
		}
	}
	return d, nil
}

// indentOf returns what is between the last line end of an extra and its end; ok
// is false if it has none.
func indentOf(extra hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	rest := string(extra[i+1:])
	return rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))], true
}

// member returns the last member of a name, as programs that read JSON do.
func member(object *hujson.Object, name string) int {
	for i := len(object.Members) - 1; i >= 0; i-- {
		if l, ok := object.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return i
		}
	}
	return -1
}

// place is an object on the way to the entry.
type place struct {
	value  *hujson.Value
	object *hujson.Object
}

// walk returns the objects from the root as far as there are containers.
func (e jsonEntry) walk(d *document) ([]place, error) {
	places := []place{{&d.root, d.root.Value.(*hujson.Object)}}
	for _, name := range e.containers {
		at := places[len(places)-1].object
		i := member(at, name)
		if i < 0 {
			return places, nil
		}
		value := &at.Members[i].Value
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("its member %q is no object", name)
		}
		places = append(places, place{value, object})
	}
	return places, nil
}

// entry returns the entry and its index in its container; the value is nil if
// there is none.
func (e jsonEntry) entry(d *document) (places []place, index int, value *hujson.Value, err error) {
	places, err = e.walk(d)
	if err != nil || len(places) <= len(e.containers) {
		return places, -1, nil, err
	}
	at := places[len(places)-1].object
	if index = member(at, entryName); index < 0 {
		return places, -1, nil, nil
	}
	return places, index, &at.Members[index].Value, nil
}

func (e jsonEntry) inspect(content []byte) (command string, present bool, err error) {
	if len(bytes.TrimSpace(withoutBOM(content))) == 0 {
		return "", false, nil
	}
	d, err := parseJSON(content)
	if err != nil {
		return "", false, err
	}
	_, _, value, err := e.entry(d)
	if err != nil || value == nil {
		return "", false, err
	}
	command, err = e.command(value)
	return command, err == nil, err
}

// command returns the program of an entry, if it runs mapd.
func (e jsonEntry) command(value *hujson.Value) (string, error) {
	clone := value.Clone()
	clone.Standardize()
	var entry struct {
		Command json.RawMessage `json:"command"`
		Args    []string        `json:"args"`
	}
	var command string
	err := json.Unmarshal(clone.Pack(), &entry)
	if e.inArray && err == nil {
		var all []string
		if err = json.Unmarshal(entry.Command, &all); err == nil && len(all) > 0 {
			command, entry.Args = all[0], all[1:]
		}
	} else if err == nil {
		err = json.Unmarshal(entry.Command, &command)
	}
	if err != nil || !runsMapd(command, entry.Args) {
		return "", ErrForeign
	}
	return command, nil
}

func (e jsonEntry) add(content []byte, command string) (added []byte, made []string, err error) {
	text := withoutBOM(content)
	blank := len(bytes.TrimSpace(text)) == 0
	if blank {
		text = []byte("{}\n")
	}
	d, err := parseJSON(text)
	if err != nil {
		return nil, nil, err
	}
	places, _, value, err := e.entry(d)
	if err != nil {
		return nil, nil, err
	}
	if value != nil {
		added, err = e.update(d, value, command)
	} else {
		made = e.containers[len(places)-1:]
		added = d.insert(places[len(places)-1], e.chain(made, command))
	}
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(content, bom) {
		added = append(bytes.Clone(bom), added...)
	}
	if value == nil {
		err = e.sameBut(added, content, made)
	}
	return added, made, err
}

// update puts another program into an entry, and leaves all else of it.
func (e jsonEntry) update(d *document, value *hujson.Value, command string) ([]byte, error) {
	old, err := e.command(value)
	if err != nil || old == command {
		return d.text, err
	}
	object := value.Value.(*hujson.Object)
	at := object.Members[member(object, "command")].Value
	if e.inArray {
		at = at.Value.(*hujson.Array).Elements[0]
	}
	return slices.Concat(d.text[:at.StartOffset], []byte(quote(command)), d.text[at.EndOffset:]), nil
}

func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// tree is a JSON value to be written: an object of members in order, or text.
type tree struct {
	name    string
	text    string // of the value, unless there are members
	members []tree
}

// chain is the entry inside of the containers that are missing.
func (e jsonEntry) chain(missing []string, command string) tree {
	t := tree{name: entryName}
	for _, f := range e.fields {
		switch {
		case f.name == "command" && e.inArray:
			f.value = "[" + quote(command) + `, "mcp"]`
		case f.name == "command":
			f.value = quote(command)
		}
		t.members = append(t.members, tree{name: f.name, text: f.value})
	}
	for _, name := range slices.Backward(missing) {
		t = tree{name: name, members: []tree{t}}
	}
	return t
}

// write appends the member on one line, or if indent is not nil on many.
func (t tree) write(out []byte, nl, unit string, indent *string) []byte {
	out = append(append(out, quote(t.name)...), ": "...)
	if t.members == nil {
		return append(out, t.text...)
	}
	out = append(out, '{')
	for i, m := range t.members {
		if i > 0 {
			out = append(out, ',')
		}
		if indent == nil {
			if i > 0 {
				out = append(out, ' ')
			}
			out = m.write(out, nl, unit, nil)
			continue
		}
		deeper := *indent + unit
		out = append(append(out, nl...), deeper...)
		out = m.write(out, nl, unit, &deeper)
	}
	if indent != nil {
		out = append(append(out, nl...), *indent...)
	}
	return append(out, '}')
}

// insert returns the text with one more member at the end of an object, behind
// the comments that are there, with a trailing comma where the last one has one.
func (d *document) insert(p place, t tree) []byte {
	start, end := p.value.StartOffset, p.value.EndOffset-1 // end is the closing brace
	members := p.object.Members
	// Behind the last byte of the object that is no white space; the object's own
	// brace at least.
	at := start + len(bytes.TrimRight(d.text[start:end], " \t\r\n"))
	comma, trailing := -1, false // comma is where one is missing
	if n := len(members); n > 0 {
		last := members[n-1].Value
		if trailing = last.AfterExtra != nil; !trailing {
			comma = last.EndOffset
		}
	}
	span := d.text[start:end]
	oneLine := len(members) > 0 && !bytes.Contains(span, []byte("\n"))
	var out []byte
	if comma >= 0 {
		out = append(append(append(out, d.text[:comma]...), ','), d.text[comma:at]...)
	} else {
		out = append(out, d.text[:at]...)
	}
	if oneLine {
		out = t.write(append(out, ' '), d.nl, d.unit, nil)
	} else {
		closing := d.lineIndent(start)
		indent := closing + d.unit
		if len(members) > 0 {
			if own, ok := indentOf(members[len(members)-1].Name.BeforeExtra); ok {
				indent = own
			}
		}
		out = t.write(append(append(out, d.nl...), indent...), d.nl, d.unit, &indent)
		if !bytes.Contains(d.text[at:end], []byte("\n")) {
			if trailing {
				out = append(out, ',')
				trailing = false
			}
			out = append(append(out, d.nl...), closing...)
			at = end
		}
	}
	if trailing {
		out = append(out, ',')
	}
	return append(out, d.text[at:]...)
}

// lineIndent is the white space that starts the line of an offset.
func (d *document) lineIndent(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

func (e jsonEntry) remove(content []byte, made []string) (removed []byte, empty bool, err error) {
	removed = bytes.Clone(withoutBOM(content))
	path := append(slices.Clone(e.containers), entryName)
	for drop := entryName; ; {
		d, err := parseJSON(removed)
		if err != nil {
			return nil, false, err
		}
		places, err := jsonEntry{containers: path[:len(path)-1]}.walk(d)
		if err != nil {
			return nil, false, err
		}
		at := places[len(places)-1]
		removed = d.cut(at, member(at.object, drop))
		if len(at.object.Members) > 1 || len(path) == 1 {
			empty = len(path) == 1 && len(at.object.Members) == 1
			break
		}
		path = path[:len(path)-1]
		if drop = path[len(path)-1]; !slices.Contains(made, drop) {
			break
		}
	}
	if bytes.HasPrefix(content, bom) {
		removed = append(bytes.Clone(bom), removed...)
	}
	return removed, empty, e.sameBut(content, removed, made)
}

// cut returns the text without a member, its comma and the white space before
// it. Comments stay.
func (d *document) cut(p place, index int) []byte {
	m := p.object.Members[index]
	start := len(bytes.TrimRight(d.text[:m.Name.StartOffset], " \t\r\n"))
	end := m.Value.EndOffset
	last := index == len(p.object.Members)-1
	if !last || m.Value.AfterExtra != nil { // a comma follows
		end += len(m.Value.AfterExtra) + 1
	}
	head := d.text[:start]
	if last && index > 0 && m.Value.AfterExtra == nil {
		before := p.object.Members[index-1].Value
		comma := before.EndOffset + len(before.AfterExtra)
		head = slices.Concat(d.text[:comma], d.text[comma+1:start])
	}
	rest := d.text[end:]
	if len(p.object.Members) == 1 && start == p.value.StartOffset+1 { // nothing is left, not even a comment
		rest = d.text[p.value.EndOffset-1:]
	}
	return slices.Concat(head, rest)
}

// sameBut checks that two documents are the same but for the entry, which is in
// the first, and for containers made for it.
func (e jsonEntry) sameBut(with, without []byte, made []string) error {
	a, err := decodeJSON(with)
	if err != nil {
		return err
	}
	b, err := decodeJSON(without)
	if err != nil {
		return err
	}
	prune(a, append(slices.Clone(e.containers), entryName), made)
	if !reflect.DeepEqual(a, b) {
		return errors.New("mapd does not know how to change it without changing more; change it by hand")
	}
	return nil
}

// prune deletes the value at a path, and the containers of made above it that
// are empty then.
func prune(m map[string]any, path, made []string) {
	if len(path) > 1 {
		inner, ok := m[path[0]].(map[string]any)
		if !ok {
			return
		}
		prune(inner, path[1:], made)
		if len(inner) > 0 || !slices.Contains(made, path[0]) {
			return
		}
	}
	delete(m, path[0])
}

func decodeJSON(content []byte) (map[string]any, error) {
	m := map[string]any{}
	text := withoutBOM(content)
	if len(bytes.TrimSpace(text)) == 0 {
		return m, nil
	}
	standard, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(standard))
	dec.UseNumber()
	return m, dec.Decode(&m)
}
