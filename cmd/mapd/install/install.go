package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"mapd/hashline"
)

// Options say for whom and what to install.
type Options struct {
	// Getenv reads the environment: HOME, the XDG directories and the variables
	// of the clients.
	Getenv func(string) string
	// Command is the absolute path of mapd, as the clients are to run it.
	Command string
	// DryRun makes Install and Uninstall write nothing.
	DryRun bool
}

// Outcome is what Install or Uninstall did, or would do.
type Outcome struct {
	Path    string // of the configuration, as the client names it
	Changed bool
	Diff    string // unified; empty if nothing changes
	Backup  string // what was there before, if anything was and it is kept
	Note    string // what the user has to know beyond it, or ""
}

// The states of Status.
const (
	Absent     = "absent"     // the client does not know mapd
	Configured = "configured" // the client runs Status.Command
	Unreadable = "unreadable" // see Status.Err
)

// Status says whether a client has mapd configured.
type Status struct {
	Client  string
	Path    string // of its configuration, which need not exist
	State   string
	Command string // the program that the client runs
	Err     error  // why State is Unreadable
}

// Clients returns the names of the clients, sorted.
func Clients() []string {
	var names []string
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}

// UnknownClientError says that there is no client of a name.
type UnknownClientError struct{ Name string }

// Error names the clients there are.
func (e *UnknownClientError) Error() string {
	return fmt.Sprintf("there is no client %q; there are %s", e.Name, strings.Join(Clients(), ", "))
}

// editor knows one form of configuration. Content is nil where there is no file.
type editor interface {
	// inspect returns the program that the entry of mapd runs; present is false
	// if there is no entry.
	inspect(content []byte) (command string, present bool, err error)
	// add returns content with an entry that runs command, and the names of the
	// containers that were made for it.
	add(content []byte, command string) (added []byte, made []string, err error)
	// remove returns content without the entry, and without the containers of made
	// where they are empty then. empty says that nothing else is left; nil is a
	// file that has to go.
	remove(content []byte, made []string) (removed []byte, empty bool, err error)
}

// Install puts mapd into the configuration of a client.
func Install(client string, opt Options) (Outcome, error) {
	c, err := find(client)
	if err != nil {
		return Outcome{}, err
	}
	f, err := open(c.path(opt.Getenv))
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Path: f.name, Note: c.note}
	added, made, err := c.editor.add(f.content, opt.Command)
	if err != nil {
		return out, fmt.Errorf("%s: %w; nothing was written", f.name, err)
	}
	if f.exists && bytes.Equal(added, f.content) {
		return out, nil
	}
	out.Changed, out.Diff = true, f.diff(added)
	if opt.DryRun {
		return out, nil
	}
	s, err := openStore(opt.Getenv, client, f.real)
	if err != nil {
		return out, err
	}
	if err := s.keep(f, added, made); err != nil {
		return out, fmt.Errorf("keep a backup of %s: %w; nothing was written", f.name, err)
	}
	if f.exists {
		out.Backup = s.backup()
	}
	return out, f.write(added)
}

// Uninstall takes mapd out of the configuration of a client.
func Uninstall(client string, opt Options) (Outcome, error) {
	c, err := find(client)
	if err != nil {
		return Outcome{}, err
	}
	f, err := open(c.path(opt.Getenv))
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Path: f.name}
	s, err := openStore(opt.Getenv, client, f.real)
	if err != nil {
		return out, err
	}
	known, err := s.load()
	if err != nil {
		return out, err
	}
	restored, gone, exact, err := c.without(f, s, known)
	if err != nil {
		return out, fmt.Errorf("%s: %w; nothing was written", f.name, err)
	}
	if !gone && bytes.Equal(restored, f.content) {
		if !opt.DryRun {
			return out, s.drop(known)
		}
		return out, nil
	}
	if gone {
		restored = nil
	}
	out.Changed, out.Diff = true, f.diff(restored)
	if opt.DryRun {
		return out, nil
	}
	if !exact {
		if err := s.keepOnly(f); err != nil {
			return out, fmt.Errorf("keep a backup of %s: %w; nothing was written", f.name, err)
		}
		out.Backup = s.backup()
	}
	if gone {
		err = os.Remove(f.real)
	} else {
		err = f.write(restored)
	}
	if err != nil {
		return out, err
	}
	if exact {
		return out, s.drop(known)
	}
	return out, s.forget(known)
}

// without returns what a file is without mapd: the backup, if the file is still
// what was written last (exact), else the file without the entry.
func (c client) without(f *file, s *store, known *record) (content []byte, gone, exact bool, err error) {
	if !f.exists {
		return nil, false, true, nil
	}
	if known != nil && known.After == digest(f.content) {
		if !known.Existed {
			return nil, true, true, nil
		}
		content, err = os.ReadFile(s.backup())
		return content, false, true, err
	}
	_, present, err := c.editor.inspect(f.content)
	if err != nil || !present {
		return f.content, false, true, err
	}
	var made []string
	if known != nil {
		made = known.Made
	}
	content, empty, err := c.editor.remove(f.content, made)
	gone = content == nil || empty && known != nil && !known.Existed
	return content, gone, false, err
}

// Statuses says of every client whether it has mapd configured.
func Statuses(getenv func(string) string) []Status {
	var out []Status
	for _, c := range clients {
		st := Status{Client: c.name, Path: c.path(getenv), State: Absent}
		f, err := open(st.Path)
		if err == nil {
			var present bool
			if st.Command, present, err = c.editor.inspect(f.content); present {
				st.State = Configured
			}
		}
		if err != nil {
			st.State, st.Err = Unreadable, err
		}
		out = append(out, st)
	}
	return out
}

// diff returns the unified diff from the file to new content, nil for none.
func (f *file) diff(content []byte) string {
	before, after := "a/"+strings.TrimPrefix(f.name, "/"), "b/"+strings.TrimPrefix(f.name, "/")
	if !f.exists {
		before = "/dev/null"
	}
	if content == nil {
		after = "/dev/null"
	}
	older, newer := hashline.NewText(f.content), hashline.NewText(content)
	return string(hashline.UnifiedDiff(before, after, older, newer, hashline.Hunks(older, newer, hashline.MapLines(older, newer)), hashline.DiffContext))
}

func find(name string) (client, error) {
	i := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if i < 0 {
		return client{}, &UnknownClientError{name}
	}
	return clients[i], nil
}

// ErrForeign is wrapped by the refusal to touch an entry that does not run mapd.
var ErrForeign = errors.New(`it has an entry "mapd" that does not run mapd; rename or remove it`)

// runsMapd reports whether the arguments of an entry are those of mapd, whatever
// its program is called.
func runsMapd(command string, args []string) bool {
	return command != "" && len(args) > 0 && args[0] == "mcp"
}
