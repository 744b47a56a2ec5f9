package rpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mapd/hashline"
	"mapd/hashline/cases"
	"mapd/rpc/wire"
)

// TestEditCases runs the cases in testdata/edit: what agents and other programs
// do to one file, what the agents are answered, and what the file holds then. A
// case is some sections with one name:
//
//	NAME/old     the file at first; Go's escapes are understood, and \c at the
//	             very end takes away the last newline
//	NAME/TEXT    other texts that the file gets from other programs
//	NAME/steps   one line each, see editCase.step
//	NAME/want    what the steps were answered
//	NAME/new     the file in the end
//
// Beside what is written there, an edit that is not applied must leave the file
// untouched, and none may leave anything else behind.
func TestEditCases(t *testing.T) {
	cases.Run(t, "testdata/edit/*.txtar", 60, func(family string) func(*testing.T, *cases.Case) {
		d := newDaemon(t)
		count := 0
		return func(t *testing.T, c *cases.Case) {
			count++
			(&editCase{Case: c, t: t, d: d, dir: fmt.Sprintf("%s-%d", family, count)}).run()
		}
	})
}

type editCase struct {
	*cases.Case
	t        *testing.T
	d        *daemon
	dir      string // of the case, in the daemon's folder
	agents   map[string]*agent
	as       string                    // the agent that acts
	anchors  map[string]map[int]string // by source (r1, e1 …) and line
	snapshot map[string]string         // by source
	reads    int
	edits    int
	pending  *wire.EditParams // collects operations until the next step
	tail     string           // what the call has beside them, as JSON members
	out      strings.Builder
}

func (c *editCase) run() {
	d, dir := c.d, c.dir
	c.as = "a"
	c.agents, c.anchors, c.snapshot = map[string]*agent{}, map[string]map[int]string{}, map[string]string{}
	if c.Has("old") {
		d.write(dir+"/f", c.Text(c.t, "old"))
	} else {
		d.write(dir+"/.keep", "")
	}
	for line := range strings.Lines(c.Raw("steps")) {
		c.step(strings.TrimSuffix(line, "\n"))
	}
	c.send()
	for _, a := range c.agents {
		a.conn.Close()
	}
	c.Compare(c.t, "want", c.out.String())
	if c.Has("new") {
		c.Compare(c.t, "new", cases.Encode(c.content("f")))
	}
}

func (c *editCase) path(name string) string { return filepath.Join(c.d.dir, c.dir, name) }

func (c *editCase) content(name string) string {
	b, err := os.ReadFile(c.path(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// agent returns the session that acts; its name may hold options: b{"umask":0}.
func (c *editCase) agent() *agent {
	name, options, _ := strings.Cut(c.as, "{")
	if c.agents[name] == nil {
		if options != "" {
			c.agents[name] = c.d.session("{" + options)
		} else {
			c.agents[name] = c.d.session()
		}
	}
	c.as = name
	return c.agents[name]
}

// step does one step. Lines that were shown are named by who showed them: r1:3
// is line 3 as the first read had it, e2:3 as the second edit's answer had it,
// x1:3 as an outsider would make it from the section x1, live:3 from the file.
//
//	as b{OPTIONS}       the agent of what follows; a at first
//	read [2-3,5]        read the file, or some lines of it
//	becomes TEXT [with the same time]
//	                    another program gives the file the bytes of a section
//	edit OP [ANCHOR [ANCHOR]] [NAME=VALUE…]
//	and OP …            one more operation in the same call
//	| LINE              one more line of the operation
//	forget              the agent forgets what it was shown
//	link, symlink, mkfifo, mkdir NAME; chmod MODE; remove
//	file NAME           the file that the edits name, instead of f
//	stat NAME           say what it is
func (c *editCase) step(line string) {
	c.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "|":
		last := &c.pending.Edits[len(c.pending.Edits)-1]
		payload := strings.TrimSuffix(cases.Decode(c.t, c.named(rest)+"\n"), "\n")
		*last.Lines = append(*last.Lines, payload)
		return
	case "and":
		c.operation(rest)
		return
	}
	c.send()
	switch word {
	case "edit":
		c.pending, c.tail = &wire.EditParams{Path: c.dir + "/f"}, ""
		c.operation(rest)
	case "as":
		c.as = rest
	case "read":
		c.read(rest)
	case "becomes":
		c.becomes(rest)
	case "forget":
		c.agent().call("mapd/forget", `{}`)
	default:
		c.disk(word, rest)
	}
}

// disk does what other programs do to the directory.
func (c *editCase) disk(word, rest string) {
	f := c.path("f")
	var err error
	switch word {
	case "link":
		err = os.Link(f, c.path(rest))
	case "symlink": // f becomes a link to it
		err = errors.Join(os.Rename(f, c.path(rest)), os.Symlink(rest, f))
	case "mkfifo":
		err = syscall.Mkfifo(c.path(rest), 0o600)
	case "mkdir":
		err = os.Mkdir(c.path(rest), 0o700)
	case "remove":
		err = os.Remove(f)
	case "chmod":
		mode, _ := strconv.ParseUint(rest, 8, 32)
		err = syscall.Chmod(f, uint32(mode))
	case "stat":
		var info os.FileInfo
		if info, err = os.Lstat(c.path(rest)); err == nil {
			fmt.Fprintf(&c.out, "%s: %v, %d links\n", rest, info.Mode(), info.Sys().(*syscall.Stat_t).Nlink)
		}
	default:
		c.t.Fatalf("step %q", word)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *editCase) becomes(rest string) {
	name, how, _ := strings.Cut(rest, " ")
	before, err := os.Stat(c.path("f"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.d.write(c.dir+"/f", c.Text(c.t, name))
	if how == "with the same time" {
		if err := os.Chtimes(c.path("f"), before.ModTime(), before.ModTime()); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *editCase) read(lines string) {
	params := fmt.Sprintf(`{"path":%q,"map":"never"`, c.dir+"/f")
	if lines != "" {
		var rs []string
		for part := range strings.SplitSeq(lines, ",") {
			from, to, ok := strings.Cut(part, "-")
			if !ok {
				to = from
			}
			rs = append(rs, fmt.Sprintf(`{"start":%s,"end":%s}`, from, to))
		}
		params += `,"ranges":[` + strings.Join(rs, ",") + `]`
	}
	c.reads++
	source := fmt.Sprintf("r%d", c.reads)
	m := c.agent().call("mapd/read", params+"}")
	if m.Error != nil {
		fmt.Fprintf(&c.out, "%s: %s\n", source, m.code())
		return
	}
	var r wire.ReadResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		c.t.Fatal(err)
	}
	c.anchors[source], c.snapshot[source] = anchors(r), r.Snapshot
	for _, s := range r.Stale {
		for _, one := range s.Ranges {
			fmt.Fprintf(&c.out, "%s: told that %v is %s\n", source, one.Served, one.Status)
		}
	}
}

// named replaces {r1:3} by the anchor.
func (c *editCase) named(s string) string {
	before, rest, ok := strings.Cut(s, "{")
	where, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || !strings.Contains(where, ":") {
		return s
	}
	return before + c.anchor(where) + after
}

func (c *editCase) anchor(where string) string {
	c.t.Helper()
	if strings.Contains(where, "#") {
		return where
	}
	source, number, _ := strings.Cut(where, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		c.t.Fatalf("anchor %q", where)
	}
	switch {
	case source == "live":
		return hashline.NewText([]byte(c.content("f"))).Anchor(n, 4).String()
	case c.Has(source):
		return hashline.NewText([]byte(c.Text(c.t, source))).Anchor(n, 4).String()
	case c.anchors[source][n] == "":
		c.t.Fatalf("%s did not show line %d", source, n)
	}
	return c.anchors[source][n]
}

// operation adds OP [ANCHOR [ANCHOR]] [NAME=VALUE…] to the call.
func (c *editCase) operation(rest string) {
	c.t.Helper()
	words := strings.Fields(rest)
	e := wire.Edit{Op: words[0]}
	var at []string
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w, "=")
		switch {
		case !ok:
			at = append(at, c.anchor(w))
		case name == "snapshot":
			c.pending.Snapshot = c.snapshot[value]
			if c.pending.Snapshot == "" {
				c.pending.Snapshot = value
			}
		case name == "pos": // as it is written, with _ for a space
			e.Pos = strings.ReplaceAll(c.named(value), "_", " ")
		case name == "onStale":
			c.pending.OnStale = value
		case name == "requestId":
			c.pending.RequestID = value
		case name == "dryRun":
			c.pending.DryRun = true
		case name == "create":
			c.pending.Create = true
		case name == "file":
			c.pending.Path = c.dir + "/" + value
		default:
			c.t.Fatalf("edit with %q", w)
		}
	}
	if len(at) > 0 {
		e.Pos = at[0]
	}
	if len(at) > 1 {
		e.End = at[1]
	}
	if e.Op != wire.OpDelete {
		e.Lines = &[]string{}
	}
	c.pending.Edits = append(c.pending.Edits, e)
}

// send makes the call that was collected.
func (c *editCase) send() {
	c.t.Helper()
	if c.pending == nil {
		return
	}
	params, err := json.Marshal(c.pending)
	if err != nil {
		c.t.Fatal(err)
	}
	c.pending = nil
	before := c.disked()
	c.edits++
	source := fmt.Sprintf("e%d", c.edits)
	m := c.agent().call("mapd/edit", string(params))
	applied := false
	if m.Error != nil {
		c.refused(source, m)
	} else {
		applied = c.answered(source, m)
	}
	after := c.disked()
	if !applied && !slices.Equal(before, after) {
		c.t.Errorf("%s: an edit that was not applied left %q, it was %q", source, after, before)
	}
	for _, entry := range after {
		if strings.Contains(entry, ".mapd") || strings.Contains(entry, "tmp") {
			c.t.Errorf("%s: %s was left", source, entry)
		}
	}
}

// disked returns each entry of the directory with all of which an edit that is
// not applied must leave as it is.
func (c *editCase) disked() (out []string) {
	entries, err := os.ReadDir(c.path(""))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			c.t.Fatal(err)
		}
		content := ""
		if info.Mode().IsRegular() {
			content = c.content(e.Name())
		}
		out = append(out, fmt.Sprintf("%s %d %v %v %q", e.Name(), info.Sys().(*syscall.Stat_t).Ino, info.Mode(), info.ModTime(), content))
	}
	return out
}
