package conn

import (
	"context"
	"errors"
	"strconv"
)

// ErrRefused says that the peer answered a call of ours with an error.
var ErrRefused = errors.New("the client refuses")

// Ask calls a method of the peer and waits for its answer, of which only counts
// whether it is an error: then Ask returns ErrRefused. Any other error says that
// ctx or the connection has ended before. Not to be called from the read loop.
func (c *Conn) Ask(ctx context.Context, method string, params []byte) error {
	answer := make(chan error, 1)
	c.mu.Lock()
	c.asks++
	id := "mapd-" + strconv.FormatInt(c.asks, 10)
	key := idKey{kind: 's', text: id}
	if c.asked == nil {
		c.asked = map[idKey]chan<- error{}
	}
	c.asked[key] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.asked, key)
	}()
	body := append([]byte(`{"jsonrpc":"2.0","id":"`), id...)
	body = append(body, `","method":`...)
	body = strconv.AppendQuote(body, method)
	if params != nil {
		body = append(append(body, `,"params":`...), params...)
	}
	if err := c.out.put(c.frame(nil, append(body, '}'))); err != nil {
		return err
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// answered passes a response on to who waits for it.
func (c *Conn) answered(e *envelope) {
	c.mu.Lock()
	answer := c.asked[e.id]
	delete(c.asked, e.id)
	c.mu.Unlock()
	switch {
	case answer == nil:
		c.log.Debug("dropped a response that nobody waits for")
	case e.failed:
		answer <- ErrRefused
	default:
		answer <- nil
	}
}
