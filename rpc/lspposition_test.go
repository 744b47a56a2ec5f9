package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"mapd/hashline"
	"mapd/rpc/buffers"
)

// lspLines are the lines of a text as LSP counts them, without their ends, found
// without thought for speed; starts are their offsets.
func lspLines(s string) (lines []string, starts []int) {
	start := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '\n' && s[i] != '\r' {
			continue
		}
		lines, starts = append(lines, s[start:i]), append(starts, start)
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		start = i + 1
	}
	return append(lines, s[start:]), append(starts, start)
}

func lspUnits(e buffers.Encoding, s string) int {
	switch e {
	case buffers.UTF8:
		return len(s)
	case buffers.UTF32:
		return len([]rune(s))
	default:
		return len(utf16.Encode([]rune(s)))
	}
}

// checkPositions compares the locator of a text with the lines of LSP: each
// character's position, and back, in rising order and then in falling order.
func checkPositions(t *testing.T, s string, e buffers.Encoding, sent bool) {
	t.Helper()
	text := hashline.NewText([]byte(s))
	l := newLocator(text, e, sent)
	first := 0
	if !sent && strings.HasPrefix(s, hashline.BOM) {
		first = len(hashline.BOM)
	}
	lines, starts := lspLines(s[first:])
	type point struct {
		offset     int
		line, char int
	}
	var points []point
	for n, line := range lines {
		for at := 0; at <= len(line); at++ {
			if at == len(line) || utf8.RuneStart(line[at]) {
				points = append(points, point{first + starts[n] + at, n, lspUnits(e, line[:at])})
			}
		}
	}
	check := func(p point) {
		if got := l.at(p.offset); int(got.Line) != p.line || int(got.Character) != p.char {
			t.Fatalf("%q %s: offset %d is at %d:%d, want %d:%d", s, e, p.offset, got.Line, got.Character, p.line, p.char)
		}
		if got := l.offset(buffers.Position{Line: uint64(p.line), Character: uint64(p.char)}); got != p.offset {
			t.Fatalf("%q %s: %d:%d is offset %d, want %d", s, e, p.line, p.char, got, p.offset)
		}
	}
	for _, p := range points {
		check(p)
	}
	for i := range points {
		check(points[len(points)-1-i])
	}
	for n, line := range lines {
		if got := l.offset(buffers.Position{Line: uint64(n), Character: 1 << 40}); got != first+starts[n]+len(line) {
			t.Fatalf("%q %s: the end of line %d is offset %d", s, e, n, got)
		}
	}
	if got := l.offset(buffers.Position{Line: uint64(len(lines))}); got != len(s) {
		t.Fatalf("%q %s: past the last line is offset %d", s, e, got)
	}
}

// FuzzPositions compares positions with the rules of LSP, in all encodings.
func FuzzPositions(f *testing.F) {
	for _, s := range []string{"", "a", "a\n", "a\r\nb", "a\rb\r\r\nc\r", "\r", "\n\r", "😀ä\r😀\n\u2028x", hashline.BOM + "a\rb\n", hashline.BOM} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, sent bool) {
		if !utf8.ValidString(s) || len(s) > 300 {
			t.Skip()
		}
		for _, e := range []buffers.Encoding{buffers.UTF8, buffers.UTF16, buffers.UTF32} {
			checkPositions(t, s, e, sent)
		}
	})
}

// A position inside a character stands for its start.
func TestPositionInsideACharacter(t *testing.T) {
	for e, last := range map[buffers.Encoding]uint64{buffers.UTF8: 4, buffers.UTF16: 2} {
		l := newLocator(hashline.NewText([]byte("a😀b")), e, true)
		for c := uint64(1); c <= last; c++ {
			if got := l.offset(buffers.Position{Character: c}); got != 1 {
				t.Errorf("%s: character %d is offset %d", e, c, got)
			}
		}
	}
}

// Bytes that are not UTF-8 count as one character each, as editors show them.
func TestPositionsInLatin1(t *testing.T) {
	l := newLocator(hashline.NewText([]byte("\xf6\xe4\xff:x")), buffers.UTF16, false)
	if p := l.at(4); p.Character != 4 {
		t.Errorf("the column is %d", p.Character)
	}
	if at := l.offset(buffers.Position{Character: 4}); at != 4 {
		t.Errorf("the offset is %d", at)
	}
}

// A request is answered from the documents that were open when it came.
func TestDocumentsArePinned(t *testing.T) {
	p := fuzzPeer(t)
	session, _ := p.attached()
	serve := func(method, params string) func() string {
		m := methods[method]
		handler := m.handler(p, session)
		return func() string {
			reply, err := handler(t.Context(), []byte(params))
			if err != nil {
				return err.Error()
			}
			return string(reply.Result)
		}
	}
	serve("textDocument/didOpen", `{"textDocument":{"uri":"untitled:1","languageId":"go","version":1,"text":"func before() {}"}}`)()
	symbols := serve("textDocument/documentSymbol", `{"textDocument":{"uri":"untitled:1"}}`)
	serve("textDocument/didChange", `{"textDocument":{"uri":"untitled:1","version":2},"contentChanges":[{"text":"func after() {}"}]}`)()
	if got := symbols(); !strings.Contains(got, `"before"`) {
		t.Errorf("a request that came before the change sees %s", got)
	}
	if got := serve("textDocument/documentSymbol", `{"textDocument":{"uri":"untitled:1"}}`)(); !strings.Contains(got, `"after"`) {
		t.Errorf("a request that came after the change sees %s", got)
	}
}

// Requests about large documents wait for each other, and for nothing once they
// are cancelled.
func TestDocumentsTakeTurns(t *testing.T) {
	p := fuzzPeer(t)
	session, _ := p.attached()
	ask := func(ctx context.Context) error {
		m := methods["textDocument/documentSymbol"]
		_, err := m.handler(p, session)(ctx, []byte(`{"textDocument":{"uri":"untitled:1"}}`))
		return err
	}
	open := func(size int) {
		m := methods["textDocument/didOpen"]
		params := fmt.Sprintf(`{"textDocument":{"uri":"untitled:1","languageId":"go","version":1,"text":%q}}`, strings.Repeat("x", size))
		if _, err := m.handler(p, session)(t.Context(), []byte(params)); err != nil {
			t.Log(err) // it was open already
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fill := func() {
		for range documentsAtOnce {
			session.documenting <- struct{}{}
		}
	}
	fill()
	open(100)
	if err := ask(t.Context()); err != nil {
		t.Errorf("a small document: %v", err)
	}
	for range documentsAtOnce {
		<-session.documenting
	}
	open(2 << 20)
	if err := ask(t.Context()); err != nil { // its outline is known from now on
		t.Errorf("a large document: %v", err)
	}
	fill()
	if err := ask(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a large document out of turn: %v", err)
	}
	<-session.documenting
	for range 3 {
		if err := ask(t.Context()); err != nil {
			t.Errorf("a large document: %v", err)
		}
	}
}

func TestIndexWord(t *testing.T) {
	for _, c := range []struct {
		line, word string
		want       int
	}{
		{"func f()", "f", 5}, {"func foo(foo int)", "foo", 5}, {"type T struct", "T", 5}, {"const π, πr = 1", "πr", 10},
		{"embedded", "bed", 2}, {"x", "y", -1}, {"x", "", -1}, {"$a a", "a", 3}, {"operator+ +", "+", 8}, {"\xff f", "f", 2},
	} {
		if got := indexWord([]byte(c.line), []byte(c.word)); got != c.want {
			t.Errorf("%q in %q: %d, want %d", c.word, c.line, got, c.want)
		}
	}
}
