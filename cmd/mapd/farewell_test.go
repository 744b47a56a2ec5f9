package main

import (
	"fmt"
	"strings"
	"testing"
)

// What a client says at the end is found in any framing, however its bytes are
// cut, and only where it is a message.
func TestFarewell(t *testing.T) {
	const shutdown, exit = `{"jsonrpc":"2.0","id":7,"method":"shutdown"}`, `{"method":"exit","jsonrpc":"2.0"}`
	large := `{"jsonrpc":"2.0","method":"x","params":["` + strings.Repeat(`\n{\"method\":\"exit\"}`, 1000) + `"]}`
	quoting := `{"jsonrpc":"2.0","method":"x","params":["{\"method\":\"exit\"}"]}`
	header := func(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }
	typed := func(body string) string {
		return fmt.Sprintf("content-type: x\r\ncontent-length:%d \r\n\r\n%s", len(body), body)
	}
	line := func(body string) string { return body + "\n" }
	for name, c := range map[string]struct {
		frame func(string) string
		said  []string
		want  string
	}{
		"headers":              {header, []string{large, quoting, shutdown, exit}, "exit"},
		"other headers":        {typed, []string{shutdown, exit}, "exit"},
		"headers, too early":   {header, []string{quoting, exit, shutdown}, "early"},
		"lines":                {line, []string{large, quoting, shutdown, large, exit}, "exit"},
		"no shutdown":          {line, []string{large, exit}, "early"},
		"no shutdown, headers": {header, []string{exit}, "early"},
		"no exit":              {header, []string{shutdown, large, quoting}, ""},
		"no exit, lines":       {line, []string{large, quoting}, ""},
		"other ids":            {line, []string{`{"id":1,"method":"exit"}`, `{"method":"shutdown"}`}, ""},
		"a broken header":      {func(body string) string { return "Content-Length: x\r\n\r\n" + body }, []string{exit, exit}, ""},
		"an endless header":    {func(body string) string { return "C" + strings.Repeat("x", 20_000) + body }, []string{exit}, ""},
		"neither":              {func(body string) string { return "x" + line(body) }, []string{exit}, ""},
	} {
		all := ""
		for _, body := range c.said {
			all += c.frame(body)
		}
		for _, step := range []int{1, 2, 7, 1000, len(all)} {
			f := &farewell{}
			for rest := all; rest != ""; rest = rest[min(step, len(rest)):] {
				if n, err := f.Write([]byte(rest[:min(step, len(rest))])); n != min(step, len(rest)) || err != nil {
					t.Fatal(n, err)
				}
			}
			got := ""
			switch {
			case f.err() != nil:
				got = "early"
			case f.seen():
				got = "exit"
			}
			if cap(f.part) > 3*farewellHeader {
				t.Errorf("%s: %d bytes are kept", name, cap(f.part))
			}
			if got != c.want {
				t.Errorf("%s in steps of %d: %q, want %q", name, step, got, c.want)
			}
		}
	}
}
