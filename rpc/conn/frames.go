package conn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"mapd/rpc/wire"
)

// framing is how a connection separates its messages.
type framing uint8

const (
	framingUnknown framing = iota
	framingHeader          // LSP: Content-Length: N, blank line, N bytes
	framingLine            // one message a line
)

// framingError ends a connection: the next frame's start is not known, or not
// worth waiting for.
type framingError struct {
	code    wire.Code
	problem string
}

func (e *framingError) Error() string { return e.problem }

func lostf(format string, args ...any) error {
	return &framingError{wire.ParseError, fmt.Sprintf(format, args...)}
}

const (
	firstBuffer = 4 << 10   // an idle connection costs this
	keptBuffer  = 256 << 10 // a larger buffer is given up after its frame
	largeBuffer = 1 << 20   // from here on a buffer grows more carefully
	growthStep  = 64 << 10
	maxEmptyRun = 100 // reads of 0 bytes in a row before the reader is called broken
)

// frameReader cuts the input into frames. Its buffer grows only as bytes
// arrive, never by what a header announces.
type frameReader struct {
	r          io.Reader
	framing    framing
	limits     Limits
	budget     *Budget // shared with other connections; may be nil
	reserved   int64   // of budget, for buf
	hurried    bool    // r has a deadline
	buf        []byte
	start, end int // unread bytes are buf[start:end]
	eof        error
}

// next returns the next frame, which is borrowed until the following call. It
// returns a *framingError if the boundary is lost, io.EOF at a clean end,
// io.ErrUnexpectedEOF inside a frame, else the error of the reader.
func (f *frameReader) next() ([]byte, error) {
	f.shrink()
	defer f.hurry(false)
	if f.framing == framingUnknown {
		if err := f.sniff(); err != nil {
			return nil, err
		}
	}
	if f.framing == framingHeader {
		return f.nextHeader()
	}
	return f.nextLine()
}

func (f *frameReader) sniff() error {
	if err := f.fill(1, firstBuffer); err != nil {
		return err
	}
	switch c := f.buf[f.start]; c {
	case 'C', 'c':
		f.framing = framingHeader
	case '{', '[':
		f.framing = framingLine
	default:
		f.framing = framingLine
		return lostf("the first byte is %q: want a Content-Length header, or a JSON message a line", c)
	}
	return nil
}

// handOver gives up the buffer if it holds nothing but the last frame, which is
// then not borrowed any more. It spares a large frame a copy. reserved is what
// the new owner has to give back to the budget.
func (f *frameReader) handOver() (reserved int64, ok bool) {
	if f.start != f.end {
		return 0, false
	}
	reserved = f.reserved
	f.buf, f.start, f.end, f.reserved = nil, 0, 0, 0
	return reserved, true
}

// shrink gives a large buffer up once its frame is served.
func (f *frameReader) shrink() {
	if unread := f.end - f.start; cap(f.buf) > keptBuffer && unread <= firstBuffer {
		small := make([]byte, firstBuffer)
		copy(small, f.buf[f.start:f.end])
		f.buf, f.start, f.end = small, 0, unread
		f.reserve(0)
	}
}

// reserve changes what the buffer takes of the budget.
func (f *frameReader) reserve(n int64) error {
	if n > f.reserved && !f.budget.reserve(n-f.reserved) {
		return &framingError{wire.ServerBusy, "too many large messages are arriving at once: connect again and send it later"}
	}
	if n < f.reserved {
		f.budget.release(f.reserved - n)
	}
	f.reserved = n
	return nil
}

// hurry gives the peer until Stall from now to complete a large frame: it takes
// of the budget of all.
func (f *frameReader) hurry(on bool) {
	if r, ok := f.r.(interface{ SetReadDeadline(time.Time) error }); ok && f.hurried != on {
		f.hurried = on
		deadline := time.Time{}
		if on {
			deadline = time.Now().Add(f.limits.Stall)
		}
		_ = r.SetReadDeadline(deadline)
	}
}

// fill reads until n unread bytes are buffered. most is what the current frame
// may come to need: room for it is made as bytes arrive, not in advance.
func (f *frameReader) fill(n, most int) error {
	for empty := 0; f.end-f.start < n; {
		if f.eof != nil {
			if f.end > f.start && f.eof == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return f.eof
		}
		if err := f.room(most); err != nil {
			return err
		}
		got, err := f.r.Read(f.buf[f.end:])
		f.end += got
		f.eof = err
		if f.hurried && errors.Is(err, os.ErrDeadlineExceeded) {
			return lostf("a message over %d bytes did not arrive within %v", keptBuffer, f.limits.Stall)
		}
		if empty++; got > 0 {
			empty = 0
		} else if empty > maxEmptyRun {
			f.eof = io.ErrNoProgress
		}
	}
	return nil
}

// room makes place for at least one more byte behind end: by moving what is
// unread to the front, else by a larger buffer.
func (f *frameReader) room(most int) error {
	if f.end < len(f.buf) {
		return nil
	}
	unread := f.end - f.start
	if f.start > 0 && unread <= len(f.buf)/2 {
		copy(f.buf, f.buf[f.start:f.end])
		f.start, f.end = 0, unread
		return nil
	}
	factor := 4
	if len(f.buf) >= largeBuffer {
		factor = 2
	}
	size := max(min(max(factor*len(f.buf), growthStep), most), firstBuffer, unread+1)
	if size > keptBuffer {
		if err := f.reserve(int64(size)); err != nil {
			return err
		}
		f.hurry(true)
	}
	grown := make([]byte, size)
	copy(grown, f.buf[f.start:f.end])
	f.buf, f.start, f.end = grown, 0, unread
	return nil
}

// nextLine returns the next line that is not blank, without its terminator. A
// last line without a terminator counts.
func (f *frameReader) nextLine() ([]byte, error) {
	for scanned := 0; ; {
		unread := f.buf[f.start:f.end]
		i := bytes.IndexByte(unread[scanned:], '\n')
		line := unread
		if i >= 0 {
			line = unread[:scanned+i]
		}
		if len(line) > f.limits.Frame+1 || len(line) == f.limits.Frame+1 && line[len(line)-1] != '\r' {
			return nil, lostf("the line is longer than the limit of %d bytes", f.limits.Frame)
		}
		if i < 0 {
			scanned = len(unread)
			err := f.fill(scanned+1, f.limits.Frame+len("\r\n"))
			if err == nil {
				continue
			}
			if err != io.ErrUnexpectedEOF {
				return nil, err
			}
			i = 0
			f.start = f.end
		} else {
			f.start += len(line) + 1
		}
		scanned = 0
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if f.start == f.end && f.eof != nil {
			return nil, f.eof
		}
	}
}

func (f *frameReader) nextHeader() ([]byte, error) {
	length, err := f.header()
	if err != nil {
		return nil, err
	}
	if err := f.fill(length, length); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	body := f.buf[f.start : f.start+length]
	f.start += length
	return body, nil
}

// header consumes a header block and returns the length of the body.
func (f *frameReader) header() (int, error) {
	length := -1
	for used := 0; ; {
		line, err := f.headerLine(used)
		if err != nil {
			return 0, err
		}
		if used += len(line); len(bytes.TrimRight(line, "\r\n")) == 0 {
			break
		}
		if length, err = headerField(string(line), length); err != nil {
			return 0, err
		}
	}
	switch {
	case length < 0:
		return 0, lostf("the header has no Content-Length")
	case length == 0:
		return 0, lostf("Content-Length is 0")
	case length > f.limits.Frame:
		return 0, lostf("Content-Length is over the limit of %d bytes", f.limits.Frame)
	}
	return length, nil
}

// headerLine consumes one line with its terminator; used bytes of the block are
// consumed already.
func (f *frameReader) headerLine(used int) ([]byte, error) {
	for scanned := 0; ; {
		unread := f.buf[f.start:f.end]
		if i := bytes.IndexByte(unread[scanned:], '\n'); i >= 0 {
			line := unread[:scanned+i+1]
			if used+len(line) > f.limits.Header {
				return nil, f.headerTooLong()
			}
			f.start += len(line)
			return line, nil
		}
		scanned = len(unread)
		if used+scanned >= f.limits.Header {
			return nil, f.headerTooLong()
		}
		if err := f.fill(scanned+1, f.limits.Header); err != nil {
			if used > 0 && errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

func (f *frameReader) headerTooLong() error {
	return lostf("the header is longer than the limit of %d bytes", f.limits.Header)
}

// headerField reads one field; length is the Content-Length so far, -1 for none.
// A second one must agree: two parsers that pick different ones would see
// different frames.
func headerField(line string, length int) (int, error) {
	name, value, found := strings.Cut(line, ":")
	if !found {
		return 0, lostf("the header line %q has no colon", clip(strings.TrimSpace(line)))
	}
	if !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
		return length, nil
	}
	value = strings.TrimSpace(value)
	n, err := strconv.ParseUint(value, 10, 31)
	if errors.Is(err, strconv.ErrRange) {
		return 0, lostf("Content-Length is out of range")
	}
	if err != nil {
		return 0, lostf("Content-Length is %q: want a number of bytes", clip(value))
	}
	if length >= 0 && length != int(n) {
		return 0, lostf("two Content-Length fields contradict each other")
	}
	return int(n), nil
}

// clip shortens what a message quotes of the peer's bytes.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
