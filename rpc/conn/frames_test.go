package conn

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func header(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// frames reads all frames of an input.
func frames(r io.Reader, limits Limits) (out []string, err error) {
	f := frameReader{r: r, limits: limits.withDefaults()}
	for {
		frame, err := f.next()
		if err != nil {
			return out, err
		}
		out = append(out, string(frame))
	}
}

func TestFrames(t *testing.T) {
	long := `{"x":"` + strings.Repeat("y", 300_000) + `"}`
	for name, test := range map[string]struct {
		in   string
		want []string
		err  error
	}{
		"nothing":                 {"", nil, io.EOF},
		"lines":                   {"{1}\n[2]\n", []string{"{1}", "[2]"}, io.EOF},
		"crlf and blank lines":    {"{1}\r\n\r\n \n{2}\n\n", []string{"{1}", "{2}"}, io.EOF},
		"last line unterminated":  {"{1}\n{2}", []string{"{1}", "{2}"}, io.EOF},
		"blank at the end":        {"{1}\n  ", []string{"{1}"}, io.EOF},
		"long line":               {long + "\n" + long + "\n{3}\n", []string{long, long, "{3}"}, io.EOF},
		"headers":                 {header("{1}") + header("[2]"), []string{"{1}", "[2]"}, io.EOF},
		"header case and spaces":  {"content-length:3  \r\nX: y\r\n\r\n{1}CONTENT-LENGTH:\t3\r\n\r\n{2}", []string{"{1}", "{2}"}, io.EOF},
		"line feeds":              {"Content-Length: 3\n\n{1}", []string{"{1}"}, io.EOF},
		"other header first":      {"content-type: x\r\nContent-Length: 3\r\n\r\n{1}", []string{"{1}"}, io.EOF},
		"same length twice":       {"Content-Length: 3\r\nContent-Length: 3\r\n\r\n{1}", []string{"{1}"}, io.EOF},
		"long body":               {header(long) + header("{2}"), []string{long, "{2}"}, io.EOF},
		"body with line feeds":    {header("{\n}") + header("{2}"), []string{"{\n}", "{2}"}, io.EOF},
		"cut in the header":       {"Content-Len", nil, io.ErrUnexpectedEOF},
		"cut behind a header":     {header("{1}") + "Content-Length: 3\r\n", []string{"{1}"}, io.ErrUnexpectedEOF},
		"cut before the body":     {"Content-Length: 3\r\n\r\n", nil, io.ErrUnexpectedEOF},
		"cut in the body":         {"Content-Length: 3\r\n\r\n{1", nil, io.ErrUnexpectedEOF},
		"cut in the blank line":   {"Content-Length: 3\r\n\r", nil, io.ErrUnexpectedEOF},
		"clean end after headers": {header("{1}"), []string{"{1}"}, io.EOF},
	} {
		for how, r := range map[string]io.Reader{
			"at once":        strings.NewReader(test.in),
			"byte by byte":   iotest.OneByteReader(strings.NewReader(test.in)),
			"error with end": iotest.DataErrReader(strings.NewReader(test.in)),
		} {
			got, err := frames(r, Limits{})
			if err != test.err && !(test.err == io.ErrUnexpectedEOF && errors.Is(err, test.err)) {
				t.Errorf("%s %s: error %v, want %v", name, how, err, test.err)
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s %s: %.100q, want %.100q", name, how, got, test.want)
			}
		}
	}
}

// badHeaders are the starts of a connection that lose the frame boundary.
var badHeaders = map[string]string{
	"negative":           "Content-Length: -1\r\n\r\n",
	"signed":             "Content-Length: +3\r\n\r\n{1}",
	"zero":               "Content-Length: 0\r\n\r\n",
	"words":              "Content-Length: many\r\n\r\n",
	"nothing":            "Content-Length:\r\n\r\n",
	"hexadecimal":        "Content-Length: 0x10\r\n\r\n",
	"fraction":           "Content-Length: 3.0\r\n\r\n{1}",
	"two numbers":        "Content-Length: 3, 3\r\n\r\n{1}",
	"1 GiB":              "Content-Length: 1073741824\r\n\r\n",
	"one too large":      "Content-Length: 67108865\r\n\r\n",
	"past 64 bits":       "Content-Length: 99999999999999999999999\r\n\r\n",
	"contradiction":      "Content-Length: 3\r\nContent-Length: 4\r\n\r\n{1}",
	"contradiction case": "Content-Length: 3\r\ncontent-length: 4\r\n\r\n{1}",
	"no length":          "Content-Type: application/vscode-jsonrpc\r\n\r\n{1}",
	"no colon":           "Content-Length\r\n\r\n",
	"colon lost":         "Content-Length: 3\r\nContent-Type\r\n\r\n{1}",
	"endless":            "Content-Type: " + strings.Repeat("x", 100_000),
	"endless fields":     strings.Repeat("C: x\r\n", 10_000),
	"first byte":         "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	"first byte quote":   `"Content-Length: 3"`,
	"first byte space":   " {}\n",
	"first byte NUL":     "\x00\x00\x00\x01",
	"first byte BOM":     "\xef\xbb\xbf{}\n",
}

func TestBadHeaders(t *testing.T) {
	for name, in := range badHeaders {
		var lost *framingError
		if _, err := frames(strings.NewReader(in), Limits{}); !errors.As(err, &lost) {
			t.Errorf("%s: %v, want a framing error", name, err)
		}
	}
}

// TestFrameLimits meets each limit exactly and steps one past it.
func TestFrameLimits(t *testing.T) {
	limits := Limits{Frame: 1000, Header: 200}
	body := func(n int) string { return "{" + strings.Repeat("x", n-2) + "}" }
	block := func(n int) string {
		const length = "Content-Length: 3\r\n"
		return length + "X:" + strings.Repeat("y", n-len(length)-len("X:\r\n\r\n")) + "\r\n\r\n{1}"
	}
	for name, test := range map[string]struct {
		in string
		ok bool
	}{
		"body":             {header(body(1000)), true},
		"body + 1":         {header(body(1001)), false},
		"line":             {body(1000) + "\n", true},
		"line crlf":        {body(1000) + "\r\n", true},
		"line + 1":         {body(1001) + "\n", false},
		"line + 1 no end":  {body(1001), false},
		"line no end":      {body(1000), true},
		"line + 2 crlf":    {body(1001) + "\r\n", false},
		"header":           {block(200), true},
		"header + 1":       {block(201), false},
		"second line":      {"{1}\n" + body(1000) + "\n", true},
		"second line + 1":  {"{1}\n" + body(1001) + "\n", false},
		"second header":    {header("{1}") + block(200), true},
		"second header +1": {header("{1}") + block(201), false},
	} {
		for _, r := range []io.Reader{strings.NewReader(test.in), iotest.OneByteReader(strings.NewReader(test.in))} {
			_, err := frames(r, limits)
			var lost *framingError
			if ok := !errors.As(err, &lost); ok != test.ok {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestFramesGrowWithInput announces a large frame and sends little of it.
func TestFramesGrowWithInput(t *testing.T) {
	in := "Content-Length: 60000000\r\n\r\n" + strings.Repeat("x", 100_000)
	f := frameReader{r: iotest.OneByteReader(strings.NewReader(in)), limits: DefaultLimits()}
	if _, err := f.next(); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if cap(f.buf) > 8*len(in) {
		t.Errorf("%d bytes of input made a buffer of %d", len(in), cap(f.buf))
	}
}

// TestFrameBufferShrinks checks that an idle connection does not keep the buffer
// of its largest frame.
func TestFrameBufferShrinks(t *testing.T) {
	large := "{" + strings.Repeat("x", 4<<20) + "}\n"
	f := frameReader{r: strings.NewReader(large + "{2}\n"), limits: DefaultLimits()}
	for range 2 {
		if _, err := f.next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(f.buf) > keptBuffer {
		t.Errorf("%d bytes kept", cap(f.buf))
	}
}

// TestEndlessLine reads a line without end: what it costs is the limit, not the
// input, and it is scanned once, not again for each read.
func TestEndlessLine(t *testing.T) {
	limits := Limits{Frame: 8 << 20}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := frames(io.MultiReader(strings.NewReader("{"), endless{}), limits)
	runtime.ReadMemStats(&after)
	var lost *framingError
	if !errors.As(err, &lost) {
		t.Fatal(err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4*8<<20 {
		t.Errorf("a line over the limit of 8 MiB allocated %d bytes", grown)
	}
}

// endless is an input without end or line feed.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestReaderWithoutProgress(t *testing.T) {
	if _, err := frames(stuck{}, Limits{}); err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func FuzzFrames(f *testing.F) {
	for _, in := range badHeaders {
		if len(in) < 1000 {
			f.Add([]byte(in))
		}
	}
	f.Add([]byte(header("{1}") + header("[2]")))
	f.Add([]byte("{1}\r\n\n[2]\n{3}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		limits := Limits{Frame: 64, Header: 128}
		whole, wholeErr := frames(strings.NewReader(string(in)), limits)
		single, singleErr := frames(iotest.OneByteReader(strings.NewReader(string(in))), limits)
		if fmt.Sprint(whole, wholeErr) != fmt.Sprint(single, singleErr) {
			t.Errorf("%q: how the input arrives matters:\n%q %v\n%q %v", in, whole, wholeErr, single, singleErr)
		}
		for _, frame := range whole {
			if len(frame) == 0 || len(frame) > limits.Frame {
				t.Errorf("%q: a frame of %d bytes", in, len(frame))
			}
		}
		if wholeErr == nil {
			t.Errorf("%q: no end", in)
		}
	})
}
