package install

import (
	"strings"
	"testing"
)

// FuzzJSON: whatever a document holds, the entry comes in and goes out without a
// change to anything else, or is refused.
func FuzzJSON(f *testing.F) {
	for _, contents := range configurations {
		for _, c := range contents {
			f.Add(c)
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		e := jsonEntry{containers: []string{"mcpServers"}, fields: []field{{"command", ""}, {"args", `["mcp"]`}}}
		added, made, err := e.add([]byte(content), mapd)
		if err != nil {
			return
		}
		if command, present, err := e.inspect(added); err != nil || !present || command != mapd {
			t.Fatalf("%q became %q, of which a client reads %q %v %v", content, added, command, present, err)
		}
		again, _, err := e.add(added, mapd)
		if err != nil || string(again) != string(added) {
			t.Fatalf("%q became %q (%v)", added, again, err)
		}
		if _, present, _ := e.inspect([]byte(content)); present {
			return
		}
		if removed, _, err := e.remove(added, made); err == nil && !sameData(t, string(removed), content) {
			t.Fatalf("%q became %q and then %q", content, added, removed)
		}
	})
}

// FuzzTOML is FuzzJSON for TOML, where what goes out leaves the bytes of before.
func FuzzTOML(f *testing.F) {
	for _, c := range configurations["codex"] {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, content string) {
		e := tomlEntry{}
		added, made, err := e.add([]byte(content), mapd)
		if err != nil {
			return
		}
		if command, present, err := e.inspect(added); err != nil || !present || command != mapd {
			t.Fatalf("%q became %q, of which a client reads %q %v %v", content, added, command, present, err)
		}
		if _, present, _ := e.inspect([]byte(content)); present {
			return
		}
		removed, _, err := e.remove(added, made)
		if err != nil || strings.TrimRight(string(removed), "\r\n") != strings.TrimRight(content, "\r\n") {
			t.Fatalf("%q became %q and then %q (%v)", content, added, removed, err)
		}
	})
}
