package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
)

// farewell watches what a client sends for shutdown and exit, by which LSP decides
// the exit code of a server. It is a writer that takes everything. Only small
// messages are looked at; of the others nothing is kept.
type farewell struct {
	framing byte   // 'C' for headers, '{' for lines, 0 before the first byte, '?' if it is neither
	part    []byte // of a header or a small message
	skip    int    // bytes that are left of a large message
	body    int    // bytes of the message whose header was read, else 0
	long    bool   // the line is no small message

	shutdown, exit atomic.Bool
}

// errNoShutdown is what LSP makes an exit code 1.
var errNoShutdown = errors.New("the editor sent exit without shutdown")

const (
	farewellMessage = 4 << 10 // bytes of the longest message that is looked at
	farewellHeader  = 8 << 10 // bytes of the longest header
)

// seen reports whether the client has said exit.
func (f *farewell) seen() bool { return f.exit.Load() }

// err returns an error if the client has said exit, and not shutdown before.
func (f *farewell) err() error {
	if f.exit.Load() && !f.shutdown.Load() {
		return errNoShutdown
	}
	return nil
}

// Write takes the next bytes that the client has sent.
func (f *farewell) Write(b []byte) (int, error) {
	taken := len(b)
	for len(b) > 0 {
		switch {
		case f.framing == 0:
			f.framing = '?'
			if i := strings.IndexByte("Cc{[", b[0]); i >= 0 {
				f.framing = "CC{{"[i]
			}
		case f.framing == '?':
			return taken, nil
		case f.skip > 0:
			n := min(f.skip, len(b))
			f.skip -= n
			b = b[n:]
		case f.framing == '{':
			b = f.line(b)
		case f.body > 0:
			b = f.message(b)
		default:
			b = f.header(b)
		}
	}
	return taken, nil
}

// line takes bytes up to the end of a line.
func (f *farewell) line(b []byte) []byte {
	part, rest, ends := bytes.Cut(b, []byte{'\n'})
	if f.long = f.long || len(f.part)+len(part) > farewellMessage; !f.long {
		f.part = append(f.part, part...)
	}
	if ends {
		if !f.long {
			f.look(f.part)
		}
		f.part, f.long = f.part[:0], false
	}
	return rest
}

// message takes bytes of a small message.
func (f *farewell) message(b []byte) []byte {
	n := min(f.body-len(f.part), len(b))
	f.part = append(f.part, b[:n]...)
	if len(f.part) == f.body {
		f.look(f.part)
		f.part, f.body = f.part[:0], 0
	}
	return b[n:]
}

// header takes bytes of a header, up to the blank line that ends it.
func (f *farewell) header(b []byte) []byte {
	for i, c := range b {
		f.part = append(f.part, c)
		if c != '\n' || !bytes.HasSuffix(f.part, []byte("\n\r\n")) && !bytes.HasSuffix(f.part, []byte("\n\n")) {
			continue
		}
		size := contentLength(f.part)
		f.part = f.part[:0]
		switch {
		case size < 0:
			f.framing = '?'
		case size > farewellMessage:
			f.skip = size
		default:
			f.body = size
		}
		return b[i+1:]
	}
	if len(f.part) > farewellHeader {
		f.framing = '?'
	}
	return nil
}

// contentLength returns what a header says, -1 if that is no length.
func contentLength(header []byte) int {
	for line := range strings.Lines(string(header)) {
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
			return n
		}
	}
	return -1
}

// look notes what a message says.
func (f *farewell) look(message []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	switch {
	case m.Method == "shutdown" && m.ID != nil && !f.exit.Load():
		f.shutdown.Store(true)
	case m.Method == "exit" && m.ID == nil:
		f.exit.Store(true)
	}
}
