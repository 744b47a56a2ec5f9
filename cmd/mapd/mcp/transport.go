package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message that is taken from a client: what the daemon
// takes.
const maxLine = 64 << 20

// largeLine is an answer after which the memory that it took is given back.
const largeLine = 1 << 20

// transport is stdio as the SDK wants it. The SDK's own transport drops the
// calls under way at the end of stdin, ends at a line that is no message, and
// encodes a large result four times.
type transport struct {
	stdio  io.ReadWriteCloser
	bodies *bodies
}

func newTransport(stdio io.ReadWriteCloser, bodies *bodies) *transport {
	return &transport{stdio: stdio, bodies: bodies}
}

// Connect returns the one connection of the transport.
func (t *transport) Connect(context.Context) (sdk.Connection, error) {
	return &connection{
		stdio: t.stdio, bodies: t.bodies, in: bufio.NewReaderSize(t.stdio, 64<<10),
		open: map[jsonrpc.ID]bool{}, idle: make(chan struct{}), closed: make(chan struct{}),
	}, nil
}

// connection is one JSON message a line, both ways.
type connection struct {
	stdio  io.ReadWriteCloser
	bodies *bodies
	in     *bufio.Reader // used by Read only

	writing sync.Mutex // one line at a time

	mu    sync.Mutex // guards open and ended
	open  map[jsonrpc.ID]bool
	ended bool
	idle  chan struct{} // closed when stdin has ended and no call is open

	closing sync.Once
	closed  chan struct{}
}

// SessionID is empty: stdio has one session.
func (c *connection) SessionID() string { return "" }

// Read returns the next message. A line that is none is answered here. The end
// of stdin is kept back until the calls under way are answered.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := readLine(c.in)
		if err != nil {
			c.drain(ctx)
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			if err := c.refuse(line, err); err != nil {
				return nil, err
			}
			continue
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
			c.mu.Lock()
			c.open[request.ID] = true
			c.mu.Unlock()
		}
		return message, nil
	}
}

// readLine returns a line without its end. The end of input after a part of a
// line is the end of that line.
func readLine(in *bufio.Reader) ([]byte, error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if err == nil && long == nil {
			return bytes.Clone(part), nil // what is decoded may point into it
		}
		if len(long)+len(part) > maxLine {
			return nil, fmt.Errorf("a message of more than %d MiB", maxLine>>20)
		}
		long = append(long, part...)
		switch {
		case err == nil || errors.Is(err, io.EOF) && len(long) > 0:
			return long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// refuse answers what is no message.
func (c *connection) refuse(line []byte, why error) error {
	code, text := jsonrpc.CodeInvalidRequest, why.Error()
	if !json.Valid(line) {
		code, text = jsonrpc.CodeParseError, "this line is not JSON; send one message a line"
	}
	message, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return c.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`, code, message))
}

// drain waits until no call is open, or for DrainTime.
func (c *connection) drain(ctx context.Context) {
	c.mu.Lock()
	c.ended = true
	if len(c.open) == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	late := time.NewTimer(DrainTime)
	defer late.Stop()
	select {
	case <-c.idle:
	case <-late.C:
	case <-ctx.Done():
	case <-c.closed:
	}
}

// Write sends a message, with the body that its result stands for.
func (c *connection) Write(_ context.Context, message jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	response, ok := message.(*jsonrpc.Response)
	if !ok {
		return c.writeLine(line)
	}
	line = c.bodies.splice(line)
	err = c.writeLine(line)
	if len(line) > largeLine {
		defer debug.FreeOSMemory() // each agent has a bridge, and most of them wait
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, response.ID)
	if c.ended && len(c.open) == 0 {
		select {
		case <-c.idle:
		default:
			close(c.idle)
		}
	}
	return err
}

func (c *connection) writeLine(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.stdio.Write(append(line, '\n'))
	return err
}

// Close ends Read and Write.
func (c *connection) Close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = c.stdio.Close()
	})
	return err
}
